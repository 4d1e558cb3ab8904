"""Why a layer of the sandbox is missing here, and what to do about it: one remedy for each cause."""

from __future__ import annotations

import os
import shutil
import subprocess
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from quintain.core.texts import Text
from quintain.engine.sandbox.syscalls import filter_available

# Switches of the kernel that keep an ordinary user from making namespaces, each with the value that does.
SWITCHES = {
    "kernel/unprivileged_userns_clone": "0",
    "user/max_user_namespaces": "0",
    "kernel/apparmor_restrict_unprivileged_userns": "1",
}
OPEN_VALUES = {
    "kernel/unprivileged_userns_clone": "1",
    "user/max_user_namespaces": "15000",
    "kernel/apparmor_restrict_unprivileged_userns": "0",
}
CONTAINER_MARKS = ("/.dockerenv", "/run/.containerenv")
SHOWN = 160  # characters of what bubblewrap said


class CauseKind(StrEnum):
    """What can be in the way."""

    NOT_LINUX = "not Linux"
    NO_PROGRAM = "a program is missing"
    OLD_BUBBLEWRAP = "bubblewrap is too old"
    NO_NAMESPACES = "no user namespaces"
    CONTAINER = "a container that allows no namespaces"
    UNREADABLE = "files that nobody else may read"
    NO_FILTER = "no filter on system calls"
    NO_GROUP = "no control group"
    OTHER = "it does not start"


@dataclass(frozen=True, slots=True)
class Cause:
    """One thing in the way: what it is in words, and the remedy that fits it."""

    kind: CauseKind
    text: str
    remedy: str


def not_linux(platform: str) -> Cause:
    """Return the cause that there is no sandbox but on Linux."""
    return Cause(
        CauseKind.NOT_LINUX,
        Text("the sandbox needs Linux, and this is {platform}", platform=platform),
        Text("Evaluate submitted models on a Linux machine"),
    )


def missing_program(as_root: bool) -> Cause | None:
    """Name the first program that the sandbox is built from and that is not here."""
    packages = {"bwrap": "bubblewrap", "prlimit": "util-linux", **({"setpriv": "util-linux"} if as_root else {})}
    for program, package in packages.items():
        if shutil.which(program) is None:
            return Cause(
                CauseKind.NO_PROGRAM,
                Text("the program {program} is missing", program=program),
                Text("Install the package {package}, for example: apt-get install {package}", package=package),
            )
    return None


def no_start(complaint: str, unreadable: Path | None) -> Cause:
    """Find out why bubblewrap did not start, by its *complaint*; *unreadable* is ours and closed to others."""
    if unreadable is not None:
        return Cause(
            CauseKind.UNREADABLE,
            Text("the user that models run as may not read {unreadable}", unreadable=unreadable),
            Text("Open it to everybody: chmod -R o+rX {unreadable}", unreadable=unreadable),
        )
    if not _knows("--disable-userns"):
        return Cause(
            CauseKind.OLD_BUBBLEWRAP,
            Text("bubblewrap is older than 0.8 and cannot keep a model from making namespaces of its own"),
            Text("Install bubblewrap 0.8 or newer"),
        )
    complaint = complaint.removeprefix("bwrap: ").partition(". ")[0].rstrip(".")[:SHOWN]
    if _in_container():
        return Cause(
            CauseKind.CONTAINER,
            Text("this container allows no namespaces inside it ({said})", said=complaint),
            Text(
                "Start it with the security options that compose.yaml names "
                "(seccomp, apparmor and systempaths unconfined)"
            ),
        )
    for switch, closed in SWITCHES.items():
        if _read(Path("/proc/sys") / switch) == closed and os.geteuid() != 0:
            name = switch.replace("/", ".")
            return Cause(
                CauseKind.NO_NAMESPACES,
                Text(
                    "this system lets no ordinary user make namespaces ({name} is {closed})", name=name, closed=closed
                ),
                Text(
                    "An administrator can change that: sysctl -w {name}={open_values}",
                    name=name,
                    open_values=OPEN_VALUES[switch],
                ),
            )
    return Cause(
        CauseKind.OTHER,
        Text("bubblewrap does not start ({said})", said=complaint),
        Text("Try it by hand: bwrap --ro-bind / / true"),
    )


def no_filter() -> Cause | None:
    """Return the cause that system calls cannot be filtered, or None where they can."""
    if filter_available():
        return None
    return Cause(
        CauseKind.NO_FILTER,
        Text("system calls cannot be filtered, because libseccomp is not here"),
        Text("Install the package libseccomp2, for example: apt-get install libseccomp2"),
    )


def no_group(as_root: bool) -> Cause:
    """Return the cause that no control group could be made."""
    if as_root or _in_container():
        return Cause(
            CauseKind.NO_GROUP,
            Text("no control group can be made: /sys/fs/cgroup cannot be written here"),
            Text("Mount it writable"),
        )
    return Cause(
        CauseKind.NO_GROUP,
        Text("no control group is delegated to this user"),
        Text("Start it as: systemd-run --user --scope -p Delegate=yes COMMAND"),
    )


def _in_container() -> bool:
    return any(Path(mark).exists() for mark in CONTAINER_MARKS)


def _knows(option: str) -> bool:
    command = [shutil.which("bwrap") or "bwrap", "--help"]
    try:
        shown = subprocess.run(command, capture_output=True, text=True, timeout=10, check=False)  # noqa: S603
    except (OSError, subprocess.TimeoutExpired):
        return True
    return option in shown.stdout + shown.stderr


def _read(path: Path) -> str:
    try:
        return path.read_text().strip()
    except OSError:
        return ""
