"""Backups: one ZIP file with all rows and all blobs, made while the server runs, for either kind of database.

    manifest.json         format, version, moment, migration, and the row count and SHA-256 of every table
    tables/<name>.jsonl   one row per line
    blobs/<key>           named by their SHA-256

An archive of rows alone, as an upgrade writes, names the blobs that it leaves where they are instead of holding them.

Rows come from one snapshot. Blobs are taken afterwards: they are written before the rows that name them and never
change, so every blob that a row of the snapshot names is there.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import zipfile
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, cast

from sqlalchemy import Engine
from sqlalchemy.exc import DBAPIError
from sqlalchemy.orm import Session

from quintain import __version__
from quintain.core.errors import BadInput, Conflict, Unavailable
from quintain.core.jsontext import parse_json
from quintain.core.people import Actor
from quintain.core.texts import Text
from quintain.engine.archives import DAMAGE
from quintain.services.access import audit
from quintain.services.access.permissions import require_admin
from quintain.services.access.signing import sign_kept
from quintain.store import archive, migrate
from quintain.store.base import now
from quintain.store.blobs import FULL, Blobs
from quintain.store.database import transaction

FORMAT = 1
CHUNK = 1 << 20
AT_ONCE = 16  # blobs that travel at the same time: a store elsewhere answers each only after a while

Progress = Callable[[str, int, int], None]  # what is done, how many of it, of how many


def _quietly(what: str, done: int, total: int) -> None:
    """Tell nobody."""


@dataclass(frozen=True, slots=True)
class BackupInfo:
    """What a backup holds."""

    file: Path
    made_at: datetime
    version: str
    migration: str
    rows: dict[str, int]
    blobs: int
    size: int


@dataclass(frozen=True, slots=True)
class UpgradeReport:
    """What an upgrade did: nothing, where *migrations* is empty."""

    migrations: tuple[str, ...]
    backup: BackupInfo | None


def create_backup(
    db: Session, blobs: Blobs, actor: Actor, target: Path, *, force: bool = False, progress: Progress = _quietly
) -> BackupInfo:
    """Write a backup to *target*, which appears there whole or not at all; *progress* hears of each blob."""
    require_admin(actor)
    manifest = _write(db, blobs, target, force=force, progress=progress, rows_only=False)
    if not migrate.pending(_engine(db)):
        with transaction(db):
            audit.record(db, actor, "backup.create", target.name)
    return _info(target, manifest)


def _write(
    db: Session, blobs: Blobs, target: Path, *, force: bool, progress: Progress, rows_only: bool
) -> dict[str, Any]:
    if target.exists() and not force:
        raise Conflict(
            "{path} is there already.", path=target, remedy="Name another file, or overwrite it with --force."
        )
    with _partial(target) as partial:
        with archive.snapshot(_engine(db)) as snapshot:
            if snapshot.revision is None:
                raise Conflict("The database is empty: there is nothing to back up.", remedy="Make it first.")
            with zipfile.ZipFile(partial, "w", zipfile.ZIP_DEFLATED, compresslevel=6) as bundle:
                tables = {name: _write_table(bundle, name, snapshot.rows(name)) for name in snapshot.tables}
                keys = blobs.keys()
                if not rows_only:
                    _write_blobs(bundle, blobs, keys, progress)
                manifest = _manifest(snapshot.revision, tables, keys, rows_only=rows_only)
                bundle.writestr("manifest.json", json.dumps(manifest, indent=2))
        os.replace(partial, target)
    return manifest


def _write_blobs(bundle: zipfile.ZipFile, blobs: Blobs, keys: Sequence[str], progress: Progress) -> None:
    with ThreadPoolExecutor(AT_ONCE) as pool:
        for done, (key, path) in enumerate(zip(keys, pool.map(blobs.path, keys), strict=True), 1):
            bundle.write(path, f"blobs/{key}", zipfile.ZIP_STORED)
            progress("blobs", done, len(keys))


def check_backup(source: Path, *, progress: Progress = _quietly) -> BackupInfo:
    """Read all of *source*, compare every hash, and say what it holds; raise BadInput where it is broken."""
    with _opened(source) as (bundle, manifest), _reading(source):
        for name, expected in manifest["tables"].items():
            digest, rows = hashlib.sha256(), 0
            for line in _lines(bundle, name):
                digest.update(line)
                rows += 1
            if digest.hexdigest() != expected["sha256"] or rows != expected["rows"]:
                raise _broken(source, Text("table {name} is not what the manifest says", name=name))
        for done, key in enumerate(manifest["blobs"], 1):
            progress("checking", done, len(manifest["blobs"]))
            with bundle.open(f"blobs/{key}") as stream:
                if hashlib.file_digest(cast(Any, stream), "sha256").hexdigest() != key:
                    raise _broken(source, Text("blob {key} has other content", key=key))
        return _info(source, manifest)


def restore_backup(
    db: Session, blobs: Blobs, actor: Actor, source: Path, *, force: bool = False, progress: Progress = _quietly
) -> BackupInfo:
    """Put what *source* holds in the place of what is there; *force* is needed where that is not empty.

    The whole file is checked before anything is touched, and all rows are replaced in one transaction.
    """
    require_admin(actor)
    info = check_backup(source, progress=progress)
    engine = _engine(db)
    db.rollback()
    held = sum(archive.row_counts(engine).values())
    if held and not force:
        raise Conflict(
            "The workspace is not empty: its database has {held} rows.",
            held=held,
            remedy="Restore into a new workspace, or replace this one with --force.",
        )
    with _opened(source) as (bundle, manifest):
        _require_left(source, manifest, blobs)
        _put_blobs(bundle, manifest["blobs"], blobs, progress)
        try:
            archive.replace_all(
                engine, manifest["migration"], manifest["tables"], lambda name: _rows(bundle, source, name)
            )
        except DBAPIError as error:
            raise _broken(source, Text("the database does not take its rows ({orig})", orig=error.orig)) from error
    sign_kept(db, blobs)
    with transaction(db):
        # Whoever asks may not exist in what was restored, so the entry names nobody by id.
        audit.record(db, Actor(name=actor.name), "backup.restore", source.name)
    return info


def _require_left(source: Path, manifest: dict[str, Any], blobs: Blobs) -> None:
    """Refuse to restore rows alone where the blobs that they name are not."""
    left = set(manifest.get("left", []))
    missing = left - set(blobs.keys()) if left else left
    if missing:
        raise Conflict(
            "{source} holds rows alone, and {missing} of the {all} blobs that belong to them are not here.",
            source=source,
            missing=len(missing),
            all=len(left),
            remedy="Restore it into the workspace that it was made from. Nothing was changed.",
        )


def _put_blobs(bundle: zipfile.ZipFile, keys: Sequence[str], blobs: Blobs, progress: Progress) -> None:
    def put(key: str) -> None:
        if blobs.has(key):
            return
        with blobs.scratch() as path:
            with bundle.open(f"blobs/{key}") as stream, path.open("wb") as out:
                shutil.copyfileobj(stream, out, CHUNK)
            blobs.put_file(path)

    with ThreadPoolExecutor(AT_ONCE) as pool:
        for done, _ in enumerate(pool.map(put, keys), 1):
            progress("blobs", done, len(keys))


def upgrade_workspace(db: Session, blobs: Blobs, actor: Actor, folder: Path) -> UpgradeReport:
    """Run the missing migrations, after an archive of all rows into *folder*. Does nothing where none is missing.

    Blobs stay where they are: a migration changes rows alone, and a blob is never changed or removed.
    """
    require_admin(actor)
    engine = _engine(db)
    missing = migrate.pending(engine)
    if not missing:
        return UpgradeReport((), None)
    made = None
    if migrate.current(engine) is not None:
        file = folder / f"before-{missing[-1]}-{now():%Y%m%d-%H%M%S}.zip"
        made = _info(file, _write(db, blobs, file, force=False, progress=_quietly, rows_only=True))
    ran = migrate.upgrade(engine)
    sign_kept(db, blobs)
    with transaction(db):
        audit.record(db, actor, "upgrade", ran[-1] if ran else "", migrations=ran)
    return UpgradeReport(tuple(ran), made)


def default_file(folder: Path) -> Path:
    """Name a new backup in *folder* after the moment."""
    return folder / f"quintain-{now():%Y%m%d-%H%M%S}.zip"


def _engine(db: Session) -> Engine:
    return cast(Engine, db.get_bind())


def _write_table(bundle: zipfile.ZipFile, name: str, rows: Iterator[dict[str, Any]]) -> dict[str, Any]:
    digest, count = hashlib.sha256(), 0
    with bundle.open(f"tables/{name}.jsonl", "w", force_zip64=True) as out:
        for row in rows:
            line = json.dumps(row, separators=(",", ":")).encode() + b"\n"
            digest.update(line)
            out.write(line)
            count += 1
    return {"rows": count, "sha256": digest.hexdigest()}


def _lines(bundle: zipfile.ZipFile, table: str) -> Iterator[bytes]:
    with bundle.open(f"tables/{table}.jsonl") as stream:
        yield from stream


def _rows(bundle: zipfile.ZipFile, source: Path, table: str) -> Iterator[dict[str, Any]]:
    with _reading(source):
        for line in _lines(bundle, table):
            row = json.loads(line)  # its hash was checked: these are the rows that were written
            if not isinstance(row, dict):
                raise _broken(source, Text("table {table} has a row that is none", table=table))
            yield row


def _manifest(revision: str, tables: dict[str, Any], keys: list[str], *, rows_only: bool) -> dict[str, Any]:
    return {
        "format": FORMAT,
        "version": __version__,
        "made_at": now().isoformat(),
        "migration": revision,
        "tables": tables,
        "blobs": [] if rows_only else keys,
        **({"left": keys} if rows_only else {}),
    }


def _info(file: Path, manifest: dict[str, Any]) -> BackupInfo:
    return BackupInfo(
        file=file,
        made_at=datetime.fromisoformat(manifest["made_at"]),
        version=manifest["version"],
        migration=manifest["migration"],
        rows={name: table["rows"] for name, table in manifest["tables"].items()},
        blobs=len(manifest["blobs"]),
        size=file.stat().st_size,
    )


@contextmanager
def _partial(target: Path) -> Iterator[Path]:
    """Give a path beside *target* to write to; what is left of it afterwards is removed."""
    partial = target.with_name(f".{target.name}.partial-{os.getpid()}")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        partial.touch(0o600)  # all that is secret in a workspace is in it
        yield partial
    except OSError as error:
        reason = Text("the disk is full") if error.errno in FULL else error.strerror
        raise Unavailable(
            "The backup {path} was not written: {reason}.", path=target, reason=reason, remedy="Name another place."
        ) from error
    finally:
        if partial.exists():
            partial.unlink()


@contextmanager
def _opened(source: Path) -> Iterator[tuple[zipfile.ZipFile, dict[str, Any]]]:
    with _reading(source):
        bundle = zipfile.ZipFile(source)
    with bundle:
        with _reading(source):
            manifest = parse_json(bundle.read("manifest.json"))
            _info(source, manifest)
            if manifest["format"] != FORMAT:
                raise BadInput(
                    "{source} is a backup of format {format}, and this version reads {ours}.",
                    source=source,
                    format=manifest["format"],
                    ours=FORMAT,
                    remedy="Restore it with the version that made it.",
                )
        yield bundle, manifest


@contextmanager
def _reading(source: Path) -> Iterator[None]:
    """Explain what comes of reading a file that is missing, damaged or something else."""
    try:
        yield
    except FileNotFoundError as error:
        raise BadInput("There is no file {source}.", source=source, remedy="Check its name.") from error
    except (OSError, TypeError, AttributeError, *DAMAGE) as error:
        raise _broken(source, str(error) or type(error).__name__) from error


def _broken(source: Path, reason: str) -> BadInput:
    return BadInput(
        "{source} is not a backup, or it is damaged: {reason}.",
        source=source,
        reason=reason,
        remedy="Nothing was changed. Use another backup.",
    )
