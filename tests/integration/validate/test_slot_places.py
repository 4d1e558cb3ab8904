"""A judge who has seen nearly everything gets a page as quickly as one who has seen nothing."""

from __future__ import annotations

from datetime import timedelta

import pytest
from sqlalchemy import insert, select, text
from sqlalchemy.orm import Session

from quintain.core.people import Actor
from quintain.services.validate.console import manage as validate
from quintain.services.validate.judging import claim_page
from quintain.services.validate.types import ValidationInfo
from quintain.store.base import now
from quintain.store.database import transaction
from quintain.store.queries.validate import page_claims, places
from quintain.store.queries.validate.places import END, START
from quintain.store.tables import JudgePlace, JudgingPage, Offer, Slot, ValidationItem
from tests.validation_support import REF, answer_page, make_ground, make_judges, text_of

pytestmark = pytest.mark.both_databases
POLICY = "judgements = 2\nminimum = 1\nbatch_size = 100000\n"


def show_all(db: Session, ground: ValidationInfo, actor: Actor, *, but: int) -> set[int]:
    """Note that a person was shown every item but the last *but* by draw; give the ids of those."""
    ranked = select(Slot.item_id).where(Slot.validation_id == ground.id, Slot.rank == 0).order_by(Slot.draw)
    items = list(db.scalars(ranked))
    seen = items[: len(items) - but]
    user_id = actor.user_id or 0
    with transaction(db):
        page = JudgingPage(
            key=f"old{user_id}", validation_id=ground.id, user_id=user_id, size=len(seen), lease_until=now()
        )
        page.ended_at, page.outcome = now(), "submitted"
        db.add(page)
        db.flush()
        rows = [
            {"page_id": page.id, "position": place, "user_id": user_id, "item_id": item}
            for place, item in enumerate(seen)
        ]
        db.execute(insert(Offer), rows)
    return set(items[len(items) - but :])


def items_of(db: Session, page: claim_page.ClaimedPage | None) -> set[int]:
    """Give the ids of the items on a page."""
    assert page is not None
    return set(db.scalars(select(Offer.item_id).where(Offer.id.in_([item.id for item in page.items]))))


def steps_of_claim(db: Session, actor: Actor) -> int:
    """Claim a page on SQLite and count the steps of its machine, in hundreds."""
    counted = 0

    def count() -> int:
        nonlocal counted
        counted += 1
        return 0

    driver = db.connection().connection.driver_connection
    assert driver is not None
    driver.set_progress_handler(count, 100)
    claim_page.claim_page(db, actor, REF)
    driver.set_progress_handler(None, 0)
    return counted


def test_a_judge_who_has_seen_nearly_all_finds_the_rest(db: Session, owner: Actor) -> None:
    """The items that are left come in full pages, then nothing does; what comes back and what is new is found."""
    ground = make_ground(db, owner, 1500, POLICY)
    actor, other = make_judges(db, 2)
    left = show_all(db, ground, actor, but=15)
    first = claim_page.claim_page(db, actor, REF)
    assert len(items_of(db, first)) == 10
    assert first is not None
    answer_page(db, actor, first)
    second = claim_page.claim_page(db, actor, REF)
    assert items_of(db, first) | items_of(db, second) == left
    assert second is not None
    claim_page.return_page(db, actor, second.token)
    assert claim_page.claim_page(db, actor, REF) is None
    assert db.scalars(select(JudgePlace.batch).where(JudgePlace.user_id == actor.user_id)).one() == END.batch
    validate.add_items(db, owner, REF, [{"inputs": {"text": text_of(number)}} for number in range(1500, 1503)])
    new = set(db.scalars(select(ValidationItem.id).order_by(ValidationItem.id.desc()).limit(3)))
    found: set[int] = set()
    while (page := claim_page.claim_page(db, actor, REF)) is not None:  # pages are short where items lie far apart
        found |= items_of(db, page)
        answer_page(db, actor, page)
    assert found == new
    assert items_of(db, claim_page.claim_page(db, other, REF)) <= set(db.scalars(select(ValidationItem.id)))


def test_pages_of_one_item_are_found_far_behind_too(db: Session, owner: Actor) -> None:
    """Where a page has one item, an empty window is not the end: the judge goes on behind it."""
    ground = make_ground(db, owner, 1500, f"{POLICY}page_size = 1\n[gold]\nrate = 0\n")
    (actor,) = make_judges(db, 1)
    left = show_all(db, ground, actor, but=2)
    found: set[int] = set()
    while (page := claim_page.claim_page(db, actor, REF)) is not None:
        found |= items_of(db, page)
        answer_page(db, actor, page)
    assert found == left


