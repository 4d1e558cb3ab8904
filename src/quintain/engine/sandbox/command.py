"""The command line that puts a program into the sandbox, layer by layer.

sh          enters the control groups
prlimit (1) sets the second line of limits
bwrap (1)   only when we are root: lays out the files that an unprivileged user could not reach
setpriv     only when we are root: becomes nobody, for good
bwrap (2)   namespaces, no network, read-only system, private /tmp, empty environment, system-call filter
prlimit (2) only without a control group: how many processes there may be, counted in the namespace of their own
program

Where bubblewrap does not start, code of our own can still be measured: `bare_command` is what is left then.
"""

from __future__ import annotations

import os
import re
import shutil
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from quintain.engine.sandbox.limits import Limits

NOBODY = 65534
OWN_COUNT = (5, 14)  # the kernel since which a user namespace counts its processes by itself
MANY_PROCESSES = 4096
ENTER_GROUPS = 'n=$1; shift; while [ "$n" -gt 0 ]; do echo $$ > "$1" || exit 97; shift; n=$((n-1)); done; exec "$@"'
SYSTEM_FOLDERS = ("/usr", "/bin", "/sbin", "/lib", "/lib64", "/lib32")
SYSTEM_FILES = ("/etc/ld.so.cache", "/etc/ld.so.conf", "/etc/ld.so.conf.d", "/etc/localtime", "/etc/alternatives")


@dataclass(frozen=True, slots=True)
class Mount:
    """A folder or file of ours that the program may see, read-only unless *writable*."""

    source: Path
    target: str
    writable: bool = False


def python_mounts() -> list[Mount]:
    """List what the interpreter itself needs where it does not lie in /usr."""
    prefix = Path(os.path.realpath(sys.base_prefix))
    return [] if prefix.is_relative_to("/usr") else [Mount(prefix, str(prefix))]


def python_executable() -> str:
    """Return the base interpreter: without our packages, outside our virtual environment."""
    return os.path.realpath(os.path.join(sys.base_prefix, "bin", f"python3.{sys.version_info.minor}"))


def sandbox_command(
    program: Sequence[str],
    *,
    mounts: Sequence[Mount],
    limits: Limits,
    group_files: Sequence[Path],
    filter_fd: int | None,
    environment: dict[str, str],
    trusted: bool = False,
) -> list[str]:
    """Build the whole command line around *program*; one that is *trusted* may reserve more than it uses."""
    as_root = os.geteuid() == 0
    if not group_files:
        program = [*_count_processes(limits), *program]
    inner = _inner_bubblewrap(program, mounts, limits, filter_fd, environment, prepared=as_root)
    layered = [*_prlimit(limits, hard_memory=not group_files and not trusted)]
    layered += [*_outer_bubblewrap(mounts), *_become_nobody(), *inner] if as_root else inner
    return _in_groups(group_files, layered)


def bare_command(program: Sequence[str], *, group_files: Sequence[Path]) -> list[str]:
    """Build the command line of a program of our own where there is no bubblewrap: a process, and its groups."""
    return _in_groups(group_files, program)


def _in_groups(group_files: Sequence[Path], command: Sequence[str]) -> list[str]:
    return ["/bin/sh", "-c", ENTER_GROUPS, "sh", str(len(group_files)), *map(str, group_files), *command]


def _count_processes(limits: Limits) -> list[str]:
    """Limit the processes where no control group does.

    The kernel counts all threads of a user, wherever they were started. Since Linux 5.14 a user namespace counts its
    own, so this is said inside of it; before that only a large number does not keep out those who have many already.
    """
    most = limits.processes if _kernel() >= OWN_COUNT else MANY_PROCESSES
    return [shutil.which("prlimit") or "prlimit", f"--nproc={most}", "--"]


def _kernel() -> tuple[int, ...]:
    return tuple(int(part) for part in re.findall(r"\d+", os.uname().release)[:2])


def _prlimit(limits: Limits, *, hard_memory: bool) -> list[str]:
    # Without a control group the address space is the limit; with one it only stops what is absurd, because
    # libraries reserve far more than they use.
    address_space = limits.memory_bytes if hard_memory else limits.memory_bytes * 4 + (16 << 30)
    return [
        "prlimit",
        f"--as={address_space}",
        f"--cpu={int(limits.cpu_seconds) + 5}",
        f"--fsize={limits.file_bytes}",
        "--core=0",
        "--nofile=1024",
        "--",
    ]


def _outer_bubblewrap(mounts: Sequence[Mount]) -> list[str]:
    command = ["bwrap", "--die-with-parent", "--dev-bind", "/proc", "/proc", "--dev-bind", "/dev", "/dev"]
    command += _system()
    for mount in mounts:
        command += _parents(mount.target) + _bind(mount)
    return [*command, "--perms", "1777", "--tmpfs", "/tmp", "--cap-add", "ALL", "--"]  # noqa: S108 - inside


def _become_nobody() -> list[str]:
    return [
        "setpriv",
        f"--reuid={NOBODY}",
        f"--regid={NOBODY}",
        "--clear-groups",
        "--no-new-privs",
        "--bounding-set=-all",
        "--inh-caps=-all",
        "--",
    ]


def _inner_bubblewrap(
    program: Sequence[str],
    mounts: Sequence[Mount],
    limits: Limits,
    filter_fd: int | None,
    environment: dict[str, str],
    *,
    prepared: bool,
) -> list[str]:
    command = ["bwrap", "--unshare-user", "--unshare-all", "--disable-userns", "--die-with-parent", "--new-session"]
    command += ["--hostname", "quintain", "--cap-drop", "ALL"]
    if prepared:
        command += ["--ro-bind", "/", "/"]
    else:
        command += _system()
        for mount in mounts:
            command += _parents(mount.target) + _bind(mount)
    # Read-only: a process could set its own highest memory back through /proc, and nobody needs to write there.
    command += ["--proc", "/proc", "--remount-ro", "/proc", "--dev", "/dev"]
    command += ["--size", str(limits.scratch_bytes), "--tmpfs", "/tmp", "--size", str(64 << 20), "--tmpfs", "/dev/shm"]  # noqa: S108
    command += [
        item for mount in mounts if mount.writable and prepared for item in ("--bind", mount.target, mount.target)
    ]
    command += ["--remount-ro", "/"] if not prepared else []
    command += ["--chdir", "/tmp", "--clearenv"]  # noqa: S108 - the private one inside
    for name, value in environment.items():
        command += ["--setenv", name, value]
    if filter_fd is not None:
        command += ["--seccomp", str(filter_fd)]
    return [*command, "--", *program]


def _system() -> list[str]:
    command: list[str] = []
    for folder in SYSTEM_FOLDERS:
        path = Path(folder)
        if path.is_symlink():
            command += ["--symlink", os.readlink(folder), folder]
        elif path.exists():
            command += ["--ro-bind", folder, folder]
    for file in SYSTEM_FILES:
        if Path(file).exists():
            command += [*_parents(file), "--ro-bind", os.path.realpath(file), file]
    return command


def _parents(target: str) -> list[str]:
    # bubblewrap makes missing parents readable to their owner only; nobody needs to pass through them.
    folders = [str(parent) for parent in reversed(Path(target).parents) if str(parent) != "/"]
    return [item for folder in folders for item in ("--perms", "0755", "--dir", folder)]


def _bind(mount: Mount) -> list[str]:
    return ["--bind" if mount.writable else "--ro-bind", str(mount.source), mount.target]
