"""What the front page asks of the database, on both of them."""

from __future__ import annotations

import pytest
from sqlalchemy import update
from sqlalchemy.orm import Session

from quintain.core.people import Actor
from quintain.core.records.house import WaitingKind
from quintain.services.board.assemble import board
from quintain.services.board.standings import make_standing, over_rounds
from quintain.services.collect.rounds.manage import list_rounds
from quintain.services.house.browse import task_cards
from quintain.services.house.front import last_movements
from quintain.services.house.waiting import waiting_for
from quintain.services.models.registry import model_lines
from quintain.services.validate.judging.claim_page import claim_page
from quintain.store.base import now
from quintain.store.blobs import Blobs
from quintain.store.tables import Round
from tests.judged_rounds import attempt, make_round
from tests.validation_support import make_judges

pytestmark = pytest.mark.both_databases


def test_the_front_page_asks_both_databases_the_same(db: Session, blobs: Blobs, owner: Actor) -> None:
    """A judge is led to what is left for them and to the page they hold; a closed round has moved its task."""
    judge, writer = make_judges(db, 2)
    make_round(db, owner, [attempt(writer, "So so.", "negative", "positive")], 'items = "all"')
    assert [(one.kind, one.url, one.begun) for one in waiting_for(db, judge)] == [
        (WaitingKind.WRITE, "/tasks/mood/rounds/1/write", False),
        (WaitingKind.JUDGE, "/tasks/mood/judge/1", False),
    ]
    assert WaitingKind.JUDGE not in {one.kind for one in waiting_for(db, writer)}  # nobody judges their own
    page = claim_page(db, judge, "mood/1")
    assert page is not None
    assert (WaitingKind.JUDGE, f"/judge/{page.token}", True) in [
        (one.kind, one.url, one.begun) for one in waiting_for(db, judge)
    ]
    db.execute(update(Round).values(state="closed", closed_at=now()))
    db.commit()
    assert last_movements(db, list_rounds(db, judge))["mood"].name == "1"
    assert [card.models for card in task_cards(db, owner)] == [0]
    assert model_lines(db, owner, "mood") == []
    assert make_standing(db, blobs, "mood").places == ()
    assert over_rounds(db, board(db, blobs, owner, "mood")) == {}
