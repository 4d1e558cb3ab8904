"""Many judges at once on one database: nobody stands in another's way, and what a process owed is made up for."""

from __future__ import annotations

import multiprocessing
import os
import random
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
from sqlalchemy import select, update
from sqlalchemy.orm import Session

from quintain.compose import Workspace
from quintain.core.people import Actor, Grant, RoleName
from quintain.services.validate.judging import claim_page, submit_page
from quintain.services.validate.judging.submit_page import Answer
from quintain.services.validate.quality import review
from quintain.store import database as store
from quintain.store.database import Collision, connect, repeated, transaction
from quintain.store.queries.validate import judgements as queries
from quintain.store.tables import DueReview, User
from tests.integration.validate.test_slots_processes import check_books
from tests.validation_support import REF, answer_page, make_ground, make_judges
from tests.web_support import keep_house_once

pytestmark = pytest.mark.both_databases


@pytest.mark.parametrize("database", ["postgres"], indirect=True)
def test_giving_back_and_handing_in_parts_never_deadlock(
    workspace: Workspace, db: Session, owner: Actor, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Sixteen judges share few items; no transaction is undone by the database, though none would begin again."""
    monkeypatch.setattr(store, "TRIES", 1)
    monkeypatch.setattr(claim_page, "MOST_RETURNED", 20)  # as many as a judge here may give back
    ground = make_ground(db, owner, 40, "judgements = 12\nminimum = 2\npage_size = 10\nrules = []\n")
    people = make_judges(db, 16)

    def work(number: int) -> int:
        chance = random.Random(number)  # noqa: S311 - not a secret
        pages = 0
        with workspace.session() as mine:
            while pages < 12:
                page = claim_page.claim_page(mine, people[number], REF)
                if page is None:
                    return pages
                pages += 1
                some = chance.sample(page.items, chance.randint(0, len(page.items)))
                if some:
                    answers = [Answer(item.id, "neutral") for item in some]
                    submit_page.submit_page(mine, people[number], page.token, answers, finish=chance.random() < 0.5)
                claim_page.extend_page(mine, people[number], page.token) if chance.random() < 0.1 and not some else None
                claim_page.return_page(mine, people[number], page.token)
        return pages

    with ThreadPoolExecutor(16) as pool:
        assert sum(pool.map(work, range(16))) > 16
    check_books(db, ground)


@pytest.mark.parametrize("database", ["postgres"], indirect=True)
def test_a_verb_begins_again_where_the_database_undid_a_deadlock(workspace: Workspace, db: Session) -> None:
    """Two take two rows in opposite orders: one is undone, tries again and is done as well."""
    with transaction(db):
        db.add_all([User(name="ann", display_name=""), User(name="bob", display_name="")])
    both = threading.Barrier(2)
    tries: list[str] = []

    @repeated
    def write(mine: Session, first: str, second: str) -> None:
        tries.append(first)
        with transaction(mine):
            mine.execute(update(User).where(User.name == first).values(display_name=first))
            if len(tries) <= 2:
                both.wait(10)
            mine.execute(update(User).where(User.name == second).values(display_name=first))

    def run(names: tuple[str, str]) -> None:
        with workspace.session() as mine:
            write(mine, *names)

    with ThreadPoolExecutor(2) as pool:
        list(pool.map(run, [("ann", "bob"), ("bob", "ann")]))
    assert len(tries) == 3
    db.rollback()
    assert len(set(db.scalars(select(User.display_name)))) == 1


def test_a_collision_is_said_in_our_words_after_some_tries(db: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody tries for ever; inside another's transaction nothing is tried again."""
    monkeypatch.setattr(store, "FIRST_WAIT_S", 0.001)
    tries = []

    @repeated
    def collide(_: Session) -> None:
        tries.append(1)
        raise Collision("Others were at work on the same.")

    with pytest.raises(Collision):
        collide(db)
    assert len(tries) == store.TRIES
    tries.clear()
    with pytest.raises(Collision), transaction(db):
        collide(db)
    assert len(tries) == 1


def _hand_in_and_die(url: str, user: int) -> None:
    """Answer a page, and be killed before the judges are reviewed."""
    review.catch_up = lambda db, ground: os._exit(9)  # type: ignore[assignment]
    with Session(connect(url), expire_on_commit=False) as db:
        actor = Actor(user, "judge", frozenset({Grant(RoleName.WORKER)}))
        page = claim_page.claim_page(db, actor, REF)
        assert page is not None
        answer_page(db, actor, page)


def _die_before_the_review(workspace: Workspace, db: Session, owner: Actor) -> int:
    """Let the last page of a batch be handed in by a process that ends before the review; give the validation."""
    ground = make_ground(db, owner, 10, "judgements = 2\nminimum = 2\nrules = []\n")
    first, last = make_judges(db, 2)
    page = claim_page.claim_page(db, first, REF)
    assert page is not None
    answer_page(db, first, page)
    url = workspace.engine.url.render_as_string(hide_password=False)
    process = multiprocessing.get_context("fork").Process(target=_hand_in_and_die, args=(url, last.user_id))
    process.start()
    process.join(60)
    assert process.exitcode == 9
    db.rollback()
    assert not queries.reviews(db, ground.id)
    assert db.scalars(select(DueReview.batch)).all() == [0]
    return ground.id


def test_a_review_that_a_killed_process_owed_is_made_by_the_house(
    workspace: Workspace, db: Session, owner: Actor
) -> None:
    """The server's housekeeping finds the mark that was written with the judgements."""
    validation = _die_before_the_review(workspace, db, owner)
    keep_house_once(workspace, tidy=False)
    db.rollback()
    assert [row.judgements for row in queries.reviews(db, validation)] == [20]
    assert not db.scalars(select(DueReview.batch)).all()
    review.catch_up_all(db)
    assert len(queries.reviews(db, validation)) == 1


def test_a_review_that_a_killed_process_owed_is_made_when_somebody_asks_for_a_page(
    workspace: Workspace, db: Session, owner: Actor
) -> None:
    """Without a server, the next judge who finds nothing brings it about."""
    validation = _die_before_the_review(workspace, db, owner)
    (late,) = make_judges(db, 1, "late")
    assert claim_page.claim_page(db, late, REF) is None
    assert [row.judgements for row in queries.reviews(db, validation)] == [20]
