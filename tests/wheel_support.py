"""Released rounds on which models have answered, for tests: judgements and answers stand in the tables at once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from io import BytesIO
from pathlib import Path

import polars as pl
from sqlalchemy.orm import Session

from quintain.compose import Workspace
from quintain.core.people import Actor
from quintain.services.data.content import scan
from quintain.services.data.datasets import get_version
from quintain.services.models.registry import get_model
from quintain.services.release.releases import parse_release, release
from quintain.store.base import now
from quintain.store.database import transaction
from quintain.store.tables import Cell
from tests.evaluation import add_model
from tests.released import REF, Made, judged_round, mood_items
from tests.validation_support import LABELS

TEST = "mood/round-1-test@1"
SPEC = 'dev = 0\ntest = {test}\nwriters = "any"\neven = []\nchecked = []\nhidden = {hidden}\n'


def disputed(items: Sequence[Made], every: int = 2) -> list[Made]:
    """Let one of five judges disagree on every second item (or so)."""

    def other(label: str) -> str:
        return LABELS[(LABELS.index(label) + 1) % len(LABELS)]

    return [
        replace(one, votes=(*one.votes[:4], other(one.votes[0]))) if at % every == 0 else one
        for at, one in enumerate(items)
    ]


def released_round(
    db: Session, workspace: Workspace, owner: Actor, *, test: int = 108, per_cell: int = 15, hidden: bool = True
) -> None:
    """Make round 1 of `mood`, judged and released with a test of so many items."""
    judged_round(db, owner, disputed(mood_items(per_cell)))
    spec = SPEC.format(test=test, hidden=str(hidden).lower())
    release(db, workspace.blobs, owner, REF, parse_release(spec))


def answered(
    db: Session, workspace: Workspace, owner: Actor, folder: Path, name: str, say: Callable[[int, str], str]
) -> str:
    """Add a model that has been run on the test: it said *say(place, gold)*; give its reference."""
    add_model(db, workspace.blobs, owner, folder, name=name, code=f"# {name}\ndef predict(batch): return batch\n")
    examples = scan(db, workspace.blobs, owner, TEST, answers=True).collect()
    said = [say(at, gold) for at, gold in enumerate(examples["answer"].to_list())]
    buffer = BytesIO()
    pl.DataFrame({"id": examples["id"], "prediction": said}).write_parquet(buffer)
    version = get_model(db, owner, f"mood/{name}").version
    with transaction(db):
        db.add(
            Cell(
                model_version_id=version.id,
                dataset_version_id=get_version(db, owner, TEST).id,
                variant="plain",
                state="done",
                predictions=workspace.blobs.put(buffer.getvalue()),
                finished_at=now(),
            )
        )
    return version.ref


def perfect(at: int, gold: str) -> str:
    """Be right."""
    return gold


def half(at: int, gold: str) -> str:
    """Be right on every second item."""
    return gold if at % 2 else LABELS[(LABELS.index(gold) + 1) % len(LABELS)]
