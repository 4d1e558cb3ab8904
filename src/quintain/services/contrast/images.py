"""Images of examples: those of a project to choose from, and those that somebody uploads."""

from __future__ import annotations

from sqlalchemy.orm import Session

from quintain.core.errors import BadInput, Fault, NotFound
from quintain.core.people import Actor
from quintain.core.task import Task
from quintain.services.access.permissions import require_signed_in
from quintain.store.blobs import Blobs
from quintain.store.queries.contrast import projects as queries
from quintain.tasks.contract import kind_of

PREFIX = "blob:"
MAX_BYTES = 2_000_000
SHOWN = 60
# What begins so is an image of that type; what anybody else calls an image is not sent to a browser as one.
KINDS = {b"\x89PNG\r\n\x1a\n": "image/png", b"\xff\xd8\xff": "image/jpeg", b"GIF8": "image/gif"}


def keep_image(blobs: Blobs, content: bytes, field: str) -> str:
    """Keep an uploaded image, and give the name by which an example refers to it."""
    if len(content) > MAX_BYTES:
        raise BadInput(faults=[Fault("is larger than {most} MB", most=MAX_BYTES // 1_000_000, field=field)])
    if _kind_of(content) is None:
        raise BadInput(faults=[Fault("is neither a PNG, a JPEG, a GIF nor a WebP image", field=field)])
    return PREFIX + blobs.put(content)


def read_image(blobs: Blobs, actor: Actor, key: str) -> tuple[bytes, str]:
    """Give an image that was uploaded, and its media type; anything else that is kept is not one."""
    require_signed_in(actor)
    try:
        content = blobs.path(key).read_bytes()
    except (OSError, NotFound) as error:
        raise NotFound("There is no image '{key}'.", key=key) from error
    kind = _kind_of(content[:16])
    if kind is None:
        raise NotFound("There is no image '{key}'.", key=key)
    return content, kind


def gallery(db: Session, task: Task, project_id: int) -> list[str]:
    """List images of a project's examples, each once, to swap one for another."""
    names = [item.name for item in kind_of(task).fields(task) if item.type == "image"]
    rows = queries.example_images(db, project_id, limit=SHOWN)
    return list(dict.fromkeys(str(row[name]) for row in rows for name in names if row.get(name)))[:SHOWN]


def _kind_of(content: bytes) -> str | None:
    if content[:4] == b"RIFF" and content[8:12] == b"WEBP":
        return "image/webp"
    return next((kind for start, kind in KINDS.items() if content.startswith(start)), None)
