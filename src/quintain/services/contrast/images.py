"""Images of examples: those of a project to choose from, and those that somebody uploads."""

from __future__ import annotations

from sqlalchemy.orm import Session

from quintain.core.errors import BadInput, Fault, NotFound
from quintain.core.people import Actor
from quintain.core.task import Task
from quintain.data.images import PREFIX, image_fault, image_kind
from quintain.services.access.permissions import require_signed_in
from quintain.store.blobs import Blobs
from quintain.store.queries.contrast import projects as queries
from quintain.tasks.contract import kind_of

SHOWN = 60


def keep_image(blobs: Blobs, content: bytes, field: str) -> str:
    """Keep an uploaded image, and give the name by which an example refers to it."""
    fault = image_fault(content)
    if fault:
        raise BadInput(faults=[Fault(fault, field=field)])
    return PREFIX + blobs.put(content)


def read_image(blobs: Blobs, actor: Actor, key: str) -> tuple[bytes, str]:
    """Return an image that was uploaded, and its media type; anything else that is kept is not one."""
    require_signed_in(actor)
    try:
        content = blobs.path(key).read_bytes()
    except (OSError, NotFound) as error:
        raise NotFound("There is no image '{key}'.", key=key) from error
    kind = image_kind(content[:16])
    if kind is None:
        raise NotFound("There is no image '{key}'.", key=key)
    return content, kind


def gallery(db: Session, task: Task, project_id: int) -> list[str]:
    """List images of a project's examples, each once, to swap one for another."""
    names = [item.name for item in kind_of(task).fields(task) if item.type == "image"]
    rows = queries.example_images(db, project_id, limit=SHOWN)
    return list(dict.fromkeys(str(row[name]) for row in rows for name in names if row.get(name)))[:SHOWN]
