"""The file that a backup is: one ZIP file with all rows and all blobs, for either kind of database.

    manifest.json         format, version, moment, migration, and of every table how many rows it has, the SHA-256 of
                          its file, a checksum of its rows in any order, and which of its nulls are JSON's
    tables/<name>.jsonl   one row per line
    blobs/<key>           named by their SHA-256

An archive of rows alone, as an upgrade writes, names the blobs that it leaves where they are instead of holding them.

JSON's null and a missing value are both written as null. The manifest lists the rows, as ranges from 0, in which a
column that may lack a value holds JSON's null; a column that may not lack one holds no other null. Files without such a
list, from before, are read by the second rule alone.
"""

from __future__ import annotations

import hashlib
import json
import os
import sys
import zipfile
from array import array
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, cast

from quintain import __version__
from quintain.core.errors import BadInput, Conflict, OutOfOrder
from quintain.core.jsontext import parse_json
from quintain.core.texts import Text
from quintain.engine.archives import DAMAGE
from quintain.store.archive import JSON_NULL, DatabaseSnapshot
from quintain.store.base import now
from quintain.store.blobs import FULL, Blobs
from quintain.store.row_sums import RowSum

FORMAT = 1
NO_RANGE = (sys.maxsize, 0)
AT_ONCE = 16  # blobs that travel at the same time: a store elsewhere answers each only after a while

Progress = Callable[[str, int, int], None]  # what is done, how many of it, of how many


class Broken(BadInput):
    """A file is no backup, or a damaged one; *reason* says what is wrong with it."""

    def __init__(self, source: Path, reason: object) -> None:
        super().__init__(
            "{source} is not a backup, or it is damaged: {reason}.",
            source=source,
            reason=reason,
            remedy="Nothing was changed. Use another backup.",
        )
        self.reason = reason


@dataclass(frozen=True, slots=True)
class BackupInfo:
    """What a backup holds; *verified* says whether it was restored, on trial where it was only made."""

    file: Path
    made_at: datetime
    version: str
    migration: str
    rows: dict[str, int]
    blobs: int
    size: int
    verified: bool = False


@dataclass(frozen=True, slots=True)
class BackupFile:
    """A backup that is open for reading."""

    path: Path
    bundle: zipfile.ZipFile
    manifest: dict[str, Any]

    @property
    def tables(self) -> list[str]:
        """The names of the tables that it holds."""
        return list(self.manifest["tables"])

    @property
    def migration(self) -> str:
        """The newest migration that was run on the database."""
        return str(self.manifest["migration"])

    def info(self, *, verified: bool = False) -> BackupInfo:
        """Return what it holds."""
        return info_of(self.path, self.manifest, verified=verified)

    def rows(self, table: str) -> Iterator[dict[str, Any]]:
        """Go through the rows of *table*, whose hash was checked: these are the rows that were written."""
        with reading(self.path):
            nulls = _NullRows(self.manifest["tables"][table].get("json_null", {}))
            for number, line in enumerate(self._lines(table)):
                row = json.loads(line)
                if not isinstance(row, dict):
                    raise Broken(self.path, Text("table {table} has a row that is none", table=table))
                for column in nulls.columns(number):
                    row[column] = JSON_NULL
                yield row

    def check(self, progress: Progress) -> None:
        """Read all of it and compare every hash; raise BadInput where it is broken."""
        with reading(self.path):
            for name, expected in self.manifest["tables"].items():
                digest, rows = hashlib.sha256(), 0
                for line in self._lines(name):
                    digest.update(line)
                    rows += 1
                if digest.hexdigest() != expected["sha256"] or rows != expected["rows"]:
                    raise Broken(self.path, Text("table {name} is not what the manifest says", name=name))
            for done, key in enumerate(self.manifest["blobs"], 1):
                progress("checking", done, len(self.manifest["blobs"]))
                with self.bundle.open(f"blobs/{key}") as stream:
                    if hashlib.file_digest(cast(Any, stream), "sha256").hexdigest() != key:
                        raise Broken(self.path, Text("blob {key} has other content", key=key))

    def _lines(self, table: str) -> Iterator[bytes]:
        with self.bundle.open(f"tables/{table}.jsonl") as stream:
            yield from stream


def write(
    path: Path, snapshot: DatabaseSnapshot, blobs: Blobs, *, rows_only: bool, progress: Progress
) -> dict[str, Any]:
    """Write the rows of *snapshot* and all blobs to *path*; give the manifest."""
    if snapshot.revision is None:
        raise Conflict("The database is empty: there is nothing to back up.", remedy="Make it first.")
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=6) as bundle:
        tables = {name: _write_table(bundle, name, snapshot.rows(name)) for name in snapshot.tables}
        keys = blobs.keys()
        if not rows_only:
            _write_blobs(bundle, blobs, keys, progress)
        manifest = {
            "format": FORMAT,
            "version": __version__,
            "made_at": now().isoformat(),
            "migration": snapshot.revision,
            "tables": tables,
            "blobs": [] if rows_only else keys,
            **({"left": keys} if rows_only else {}),
        }
        bundle.writestr("manifest.json", json.dumps(manifest, indent=2))
    return manifest


