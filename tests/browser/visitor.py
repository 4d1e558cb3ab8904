"""A browser window with a watchman."""

from __future__ import annotations

from dataclasses import dataclass, field

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import ConsoleMessage, Page, Request

from tests.web_support import PASSWORD


@dataclass
class Visitor:
    """A browser window with a watchman: `go` and `check` fail a test on whatever a page must not do."""

    page: Page
    base: str
    problems: list[str] = field(default_factory=list)
    expected: tuple[str, ...] = ()

    def go(self, path: str) -> Page:
        """Open a page and check it."""
        self.page.goto(self.base + path)
        self.check()
        return self.page

    def arrive(self, selector: str) -> Page:
        """Wait until a click has led to the page with *selector* and its scripts have run: before, keys do nothing."""
        self.page.wait_for_selector(selector)
        self.page.wait_for_load_state("load")
        return self.page

    def sign_in(self, name: str) -> None:
        """Sign in as *name*."""
        self.go("/login")
        self.page.fill("#name", name)
        self.page.fill("#password", PASSWORD)
        self.page.click("main button[type=submit]")
        self.arrive(".menu-person")
        self.check()

    def check(self) -> None:
        """Fail on console errors, off-site requests, violations of the policy, axe findings, and sideways scrolling."""
        self.page.wait_for_load_state("networkidle")
        self.problems += [f"policy: {text}" for text in self.page.evaluate("window.violations")]
        for finding in Axe().run(self.page).response["violations"]:
            places = [node["html"][:160] for node in finding["nodes"]]
            self.problems.append(f"axe {finding['id']} on {self.page.url}: {places}")
        width = self.page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
        if width > 0:
            self.problems.append(f"{self.page.url} is {width} px too wide")
        found = [text for text in self.problems if not any(allowed in text for allowed in self.expected)]
        assert not found, "\n".join(found)

    def hear(self, message: ConsoleMessage) -> None:
        """Note errors and warnings of the console."""
        if message.type in {"error", "warning"}:
            self.problems.append(f"console: {message.text}")

    def see(self, request: Request) -> None:
        """Note requests that leave this server."""
        if not request.url.startswith((self.base, "data:", "blob:", "about:")):
            self.problems.append(f"off site: {request.url}")
