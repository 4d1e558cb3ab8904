"""Archives on their way in, part by part: what broke off is taken up where it stopped, and a part sent twice is one.

The parts lie in a file beside the blobs until the archive is whole. Where several machines serve one workspace without
a folder in common, a part that reaches another machine than the others is told to begin again there, and does.
"""

from __future__ import annotations

import hashlib
import re
import secrets
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

from sqlalchemy.orm import Session

from quintain.core.errors import BadInput, Conflict, NotFound, TooMany
from quintain.core.people import Actor
from quintain.services.access.permissions import require_sender, require_user
from quintain.store.base import now
from quintain.store.blobs import Blobs
from quintain.store.database import transaction
from quintain.store.queries.models import submissions as queries
from quintain.store.tables import Upload

MAX_UPLOAD = 2 << 30
MAX_PART = 2 << 20
MAX_OPEN = 5
KEPT = timedelta(days=2)
_SHA256 = re.compile(r"[0-9a-f]{64}")


@dataclass(frozen=True, slots=True)
class UploadInfo:
    """How far an upload is."""

    id: str
    size: int
    sha256: str
    received: int

    @property
    def complete(self) -> bool:
        """Whether every byte is there."""
        return self.received == self.size


def begin_upload(db: Session, blobs: Blobs, actor: Actor, *, size: int, sha256: str) -> UploadInfo:
    """Begin an upload of *size* bytes, or find the one of the same content that was begun before."""
    user_id = require_sender(actor)
    if not 0 < size <= MAX_UPLOAD:
        raise BadInput(
            "An archive of {size:,} bytes is refused; up to {most:,} bytes are taken.", size=size, most=MAX_UPLOAD
        )
    if not _SHA256.fullmatch(sha256):
        raise BadInput("The SHA-256 of the archive is not 64 hexadecimal digits.")
    with transaction(db):
        for old in queries.uploads_before(db, now() - KEPT):
            _drop(db, blobs, old)
        mine = queries.uploads_of(db, user_id)
        for row in mine:
            if (row.sha256, row.size) == (sha256, size):
                row.received = min(row.received, _size(_upload_path(blobs, row.id)))
                return _info(row)
        # One that is all here and was not registered (a name that is taken, a full quota) gives its place to the next.
        waiting = [row for row in mine if row.received == row.size]
        for row in waiting[: max(0, len(mine) - MAX_OPEN + 1)]:
            _drop(db, blobs, row)
        if len(mine) - len(waiting) >= MAX_OPEN:
            raise TooMany(
                "You have {n} uploads under way.",
                n=len(mine),
                retry_after=3600,
                remedy="Finish one of them.",
                code="quota_reached",
            )
        row = Upload(id=secrets.token_hex(16), user_id=user_id, size=size, sha256=sha256, received=0)
        db.add(row)
        _make(_upload_path(blobs, row.id))
        return _info(row)


def get_upload(db: Session, actor: Actor, upload_id: str) -> UploadInfo:
    """Return how far an upload of the actor's is."""
    return _info(_mine(db, actor, upload_id))


def append(db: Session, blobs: Blobs, actor: Actor, upload_id: str, offset: int, data: bytes) -> UploadInfo:
    """Add *data*, whose first byte is number *offset*. What is there already is left as it is."""
    if len(data) > MAX_PART:
        raise BadInput("A part has {n:,} bytes; at most {most:,} are taken at once.", n=len(data), most=MAX_PART)
    require_sender(actor)
    _count_again(db, blobs, actor, upload_id)
    with transaction(db):
        row = _mine(db, actor, upload_id, lock=True)
        if offset > row.received:
            raise Conflict(
                "The part begins at byte {offset:,}, and {received:,} bytes are here.",
                offset=offset,
                received=row.received,
                remedy="Go on at byte {received}.",
                code="wrong_offset",
            )
        if offset + len(data) > row.size:
            raise BadInput(
                "The upload was announced with {size:,} bytes, and this part goes beyond them.", size=row.size
            )
        fresh = data[row.received - offset :]
        if fresh:
            with _upload_path(blobs, row.id).open("r+b") as stream:
                stream.seek(row.received)
                stream.write(fresh)
            row.received += len(fresh)
        return _info(row)


def whole_upload(db: Session, blobs: Blobs, actor: Actor, upload_id: str) -> Path:
    """Return the file of an upload; one that is not complete, or not what was announced, is refused."""
    _count_again(db, blobs, actor, upload_id)
    row = _mine(db, actor, upload_id)
    path = _upload_path(blobs, row.id)
    if row.received != row.size:
        raise Conflict(
            "{received:,} of {size:,} bytes are here.",
            received=row.received,
            size=row.size,
            remedy="Go on at byte {received}.",
            code="wrong_offset",
        )
    with path.open("rb") as stream:
        digest = hashlib.file_digest(stream, "sha256").hexdigest()
    if digest != row.sha256:
        with transaction(db):
            _drop(db, blobs, row)
        raise BadInput("What arrived is not what was announced: its SHA-256 differs.", remedy="Send it again.")
    return path


def discard(db: Session, blobs: Blobs, actor: Actor, upload_id: str) -> None:
    """Forget an upload of the actor's and remove its file, where it is still there."""
    user_id = require_user(actor)
    with transaction(db):
        row = queries.upload(db, upload_id, lock=True)
        if row is not None and row.user_id == user_id:
            _drop(db, blobs, row)


def _count_again(db: Session, blobs: Blobs, actor: Actor, upload_id: str) -> None:
    """Note how much is really here: another machine may have taken the parts, or a disk may have lost them."""
    with transaction(db):
        row = _mine(db, actor, upload_id, lock=True)
        here = _size(_upload_path(blobs, row.id))
        row.received = min(row.received, here)
        if not here:
            _make(_upload_path(blobs, row.id))


def _make(path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.touch(mode=0o600)


def _mine(db: Session, actor: Actor, upload_id: str, *, lock: bool = False) -> Upload:
    user_id = require_user(actor)
    row = queries.upload(db, upload_id, lock=lock)
    if row is None or row.user_id != user_id:
        raise NotFound("There is no upload '{upload}' of yours.", upload=upload_id, remedy="Begin a new one.")
    return row


def _drop(db: Session, blobs: Blobs, row: Upload) -> None:
    _upload_path(blobs, row.id).unlink(missing_ok=True)
    queries.remove_upload(db, row.id)


def _upload_path(blobs: Blobs, upload_id: str) -> Path:
    return blobs.root / "uploads" / upload_id


def _size(path: Path) -> int:
    return path.stat().st_size if path.exists() else 0


def _info(row: Upload) -> UploadInfo:
    return UploadInfo(row.id, row.size, row.sha256, row.received)
