"""Which layers of the sandbox hold on this machine: found out by trying, not by asking for versions."""

from __future__ import annotations

import functools
import json
import shutil
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass

from quintain.core.errors import Unavailable
from quintain.engine.sandbox.cgroups import make_group
from quintain.engine.sandbox.command import python_executable, python_mounts, sandbox_command
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
print(json.dumps(found))
"""


@dataclass(frozen=True, slots=True)
class SandboxReport:
    """Which layers held when they were tried, and why the sandbox did not start, if it did not."""

    layers: Mapping[str, bool]
    problem: str = ""

    @property
    def complete(self) -> bool:
        """Whether every layer holds."""
        return all(self.layers.values())

    @property
    def missing(self) -> list[str]:
        """The layers that do not hold."""
        return [name for name, holds in self.layers.items() if not holds]


@functools.cache
def probe() -> SandboxReport:
    """Start the sandbox once and see what holds inside it."""
    nothing = dict.fromkeys(LAYERS, False)
    if sys.platform != "linux":
        return SandboxReport(nothing, f"the sandbox needs Linux, and this is {sys.platform}")
    for program, package in {"bwrap": "bubblewrap", "setpriv": "util-linux", "prlimit": "util-linux"}.items():
        if shutil.which(program) is None:
            return SandboxReport(nothing, f"the program {program} is missing: install the package {package}")
    limits = Limits(memory_bytes=256 * MIB, processes=16, cpu_seconds=10)
    group = make_group(limits)
    filter_file = write_filter() if filter_available() else None
    command = sandbox_command(
        [python_executable(), "-I", "-c", f"SECRET = {__file__!r}\n{PROBE}"],
        mounts=python_mounts(),
        limits=limits,
        group_files=group.entry_files if group else (),
        filter_fd=filter_file.fileno() if filter_file else None,
        environment={},
    )
    passed = [filter_file.fileno()] if filter_file else []
    try:
        result = subprocess.run(command, pass_fds=passed, capture_output=True, text=True, timeout=30, check=False)  # noqa: S603
    except subprocess.TimeoutExpired:
        return SandboxReport(nothing, "the sandbox did not start within 30 seconds")
    finally:
        if group:
            group.close()
        if filter_file:
            filter_file.close()
    if result.returncode != 0:
        return SandboxReport(nothing, result.stderr.strip().splitlines()[-1] if result.stderr else "it did not start")
    return SandboxReport({**nothing, **json.loads(result.stdout), "memory": group is not None})


def require_sandbox(policy: str) -> SandboxReport:
    """Refuse to run submitted code where the sandbox is weaker than *policy* asks for.

    *policy* is `full` (every layer), `partial` (all but the control group: limits on each process, and the
    supervisor's sampling, stand in for it) or `off` (the operator takes the risk).
    """
    report = probe()
    needed = {"full": set(LAYERS), "partial": set(LAYERS) - {"memory"}, "off": set()}[policy]
    lacking = [name for name in report.missing if name in needed]
    if lacking:
        reasons = "; ".join(f"{name} ({LAYERS[name]})" for name in lacking)
        cause = f" Cause: {report.problem}." if report.problem else ""
        raise Unavailable(
            f"Submitted code is refused here, because the sandbox is not complete. Missing: {reasons}.{cause}",
            remedy="Install bubblewrap on a kernel with user namespaces and control groups, or set "
            "QUINTAIN_SANDBOX=partial to do without a control group.",
        )
    return report
