"""A data file with what belongs beside it: a .zip file of both, or a folder of uploads."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from quintain.core.errors import BadInput
from quintain.core.task import Task
from quintain.data.images import image_kind
from quintain.data.limits import FileLimits, check_limits
from quintain.engine.archives import ArchiveLimits, unpack_archive
from quintain.tasks.contract import kind_of

MOST_FILES = 50_000


@contextmanager
def data_file(source: Path, limits: FileLimits | None = None) -> Iterator[Path]:
    """Return the data file that *source* is, or that a .zip file holds beside images, while the block runs."""
    if source.suffix.lower() != ".zip" or not source.is_file():
        yield source
        return
    most = (limits or FileLimits()).size
    with tempfile.TemporaryDirectory(prefix="quintain-bundle-") as name:
        folder = Path(name) / "files"
        unpack_archive(source, folder, ArchiveLimits(files=MOST_FILES, size=most))
        path = find_data_file(folder, source.name)
        check_limits(path, limits or FileLimits())
        yield path


def find_data_file(folder: Path, called: str) -> Path:
    """Find the one file of a folder that is no image; *called* is what it came as."""
    files = [path for path in sorted(folder.rglob("*")) if path.is_file() and not _passed_over(path, folder)]
    data = [path for path in files if not _is_image(path)]
    if len(data) != 1:
        raise BadInput(
            "{called} holds {n} files that are no images, and the data is one.",
            called=called,
            n=len(data),
            remedy="Bring one data file, and the images that it names.",
        )
    return data[0]


def has_images(task: Task) -> bool:
    """Whether examples of a task have images."""
    return any(field.type == "image" for field in kind_of(task).fields(task))


def _passed_over(path: Path, folder: Path) -> bool:
    """Whether a file is one that a system put there by itself."""
    return any(part.startswith((".", "__MACOSX")) for part in path.relative_to(folder).parts)


def _is_image(path: Path) -> bool:
    with path.open("rb") as stream:
        return image_kind(stream.read(16)) is not None
