"""Control groups: the limit on memory and processes that holds for a whole tree of processes.

Version 1 keeps one hierarchy per controller, version 2 one for all; on some machines a user has a part of it
delegated. Each back end makes one group per run below the group that we are in ourselves.
"""

from __future__ import annotations

import os
import secrets
import time
from abc import ABC, abstractmethod
from pathlib import Path

from quintain.engine.sandbox.limits import Limits

ROOT = Path("/sys/fs/cgroup")


class ControlGroup(ABC):
    """A group made for one run."""

    folders: tuple[Path, ...]

    @property
    def entry_files(self) -> tuple[Path, ...]:
        """The files into which a process writes its id to enter."""
        return tuple(folder / "cgroup.procs" for folder in self.folders)

    @abstractmethod
    def memory_bytes(self) -> int:
        """Return the memory in use now, without the page cache that the kernel could drop."""

    @abstractmethod
    def own_bytes(self) -> int:
        """Return the memory in use now that belongs to this group alone: all but the pages of files on a disk."""

    @abstractmethod
    def cpu_seconds(self) -> float:
        """Return the CPU time used so far by all processes of the group."""

    @abstractmethod
    def out_of_memory(self) -> bool:
        """Whether the kernel had to kill a process for memory."""

    def processes(self) -> list[int]:
        """List the ids of the processes in the group."""
        try:
            return [int(line) for line in (self.folders[0] / "cgroup.procs").read_text().split()]
        except OSError:
            return []

    def close(self) -> None:
        """Remove the group; its processes must have ended, which may take the kernel a moment to notice."""
        for folder in self.folders:
            for _ in range(100):
                try:
                    folder.rmdir()
                    break
                except FileNotFoundError:
                    break
                except OSError:
                    time.sleep(0.01)


class Version1(ControlGroup):
    """Separate hierarchies for memory, processes and CPU accounting."""

    def __init__(self, limits: Limits) -> None:
        name = f"quintain-{os.getpid()}-{secrets.token_hex(6)}"
        own = _own_groups()
        self.memory, self.pids, self.cpu = (
            ROOT / controller / own.get(controller, "").strip("/") / name
            for controller in ("memory", "pids", "cpuacct")
        )
        self.folders = (self.memory, self.pids, self.cpu)
        try:
            for folder in self.folders:
                folder.mkdir()
            (self.memory / "memory.limit_in_bytes").write_text(str(limits.memory_bytes))
            (self.pids / "pids.max").write_text(str(limits.processes))
            swap = self.memory / "memory.memsw.limit_in_bytes"
            if swap.exists():
                swap.write_text(str(limits.memory_bytes))
        except OSError:
            self.close()
            raise

    def memory_bytes(self) -> int:
        """Return usage less inactive page cache."""
        usage = int((self.memory / "memory.usage_in_bytes").read_text())
        return max(0, usage - _stat(self.memory / "memory.stat", "total_inactive_file"))

    def own_bytes(self) -> int:
        """Return usage less page cache; temporary files and shared memory count as cache, and are kept."""
        usage = int((self.memory / "memory.usage_in_bytes").read_text())
        stat = self.memory / "memory.stat"
        return max(0, usage - _stat(stat, "total_cache") + _stat(stat, "total_shmem"))

    def cpu_seconds(self) -> float:
        """Return CPU time from the accounting controller."""
        return int((self.cpu / "cpuacct.usage").read_text()) / 1e9

    def out_of_memory(self) -> bool:
        """Read the kernel's count of kills."""
        return _stat(self.memory / "memory.oom_control", "oom_kill") > 0


class Version2(ControlGroup):
    """One hierarchy; works where memory and pids are enabled for our children."""

    def __init__(self, limits: Limits) -> None:
        parent = _version2_parent()
        enabled = (parent / "cgroup.subtree_control").read_text().split()
        if not {"memory", "pids"} <= set(enabled):
            raise OSError(f"memory and pids are not delegated below {parent}")
        folder = parent / f"quintain-{os.getpid()}-{secrets.token_hex(6)}"
        self.folders = (folder,)
        self.group = folder
        try:
            folder.mkdir()
            (folder / "memory.max").write_text(str(limits.memory_bytes))
            (folder / "pids.max").write_text(str(limits.processes))
            swap = folder / "memory.swap.max"
            if swap.exists():
                swap.write_text("0")
        except OSError:
            self.close()
            raise

    def memory_bytes(self) -> int:
        """Return usage less inactive page cache."""
        usage = int((self.group / "memory.current").read_text())
        return max(0, usage - _stat(self.group / "memory.stat", "inactive_file"))

    def own_bytes(self) -> int:
        """Return usage less page cache; temporary files and shared memory count as cache, and are kept."""
        usage = int((self.group / "memory.current").read_text())
        stat = self.group / "memory.stat"
        return max(0, usage - _stat(stat, "file") + _stat(stat, "shmem"))

    def cpu_seconds(self) -> float:
        """Return CPU time from the group's statistics."""
        return _stat(self.group / "cpu.stat", "usage_usec") / 1e6

    def out_of_memory(self) -> bool:
        """Read the kernel's count of kills."""
        return _stat(self.group / "memory.events", "oom_kill") > 0


def make_group(limits: Limits) -> ControlGroup | None:
    """Make a group with *limits*, by whichever back end this machine has; None where it has none for us."""
    for back_end in (Version2, Version1):
        try:
            return back_end(limits)
        except (OSError, StopIteration):
            continue
    return None


def _own_groups() -> dict[str, str]:
    groups: dict[str, str] = {}
    for line in Path("/proc/self/cgroup").read_text().splitlines():
        _, controllers, path = line.split(":", 2)
        for controller in controllers.split(","):
            groups[controller] = path
    return groups


def _version2_parent() -> Path:
    mount = next(path for path in (ROOT, ROOT / "unified") if (path / "cgroup.controllers").exists())
    own = mount / _own_groups().get("", "/").strip("/")
    # A group that holds processes cannot enable controllers for its children, so its parent may have to do.
    candidates = (own, own.parent) if own != mount else (own,)
    return next(
        path for path in candidates if "memory" in (path / "cgroup.subtree_control").read_text() or path == mount
    )


def _stat(path: Path, key: str) -> int:
    try:
        for line in path.read_text().splitlines():
            name, _, value = line.partition(" ")
            if name == key:
                return int(value)
    except OSError:
        return 0
    return 0
