"""Which layers of the sandbox hold on this machine: found out by trying, not by asking for versions."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import quintain.core
from quintain.core.errors import Unavailable
from quintain.core.texts import Text, joined
from quintain.engine.sandbox.causes import Cause, CauseKind, missing_program, no_filter, no_group, no_start, not_linux
from quintain.engine.sandbox.cgroups import ControlGroup, make_group
from quintain.engine.sandbox.command import Mount, python_executable, python_mounts, sandbox_command
from quintain.engine.sandbox.limits import MIB, Limits
from quintain.engine.sandbox.syscalls import filter_available, write_filter

LAYERS: Mapping[str, str] = {
    "namespaces": "bubblewrap starts, with its own processes, users and mounts",
    "network": "no interface but an unreachable loopback, and no internet sockets",
    "files": "the system is read-only and nothing of ours can be seen",
    "user": "runs as nobody, without capabilities, and cannot become anyone else",
    "syscalls": "a filter refuses the calls that break-outs need",
    "memory": "a control group limits memory and processes of the whole tree",
}
NEEDED: Mapping[str, frozenset[str]] = {
    "full": frozenset(LAYERS),
    "partial": frozenset(LAYERS) - {"memory"},
    "off": frozenset(),
}
CONCERNS: Mapping[CauseKind, set[str]] = {CauseKind.NO_GROUP: {"memory"}, CauseKind.NO_FILTER: {"syscalls"}}
LOOK_AGAIN_SECONDS = 60.0
LIBRARY = "/quintain/core"

PROBE = """
import json, os, socket
found = {"namespaces": os.getpid() < 10}
try:
    socket.socket(socket.AF_INET)
    interfaces = [name for _, name in socket.if_nameindex()]
    found["network"] = interfaces in ([], ["lo"])
except OSError:
    found["network"] = True
try:
    open("/usr/.quintain-probe", "w")
    found["files"] = False
except OSError:
    found["files"] = not os.path.exists(SECRET)
