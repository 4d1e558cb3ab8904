"""Archives from strangers: everything is looked at before it is written, and counted while it is read."""

from __future__ import annotations

import errno
import gzip
import lzma
import stat
import struct
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, cast

from quintain.core.errors import BadInput, Unavailable
from quintain.core.texts import Text, as_text

MIB = 1 << 20
BLOCK = 512
MAX_HEADER = MIB
MAX_NAME = 240
MAX_PATH = 1000
MAX_PARTS = 40
MAX_DIRECTORY = 64 * MIB
HEADERS_PER_ENTRY = 3
# Kinds of entries in a tar file: plain files, folders, and headers that carry a long name for the next entry.
FILES, FOLDERS, HEADERS = frozenset(b"\x000"), frozenset(b"5"), frozenset(b"xgLK")
# How a file begins, or what its first block holds, that is an archive of ours.
ZIP, GZIP, TAR = frozenset({b"PK\x03\x04", b"PK\x05\x06"}), b"\x1f\x8b", b"ustar"
# The others take memory or time that the archive itself decides on.
COMPRESSIONS = frozenset({zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED})
# How the standard library speaks of an archive that is damaged, cut off, encrypted or of a rare kind.
DAMAGE = (
    tarfile.TarError,
    zipfile.BadZipFile,
    zipfile.LargeZipFile,
    zlib.error,
    lzma.LZMAError,
    struct.error,
    gzip.BadGzipFile,
    EOFError,
    NotImplementedError,
    RuntimeError,
    ValueError,
    LookupError,
    ArithmeticError,
)
# What the machine is at fault for, not the archive.
OURS = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EIO, errno.EROFS, errno.EACCES, errno.EMFILE, errno.ENFILE})
REMEDY = Text("Pack plain files and folders only, with names below the model's folder.")


@dataclass(frozen=True, slots=True)
class ArchiveLimits:
    """The most that an archive may hold once it is unpacked. Folders count as files do."""

    files: int = 10_000
    size: int = 4096 * MIB


