"""Blobs in an object store such as S3, through fsspec, with a local folder as cache."""

from __future__ import annotations

import hashlib
import os
import posixpath
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import Any

from quintain.core.errors import BadInput, NotFound, OutOfOrder
from quintain.store.blobs import KEY, PASSING, Blobs
from quintain.store.state import State


def open_blobs(location: str, *, cache: Path, endpoint: str = "", state: State | None = None) -> Blobs:
    """Open the blobs at *location*: a folder, or a URL such as `s3://bucket/prefix` with *cache* as local copy."""
    if "://" not in location:
        return Blobs(Path(location), state)
    options = {"endpoint_url": endpoint} if endpoint else {}
    return RemoteBlobs(location, cache, state, **options)


class RemoteBlobs(Blobs):
    """An object store that holds the truth, and a folder that keeps what was used here.

    Content never changes under its key, so a file in the cache is never stale.
    """

    def __init__(self, url: str, cache: Path, state: State | None = None, **options: Any) -> None:
        super().__init__(cache, state)
        self.url = url
        try:
            import fsspec

            # A listing that was kept would hide what other processes have added since.
            self._remote, self._prefix = fsspec.core.url_to_fs(url, use_listings_cache=False, **options)
        except ImportError as error:
            raise OutOfOrder(
                "The library for {url}:// is not installed ({name}).",
                url=url.partition("://")[0],
                name=error.name or error,
                remedy="Install it with: pip install 'quintain[s3]'.",
            ) from error
        except ValueError as error:
            raise BadInput(
                "QUINTAIN_BLOBS_URL is '{url}': {error}.", url=url, error=error, remedy="Use s3://bucket/prefix."
            ) from error

    def path(self, key: str) -> Path:
        """Return a local path of the blob *key*, fetched first where it is not here yet."""
        local = self._path_of(key)
        if not local.exists():
            self._fetch(key)
        return local

    def has(self, key: str) -> bool:
        """Whether the object store holds the blob *key*."""
        self._path_of(key)
        with self._reaching():
            return bool(self._remote.exists(self._object(key)))

    def keys(self) -> list[str]:
        """List the keys of all blobs in the object store."""
        with self._reaching():
            names = (posixpath.basename(name) for name in self._remote.find(self._prefix))
            return sorted(name for name in names if KEY.fullmatch(name))

    def put_file(self, path: Path) -> str:
        """Keep the file at *path* here and in the object store, and give its key."""
        key = super().put_file(path)
        with self._reaching():
            if not self._remote.exists(self._object(key)):
                # An upload shows under its name when all of it has arrived, or never.
                self._remote.put_file(str(self._path_of(key)), self._object(key))
        return key

    def discard(self, keys: Iterable[str]) -> None:
        """Remove blobs here and in the object store that were added for what did not come to pass."""
        listed = list(keys)
        super().discard(listed)
        with self._reaching():
            for key in listed:
                if self._remote.exists(self._object(key)):
                    self._remote.rm_file(self._object(key))

    def put_passing(self, path: Path) -> str:
        """Keep a file for a while here and in the object store, where other machines find it."""
        name = super().put_passing(path)
        with self._reaching():
            self._remote.put_file(str(self._passing_root / name), self._passing_object(name))
        return name

    def passing(self, name: str) -> Path | None:
        """Return a local path of a file that was kept for a while, fetched first where it is not here yet."""
        known = super().passing(name)
        if known is not None or not PASSING.fullmatch(name):
            return known
        with self.scratch() as path, self._reaching():
            if not self._remote.exists(self._passing_object(name)):
                return None
            self._remote.get_file(self._passing_object(name), str(path))
            self._passing_root.mkdir(parents=True, exist_ok=True)
            os.replace(path, self._passing_root / name)
        return self._passing_root / name

    def drop_passing(self, before: datetime) -> None:
        """Throw files away that were kept for a while, here and in the object store."""
        super().drop_passing(before)
        with self._reaching():
            for name in self._remote.find(self._passing_object("")):
                if self._remote.modified(name) < before:
                    self._remote.rm_file(name)

    def check_writable(self) -> None:
        """Write a little and remove it again, here and there; raise OutOfOrder where that fails."""
        super().check_writable()
        with self._reaching():
            probe = f"{self._prefix}/scratch/probe"
            self._remote.pipe_file(probe, b"quintain")
            self._remote.rm_file(probe)

    def _fetch(self, key: str) -> None:
        with self.scratch() as path:
            with self._reaching():
                if not self._remote.exists(self._object(key)):
                    raise NotFound("The blob {key} is missing.", key=key, remedy="Restore it from a backup.")
                self._remote.get_file(self._object(key), str(path))
            with path.open("rb") as stream:
                arrived = hashlib.file_digest(stream, "sha256").hexdigest()
            if arrived != key:
                raise OutOfOrder(
                    "The blob {key} in {url} is damaged.", key=key, url=self.url, remedy="Restore it from a backup."
                )
            super().put_file(path)

    def _object(self, key: str) -> str:
        return f"{self._prefix}/{key[:2]}/{key}"

    def _passing_object(self, name: str) -> str:
        return f"{self._prefix}/passing/{name}".rstrip("/")

    @contextmanager
    def _reaching(self) -> Iterator[None]:
        """Explain what the object store's library raises; it has an exception for everything, and some are bare."""
        try:
            yield
        except (NotFound, OutOfOrder):
            raise
        except Exception as error:
            raise OutOfOrder(
                "The object store {url} cannot be used: {name}: {error}.",
                url=self.url,
                name=type(error).__name__,
                error=error,
                remedy="Check QUINTAIN_BLOBS_URL, the keys and that the bucket exists.",
                page="Tell the operator.",
            ) from error
