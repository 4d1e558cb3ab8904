"""A model in the sandbox, ready to answer.

It is given inputs only, under ids that mean nothing outside this session; what it says is matched to what it was
asked, and everything else it might say is a fault.
"""

from __future__ import annotations

import secrets
import sysconfig
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import quintain.core
from quintain.adapters.contract import ADAPTERS
from quintain.core.untrusted import MESSAGE, storable
from quintain.engine.folder_locks import hold_folder
from quintain.engine.replies import Reply, read_answers, reply_bounds
from quintain.engine.sandbox.command import Mount, python_executable, python_mounts
from quintain.engine.sandbox.limits import AnswersLost, Limits, Outcome
from quintain.engine.sandbox.process import PIPE_TOKEN, Called, SandboxedProcess, Usage
from quintain.engine.staging import readable_folder

LIBRARY = "/quintain/library"
MODEL = "/quintain/model"
ENVIRONMENT = "/quintain/environment"
SHOWN = 500  # characters of what a model said that a message shows


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
                self._stack.enter_context(hold_folder(package))
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
            metered=True,  # always: what sets marks back may be seen from inside
            environment={"OMP_NUM_THREADS": "1", "TOKENIZERS_PARALLELISM": "false", "HF_HUB_OFFLINE": "1"},
            trusted=adapter.ours,
            bare=self.bare,
        )

    def __exit__(self, *exception: object) -> None:
        """End the process and everything it started."""
        self._stack.close()

    def observe(self) -> None:
        """Note now what memory and processor time the run has used, beside the looks at fixed intervals."""
        self.process.observe()

    @property
    def usage(self) -> Usage:
        """What the run used so far."""
        return self.process.usage

    def predict(self, inputs: Sequence[Mapping[str, Any]]) -> Reply:
        """Ask for answers to *inputs* in one request.

        A request looks the same whatever it is for: a run that is scored, one that is timed, or a try.
        """
        prefix = secrets.token_hex(4)
        ids = [f"{prefix}{position:x}" for position in range(len(inputs))]
        called = self._call({"op": "predict", "items": list(zip(ids, inputs, strict=True))}, len(inputs))
        return Reply(read_answers(called.reply, ids), called.ns)

    def _call(self, message: dict[str, Any], inputs: int = 0) -> Called:
        called = self.process.call(message, reply_bounds(inputs))
        reply = called.reply
        if self.network_attempt is None and "network" in reply:
            self.network_attempt = storable(str(reply["network"]), SHOWN)
        if "fault" in reply:
            words = str(reply["fault"])
            fault = f"{words[:1].upper()}{words[1:MESSAGE]}"
            raise AnswersLost(Outcome.BAD_ANSWER, "{fault}.", fault=fault, log=self.process.printed())
        if "error" in reply:
            raise AnswersLost(
                Outcome.CRASHED,
                "The model raised {error}. It {attempt}; there is no network in the sandbox."
                if self.network_attempt
                else "The model raised {error}.",
                error=str(reply["error"])[:SHOWN],
                attempt=self.network_attempt or "",
                log=f"{self.process.printed()}\n{reply.get('traceback', '')}".strip(),
            )
        return called


def _library_mounts(modules: Sequence[str]) -> list[Mount]:
    """Show the model's process just enough of this package: no services, no store, no data."""
    package = Path(quintain.core.__file__).parent.parent
    parts = ("core", "adapters", "engine/guest", *modules)
    return [Mount(package / part, f"{LIBRARY}/quintain/{part}") for part in parts]


def platform_packages() -> Path:
    """Return the folder of the platform's own third-party packages, for models that come without theirs."""
    return Path(sysconfig.get_paths()["purelib"])
