"""A program of our own without a sandbox around it: the same layout of files, made of links in a folder of its own.

This is how built-in models are measured where bubblewrap does not start: in a process of their own, so that time and
memory are theirs, and with the paths that they would find inside.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from quintain.engine.sandbox.command import Mount


@dataclass(frozen=True, slots=True)
class Layout:
    """Where the program finds what it would find at a path inside the sandbox; without a *root* that is the path."""

    root: str = ""
    targets: tuple[str, ...] = ()

    def find(self, path: str) -> str:
        """Return *path* as the program sees it: below the root where something is laid out there, else as it is."""
        shown = any(
            path == target or path.startswith(f"{target}/") or target.startswith(f"{path}/") for target in self.targets
        )
        return f"{self.root}{path}" if shown else path


@contextmanager
def laid_out(mounts: Sequence[Mount]) -> Iterator[Layout]:
    """Link every one of *mounts* to its place below a folder that is removed afterwards."""
    moved = [mount for mount in mounts if str(mount.source) != mount.target]
    with tempfile.TemporaryDirectory(prefix="quintain-bare-") as root:
        for mount in moved:
            link = Path(f"{root}{mount.target}")
            link.parent.mkdir(parents=True, exist_ok=True)
            link.symlink_to(mount.source.absolute())
        yield Layout(root, tuple(mount.target for mount in moved))