@dataclass(slots=True)
class _Door:
    """Checks every entry as it passes, and counts."""

    name: str | Text
    limits: ArchiveLimits
    files: set[str] = field(default_factory=set)
    folders: set[str] = field(default_factory=set)
    size: int = 0

    def refuse(self, what: str, /, **values: object) -> BadInput:
        return BadInput("The archive {name} {what}.", name=self.name, what=as_text(what, values), remedy=REMEDY)

    def enter(self, entry: str) -> str | None:
        """Return the safe relative name of *entry*, or None for the folder itself; refuse a path that leads outside."""
        parts = [part for part in entry.split("/") if part not in {"", "."}]
        if entry.startswith("/") or "\\" in entry or ":" in entry.partition("/")[0]:
            raise self.refuse("names {entry}, which is not a path below the model's folder", entry=repr(entry[:80]))
        if ".." in parts:
            raise self.refuse("names {entry}, which leads out of the model's folder", entry=repr(entry[:80]))
        if not entry.isprintable() or any(len(part.encode("utf-8", "replace")) > MAX_NAME for part in parts):
            raise self.refuse("has the name {entry}, which cannot be used", entry=repr(entry[:80]))
        if len(parts) > MAX_PARTS or len(entry.encode("utf-8", "replace")) > MAX_PATH:
            raise self.refuse("has the path {entry}…, which is too long", entry=repr(entry[:80]))
        return "/".join(parts) or None

    def count_file(self, name: str, size: int) -> None:
        """Count one file called *name*, and the folders that it lies in."""
        if name in self.files:
            raise self.refuse("holds {name} twice", name=repr(name))
        self.files.add(name)
        self.count_folder(name.rpartition("/")[0])
        self.grow(size)

    def count_folder(self, name: str) -> None:
        """Count a folder and those above it; the same one may come again."""
        while name and name not in self.folders:
            self.folders.add(name)
            name = name.rpartition("/")[0]
        if len(self.files) + len(self.folders) > self.limits.files:
            raise self.refuse("holds more than {files:,} files and folders", files=self.limits.files)

    def grow(self, size: int) -> None:
        """Count bytes."""
        self.size += size
        if self.size > self.limits.size:
            raise self.refuse("holds more than {size:,} MiB once it is unpacked", size=self.limits.size // MIB)


def is_archive(source: Path) -> bool:
    """Whether the file *source* begins as an archive does that can be unpacked."""
    start = _first_block(source)
    return start[:4] in ZIP or start[:2] == GZIP or start[257:262] == TAR


def _first_block(source: Path) -> bytes:
    with source.open("rb") as stream:
        return stream.read(BLOCK)


def unpack_archive(source: Path, folder: Path, limits: ArchiveLimits | None = None, *, name: str | Text = "") -> None:
    """Unpack the .tar, .tar.gz or .zip file *source* into *folder*, or refuse it with the reason.

    *name* is what follows the words "the archive" in a refusal: a file's name, or what it is of.

    Paths that lead elsewhere, links, devices, doubled names, too many files and too many bytes are refused; nothing is
    read further than the limit.
    """
    door = _Door(name or source.name, limits or ArchiveLimits())
    start = _first_block(source)
    folder.mkdir(parents=True, exist_ok=True)
    try:
        if start[:4] in ZIP:
            _unpack_zip(source, folder, door)
        elif start[:2] == GZIP:
            _unpack_tar(lambda: cast("IO[bytes]", gzip.GzipFile(source)), folder, door)
        elif start[257:262] == TAR:
            _unpack_tar(lambda: source.open("rb"), folder, door)
        else:
            raise BadInput(
                "The archive {name} is neither a .tar.gz, a .tar nor a .zip file.",
                name=door.name,
                remedy="Pack the folder as .tar.gz or as .zip.",
            )
    except DAMAGE as error:
        raise door.refuse("is damaged ({error})", error=str(error)[:200] or type(error).__name__) from error
    except (FileExistsError, NotADirectoryError, IsADirectoryError) as error:
        raise door.refuse("uses the same name for a file and for a folder") from error
    except OSError as error:
        if error.errno not in OURS:
            raise door.refuse("is damaged ({error})", error=error.strerror or error) from error
        raise Unavailable(
            "The archive {name} cannot be unpacked here: {error}.",
            name=door.name,
            error=error.strerror,
            remedy="Tell the operator.",
        ) from error


def model_root(folder: Path) -> Path:
    """Return the folder that holds the model: *folder*, or the one folder in it, as people often pack that."""
    inside = list(folder.iterdir())
    return inside[0] if len(inside) == 1 and inside[0].is_dir() else folder


def _unpack_tar(opened: Callable[[], IO[bytes]], folder: Path, door: _Door) -> None:
    with opened() as stream:
        _survey(stream, door)
    checked = _Door(door.name, door.limits)
    with opened() as stream, tarfile.open(fileobj=stream, mode="r|") as archive:
        for member in archive:
            name = checked.enter(member.name)
            if member.issparse() or not (member.isreg() or member.isdir()):
                raise door.refuse("holds {name}, which is neither a plain file nor a folder", name=repr(member.name))
            if member.isdir():
                checked.count_folder(name or "")
                (folder / (name or "")).mkdir(parents=True, exist_ok=True)
            elif name:
                checked.count_file(name, member.size)
                inner = archive.extractfile(member)
                if inner is not None:
                    _write(inner, folder / name, None, member.size)


def _survey(stream: IO[bytes], door: _Door) -> None:
    """Walk through the headers alone, so that a huge one is never held in memory and nothing is written before."""
    entries = 0
    while len(header := stream.read(BLOCK)) == BLOCK and header.count(0) < BLOCK:
        kind = header[156]
        size = max(0, tarfile.nti(header[124:136]))  # type: ignore[attr-defined]  # reads both ways to write a number
        if kind in HEADERS and size > MAX_HEADER:
            raise door.refuse("holds a header that is too large")
        if kind not in HEADERS | FILES | FOLDERS:
            shown = header[:100].rstrip(b"\0").decode("utf-8", "replace")
            raise door.refuse("holds {shown}, which is a link or a device, not a file", shown=repr(shown))
        door.grow(size)
        entries += 1
        if entries > HEADERS_PER_ENTRY * door.limits.files:
            raise door.refuse("holds more than {files:,} files and folders", files=door.limits.files)
        _skip(stream, -(-size // BLOCK) * BLOCK)


def _skip(stream: IO[bytes], size: int) -> None:
    while size > 0:
        part = stream.read(min(size, MIB))
        if not part:
            raise EOFError("it ends in the middle of a file")
        size -= len(part)


def _unpack_zip(source: Path, folder: Path, door: _Door) -> None:
    _check_directory(source, door)
    with zipfile.ZipFile(source) as archive:
        entries = list(_zip_entries(archive, door))
        door.size = 0  # what was declared is counted above; now what is really there
        for entry, name in entries:
            if entry.is_dir():
                (folder / name).mkdir(parents=True, exist_ok=True)
                continue
            with archive.open(entry) as inner:
                _write(inner, folder / name, door, entry.file_size)


def _check_directory(source: Path, door: _Door) -> None:
    """Refuse a list of entries that is too long to be held in memory, before it is read."""
    with source.open("rb") as stream:
        end = zipfile._EndRecData(stream)  # type: ignore[attr-defined]  # knows both forms of the record
    if end is not None and end[5] > MAX_DIRECTORY:
        raise door.refuse("holds more than {files:,} files and folders", files=door.limits.files)


def _zip_entries(archive: zipfile.ZipFile, door: _Door) -> Iterator[tuple[zipfile.ZipInfo, str]]:
    for entry in archive.infolist():
        shown = entry.orig_filename  # with what zipfile leaves out after a null character
        name = door.enter(shown)
        mode = entry.external_attr >> 16
        if mode and stat.S_IFMT(mode) not in {0, stat.S_IFREG, stat.S_IFDIR}:
            raise door.refuse("holds {shown}, which is a link or a device, not a file", shown=repr(shown))
        if entry.flag_bits & 1:
            raise door.refuse("holds {shown}, which is encrypted", shown=repr(shown))
        if entry.compress_type not in COMPRESSIONS:
            raise door.refuse(
                "holds {shown}, which is not compressed as ZIP files usually are (deflate)", shown=repr(shown)
            )
        if name is None:
            continue
        if entry.is_dir():
            door.count_folder(name)
        else:
            door.count_file(name, entry.file_size)
        yield entry, name


def _write(source: IO[bytes], target: Path, door: _Door | None, size: int) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    with target.open("xb") as stream:
        while part := source.read(MIB):
            if door is not None:
                door.grow(len(part))
            stream.write(part)
        if stream.tell() != size:
            raise EOFError(f"{target.name} has {stream.tell():,} bytes, and should have {size:,}")
    target.chmod(0o644)


@contextmanager
def packed(folder: Path, target: Path) -> Iterator[Path]:
    """Pack *folder* into the .tar.gz file *target*, the same bytes whenever its content is, and remove it after."""
    paths = sorted(path for path in folder.rglob("*") if not _is_litter(path.relative_to(folder)))
    # An upload that broke off is known by its bytes, so the archive must be the same when it is made again.
    with (
        target.open("wb") as raw,
        gzip.GzipFile(filename="", fileobj=raw, mode="wb", mtime=0, compresslevel=6) as stream,
        tarfile.open(fileobj=stream, mode="w", format=tarfile.PAX_FORMAT) as archive,
    ):
        for path in paths:
            if path.is_symlink() or not (path.is_file() or path.is_dir()):
                raise BadInput(
                    "{path} is neither a file nor a folder.", path=path, remedy="Copy what it stands for into place."
                )
            if path.is_file():
                member = tarfile.TarInfo(path.relative_to(folder).as_posix())
                member.size = path.stat().st_size
                member.mode = 0o644
                with path.open("rb") as file:
                    archive.addfile(member, file)
    try:
        yield target
    finally:
        target.unlink(missing_ok=True)


def _is_litter(path: Path) -> bool:
    """Whether a file is left behind by tools and no part of the model."""
    return any(part in {"__pycache__", ".git", ".venv", ".pytest_cache"} or part == ".DS_Store" for part in path.parts)
