"""Files named by their content, written whole or not at all."""

from __future__ import annotations

import errno
import hashlib
import os
import re
import secrets
import shutil
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from datetime import datetime
from pathlib import Path

from quintain.core.errors import NotFound, OutOfOrder
from quintain.store.state import State

FULL = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}
KEY = re.compile(r"[0-9a-f]{64}")
PASSING = re.compile(r"[0-9a-f]{32}\.[a-z]+")


class Blobs:
    """A content-addressed folder. The key of a blob is the SHA-256 of its bytes."""

    def __init__(self, root: Path, state: State | None = None) -> None:
        self.root = root.absolute()  # tempfile gives absolute paths, and they are compared
        self.state = state or State()  # what the workspace remembers, such as models that were loaded from here

    def path(self, key: str) -> Path:
        """Return the local path of the blob *key*. The file must not be changed."""
        path = self._path_of(key)
        if not path.exists():
            raise NotFound("The blob {key} is missing.", key=key, remedy="Restore it from a backup.")
        return path

    def has(self, key: str) -> bool:
        """Whether the blob *key* is there."""
        return self._path_of(key).exists()

    def keys(self) -> list[str]:
        """List the keys of all blobs."""
        return sorted(path.name for path in self.root.glob("??/*") if KEY.fullmatch(path.name))

    def size(self) -> int:
        """Count the bytes that all blobs take."""
        return sum(
            entry.stat().st_size
            for folder in self.root.glob("??")
            for entry in os.scandir(folder)
            if KEY.fullmatch(entry.name)
        )

    def put(self, data: bytes) -> str:
        """Keep *data* and give its key."""
        with self.scratch() as path:
            path.write_bytes(data)
            return self.put_file(path)

    def put_file(self, path: Path) -> str:
        """Keep the file at *path*, which is moved in where it lies in our scratch folder, and give its key."""
        if path.parent != self._scratch_root:
            with self.scratch() as copy:
                shutil.copyfile(path, copy)
                return self.put_file(copy)
        with path.open("rb") as stream:
            key = hashlib.file_digest(stream, "sha256").hexdigest()
            # Bytes first, name second: after a power cut a name never points to half a file.
            os.fsync(stream.fileno())
        target = self._path_of(key)
        if not target.exists():
            with self._explaining():
                target.parent.mkdir(parents=True, exist_ok=True)
                path.chmod(0o644)
                os.replace(path, target)
                _sync_folder(target.parent)
        return key

    def discard(self, keys: Iterable[str]) -> None:
        """Remove blobs that were added for what did not come to pass. No row may name them."""
        for key in keys:
            path = self._path_of(key)
            path.unlink(missing_ok=True)
            with suppress(OSError):  # others are in the folder, or it was never made
                path.parent.rmdir()

    def put_passing(self, path: Path) -> str:
        """Keep a file of the scratch folder for a while, under a new name with its ending, and give that name.

        Unlike a blob it is nobody else's, is in no backup, and is thrown away by `drop_passing`.
        """
        name = f"{secrets.token_hex(16)}{path.suffix}"
        with self._explaining():
            self._passing_root.mkdir(parents=True, exist_ok=True)
            os.replace(path, self._passing_root / name)
        return name

    def passing(self, name: str) -> Path | None:
        """Return the local path of a file that was kept for a while; None where it was thrown away."""
        path = self._passing_root / name
        return path if PASSING.fullmatch(name) and path.exists() else None

    def drop_passing(self, before: datetime) -> None:
        """Throw files away that were kept for a while, those that were written before a moment."""
        for path in self._passing_root.glob("*"):
            if path.stat().st_mtime < before.timestamp():
                path.unlink(missing_ok=True)

    @contextmanager
    def scratch(self, suffix: str = "") -> Iterator[Path]:
        """Yield a path to write to on the same disk; what is left there afterwards is removed."""
        with self._explaining():
            self._scratch_root.mkdir(parents=True, exist_ok=True)
            handle, name = tempfile.mkstemp(dir=self._scratch_root, suffix=suffix)
            os.close(handle)
            path = Path(name)
            try:
                yield path
            finally:
                path.unlink(missing_ok=True)

    def check_writable(self) -> None:
        """Write a little and remove it again; raise OutOfOrder where that fails."""
        try:
            with self.scratch() as path:
                path.write_bytes(b"quintain")
        except OSError as error:
            raise OutOfOrder(
                "The folder {root} cannot be written to: {strerror}.",
                root=self.root,
                strerror=error.strerror,
                remedy="Check who owns it, and that its disk is mounted for writing.",
                page="Tell the operator.",
            ) from error

    def _path_of(self, key: str) -> Path:
        if not KEY.fullmatch(key):
            raise NotFound("'{key}' is not the key of a blob.", key=key)
        return self.root / key[:2] / key

    @property
    def _scratch_root(self) -> Path:
        return self.root / "scratch"

    @property
    def _passing_root(self) -> Path:
        return self.root / "passing"

    @contextmanager
    def _explaining(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            if error.errno in FULL:
                raise OutOfOrder(
                    "The disk that holds {root} is full; nothing was written.",
                    root=self.root,
                    remedy="Free some space and retry.",
                    page="Tell the operator.",
                ) from error
            raise


def _sync_folder(folder: Path) -> None:
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