def test_what_came_back_before_a_place_is_found_first(db: Session, owner: Actor) -> None:
    """A page that somebody else held while the judge went past it, and gave back, or let lapse, is offered next."""
    ground = make_ground(db, owner, 1200, "judgements = 1\nminimum = 1\nbatch_size = 100000\nlease_seconds = 60\n")
    actor, other, third = make_judges(db, 3)
    early = claim_page.claim_page(db, other, REF)
    early_items = items_of(db, early)
    show_all(db, ground, actor, but=300)
    with transaction(db):
        db.query(Offer).filter(Offer.user_id == actor.user_id, Offer.item_id.in_(early_items)).delete()
    page = claim_page.claim_page(db, actor, REF)
    assert not items_of(db, page) & early_items
    assert db.scalars(select(JudgePlace.draw).where(JudgePlace.user_id == actor.user_id)).one() > 0
    assert page is not None
    answer_page(db, actor, page)
    assert early is not None
    claim_page.return_page(db, other, early.token)
    again = claim_page.claim_page(db, actor, REF)
    assert items_of(db, again) == early_items
    lapsed = claim_page.claim_page(db, third, REF, moment=now() + timedelta(minutes=5))
    assert items_of(db, lapsed) == early_items


def test_a_place_holds_until_items_are_added(db: Session, owner: Actor) -> None:
    """It is the judge's own, moves when it is kept again, and is the start where it is void."""
    ground = make_ground(db, owner, 20, POLICY)
    actor, other = make_judges(db, 2)
    user_id = actor.user_id or 0
    found, newest = places.first_open_from(db, ground.id, user_id, START)
    assert found.start > START
    assert found.whole
    for place in (found.start, END):
        with transaction(db):
            places.save(db, ground.id, user_id, place, newest)
        assert places.window(db, ground.id, user_id).start == place
    assert places.window(db, ground.id, other.user_id or 0).start == START
    validate.add_items(db, owner, REF, [{"inputs": {"text": text_of(20)}}])
    assert places.window(db, ground.id, user_id).start == START


def test_a_claim_does_not_grow_with_what_was_seen(db: Session, owner: Actor) -> None:
    """Four times the items that a judge has seen are no more work for SQLite, once the judge has been past them."""
    if db.get_bind().dialect.name != "sqlite":
        pytest.skip("steps can be counted on SQLite alone")
    items = 800
    ground = make_ground(db, owner, items, POLICY)
    few, fresh = make_judges(db, 2)
    show_all(db, ground, few, but=0)
    assert claim_page.claim_page(db, few, REF) is None
    before = steps_of_claim(db, few)
    more = range(items, 4 * items)
    validate.add_items(db, owner, REF, [{"inputs": {"text": text_of(number)}} for number in more])
    with transaction(db):
        db.execute(text("DELETE FROM judging_offers"))
        db.execute(text("DELETE FROM judging_pages"))
    show_all(db, ground, few, but=0)
    assert claim_page.claim_page(db, few, REF) is None
    after = steps_of_claim(db, few)
    assert after <= before * 1.2 + 2
    assert steps_of_claim(db, fresh) > 0


def test_the_statements_use_the_indexes(db: Session, owner: Actor) -> None:
    """SQLite plans a claim within a window without a sort of slots and without a walk over a table."""
    if db.get_bind().dialect.name != "sqlite":
        pytest.skip("PostgreSQL plans by the sizes of tables")
    ground = make_ground(db, owner, 5, POLICY)
    given = {"validation": ground.id, "user": 1, "count": 10, "until": now()}
    given |= {"items": "[1, 2]"} | START._asdict() | {f"end_{name}": value for name, value in END._asdict().items()}
    plans = []
    for query in map(page_claims.lease_statement, ("all", "within", "listed")):
        rows = db.execute(text(f"EXPLAIN QUERY PLAN {query.text}"), given).all()
        plans.append("\n".join(row[3] for row in rows))
    for plan in plans:
        assert "SCAN s" not in plan
    for plan in plans[:2]:
        assert "INDEX ix_validation_slots_open (validation_id=?" in plan
    assert "SEARCH s USING INDEX sqlite_autoindex_validation_slots_1 (item_id=?)" in plans[2]
    assert "INDEX ix_validation_slots_came_back (validation_id=?" in plans[1]
    assert plans[0].count("TEMP B-TREE") == 0
