"""Pay in a real browser: what a policy changes is seen before it holds, and what was paid twice is decided on."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import expect
from sqlalchemy import select

from quintain.compose import Workspace
from quintain.core.people import OPERATOR
from quintain.core.rounds import Money
from quintain.services.access.actors import find_user
from quintain.services.pay.overpaid import book_overpaid
from quintain.services.pay.policy import put_policy
from quintain.services.tasks.definitions import find_row
from quintain.store.database import transaction
from quintain.store.queries.pay.payouts import Stay
from quintain.store.tables import Payout
from tests.browser.visitor import Visitor
from tests.web_support import copy_demo, running

HOME = "/tasks/sentiment/pay"


@pytest.fixture(scope="module")
def site(demo: Workspace, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A served copy of the demo with a promise, a cap, and something that was paid twice."""
    workspace = copy_demo(demo, tmp_path_factory.mktemp("pay") / "demo")
    with workspace.session() as db:
        put_policy(db, OPERATOR, "sentiment", "hourly = 1200\nproject_cap = 50000")
        task_id, user = find_row(db, "sentiment").id, find_user(db, "demo-worker").id
        twice = Stay("visit:1", user, "study1", "s1", None, completed=True, standing="approved")
        with transaction(db):
            book_overpaid(db, "sentiment", task_id, [twice], provider="prolific", reward=Money(350))
        assert db.scalar(select(Payout.id)) is not None
    with running(workspace) as url:
        yield url


def test_what_a_policy_changes_is_seen_before_it_holds(visitor: Visitor) -> None:
    """A lost cap is marked as reset; going back saves nothing, and pressing the button saves what was shown."""
    visitor.sign_in("demo-owner")
    page = visitor.go(f"{HOME}#policy")
    visitor.unfold("#policy")
    page.get_by_label("Promised wage for an hour").fill("9.00")
    page.get_by_label("Most for all in all").fill("")
    page.locator("#policy").get_by_role("button", name="Save").click()
    visitor.arrive("h1:has-text('Look at what changes')")
    expect(page.locator("dl.changes dt")).to_have_text(
        [re.compile("Promised wage for an hour"), re.compile("Most for all in all")]
    )
    expect(page.locator("dl.changes dd").first).to_have_text(re.compile(r"12\.00\s+→\s+becomes\s+9\.00"))
    expect(page.locator("dl.changes dd").last.locator(".chip")).to_have_text("reset")
    visitor.check_looks()
    if os.environ.get("PICTURES"):
        page.screenshot(path=os.environ["PICTURES"] + "/confirm.png", full_page=True)
    page.get_by_role("link", name="Back, without saving").click()
    visitor.arrive("h1:has-text('Pay')")
    expect(page.get_by_label("Most for all in all")).to_have_value("500.00")
    visitor.unfold("#policy")
    page.get_by_label("Promised wage for an hour").fill("9.00")
    page.locator("#policy").get_by_role("button", name="Save").click()
    visitor.arrive("h1:has-text('Look at what changes')")
    page.get_by_role("button", name="Save these changes").click()
    visitor.arrive("h1:has-text('Pay')")
    expect(page.get_by_label("Promised wage for an hour")).to_have_value("9.00")
    expect(page.get_by_label("Most for all in all")).to_have_value("500.00")


def test_what_was_paid_twice_is_decided_on(visitor: Visitor) -> None:
    """The list marks it until the owner has said what becomes of it."""
    visitor.sign_in("demo-owner")
    page = visitor.go_in_looks(HOME)
    mark = page.locator("#payouts .chip", has_text="paid twice")
    expect(mark).to_have_text("paid twice")
    if os.environ.get("PICTURES"):
        page.screenshot(path=os.environ["PICTURES"] + "/pay.png", full_page=True)
    page.locator(".notice").get_by_role("link", name="Payout 1, 3.50 USD").click()
    visitor.arrive("h1:has-text('Payout')")
    expect(page.locator("dl.facts dd").first).to_have_text("3.50 USD")
    visitor.check_looks()
    if os.environ.get("PICTURES"):
        page.screenshot(path=os.environ["PICTURES"] + "/payout.png", full_page=True)
    page.get_by_role("button", name="Hold it back").click()
    expect(page.locator("dl.facts dd").last).to_have_text("held back from later pay")
    expect(visitor.go(HOME).locator("#payouts .chip", has_text="held back from later pay")).to_have_count(1)
    expect(page.locator(".notice")).to_have_count(0)
