"""Names of processes, by which another process on the same machine can tell that one is gone.

A number alone does not do: it is given again. So a name holds the boot, the namespace of process numbers, the number
and when the process began. Where a system does not say these things, nothing is ever known to be gone.
"""

from __future__ import annotations

import os
from pathlib import Path

BEGAN = 19  # place of the start time in /proc/PID/stat, after the name of the program


def own_name() -> str:
    """Name this process; empty where the system does not say enough."""
    return _name(os.getpid())


def is_gone(name: str) -> bool:
    """Whether the process of this *name* ran on this machine, since it was started, and no longer does."""
    here, _, process = name.rpartition("/")
    number = process.partition(":")[0]
    if not here or not number.isdecimal() or here != _machine():
        return False
    return _name(int(number)) != name


def _machine() -> str:
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
        space = Path("/proc/self/ns/pid").readlink().name
    except OSError:
        return ""
    return f"{boot}/{space}"


def _name(number: int) -> str:
    machine = _machine()
    try:
        stat = Path(f"/proc/{number}/stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
    fields = stat.rpartition(")")[2].split()
    dead = fields[0] in {"Z", "X"}
    return f"{machine}/{number}:{fields[BEGAN]}" if machine and not dead else ""
