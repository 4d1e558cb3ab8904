"""People write at a model, and it answers at once."""

from __future__ import annotations

from pathlib import Path

import pytest
from sqlalchemy import func, select
from sqlalchemy.orm import Session

from quintain.core.people import Actor
from quintain.services.collect import confirm
from quintain.services.writing import get_session, start
from quintain.store.blobs import Blobs
from quintain.store.tables import Attempt
from tests.collecting import add_round, submit


def test_a_writer_fools_the_model_on_the_second_attempt(
    db: Session, blobs: Blobs, owner: Actor, worker: Actor, tmp_path: Path
) -> None:
    """The model's answer, its probabilities, the distance to the prompt and the attempts left come back at once."""
    info = add_round(db, blobs, owner, tmp_path)
    session = start(db, blobs, worker, info.ref)
    assert session.prompt is not None
    assert session.attempts_left == 10
    first = submit(db, blobs, worker, session.key, session.prompt.inputs["text"] + " It was bad.")
    assert (first.fooled, first.prediction, first.attempts_left) == (False, "negative", 9)
    assert first.probabilities == pytest.approx({"negative": 0.8, "neutral": 0.15, "positive": 0.05})
    assert first.edit_distance == len(" It was bad.")
    second = submit(db, blobs, worker, session.key, "It was good for nothing.")
    assert (second.fooled, second.prediction, second.ask, second.ended) == (True, "positive", "confirm", False)
    done = confirm(db, worker, second.attempt_id, True)
    assert (done.outcome, done.attempts_left) == ("fooled", 0)
    assert get_session(db, worker, session.key).outcome == "fooled"
    assert db.scalar(select(func.count()).select_from(Attempt)) == 2
