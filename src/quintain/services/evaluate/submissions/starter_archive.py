"""An archive to start from: a model of one adapter, packed as it is submitted."""

from __future__ import annotations

import tempfile
from pathlib import Path

from sqlalchemy.orm import Session

from quintain.adapters.contract import ADAPTERS
from quintain.adapters.scaffold import write_model
from quintain.core.errors import NotFound
from quintain.core.people import Actor, RoleName
from quintain.engine.archives import packed
from quintain.services.access.permissions import require_role
from quintain.services.tasks.definitions import get_task

NAME = "my-model"


def starter_archive(db: Session, actor: Actor, task: str, adapter: str = "") -> bytes:
    """Return a model of *adapter* for *task* to start from, as an archive.

    That of the default adapter answers every example alike and is accepted as it is; others say what is to be added.
    """
    require_role(actor, RoleName.BUILDER, RoleName.OWNER, task=task)
    definition = get_task(db, task)
    if adapter and adapter not in ADAPTERS:
        raise NotFound("There is no adapter '{name}'.", name=adapter, remedy="The page lists those that there are.")
    with tempfile.TemporaryDirectory(prefix="quintain-starter-") as scratch:
        folder = Path(scratch) / NAME
        write_model(folder, definition, name=NAME, adapter=adapter)
        with packed(folder, Path(scratch) / f"{NAME}.tar.gz") as archive:
            return archive.read_bytes()
