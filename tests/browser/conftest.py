"""A real browser on a real server. Whatever page a test opens is also checked for what no page may do."""

from __future__ import annotations

import shutil
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, BrowserContext, sync_playwright

from quintain.compose import Workspace
from tests.browser.visitor import Visitor
from tests.web_support import copy_demo, running

ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
]
# Runs before any script of a page, so that no violation is missed.
LISTEN = """
window.violations = [];
document.addEventListener("securitypolicyviolation", (event) => {
  window.violations.push(`${event.violatedDirective} ${event.blockedURI} ${event.sourceFile}`);
});
"""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark every test of this folder as a browser test."""
    for item in items:
        if "tests/browser" in item.path.as_posix():
            item.add_marker(pytest.mark.browser)


@pytest.fixture(scope="session")
def chromium() -> Iterator[Browser]:
    """The system's Chromium, without a window."""
    path = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
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


@pytest.fixture
def context_options() -> dict[str, object]:
    """What a browser is like: a desktop, light, English; tests override it."""
    return {"viewport": {"width": 1280, "height": 860}, "locale": "en-GB", "color_scheme": "light"}


@pytest.fixture
def context(chromium: Browser, context_options: dict[str, object]) -> Iterator[BrowserContext]:
    """A fresh browser profile."""
    made = chromium.new_context(**context_options)  # type: ignore[arg-type] # overridden by tests
    made.add_init_script(LISTEN)
    yield made
    made.close()


@pytest.fixture
def visitor(context: BrowserContext, site: str) -> Iterator[Visitor]:
    """Somebody at a browser; the last page is checked once more when the test is over."""
    page = context.new_page()
    made = Visitor(page, site)
    page.on("console", made.hear)
    page.on("pageerror", lambda error: made.problems.append(f"script: {error}"))
    page.on("request", made.see)
    yield made
    made.check()
