"""The watchman of the browser tests: what was sound is not looked at twice, and what is new at fault is found."""

from __future__ import annotations

import pytest
from playwright.sync_api import BrowserContext

from tests.browser import visitor as watching
from tests.browser.visitor import Sound, Visitor

ADDRESS = "http://127.0.0.1/page"
PAGE = """<!doctype html>
<html lang="en"><head><title>A page</title><style>
  body {{ color: #222; background: #fff }}
  .faint {{ color: #222 }}
  @media (prefers-color-scheme: dark) {{ body {{ color: #eee; background: #111 }} .faint {{ color: {faint} }} }}
  @media (max-width: 600px) {{ .wide {{ display: none }} }}
</style></head>
<body><main><h1>Title</h1><p class="faint">{words}</p>{more}</main></body></html>"""


@pytest.fixture
def watchman(context: BrowserContext, monkeypatch: pytest.MonkeyPatch) -> Visitor:
    """Somebody at a browser who has seen nothing yet."""
    monkeypatch.setattr(watching, "_sound", Sound())
    return Visitor(context.new_page(), "http://127.0.0.1")


def show(watchman: Visitor, words: str = "Some words.", more: str = "", faint: str = "#eee") -> None:
    """Open the page with other words in it, or with more."""
    body = PAGE.format(words=words, more=more, faint=faint)
    watchman.page.unroute_all()
    watchman.page.route(ADDRESS, lambda route: route.fulfill(body=body, content_type="text/html; charset=utf-8"))
    watchman.page.goto(ADDRESS)


def test_a_sound_page_is_looked_at_once(watchman: Visitor, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same structure with other words, and more rows of one kind, is known to be sound."""
    show(watchman, more="<ul><li>one</li><li>two</li></ul>")
    watchman.check()
    again: list[object] = []
    monkeypatch.setattr(Visitor, "note_findings", lambda *given: again.append(given))
    show(watchman, words="Other words.", more="<ul><li>one</li><li>two</li><li>three</li></ul>")
    watchman.check()
    assert not again


@pytest.mark.parametrize(
    ("more", "found"),
    [
        ('<img src="data:,">', "image-alt"),
        ("<p style='color: #bbb'>Faint words.</p>", "color-contrast"),
        ("<p class='faint' style='background: #333'>Words on grey.</p>", "color-contrast"),
        ("<p>Words and <a href='/' style='color: #444; text-decoration: none'>a link</a>.</p>", "link-in-text-block"),
        ("<button></button>", "button-name"),
        ("<label for='none'>Name</label><input id='other'>", "label"),
        ("<h4>Too deep</h4>", "heading-order"),
        ("<nav aria-label='a'>x</nav><nav aria-label='a'>y</nav>", "landmark-unique"),
        ("<span role='img'></span>", "role-img-alt"),
    ],
)
def test_what_is_new_at_fault_is_found(watchman: Visitor, more: str, found: str) -> None:
    """After the page was sound, each kind of fault that is put into it is seen, and seen again."""
    show(watchman)
    watchman.check()
    for _ in range(2):
        watchman.problems.clear()
        show(watchman, more=more)
        with pytest.raises(AssertionError, match=f"axe {found}"):
            watchman.check()


def test_colours_are_looked_at_in_each_scheme(watchman: Visitor) -> None:
    """Words that can be read in light and not in the dark are found in the dark."""
    show(watchman, faint="#333")
    watchman.check()
    watchman.wear("dark")
    with pytest.raises(AssertionError, match="color-contrast"):
        watchman.check()


def test_what_only_a_phone_hides_is_looked_at_there(watchman: Visitor) -> None:
    """A button whose name is hidden on a small screen has none there, and a page that is too wide is said to be."""
    show(watchman, more="<button><span class='wide'>Send</span></button>")
    watchman.check()
    watchman.wear("phone")
    with pytest.raises(AssertionError, match="button-name"):
        watchman.check()
    watchman.problems.clear()
    show(watchman, more="<p style='width: 900px'>Wide.</p>")
    with pytest.raises(AssertionError, match="px too wide"):
        watchman.check()


def test_a_profile_begins_without_what_another_test_left(context: BrowserContext) -> None:
    """Nothing is stored, whichever of the two times this is."""
    page = context.new_page()
    page.route(ADDRESS, lambda route: route.fulfill(body="<title>x</title>", content_type="text/html"))
    page.goto(ADDRESS)
    assert page.evaluate("[localStorage.length, sessionStorage.length, document.cookie]") == [0, 0, ""]
    page.evaluate("localStorage.x = sessionStorage.x = '1'; document.cookie = 'x=1'")


test_and_once_more = test_a_profile_begins_without_what_another_test_left
