"""A form that destroys something asks first, and is sent when the answer is yes: each is pressed in a real browser."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import BrowserContext, Error, Page, Route, expect

from quintain.compose import Workspace
from quintain.services.access.actors import actor_of, find_user
from quintain.services.access.tokens import create_token
from quintain.simulate.demo import Amounts, simulate_activity
from quintain.simulate.handwritten import HandwrittenCorpus
from quintain.simulate.stations import Sizes
from tests.browser.visitor import Visitor
from tests.pages import repeated_ids
from tests.web_support import copy_demo, running

CORPUS = HandwrittenCorpus(3, reviews={0: 90, 2: 60}, prompts={1: 90, 3: 24, 4: 24})
AMOUNTS = Amounts(Sizes(harvested=100, written=90, judges=12, writers=8, corpus=CORPUS), 110, 22, 8, 6)
ASKING = "form[data-confirm]"
LINKS = "a[href^='/']:not([download])"
OPEN = "form => { for (let up = form; up; up = up.parentElement) if (up.tagName == 'DETAILS') up.open = true }"
MOST_PAGES = 400  # of one part: pages of one kind are looked at once
PARTS = ("demo-owner", "demo-worker", "demo-builder", "admin")
VARIES = re.compile(r"(?<=/)(\d+|[0-9a-f]{16,})(?=/|$)")


class Sent:
    """What forms would send: it is caught on its way, so that nothing is destroyed and the next form is still there."""

    def __init__(self, page: Page) -> None:
        self.requests: list[str] = []
        page.route("**/*", self.catch)

    def catch(self, route: Route) -> None:
        """Note what a form sends, and answer nothing; let all else pass."""
        if route.request.method == "POST":
            self.requests.append(urlsplit(route.request.url).path)
            route.fulfill(status=204)
        else:
            route.continue_()


def press_all(page: Page, sent: Sent) -> list[str]:
    """Press the button of every form of a page that asks first, say yes, and give where each went."""
    pressed = []
    for number in range(page.locator(ASKING).count()):
        form = page.locator(ASKING).nth(number)
        action = urlsplit(str(form.evaluate("form => form.getAttribute('action')"))).path
        form.evaluate(OPEN)
        for field in form.locator("input:required, textarea:required").all():
            kind = field.get_attribute("type")
            field.check() if kind in {"radio", "checkbox"} else field.fill("1" if kind == "number" else "something")
        question = form.get_attribute("data-confirm")
        before = len(sent.requests)
        form.locator("button:not([type=button])").first.click()
        dialog = page.locator("dialog[data-sure]")
        expect(dialog).to_be_visible()
        expect(dialog.locator("p")).to_have_text(str(question))
        assert len(sent.requests) == before, "it is sent before anybody has said yes"
        with page.expect_request(lambda request: request.method == "POST") as request:
            dialog.get_by_role("button", name="Yes, go on").click()
        assert urlsplit(request.value.url).path == action
        pressed.append(action)
    return pressed


def test_forms_that_destroy_are_sent_when_the_answer_is_yes(demo: Workspace, visitor: Visitor) -> None:
    """Deleting the account, revoking a token, archiving a task, withdrawing a model: asked, and then sent."""
    with demo.session() as db:
        owner = actor_of(db, find_user(db, "demo-owner"))
    visitor.sign_in("demo-owner")
    page = visitor.go("/account/tokens")
    page.fill("[name=name]", "to be revoked")
    page.get_by_role("button", name="Make a token").click()
    expect(page.locator("#secret")).to_contain_text("qt_")
    sent, pressed = Sent(page), []
    assert owner.user_id
    for path in ("/account", "/account/tokens", "/tasks/sentiment/settings", "/tasks/sentiment/models/tfidf"):
        visitor.go(path)
        pressed += press_all(page, sent)
    assert {re.sub(r".*/", "", path) for path in pressed} >= {"delete", "revoke", "archive", "withdraw"}


def test_an_account_is_deleted_by_its_own_button(own_demo: Workspace, visitor: Visitor) -> None:
    """The name is typed, the question answered, and the account is gone."""
    with running(own_demo) as url:
        visitor.base, page = url, visitor.page
        visitor.sign_in_by_form("demo-worker")
        visitor.go_in_looks("/account")
        page.get_by_label("Type your account name to confirm").fill("demo-worker")
        page.get_by_role("button", name="Delete my account").click()
        page.get_by_role("button", name="Yes, go on").click()
        expect(page.get_by_text("Your account is deleted.")).to_be_visible()
        visitor.check()


@pytest.fixture(scope="module")
def lively(demo: Workspace, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workspace]:
    """The living demo, with less of everything: rounds, validations, a contest, a trial, pay."""
    made = replace(copy_demo(demo, tmp_path_factory.mktemp("asks") / "demo"), demo=True)
    simulate_activity(made, amounts=AMOUNTS)
    yield made
    made.engine.dispose()


@pytest.mark.slow
@pytest.mark.parametrize("part", PARTS)
def test_every_page_of_the_demo_asks_and_sends(lively: Workspace, context: BrowserContext, part: str) -> None:
    """Whoever walks through the whole demo finds no id twice, and no form that asks and is not sent."""
    with lively.session() as db:
        create_token(db, actor_of(db, find_user(db, part)), "walker")
    page = context.new_page()
    with running(lively) as url:
        play(page, url, part)
        sent, seen, pressed = Sent(page), set[str](), list[str]()
        waiting = ["/", "/account", "/account/tokens", "/work", "/admin"]
        while waiting and len(seen) < MOST_PAGES:
            path = waiting.pop(0)
            try:
                answer = page.goto(url + path)
            except Error as error:
                if "Download is starting" not in str(error):
                    raise
                continue
            if answer is None or "text/html" not in answer.headers.get("content-type", ""):
                continue
            assert repeated_ids(page.content()) == [], path
            pressed += press_all(page, sent)
            for link in page.eval_on_selector_all(LINKS, "links => links.map(a => a.pathname)"):
                kind = VARIES.sub("#", link)
                if kind not in seen and not link.startswith(("/help", "/api", "/logout", "/link")):
                    seen.add(kind)
                    waiting.append(link)
        assert len(seen) > 20
        assert pressed, "a part that can destroy nothing, not even a token"


def play(page: Page, url: str, part: str) -> None:
    """Take a part of the demo by the button for it."""
    name = {"demo-owner": "Owner", "demo-worker": "Worker", "demo-builder": "Builder", "admin": "Admin"}[part]
    page.goto(url)
    with page.expect_navigation():
        page.locator("form[action='/demo/part'] button", has_text=name).first.evaluate("button => button.click()")
