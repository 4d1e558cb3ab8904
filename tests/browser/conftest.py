"""A real browser on a real server. Whatever page a test opens is also checked for what no page may do."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, sync_playwright

from quintain.compose import Workspace
from tests.browser import visitor as watching
from tests.browser.board_site import make_board_site
from tests.browser.visitor import DESKTOP, LISTEN, Sound, Visitor
from tests.once import once
from tests.web_support import copy_demo, made_once, running

ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
    "--process-per-site",  # pages of one server share a process, which has read the scripts already
]
BROWSERS = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
HERE = "http://127.0.0.1/"
WORN = {"viewport", "color_scheme"}  # options of a browser that each page can have for itself


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark every test of this folder as a browser test."""
    for item in items:
        if "tests/browser" in item.path.as_posix():
            item.add_marker(pytest.mark.browser)


@pytest.fixture(scope="session", autouse=True)
def _sound_for_all(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Let all processes of a run know in what nothing was found: one of them has looked at it."""
    file = once(tmp_path_factory, "sound", lambda made: (made / "names").touch()) / "names"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(watching, "_sound", Sound(file))
        yield


@pytest.fixture(scope="session")
def chromium() -> Iterator[Browser]:
    """The system's Chromium without a window: built without any where there is that, which does half the work."""
    path = next(filter(None, map(shutil.which, BROWSERS)), None)
    assert path, "These tests need Chromium: install the package 'chromium'."
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=ARGUMENTS)
        yield browser
        browser.close()


@pytest.fixture(scope="session")
def site(demo: Workspace, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A served copy of the demo."""
    with running(copy_demo(demo, tmp_path_factory.mktemp("browser") / "demo")) as url:
        yield url


@pytest.fixture(scope="session")
def first_board(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workspace]:
    """A board of three models that is made once, and copied for each file of tests."""
    made = made_once(tmp_path_factory, "board", make_board_site, login_attempts=1000)
    yield made
    made.engine.dispose()


@pytest.fixture(scope="module")
def board_workspace(first_board: Workspace, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workspace]:
    """A board of three models that the tests of a file may change."""
    made = copy_demo(first_board, tmp_path_factory.mktemp("board") / "workspace")
    yield made
    made.engine.dispose()


@pytest.fixture
def context_options() -> dict[str, object]:
    """What a browser is like: a desktop, light, English; tests override it."""
    return {"viewport": DESKTOP, "locale": "en-GB", "color_scheme": "light"}


@pytest.fixture(scope="session")
def profiles(chromium: Browser) -> Callable[[dict[str, object]], BrowserContext]:
    """A function that gives a browser profile: made once for each language and the like, and empty at each use.

    A new profile has nothing in its cache and a new process, which cost more than what most tests do.
    """
    made: dict[str, BrowserContext] = {}

    def give(options: dict[str, object]) -> BrowserContext:
        lasting = {"locale": "en-GB"} | {name: value for name, value in options.items() if name not in WORN}
        key = json.dumps(lasting, sort_keys=True)
        if key not in made:
            made[key] = open_profile(chromium, lasting)
        forget(made[key])
        return made[key]

    return give


def open_profile(chromium: Browser, options: dict[str, object]) -> BrowserContext:
    """Make a browser profile, with a page on this machine that stays and keeps the process that reads scripts."""
    made = chromium.new_context(**options)  # type: ignore[arg-type] # overridden by tests
    made.add_init_script(LISTEN)
    first = made.new_page()
    first.route(HERE, lambda route: route.fulfill(body="", content_type="text/html"))
    first.goto(HERE)
    return made


def forget(profile: BrowserContext) -> None:
    """Close all pages but the first, and forget cookies and what they have stored."""
    first, *others = profile.pages
    client = profile.new_cdp_session(first)
    for page in others:
        origin = "/".join(page.url.split("/")[:3])
        page.close()
        if origin.startswith("http"):
            client.send("Storage.clearDataForOrigin", {"origin": origin, "storageTypes": "all"})
    client.detach()
    profile.clear_cookies()


@pytest.fixture
def context(
    profiles: Callable[[dict[str, object]], BrowserContext], context_options: dict[str, object]
) -> BrowserContext:
    """A browser profile that knows nothing."""
    return profiles(context_options)


@pytest.fixture(scope="module")
def sessions() -> dict[str, str]:
    """Who has signed in on the site of a file, with what the browser remembers of it."""
    return {}


@pytest.fixture
def visitor(
    context: BrowserContext, context_options: dict[str, Any], site: str, sessions: dict[str, str]
) -> Iterator[Visitor]:
    """Somebody at a browser; the last page is checked once more when the test is over."""
    page = context.new_page()
    page.set_viewport_size(context_options.get("viewport", DESKTOP))
    scheme = context_options.get("color_scheme", "light")
    page.emulate_media(color_scheme=scheme)
    made = Visitor(page, site, sessions=sessions, scheme=scheme)
    page.on("console", made.hear)
    page.on("pageerror", lambda error: made.problems.append(f"script: {error}"))
    page.on("request", made.see)
    yield made
    made.check()