status = dict(line.split(":", 1) for line in open("/proc/self/status").read().splitlines())
found["user"] = os.getuid() != 0 and int(status["CapEff"], 16) == 0 and status["NoNewPrivs"].strip() == "1"
found["syscalls"] = status["Seccomp"].strip() == "2"
open(LIBRARY + "/errors.py").close()
print(json.dumps(found))
"""


@dataclass(frozen=True, slots=True)
class SandboxReport:
    """Which layers held when they were tried, and what was in the way of the others."""

    layers: Mapping[str, bool]
    causes: Sequence[Cause] = ()

    @property
    def complete(self) -> bool:
        """Whether every layer holds."""
        return all(self.layers.values())

    @property
    def starts(self) -> bool:
        """Whether there is any sandbox at all."""
        return self.layers["namespaces"]

    @property
    def held(self) -> list[str]:
        """The layers that hold."""
        return [name for name, holds in self.layers.items() if holds]

    @property
    def missing(self) -> list[str]:
        """The layers that do not hold."""
        return [name for name, holds in self.layers.items() if not holds]

    def lacking(self, policy: str) -> list[str]:
        """List the layers that *policy* asks for and that do not hold."""
        return [name for name in self.missing if name in NEEDED[policy]]


class NoSandbox(Unavailable):
    """Submitted code is refused on this machine, because the sandbox is weaker than the workspace asks for."""

    code = "no_sandbox"


class _Seen:
    """What the last look found: a complete sandbox stays so, an incomplete one is looked at again after a while.

    It is about this machine, the same for every workspace, and asked where there is none, as on the nodes of a cluster:
    so there is one to a process, which holds one report.
    """

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.report: SandboxReport | None = None
        self.at = 0.0

    def current(self) -> SandboxReport:
        with self.lock:
            old = self.report is None or time.monotonic() - self.at > LOOK_AGAIN_SECONDS
            if self.report is None or (old and not self.report.complete):
                self.report, self.at = _run_probe(), time.monotonic()
            return self.report


_seen = _Seen()


def probe() -> SandboxReport:
    """Start the sandbox and see what holds inside it; what was found lately is given again."""
    return _seen.current()


def missing_layers(measured: Mapping[str, Any]) -> list[str]:
    """List the layers of the sandbox that did not hold when something was *measured*; what was not noted held."""
    held = measured.get("layers")
    return [] if held is None else [name for name in LAYERS if name not in held]


def _run_probe() -> SandboxReport:
    nothing = dict.fromkeys(LAYERS, False)
    if sys.platform != "linux":
        return SandboxReport(nothing, (not_linux(sys.platform),))
    as_root = os.geteuid() == 0
    limits = Limits(memory_bytes=256 * MIB, processes=16, cpu_seconds=10)
    group = make_group(limits)
    others = [no_filter(), None if group else no_group(as_root)]
    try:
        outcome = missing_program(as_root) or _try(limits, group)
    finally:
        if group:
            group.close()
    held = {} if isinstance(outcome, Cause) else outcome
    causes = [outcome if isinstance(outcome, Cause) else None, *others]
    return SandboxReport(
        {**nothing, **held, "memory": group is not None}, tuple(cause for cause in causes if cause is not None)
    )


def _try(limits: Limits, group: ControlGroup | None) -> dict[str, bool] | Cause:
    """Start the sandbox once; return what holds inside it, or why it does not start."""
    filter_file = write_filter() if filter_available() else None
    core = Path(quintain.core.__file__).parent
    command = sandbox_command(
        [python_executable(), "-I", "-c", f"SECRET, LIBRARY = {__file__!r}, {LIBRARY!r}\n{PROBE}"],
        mounts=[*python_mounts(), Mount(core, LIBRARY)],
        limits=limits,
        group_files=group.entry_files if group else (),
        filter_fd=filter_file.fileno() if filter_file else None,
        environment={},
    )
    passed = [filter_file.fileno()] if filter_file else []
    try:
        result = subprocess.run(command, pass_fds=passed, capture_output=True, text=True, timeout=30, check=False)  # noqa: S603
    except subprocess.TimeoutExpired:
        return no_start("it did not within 30 seconds", None)
    finally:
        if filter_file:
            filter_file.close()
    if result.returncode != 0:
        lines = result.stderr.strip().splitlines()
        return no_start(lines[-1] if lines else f"exit code {result.returncode}", _closed_to_others())
    holds: dict[str, bool] = json.loads(result.stdout)
    return holds


def _closed_to_others() -> Path | None:
    """Find what the sandbox shows of ours and its user may not read; as an ordinary user that is ourselves."""
    if os.geteuid() != 0:
        return None
    shown = [Path(os.path.realpath(sys.base_prefix)), Path(python_executable()), Path(quintain.core.__file__).parent]
    return next((path for path in shown if path.stat().st_mode & 0o005 != 0o005), None)


def require_sandbox(policy: str) -> SandboxReport:
    """Refuse to run submitted code where the sandbox is weaker than *policy* asks for.

    *policy* is `full` (every layer), `partial` (all but the control group: limits on each process, and the
    supervisor's sampling, stand in for it) or `off` (the operator takes the risk).
    """
    report = probe()
    if report.lacking(policy):
        raise refusal(report, policy)
    return report


def refusal(report: SandboxReport, policy: str) -> NoSandbox:
    """Return the error that names the layers missing for submitted code, why, and what to do."""
    causes = _in_the_way(report, policy)
    return NoSandbox(
        "Submitted code is refused here, because the sandbox is not complete. Missing: {layers}. Cause: {causes}."
        if causes
        else "Submitted code is refused here, because the sandbox is not complete. Missing: {layers}.",
        layers="; ".join(f"{name} ({LAYERS[name]})" for name in report.lacking(policy)),
        causes=joined([cause.text for cause in causes], "; "),
        remedy=_remedies(causes, policy),
    )


def require_start(what: str) -> None:
    """Refuse *what* where there is no sandbox at all, whatever the workspace asks for."""
    report = probe()
    if not report.starts:
        causes = _in_the_way(report, "partial")
        raise NoSandbox(
            "{what}, which does not start here: {causes}.",
            what=what,
            causes=joined([cause.text for cause in causes], "; "),
            remedy=_remedies(causes, "partial"),
        )


def describe(report: SandboxReport, policy: str) -> list[str]:
    """Return a line on what holds and, for each cause, one on what is in the way and what to do about it."""
    if report.complete:
        return ["Sandbox: complete."]
    lacking = report.lacking(policy)
    if not lacking:
        holds = ", ".join(report.held) or "none"
        return [f"Sandbox: layers that hold: {holds}. QUINTAIN_SANDBOX={policy} asks for no more."]
    first = f"Sandbox: {', '.join(lacking)} missing. Submitted models wait; built-in ones run with what there is."
    lines = [
        f"{cause.text[0].upper()}{cause.text[1:]}. {_remedy(cause, policy)}" for cause in _in_the_way(report, policy)
    ]
    return [first, *(f"  {line}" for line in lines)]


def _in_the_way(report: SandboxReport, policy: str) -> list[Cause]:
    """List the causes of what is lacking: what *policy* does not ask for needs no remedy."""
    lacking = set(report.lacking(policy))
    return [cause for cause in report.causes if lacking & (CONCERNS.get(cause.kind) or set(LAYERS) - {"memory"})]


def _remedy(cause: Cause, policy: str) -> Text:
    without = cause.kind is CauseKind.NO_GROUP and policy == "full"
    return Text(
        "{remedy}, or do without one: QUINTAIN_SANDBOX=partial." if without else "{remedy}.", remedy=cause.remedy
    )


def _remedies(causes: Sequence[Cause], policy: str) -> Text | None:
    return joined([_remedy(cause, policy) for cause in causes]) if causes else None
