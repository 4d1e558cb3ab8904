"""Answers that are saved as they are given: kept on the server, shown again, and counted only once handed in."""

from __future__ import annotations

from datetime import timedelta

import pytest
from sqlalchemy import func, select
from sqlalchemy.orm import Session

from quintain.core.errors import BadInput, Conflict, NotFound
from quintain.core.people import Actor
from quintain.services.validate.console import export as judged_export
from quintain.services.validate.console import status as validation_status
from quintain.services.validate.judging import claim_page, submit_page
from quintain.services.validate.judging.claim_page import ClaimedPage
from quintain.services.validate.judging.drafts import save_answer
from quintain.services.validate.judging.submit_page import Answer
from quintain.services.validate.quality import gold
from quintain.store.base import now
from quintain.store.tables import Judgement, JudgingDraft
from tests.validation_support import REF, make_ground, make_judges

pytestmark = pytest.mark.both_databases


def take(db: Session, actor: Actor, **options: object) -> ClaimedPage:
    """Claim a page that must be there."""
    page = claim_page.claim_page(db, actor, REF, **options)  # type: ignore[arg-type]  # a moment, or nothing
    assert page is not None
    return page


def drafts(db: Session) -> int:
    """Count what is saved."""
    return db.scalar(select(func.count()).select_from(JudgingDraft)) or 0


def test_what_was_answered_is_there_again(db: Session, owner: Actor) -> None:
    """Whoever opens the page again, here or elsewhere, finds their answers; others do not get at the page."""
    make_ground(db, owner, 20)
    actor, other = make_judges(db, 2)
    page = take(db, actor)
    one, two, three = (item.id for item in page.items[:3])
    save_answer(db, actor, page.token, Answer(one, "positive", seconds=1.5))
    save_answer(db, actor, page.token, Answer(two, skip="unclear"))
    save_answer(db, actor, page.token, Answer(three, flag="spam"))
    again = claim_page.get_page(db, actor, page.token)
    saved = {item.id: item.draft for item in again.items if item.draft}
    assert saved[one].label == "positive"
    assert saved[one].seconds == 1.5
    assert saved[two].skip == "unclear"
    assert saved[three].flag == "spam"
    assert claim_page.claim_page(db, actor, REF) == again
    assert claim_page.page_record(again)["items"][0]["saved"]["label"] == "positive"
    assert not any(item.done for item in again.items)
    with pytest.raises(NotFound):
        save_answer(db, other, page.token, Answer(one, "negative"))


def test_nothing_counts_before_it_is_handed_in(db: Session, owner: Actor, tmp_path: object) -> None:
    """No count and no export knows of what is only saved; handing in with *saved* completes it."""
    make_ground(db, owner, 20)
    (actor,) = make_judges(db, 1)
    page = take(db, actor)
    for item in page.items[:4]:
        save_answer(db, actor, page.token, Answer(item.id, "neutral"))
    status = validation_status.progress(db, owner, REF)
    assert status["judgements"] == 0
    assert status["slots"] == {"leased": 10, "open": 90}
    rows = judged_export.export_judgements(db, owner, REF, tmp_path / "out.csv")  # type: ignore[operator]
    assert rows == 0
    receipt = submit_page.submit_page(db, actor, page.token, [Answer(page.items[0].id, "positive")], saved=True)
    assert (receipt.judged, receipt.left) == (4, 6)
    given = dict(db.execute(select(Judgement.offer_id, Judgement.label)).all())
    assert given == {page.items[0].id: "positive", **{item.id: "neutral" for item in page.items[1:4]}}
    assert drafts(db) == 0


def test_handing_in_what_the_page_shows_leaves_saved_answers_alone(db: Session, owner: Actor) -> None:
    """An answer that was undone while the server could not be reached does not come back with the page."""
    make_ground(db, owner, 20)
    (actor,) = make_judges(db, 1)
    page = take(db, actor)
    save_answer(db, actor, page.token, Answer(page.items[0].id, "neutral"))
    assert submit_page.submit_page(db, actor, page.token, [Answer(page.items[1].id, "positive")]).judged == 1
    assert drafts(db) == 0


def test_the_newer_change_stays_whichever_arrives_first(db: Session, owner: Actor) -> None:
    """The same again changes nothing; an undone answer is empty; without a number the last one stays."""
    make_ground(db, owner, 20)
    (actor,) = make_judges(db, 1)
    page = take(db, actor)
    item = page.items[0].id

    def saved() -> str | None:
        draft = claim_page.get_page(db, actor, page.token).items[0].draft
        return draft.label if draft else None

    assert save_answer(db, actor, page.token, Answer(item, "positive"), number=7) == 7
    assert save_answer(db, actor, page.token, Answer(item, "negative"), number=6) == 7
    assert saved() == "positive"
    assert save_answer(db, actor, page.token, Answer(item, "positive"), number=7) == 7
    assert save_answer(db, actor, page.token, Answer(item), number=8) == 8
    assert saved() is None
    assert save_answer(db, actor, page.token, Answer(item, "neutral")) == 9
    assert saved() == "neutral"


def test_bad_answers_are_refused(db: Session, owner: Actor) -> None:
    """A label that is none, both a label and a skip, an item of another page, one that is handed in."""
    make_ground(db, owner, 20)
    (actor,) = make_judges(db, 1)
    page = take(db, actor)
    item = page.items[0].id
    for answer in (Answer(item, "postive"), Answer(item, "positive", skip="x"), Answer(10**6, "positive")):
        with pytest.raises(BadInput):
            save_answer(db, actor, page.token, answer)
    submit_page.submit_page(db, actor, page.token, [Answer(item, "positive")], finish=False)
    with pytest.raises(Conflict, match="handed in"):
        save_answer(db, actor, page.token, Answer(item, "negative"))
    claim_page.return_page(db, actor, page.token)
    with pytest.raises(Conflict, match="returned"):
        save_answer(db, actor, page.token, Answer(page.items[1].id, "negative"))
    assert drafts(db) == 0


def test_leases_that_lapsed_take_their_drafts_along(db: Session, owner: Actor) -> None:
    """Once others ask, what was saved on a lapsed page is gone, and nothing more is saved where they hold its items.

    That goes for gold items as well, which have no slots: nobody may tell them by what can be saved.
    """
    make_ground(db, owner, 10, "judgements = 1\nminimum = 1\npage_size = 10\n[gold]\nrate = 0.2\n")
    gold.add_gold(db, owner, REF, [{"inputs": {"text": f"gold {n}"}, "label": "neutral"} for n in range(4)])
    actor, other = make_judges(db, 2)
    page = take(db, actor)
    for item in page.items:
        save_answer(db, actor, page.token, Answer(item.id, "neutral"))
    assert drafts(db) == len(page.items)
    later = now() + timedelta(hours=1)
    take(db, other, moment=later)
    assert drafts(db) == 0
    for item in page.items:
        with pytest.raises(Conflict, match="over"):
            save_answer(db, actor, page.token, Answer(item.id, "neutral"))
    assert submit_page.submit_page(db, actor, page.token, [Answer(page.items[0].id, "neutral")]).judged == 1


def test_a_lapsed_page_that_one_leaves_for_a_new_one_is_forgotten(db: Session, owner: Actor) -> None:
    """Its saved answers go with it."""
    make_ground(db, owner, 30)
    (actor,) = make_judges(db, 1)
    page = take(db, actor)
    save_answer(db, actor, page.token, Answer(page.items[0].id, "neutral"))
    fresh = take(db, actor, moment=now() + timedelta(hours=1))
    assert fresh.token != page.token
    assert drafts(db) == 0
