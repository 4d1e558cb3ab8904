"""Messages for what opens, finishes, needs a decision or pays: once each, to those whom it concerns."""

from __future__ import annotations

from collections import Counter

import pytest
from sqlalchemy import select, update
from sqlalchemy.orm import Session

from quintain.compose import Workspace
from quintain.core.people import OPERATOR, Actor, RoleName
from quintain.services.access.actors import actor_of, find_user
from quintain.services.access.notify import list_notifications
from quintain.services.collect.rounds.manage import close_round
from quintain.services.evaluate.cells import lifecycle as evaluate
from quintain.services.pay import earnings
from quintain.services.validate.console import manage as validate
from quintain.services.validate.judging import claim_page, submit_page
from quintain.store.tables import Cell, Round
from tests.judged_rounds import attempt, make_round
from tests.people import make_person
from tests.validation_support import make_judges
from tests.write_site import Site, begin, ref_of, send


@pytest.fixture
def database() -> str:
    """Who is told is no matter of the database."""
    return "sqlite"


def _told(db: Session, who: Actor) -> Counter[str]:
    return Counter(one.kind for one in list_notifications(db, who))


@pytest.fixture
def judging(db: Session, owner: Actor) -> list[Actor]:
    """A closed round of one text that two people are to judge."""
    writer = make_person(db, "walter", RoleName.WORKER)
    policy = 'items = "all"\njudgements = 2\nminimum = 2\n'
    make_round(db, owner, [attempt(writer, "So so.", "negative", "positive")], policy)
    db.execute(update(Round).values(state="closed"))
    db.commit()
    return make_judges(db, 2)


def test_the_owner_hears_once_that_all_is_judged(db: Session, owner: Actor, judging: list[Actor]) -> None:
    """With the last judgement of a closed round, and not before; whoever judged hears of the next judging."""
    for number, judge in enumerate(judging):
        assert _told(db, owner)["judging.done"] == 0, number
        page = claim_page.claim_page(db, judge, "mood/1")
        assert page is not None
        submit_page.submit_page(db, judge, page.token, [submit_page.Answer(page.items[0].id, "positive")])
    assert _told(db, owner)["judging.done"] == 1
    validate.open_validation(db, owner, "mood/extra", "")
    validate.open_validation(db, owner, "mood/extra")
    assert [_told(db, judge)["judging.opened"] for judge in judging] == [1, 1]
    assert _told(db, owner)["judging.opened"] == 0


def test_writers_hear_of_rounds_and_of_pay(site: Site) -> None:
    """Whoever wrote for a task hears of its next round; what was decided on their pay is told once, with the sum."""
    place = site.open(title="First")
    send(site.client, begin(site.client, place), in_text="The soup was cold, and so was she.", answer="negative")
    with site.workspace.session() as db:
        worker = actor_of(db, find_user(db, "demo-worker"))
        before = _told(db, worker)["round.opened"]
        close_round(db, OPERATOR, ref_of(place))
    site.open(title="Second")
    with site.workspace.session() as db:
        assert _told(db, worker)["round.opened"] == before + 1
        found = earnings.list_earnings(db, OPERATOR, "sentiment", status="pending").earnings
        numbers = [one.id for one in found]
        for _ in range(2):
            earnings.decide(db, OPERATOR, "sentiment", numbers)
        newest = list_notifications(db, worker)[0]
    assert newest.kind == "pay.approved"
    assert newest.text == "0.30 USD for your work on sentiment: approved."


def test_a_builder_hears_once_that_a_model_has_been_run(evaluated_site: Workspace) -> None:
    """When the last of its runs is done, and not again when one is run anew."""
    with evaluated_site.session() as db:
        builder = actor_of(db, find_user(db, "bert"))
        before = _told(db, builder)["model.measured"]
        cell = db.scalars(select(Cell).where(Cell.state == "done").order_by(Cell.id)).first()
        assert cell is not None
        row_id, kept = cell.id, (cell.state, cell.generation)
        for _ in range(2):
            evaluate._tell_measured(db, row_id)
        assert _told(db, builder)["model.measured"] == max(before, 1)
        assert kept == (cell.state, cell.generation)
