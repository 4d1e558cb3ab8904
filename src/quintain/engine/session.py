"""A model in the sandbox, ready to answer.

It is given inputs only, under ids that mean nothing outside this session; what it says is matched to what it was
asked, and everything else it might say is a fault.
"""

from __future__ import annotations

import secrets
import sysconfig
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import quintain.core
from quintain.adapters.contract import ADAPTERS
from quintain.engine.holding import held
from quintain.engine.sandbox.command import Mount, python_executable, python_mounts
from quintain.engine.sandbox.limits import Limits, Outcome, RunEnded
from quintain.engine.sandbox.process import PIPE_TOKEN, SandboxedProcess, Usage
from quintain.engine.staging import readable_folder

LIBRARY = "/quintain/library"
MODEL = "/quintain/model"
ENVIRONMENT = "/quintain/environment"


@dataclass(frozen=True, slots=True)
class Reply:
    """Answers in the order of the inputs, with the time spent inside the model, in nanoseconds."""

    answers: list[Any]
    ns: int
    times: tuple[int, ...] = ()


class ModelSession:
    """A loaded model. Use it as a context manager."""

    def __init__(
        self,
        folder: Path,
        *,
        adapter: str,
        options: Mapping[str, Any] | None = None,
        packages: Sequence[Path] = (),
        limits: Limits | None = None,
        bare: bool = False,
    ) -> None:
        """Name the model in *folder*; *bare* runs it without bubblewrap, in a process of its own only."""
        self.bare = bare
        self.adapter = adapter
        self.options = dict(options or {})
        self.network_attempt: str | None = None
        self.folder = folder
        self.packages = tuple(packages)
        self.limits = limits or Limits()
        self._stack = ExitStack()

    def __enter__(self) -> ModelSession:
        """Start the process and load the model."""
        with self._stack:
            folder = self._stack.enter_context(readable_folder(self.folder))
            for package in self.packages:
                self._stack.enter_context(held(package))
            self.process = self._stack.enter_context(self._make_process(folder))
            module = ADAPTERS.get(self.adapter).__module__
            self._call(
                {"op": "load", "adapter": module, "path": self.process.layout.find(MODEL), "options": self.options}
            )
            self._stack = self._stack.pop_all()
        return self

    def _make_process(self, folder: Path) -> SandboxedProcess:
        adapter = ADAPTERS.get(self.adapter)
        packages = [*self.packages, *([platform_packages()] if adapter.libraries else [])]
        libraries = [f"{ENVIRONMENT}/{position}" for position in range(len(packages))]
        guest = f"{LIBRARY}/quintain/engine/guest/main.py"
        return SandboxedProcess(
            [python_executable(), "-I", "-B", "-u", guest, PIPE_TOKEN, *libraries, LIBRARY],
            mounts=[
                *python_mounts(),
                *_library_mounts(adapter.modules),
                Mount(folder, MODEL),
                *(Mount(package, target) for package, target in zip(packages, libraries, strict=True)),
            ],
            limits=self.limits,
            environment={"OMP_NUM_THREADS": "1", "TOKENIZERS_PARALLELISM": "false", "HF_HUB_OFFLINE": "1"},
            trusted=adapter.ours,
            bare=self.bare,
        )

    def __exit__(self, *exception: object) -> None:
        """End the process and everything it started."""
        self._stack.close()

    @property
    def usage(self) -> Usage:
        """What the run used so far."""
        return self.process.usage

    def predict(self, inputs: Sequence[Mapping[str, Any]], *, single: bool = False) -> Reply:
        """Ask for answers to *inputs*, in one call or (*single*) one call each with its time."""
        return self._ask({"op": "predict", "single": single}, inputs)

    def echo(self, inputs: Sequence[Mapping[str, Any]]) -> Reply:
        """Send *inputs* there and back without the model, to measure what transport costs."""
        return self._ask({"op": "echo"}, inputs)

    def _ask(self, message: dict[str, Any], inputs: Sequence[Mapping[str, Any]]) -> Reply:
        prefix = secrets.token_hex(4)
        ids = [f"{prefix}{position:x}" for position in range(len(inputs))]
        reply = self._call({**message, "items": list(zip(ids, inputs, strict=True))})
        given = reply.get("answers")
        if not isinstance(given, list):
            raise self._bad("The model's reply has no answers.")
        answers: dict[Any, Any] = {}
        for pair in given:
            if not (isinstance(pair, list) and len(pair) == 2 and isinstance(pair[0], str)):
                raise self._bad("The model's reply is not a list of ids and answers.")
            if pair[0] in answers:
                raise self._bad("The model answered the same input twice.")
            answers[pair[0]] = pair[1]
        if answers.keys() != set(ids):
            raise self._bad("The model answered for ids that it was not given, or left some out.")
        return Reply([answers[key] for key in ids], int(reply.get("ns", 0)), tuple(reply.get("times", ())))

    def _call(self, message: dict[str, Any]) -> dict[str, Any]:
        reply = self.process.call(message)
        self.network_attempt = self.network_attempt or reply.get("network")
        if "fault" in reply:
            raise self._bad(f"{str(reply['fault']).capitalize()}.")
        if "error" in reply:
            hint = f" It {self.network_attempt}; there is no network in the sandbox." if self.network_attempt else ""
            raise RunEnded(
                Outcome.CRASHED,
                f"The model raised {reply['error']}.{hint}",
                log=f"{self.process.printed()}\n{reply.get('traceback', '')}".strip(),
            )
        return reply

    def _bad(self, message: str) -> RunEnded:
        return RunEnded(Outcome.BAD_ANSWER, message, log=self.process.printed())


def _library_mounts(modules: Sequence[str]) -> list[Mount]:
    """Show the model's process just enough of this package: no services, no store, no data."""
    package = Path(quintain.core.__file__).parent.parent
    parts = ("core", "adapters", "engine/guest", *modules)
    return [Mount(package / part, f"{LIBRARY}/quintain/{part}") for part in parts]


def platform_packages() -> Path:
    """Give the folder of the platform's own third-party packages, for models that come without theirs."""
    return Path(sysconfig.get_paths()["purelib"])
