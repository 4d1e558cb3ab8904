"""Nobody chooses what they judge: a few more pages than one has judged can be given back, and no more."""

from __future__ import annotations

import pytest
from sqlalchemy.orm import Session

from quintain.core.errors import Conflict
from quintain.core.people import Actor
from quintain.services.validate.judging import claim_page
from tests.validation_support import REF, answer_page, make_ground, make_judges


def test_pages_are_given_back_some_times_and_then_judged(db: Session, owner: Actor) -> None:
    """The sixth in a row is refused with what to do; a page that was judged earns another, and others are free to."""
    make_ground(db, owner, 40, "page_size = 2")
    actor, other = make_judges(db, 2)
    for _ in range(claim_page.MOST_RETURNED):
        page = claim_page.claim_page(db, actor, REF)
        assert page is not None
        claim_page.return_page(db, actor, page.token)
    page = claim_page.claim_page(db, actor, REF)
    assert page is not None
    with pytest.raises(Conflict, match="given back 5 more pages than you judged") as refusal:
        claim_page.return_page(db, actor, page.token)
    assert refusal.value.code == "given_back_enough"
    same = claim_page.claim_page(db, actor, REF)
    assert same is not None
    assert same.token == page.token
    answer_page(db, actor, page)
    page = claim_page.claim_page(db, actor, REF)
    assert page is not None
    claim_page.return_page(db, actor, page.token)
    page = claim_page.claim_page(db, other, REF)
    assert page is not None
    claim_page.return_page(db, other, page.token)
