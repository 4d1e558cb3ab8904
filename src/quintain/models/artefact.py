"""A model's folder as one file, the same bytes whenever its content is the same."""

from __future__ import annotations

import shutil
import tarfile
from pathlib import Path, PurePosixPath

from quintain.core.errors import BadInput


def pack(folder: Path, target: Path) -> None:
    """Write the files of *folder* into the tar file *target*: sorted by name, without times, owners or modes."""
    paths = sorted(folder.rglob("*"), key=lambda path: path.relative_to(folder).as_posix())
    with tarfile.open(target, "w", format=tarfile.PAX_FORMAT) as archive:
        for path in paths:
            name = path.relative_to(folder).as_posix()
            if path.is_symlink() or not (path.is_file() or path.is_dir()):
                raise BadInput(
                    "{path} is neither a file nor a folder.", path=path, remedy="Copy what it stands for into place."
                )
            if path.is_dir():
                continue
            member = tarfile.TarInfo(name)
            member.size = path.stat().st_size
            member.mode = 0o644
            with path.open("rb") as stream:
                archive.addfile(member, stream)


def unpack(source: Path, folder: Path) -> None:
    """Write the files of the tar file *source* into *folder*; nothing may land outside of it."""
    folder.mkdir(parents=True, exist_ok=True)
    try:
        with tarfile.open(source, "r") as archive:
            for member in archive:
                target = _inside(folder, member)
                target.parent.mkdir(parents=True, exist_ok=True)
                content = archive.extractfile(member)
                if content is None:
                    raise tarfile.ExtractError(f"{member.name!r} has no content")
                with content, target.open("wb") as stream:
                    shutil.copyfileobj(content, stream)
                target.chmod(0o644)
    except tarfile.TarError as error:
        raise BadInput("The artefact {name} cannot be unpacked ({error}).", name=source.name, error=error) from error


def _inside(folder: Path, member: tarfile.TarInfo) -> Path:
    """Return the path of *member* below *folder*, or refuse it: `pack` writes plain files with plain names only.

    The standard library has a filter for this, but not in every release of the Python versions that we run on.
    """
    name = PurePosixPath(member.name)
    if not member.isreg() or name.is_absolute() or ".." in name.parts or not name.parts:
        raise tarfile.ExtractError(f"{member.name!r} is not a file below the model's folder")
    return folder.joinpath(*name.parts)
