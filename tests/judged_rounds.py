"""Rounds whose attempts are judged, for tests: what was written stands in the tables at once."""

from __future__ import annotations

from hashlib import sha256
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session

from quintain.core.editing import EditOrigin
from quintain.core.people import Actor
from quintain.services.tasks import definitions as tasks
from quintain.services.validate.console import manage as validate
from quintain.store.database import transaction
from quintain.store.tables import Attempt, Round, RoundVersion, TaskRow
from tests.validation_support import TASK

ROUND = 'task = "mood"\ntitle = "Fool it"\n[targets]\nmodels = ["mood/m"]\n[reward]\namount = 30\nbonus = 20\n'
REF = "mood/1"


def key_of(text: str) -> str:
    """Give what two attempts with the same text have in common."""
    return sha256(text.encode()).hexdigest()


def attempt(writer: Actor | None, text: str, aim: str, *said: str, **more: Any) -> dict[str, Any]:
    """Make an attempt; each of *said* is what a model answered."""
    wrong = [one != aim for one in said]
    return {
        "user_id": writer.user_id if writer else None,
        "origin": "written" if writer else "harvested",
        "hash": f"{abs(hash(text)):032x}"[:32],
        "text_key": key_of(text),
        "inputs": {"text": text},
        "target": aim or None,
        "aim": aim,
        "predictions": [{"model": f"mood/m{n}", "answer": one, "fooled": one != aim} for n, one in enumerate(said)],
        "fooled": all(wrong),
        **more,
    }


def make_round(
    db: Session, owner: Actor, rows: list[dict[str, Any]], policy: str = "", *, definition: str = ROUND
) -> None:
    """Make round 1 with attempts, and open its validation."""
    tasks.put_task(db, owner, TASK, edit=EditOrigin(whole=True))
    with transaction(db):
        task_id = db.scalar(select(TaskRow.id))
        row = Round(task_id=task_id, number=1, state="open", entry_key="k")
        db.add(row)
        db.flush()
        db.add(RoundVersion(round_id=row.id, number=1, toml=definition))
        db.add_all(Attempt(round_id=row.id, **one) for one in rows)
    validate.open_validation(db, owner, REF, policy)
