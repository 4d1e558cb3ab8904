"""Files named by their content, written whole or not at all."""

from __future__ import annotations

import errno
import hashlib
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from quintain.core.errors import NotFound, Unavailable

CHUNK = 1 << 20


class Blobs:
    """A content-addressed folder. The key of a blob is the SHA-256 of its bytes."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def path(self, key: str) -> Path:
        """Give the local path of the blob *key*."""
        path = self.root / key[:2] / key
        if not path.exists():
            raise NotFound(f"The blob {key} is missing from {self.root}.", remedy="Restore it from a backup.")
        return path

    def has(self, key: str) -> bool:
        """Say whether the blob *key* is there."""
        return (self.root / key[:2] / key).exists()

    def put(self, data: bytes) -> str:
        """Keep *data* and give its key."""
        with self.scratch() as path:
            path.write_bytes(data)
            return self.put_file(path)

    def put_file(self, path: Path) -> str:
        """Keep the file at *path*, which is moved in where it lies in our scratch folder, and give its key."""
        with path.open("rb") as stream:
            key = hashlib.file_digest(stream, "sha256").hexdigest()
        target = self.root / key[:2] / key
        if target.exists():
            return key
        with self._explaining():
            target.parent.mkdir(parents=True, exist_ok=True)
            if path.parent == self._scratch_root:
                os.replace(path, target)
            else:
                with self.scratch() as copy:
                    shutil.copyfile(path, copy)
                    os.replace(copy, target)
        return key

    @contextmanager
    def scratch(self, suffix: str = "") -> Iterator[Path]:
        """Give a path to write to on the same disk; what is left there afterwards is removed."""
        with self._explaining():
            self._scratch_root.mkdir(parents=True, exist_ok=True)
            handle, name = tempfile.mkstemp(dir=self._scratch_root, suffix=suffix)
            os.close(handle)
            path = Path(name)
            try:
                yield path
            finally:
                path.unlink(missing_ok=True)

    @property
    def _scratch_root(self) -> Path:
        return self.root / "scratch"

    @contextmanager
    def _explaining(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            if error.errno in {errno.ENOSPC, errno.EDQUOT}:
                raise Unavailable(
                    f"The disk that holds {self.root} is full; nothing was written.",
                    remedy="Free some space and retry.",
                ) from error
            raise