def _write_blobs(bundle: zipfile.ZipFile, blobs: Blobs, keys: Sequence[str], progress: Progress) -> None:
    with ThreadPoolExecutor(AT_ONCE) as pool:
        for done, (key, path) in enumerate(zip(keys, pool.map(blobs.path, keys), strict=True), 1):
            bundle.write(path, f"blobs/{key}", zipfile.ZIP_STORED)
            progress("blobs", done, len(keys))


def _write_table(bundle: zipfile.ZipFile, name: str, rows: Iterator[dict[str, Any]]) -> dict[str, Any]:
    digest, total, nulls = hashlib.sha256(), RowSum(), _NullRanges()
    with bundle.open(f"tables/{name}.jsonl", "w", force_zip64=True) as out:
        for number, row in enumerate(total.passing(rows)):
            line = json.dumps(nulls.written(number, row), separators=(",", ":")).encode() + b"\n"
            digest.update(line)
            out.write(line)
    listed = {"json_null": nulls.plain()} if nulls.plain() else {}
    return {"rows": total.rows, "sha256": digest.hexdigest(), "content": total.digest, **listed}


class _NullRanges:
    """Collects in which rows a column holds JSON's null: first row and how many, one pair after another."""

    def __init__(self) -> None:
        self._ranges: dict[str, array[int]] = {}

    def written(self, number: int, row: dict[str, Any]) -> dict[str, Any]:
        """Return the row with the given number as it is written, and remember its nulls."""
        names = [name for name, value in row.items() if value is JSON_NULL]
        for name in names:
            ranges = self._ranges.setdefault(name, array("Q"))
            if ranges and ranges[-2] + ranges[-1] == number:
                ranges[-1] += 1
            else:
                ranges.extend((number, 1))
        return {**row, **dict.fromkeys(names)} if names else row

    def plain(self) -> dict[str, list[int]]:
        """Return the ranges of every column that has one."""
        return {name: ranges.tolist() for name, ranges in self._ranges.items()}


class _NullRows:
    """Says, row after row, which columns hold JSON's null."""

    def __init__(self, ranges: Mapping[str, Sequence[int]]) -> None:
        self._left = {name: iter(zip(listed[::2], listed[1::2], strict=True)) for name, listed in ranges.items()}
        self._range = {name: next(left, NO_RANGE) for name, left in self._left.items()}

    def columns(self, number: int) -> list[str]:
        """Name the columns of the row with the given number; numbers must rise."""
        names = []
        for name, left in self._left.items():
            if number >= sum(self._range[name]):
                self._range[name] = next(left, NO_RANGE)
            first, count = self._range[name]
            if first <= number < first + count:
                names.append(name)
        return names


@contextmanager
def opened(source: Path) -> Iterator[BackupFile]:
    """Open the backup *source*; raise BadInput where it is none, or of another format."""
    with reading(source):
        bundle = zipfile.ZipFile(source)
    with bundle:
        with reading(source):
            manifest = parse_json(bundle.read("manifest.json"))
            info_of(source, manifest)
            if manifest["format"] != FORMAT:
                raise BadInput(
                    "{source} is a backup of format {format}, and this version reads {ours}.",
                    source=source,
                    format=manifest["format"],
                    ours=FORMAT,
                    remedy="Restore it with the version that made it.",
                )
        yield BackupFile(source, bundle, manifest)


def info_of(file: Path, manifest: dict[str, Any], *, verified: bool = False) -> BackupInfo:
    """Return what the backup in *file* holds, by its manifest."""
    return BackupInfo(
        file=file,
        made_at=datetime.fromisoformat(manifest["made_at"]),
        version=manifest["version"],
        migration=manifest["migration"],
        rows={name: table["rows"] for name, table in manifest["tables"].items()},
        blobs=len(manifest["blobs"]),
        size=file.stat().st_size,
        verified=verified,
    )


@contextmanager
def partial(target: Path) -> Iterator[Path]:
    """Yield a path beside *target* to write to; what is left of it afterwards is removed."""
    path = target.with_name(f".{target.name}.partial-{os.getpid()}")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        path.touch(0o600)  # all that is secret in a workspace is in it
        yield path
    except OSError as error:
        reason = Text("the disk is full") if error.errno in FULL else error.strerror
        raise OutOfOrder(
            "The backup {path} was not written: {reason}.", path=target, reason=reason, remedy="Name another place."
        ) from error
    finally:
        if path.exists():
            path.unlink()


@contextmanager
def reading(source: Path) -> Iterator[None]:
    """Explain what comes of reading a file that is missing, damaged or something else."""
    try:
        yield
    except FileNotFoundError as error:
        raise BadInput("There is no file {source}.", source=source, remedy="Check its name.") from error
    except (OSError, TypeError, AttributeError, *DAMAGE) as error:
        raise Broken(source, str(error) or type(error).__name__) from error
