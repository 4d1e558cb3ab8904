"""What people do, in a real browser."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

from tests.browser.visitor import Visitor

EVERY_PAGE = [
    "/",
    "/search?q=s",
    "/account",
    "/account/tokens",
    "/notifications",
    "/admin",
    "/admin/audit",
    "/admin/health",
    "/jobs",
    "/tasks/new",
    "/tasks/sentiment",
    "/tasks/sentiment/settings",
    "/tasks/sentiment/codings",
    "/tasks/sentiment/data",
    "/tasks/sentiment/data/import",
    "/tasks/new/file",
    "/tasks/sentiment/data/train",
    "/tasks/sentiment/data/test",
    "/tasks/sentiment/models",
    "/tasks/sentiment/models/tfidf",
    "/tasks/sentiment/submit",
    "/tasks/sentiment/submit/typed/chat",
    "/tasks/sentiment/talk",
    "/tasks/qa/talk",
    "/tasks/choice/talk",
]


def test_signing_in_and_out(visitor: Visitor) -> None:
    """A wrong password is explained, the right one opens the account, and signing out ends it."""
    visitor.expected = ("401",)
    page = visitor.go("/login")
    page.fill("#name", "admin")
    page.fill("#password", "wrong")
    page.click("main button[type=submit]")
    expect(page.get_by_role("alert")).to_contain_text("The name or the password is wrong.")
    visitor.check()
    visitor.sign_in_by_form("admin")
    expect(page.get_by_role("status")).to_contain_text("Welcome, admin.")
    page.click(".menu-person")
    page.get_by_role("button", name="Sign out").click()
    expect(page.locator(".topbar").get_by_role("link", name="Sign in")).to_be_visible()


def test_looking_through_a_data_set(visitor: Visitor) -> None:
    """The chart is drawn; filters narrow the rows without a new page; the address keeps them; pages turn."""
    page = visitor.go("/tasks/sentiment/data/train")
    expect(page.locator(".chart svg").first).to_be_visible()
    page.get_by_role("link", name="Next").click()
    expect(page.locator(".pager")).to_contain_text("21–40")
    visitor.check()
    page.fill("#text", "lovely terrace")
    expect(page.locator("#rows tbody tr")).to_have_count(1)
    assert "text=lovely" in page.url
    page.fill("#text", "")
    page.select_option("#label", "negative")
    expect(page.locator("#rows tbody tr").first).to_contain_text("negative")
    expect(page.locator("#rows tbody tr", has_text="positive")).to_have_count(0)
    page.fill("#text", "no such words")
    expect(page.locator("#rows")).to_contain_text("Nothing fits")
    visitor.check()


def test_hidden_labels_are_not_in_the_page(visitor: Visitor) -> None:
    """A hidden test set shows its texts and says why its labels are missing."""
    page = visitor.go("/tasks/sentiment/data/test")
    expect(page.get_by_role("note").filter(has_text="hidden")).to_have_count(1)
    expect(page.locator(".chart")).to_have_count(0)
    expect(page.locator("#rows th", has_text="Answer")).to_have_count(0)


def test_talking_to_a_model_and_comparing_two(visitor: Visitor) -> None:
    """The answer comes as one pauses typing, with bars; a second model answers beside it."""
    page = visitor.go("/tasks/sentiment/talk?model=tfidf@1")
    page.locator("textarea").press_sequentially("A warm, funny and quietly brilliant film.", delay=5)
    expect(page.locator("#answers .answer")).to_have_count(1)
    expect(page.locator("#answers .bar-list li")).to_have_count(3)
    expect(page.locator("textarea")).to_be_focused()
    visitor.check()
    page.select_option("#other", "lexicon@1")
    expect(page.locator("#answers .answer")).to_have_count(2)
    expect(page.locator("#answers")).to_contain_text(re.compile(r"\d\d\.\d%"))


def test_talking_about_a_passage(visitor: Visitor) -> None:
    """A span is shown where it stands in the passage."""
    page = visitor.go("/tasks/qa/talk?model=span-overlap@1")
    page.fill("[name=in-passage]", "The mill was built in 1894 by the engineer Ada Lund. It stands by the river.")
    page.fill("[name=in-question]", "Who built the mill?")
    expect(page.locator("#answers .passage mark")).to_be_visible()


def test_tokens_are_made_and_revoked(visitor: Visitor) -> None:
    """A token is shown once; revoking asks first."""
    visitor.sign_in("demo-owner")
    page = visitor.go("/account/tokens")
    page.fill("[name=name]", "my notebook")
    page.get_by_role("button", name="Make a token").click()
    expect(page.locator("#secret")).to_contain_text("qt_")
    visitor.check()
    visitor.go("/account/tokens")
    expect(page.locator("#secret")).to_have_count(0)
    page.get_by_role("button", name="Revoke my notebook").click()
    expect(page.locator("dialog[data-sure]")).to_be_visible()
    page.get_by_role("button", name="Cancel").click()
    expect(page.get_by_role("button", name="Revoke my notebook")).to_have_count(1)
    page.get_by_role("button", name="Revoke my notebook").click()
    page.get_by_role("button", name="Yes, go on").click()
    expect(page.get_by_text("The token is revoked.")).to_be_visible()
    expect(page.get_by_role("button", name="Revoke my notebook")).to_have_count(0)


def test_switching_the_language(visitor: Visitor) -> None:
    """German is chosen in the footer and stays."""
    page = visitor.go("/tasks/sentiment")
    page.get_by_role("button", name="Deutsch").click()
    expect(page.locator("html")).to_have_attribute("lang", "de")
    assert page.url.endswith("/tasks/sentiment")
    visitor.go("/")
    expect(page.get_by_role("heading", level=1)).to_have_text("Ein Ziel, das sich bewegt und zurückschlägt")


def test_dark_is_remembered(visitor: Visitor) -> None:
    """The switch changes the colours at once, the next page comes dark, and charts follow."""
    page = visitor.go("/tasks/sentiment/data/train")
    light = page.evaluate("getComputedStyle(document.body).backgroundColor")
    page.get_by_role("button", name="Switch between light and dark").click()
    dark = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert light != dark
    visitor.check()
    visitor.go("/")
    expect(page.locator("html")).to_have_attribute("data-theme", "dark")


def test_keys(visitor: Visitor) -> None:
    """`?` shows the keys, Escape closes them, `/` goes to the search, and typing is never a command."""
    page = visitor.go("/")
    page.keyboard.press("?")
    expect(page.locator("#keys")).to_be_visible()
    visitor.check()
    page.keyboard.press("Escape")
    expect(page.locator("#keys")).not_to_be_visible()
    page.keyboard.press("/")
    expect(page.locator("#site-search")).to_be_focused()
    page.keyboard.type("senti?d")
    expect(page.locator("#site-search")).to_have_value("senti?d")
    page.fill("#site-search", "senti")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", level=3).first).to_contain_text("Sentiment")


def test_the_skip_link_comes_first(visitor: Visitor) -> None:
    """The first Tab reaches the skip link, which leads to the content."""
    page = visitor.go("/tasks/sentiment")
    page.keyboard.press("Tab")
    expect(page.locator(".skip-link")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.locator("#main")).to_be_focused()


def test_an_unknown_page_is_friendly(visitor: Visitor) -> None:
    """A wrong address keeps the frame and offers the way home."""
    visitor.expected = ("404",)
    page = visitor.go("/nope")
    page.get_by_role("link", name="Go home").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("A target that moves, and hits back")


def test_every_page_is_sound(visitor: Visitor) -> None:
    """Every page, in light, dark and on a phone, has no error, off-site request, axe finding or sideways scrolling."""
    visitor.go_in_looks("/login")
    visitor.sign_in("admin")
    for path in EVERY_PAGE:
        page = visitor.go_in_looks(path)
        expect(page.get_by_role("heading", level=1)).to_have_count(1)


@pytest.mark.parametrize("look", ["light", *(pytest.param(look, marks=pytest.mark.slow) for look in ("dark", "phone"))])
def test_the_description_of_the_api_is_sound(visitor: Visitor, look: str) -> None:
    """The longest page of all, which axe looks at for seconds: all that it is made of stands on other pages, too."""
    visitor.sign_in("admin")
    page = visitor.go_in_looks("/api/v1/docs", look)
    expect(page.get_by_role("heading", level=1)).to_have_count(1)


def test_pages_are_sound_in_german(visitor: Visitor) -> None:
    """Every third page, with longer words, has no fault either."""
    visitor.sign_in("admin")
    page = visitor.go("/")
    visitor.press("Deutsch")
    for path in EVERY_PAGE[::3]:
        visitor.go(path)
        expect(page.locator("html")).to_have_attribute("lang", "de")
        expect(page.get_by_role("heading", level=1)).to_have_count(1)
    visitor.press("English")


def test_lines_of_python_are_tried_on_the_page(visitor: Visitor) -> None:
    """What they answer and print is in sight after one click, and what was typed is still there."""
    visitor.sign_in("admin")
    page = visitor.go("/tasks/sentiment/submit")
    page.get_by_role("navigation", name="Ways to hand a model in").get_by_role("link", name="Python handler").click()
    code = "def predict(batch):\n    print('looked')\n    return ['negative'] * len(batch)"
    page.get_by_label("Code").fill(code)
    visitor.press("Try it")
    expect(page.get_by_role("region", name="It answers")).to_be_focused()
    expect(page.get_by_role("region", name="It answers").get_by_role("cell", name="negative").first).to_be_visible()
    page.get_by_text("What it printed").click()
    expect(page.get_by_text("looked", exact=False).last).to_be_visible()
    expect(page.get_by_label("Code")).to_have_value(code)
    visitor.check()
