"""The end of a validation: the last slots are handed out so that they can be filled, or it is said who is needed."""

from __future__ import annotations

import random

import pytest
from sqlalchemy.orm import Session

from quintain.core.people import Actor
from quintain.services.validate.console import status as validation_status
from quintain.services.validate.judging import claim_page, submit_page
from quintain.services.validate.judging.claim_page import ClaimedPage
from quintain.services.validate.judging.submit_page import Answer
from quintain.store.queries.validate import slots as slot_queries
from tests.validation_support import REF, answer_page, make_ground, make_judges

pytestmark = pytest.mark.both_databases
POLICY = "rules = []\n[gold]\nrate = 0\n"


def work(db: Session, people: list[Actor], each: int, seed: int, skip: float = 0.0) -> None:
    """Let judges of different speed take and answer pages in a random order until each has done *each* items."""
    chance = random.Random(seed)  # noqa: S311 - not a secret
    left = {one.name: each for one in people}
    speed = {one.name: chance.lognormvariate(0, 0.5) for one in people}
    actors = {one.name: one for one in people}
    held: dict[str, ClaimedPage] = {}
    while left:
        name = chance.choices(list(left), [speed[one] for one in left])[0]
        page = held.pop(name, None)
        if page is None:
            page = claim_page.claim_page(db, actors[name], REF)
            if page is not None:
                held[name] = page
            elif not held:
                del left[name]  # nothing is there for them, and nothing can come back
            continue
        answers = [
            Answer(item.id, skip="unclear") if chance.random() < skip else Answer(item.id, "neutral")
            for item in page.items
        ]
        submit_page.submit_page(db, actors[name], page.token, answers)
        left[name] -= len(page.items)
        if left[name] <= 0:
            del left[name]


@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(1, 5))])
def test_twenty_judges_who_do_fifty_each_fill_a_thousand_slots(db: Session, owner: Actor, seed: int) -> None:
    """With no judgement to spare, the last judges still find items that they have not seen."""
    ground = make_ground(db, owner, 200, POLICY)
    work(db, make_judges(db, 20), 50, seed)
    assert slot_queries.counts(db, ground.id) == {"filled": 1000}


@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.slow) for seed in (1, 2))])
def test_eight_judges_for_five_judgements_each_leave_nothing_open(db: Session, owner: Actor, seed: int) -> None:
    """Where most judges must see most items, who is left for which decides."""
    ground = make_ground(db, owner, 50, POLICY)
    work(db, make_judges(db, 8), 32, seed)
    assert slot_queries.counts(db, ground.id) == {"filled": 250}


def test_skipped_items_find_somebody_else(db: Session, owner: Actor) -> None:
    """What a judge skips goes to others, also at the end."""
    ground = make_ground(db, owner, 60, POLICY)
    work(db, make_judges(db, 12), 1000, 3, skip=0.05)
    assert slot_queries.counts(db, ground.id) == {"filled": 300}


def test_the_owner_is_told_who_is_needed(db: Session, owner: Actor) -> None:
    """Where everybody has seen the last items, somebody new is needed; where somebody has not, they are named."""
    make_ground(db, owner, 4, "judgements = 3\nminimum = 2\n" + POLICY)
    ann, bob, cem = make_judges(db, 3)
    for actor in (ann, bob):
        page = claim_page.claim_page(db, actor, REF)
        assert page is not None
        answer_page(db, actor, page)
    found = validation_status.progress(db, owner, REF)["waiting"]
    assert found["stuck"] == 4
    assert found["people"] == 1
    assert found["advice"] == "4 items wait for somebody who has not seen them: invite one more person."
    page = claim_page.claim_page(db, cem, REF)
    assert page is not None
    first = [Answer(item.id, "neutral") for item in page.items[:2]]
    submit_page.submit_page(db, cem, page.token, [*first, Answer(page.items[2].id, skip="unclear")], finish=False)
    held = validation_status.status(db, owner, REF)["waiting"]
    assert held is None  # somebody is at work on the rest
    claim_page.return_page(db, cem, page.token)
    found = validation_status.status(db, owner, REF)["waiting"]
    assert (found["items"], found["stuck"], found["judges"]) == (2, 2, [])
    (dan,) = make_judges(db, 1, "dan")
    page = claim_page.claim_page(db, dan, REF)
    assert page is not None
    answer_page(db, dan, page)
    assert validation_status.progress(db, owner, REF)["waiting"] is None


def test_judges_who_can_still_help_are_named(db: Session, owner: Actor) -> None:
    """Nobody is at work, and two judges have not seen what is left: their names are said."""
    make_ground(db, owner, 30, "judgements = 2\nminimum = 2\npage_size = 10\n" + POLICY)
    people = make_judges(db, 3)
    for actor in people:
        page = claim_page.claim_page(db, actor, REF)
        assert page is not None
        answer_page(db, actor, page)
    found = validation_status.progress(db, owner, REF)["waiting"]
    assert found["judgements"] == 30
    assert not found["stuck"]
    assert set(found["judges"]) == {one.name for one in people}
    assert "can still give them" in found["advice"]
