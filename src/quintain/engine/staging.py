"""A model's folder in a state that nobody, the user inside the sandbox, can read."""

from __future__ import annotations

import os
import shutil
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from quintain.core.errors import BadInput
from quintain.engine.scratch import scratch


@contextmanager
def readable_folder(folder: Path) -> Iterator[Path]:
    """Yield *folder* itself where everybody may read it, else a copy that they may; refuse links in it."""
    if os.geteuid() != 0 or _open_to_all(folder):
        yield folder
        return
    with scratch("readable") as holder:
        copy = holder / "model"
        shutil.copytree(folder, copy, symlinks=True)
        for path in (copy, *copy.rglob("*")):
            if path.is_symlink():
                raise BadInput(
                    "{path} is a link; a model's folder may hold only files and folders.",
                    path=path.relative_to(copy),
                    remedy="Replace it by the file it points to.",
                )
            path.chmod(0o755 if path.is_dir() else 0o644)
        yield copy


def _open_to_all(folder: Path) -> bool:
    for path in (folder, *folder.rglob("*")):
        needed = stat.S_IROTH | stat.S_IXOTH if path.is_dir() else stat.S_IROTH
        if path.is_symlink() or path.stat().st_mode & needed != needed:
            return False
    return True
