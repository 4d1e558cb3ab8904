"""What a tree of processes needs resident: anonymous memory, shared memory and temporary files, and mapped file pages.

A control group knows all that its processes allocated, wherever it lies. It does not know the pages of files that
somebody else read first, such as a model's own weights, which we unpacked: those are counted from the processes'
mappings, each page once however many of them share it. Pages that were only read with `read`, and not kept, are the
kernel's cache and nobody's.

Between two samples the kernel keeps each process's highest resident size. What that lies above the size at the sample
is added, and the mark is set back: memory that is given up just before we look counts all the same.
"""

from __future__ import annotations

import os
from pathlib import Path

from quintain.engine.sandbox.cgroups import ControlGroup
from quintain.engine.sandbox.proctree import descendants

PROC = Path("/proc")
KIB = 1024
RESET_PEAK = "5"  # what /proc/PID/clear_refs takes to set the mark back
SCRATCH = ("tmp", "dev/shm")


class MemoryMeter:
    """Samples the memory of the processes in *group*, or below *root* where there is no group."""

    def __init__(self, group: ControlGroup | None, root: int, *, own_scratch: bool = True) -> None:
        """Look at them; without *own_scratch* they write to the machine's temporary folders, which others fill, too."""
        self._own_scratch = own_scratch
        self._group = group
        self._root = root
        self._marked: set[int] = set()

    def read(self) -> int:
        """Return the bytes in use now, and what was in use at most since the last time."""
        pids = self._group.processes() if self._group else descendants(self._root)
        mapped = [_fields(PROC / str(pid) / "smaps_rollup") for pid in pids]
        above = sum(self._above(pid) for pid in pids)
        self._marked = {pid for pid in pids if _reset_peak(pid)}
        files = sum(_file_pages(PROC / str(pid), fields) for pid, fields in zip(pids, mapped, strict=True))
        if self._group:
            return self._group.own_bytes() + files + above
        private = sum(fields.get("Pss_Anon", 0) for fields in mapped)
        shared = max(sum(fields.get("Pss_Shmem", 0) for fields in mapped), _scratch(pids) if self._own_scratch else 0)
        return private + shared + files + above

    def _above(self, pid: int) -> int:
        """Return how far a process was above its present size since its mark was set back."""
        if pid not in self._marked:
            return 0
        status = _fields(PROC / str(pid) / "status")
        return max(0, status.get("VmHWM", 0) - status.get("VmRSS", 0))


def _file_pages(process: Path, mapped: dict[str, int]) -> int:
    """Return the file pages that a process has mapped; all of them where their sharing cannot be seen."""
    return mapped["Pss_File"] if "Pss_File" in mapped else _fields(process / "status").get("RssFile", 0)


def _fields(path: Path) -> dict[str, int]:
    """Read lines such as `VmRSS:  17 kB` as bytes; nothing where the process has ended or hides."""
    sizes: dict[str, int] = {}
    try:
        for line in path.read_text().splitlines():
            name, _, value = line.partition(":")
            if value.endswith(" kB"):
                sizes[name] = int(value[:-3]) * KIB
    except OSError:
        return {}
    return sizes


def _reset_peak(pid: int) -> bool:
    try:
        (PROC / str(pid) / "clear_refs").write_text(RESET_PEAK)
    except OSError:
        return False
    return True


def _scratch(pids: list[int]) -> int:
    """Return what lies in the temporary folders inside, seen through the last process that lets us."""
    for pid in reversed(pids):
        try:
            places = [os.statvfs(PROC / str(pid) / "root" / name) for name in SCRATCH]
        except OSError:
            continue
        return sum((place.f_blocks - place.f_bfree) * place.f_frsize for place in places)
    return 0
