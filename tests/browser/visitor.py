"""A browser window with a watchman."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import ConsoleMessage, Page, Request

from quintain.web.visit import SESSION_COOKIE
from tests.web_support import AXE, PASSWORD

DESKTOP = {"width": 1280, "height": 860}
PHONE = {"width": 360, "height": 740}
# A page without a reload: what its style sheets make of another scheme and of a small screen.
LOOKS = {
    "light": (DESKTOP, "light"),
    "dark": (DESKTOP, "dark"),
    "phone": (PHONE, "light"),
    "dark phone": (PHONE, "dark"),
}
EVERY_LOOK = ("light", "dark", "phone")
# Runs before any script of a page, so that no violation is missed, and counts what is being asked of the server.
LISTEN = """
window.violations = [];
document.addEventListener("securitypolicyviolation", (event) => {
  window.violations.push(`${event.violatedDirective} ${event.blockedURI} ${event.sourceFile}`);
});
window.asked = 0;
const [ask, send] = [window.fetch, XMLHttpRequest.prototype.send];
window.fetch = (...all) => {
  window.asked += 1;
  return ask(...all).finally(() => (window.asked -= 1));
};
XMLHttpRequest.prototype.send = function (...all) {
  window.asked += 1;
  this.addEventListener("loadend", () => (window.asked -= 1));
  return send.apply(this, all);
};
"""
# Waits until all that was asked is answered and shown, and colours and places have stopped moving.
SETTLE = """async () => {
  const frame = () => new Promise(requestAnimationFrame);
  const moving = () => document.getAnimations().filter((one) =>
    one.playState === "running" && Number.isFinite(one.effect.getComputedTiming().endTime));
  for (let quiet = 0, frames = 0; quiet < 2; frames += 1) {
    if (frames > 1200) throw new Error(`${window.asked} requests and ${moving().length} animations have no end`);
    await frame();
    quiet = window.asked || moving().length ? 0 : quiet + 1;
  }
}"""
# What stands in this page's structure, and in which ways its words are painted.
LOOK = (Path(__file__).parent / "access.js").read_text(encoding="utf-8")
# All that is asked of a page in one go.
SEE = f"""async () => {{
  await ({SETTLE})();
  const {{ scrollWidth, clientWidth }} = document.documentElement;
  const told = {{ violations: window.violations, excess: scrollWidth - clientWidth, axe: window.axe !== undefined }};
  return {{ ...told, ...({LOOK})() }};
}}"""
# Rules about colours look at an element and at what is behind it, all others at the structure.
COLOURS = ["color-contrast", "link-in-text-block"]
# Style sheets and media are not fetched for it: the one rule on by default that wants them is about sound that plays.
RUN_STRUCTURE = """async (colours) => {
  const rules = Object.fromEntries(colours.map((rule) => [rule, { enabled: false }]));
  return (await axe.run(document, { preload: false, selectors: false, resultTypes: ["violations"], rules })).violations;
}"""
# What somebody typed may have changed a part of the page since it was looked at: the elements are looked up anew.
RUN_COLOURS = f"""async ([colours, wanted]) => {{
  ({LOOK})();
  const ways = wanted.filter((way) => window.waysToPaint.has(way));
  if (!ways.length) return {{ ways, violations: [] }};
  const include = ways.map((way) => window.waysToPaint.get(way));
  const options = {{ preload: false, selectors: false, resultTypes: ["violations"], runOnly: colours }};
  const found = await axe.run({{ include }}, options);
  return {{ ways, violations: found.violations }};
}}"""
LOAD_AXE = """(path) => new Promise((done) => {
  const script = Object.assign(document.createElement("script"), { src: path });
  script.onload = () => done(script.remove() ?? true);
  script.onerror = () => done(script.remove() ?? false);
  document.head.append(script);
})"""


@dataclass
class Sound:
    """Structures and ways to paint words in which axe found nothing; with a *file*, all of a run know them."""

    file: Path | None = None
    known: set[str] = field(default_factory=set)
    size: int = 0

    def unknown(self, names: Sequence[str]) -> list[str]:
        """Give those of *names* in which nobody has found nothing yet."""
        if self.file and not self.known.issuperset(names) and self.file.stat().st_size != self.size:
            data = self.file.read_bytes()
            self.size = len(data)
            self.known.update(data.decode().splitlines())
        return [name for name in names if name not in self.known]

    def add(self, names: Sequence[str]) -> None:
        """Note that nothing was found in *names*."""
        self.known.update(names)
        if self.file:
            with self.file.open("a", encoding="utf-8") as file:
                file.write("".join(f"{name}\n" for name in names))


# Each is looked at once.
_sound = Sound()


@dataclass
class Visitor:
    """A browser window with a watchman: `go` and `check` fail a test on whatever a page must not do."""

    page: Page
    base: str
    problems: list[str] = field(default_factory=list)
    expected: tuple[str, ...] = ()
    sessions: dict[str, str] = field(default_factory=dict)
    scheme: str = "light"

    def go(self, path: str) -> Page:
        """Open a page and check it."""
        self.page.goto(self.base + path)
        self.check()
        return self.page

    def go_in_looks(self, path: str, *looks: str) -> Page:
        """Open a page and check it in light, in dark and on a phone, or in other *looks*."""
        self.wear(looks[0] if looks else "light")
        self.page.goto(self.base + path)
        self.check_looks(*looks)
        return self.page

    def check_looks(self, *looks: str) -> None:
        """Check a page in light, in dark and on a phone, or in other *looks*, the last of which it keeps."""
        for look in looks or EVERY_LOOK:
            self.wear(look)
            self.check()

    def wear(self, look: str) -> None:
        """Change the size of the window and the scheme of colours."""
        size, scheme = LOOKS[look]
        if size != self.page.viewport_size:
            self.page.set_viewport_size(size)  # type: ignore[arg-type] # a width and a height
        if scheme != self.scheme:
            # Colours change at once: what moves on the way is looked at where it is switched by hand.
            self.page.emulate_media(color_scheme=scheme, reduced_motion="reduce")  # type: ignore[arg-type] # light or dark
            self.scheme = scheme

    def arrive(self, selector: str) -> Page:
        """Wait until a click has led to the page with *selector* and its scripts have run: before, keys do nothing."""
        self.page.wait_for_selector(selector)
        self.page.wait_for_load_state("load")
        return self.page

    def press(self, name: str) -> Page:
        """Press a button that leads to another page, which may look like the one that is being left."""
        with self.page.expect_navigation():
            self.page.get_by_role("button", name=name, exact=True).click()
        return self.page

    def unfold(self, selector: str) -> None:
        """Open what is folded at *selector*, unless the page's address has opened it already."""
        self.page.wait_for_load_state("load")
        fold = self.page.locator(selector)
        if fold.get_attribute("open") is None:
            fold.locator("> summary").click()

    def sign_in(self, name: str) -> None:
        """Be signed in as *name*: by the form for the first time, and from then on as the browser remembers it."""
        if name in self.sessions:
            cookie = {"name": SESSION_COOKIE, "value": self.sessions[name], "url": self.base}
            self.page.context.add_cookies([cookie])  # type: ignore[list-item] # a typed dict
        else:
            self.sign_in_by_form(name)
            cookies = {cookie["name"]: cookie["value"] for cookie in self.page.context.cookies()}
            self.sessions[name] = cookies[SESSION_COOKIE]

    def sign_in_by_form(self, name: str) -> None:
        """Sign in as *name* on the page for that, which ends on a welcome."""
        self.go("/login")
        self.page.fill("#name", name)
        self.page.fill("#password", PASSWORD)
        self.page.click("main button[type=submit]")
        self.arrive(".menu-person")
        self.check()

    def check(self) -> None:
        """Fail on console errors, off-site requests, violations of the policy, axe findings, and sideways scrolling."""
        self.page.wait_for_load_state("load")
        seen = self.page.evaluate(SEE)
        self.problems += [f"policy: {text}" for text in seen["violations"]]
        self.check_access(seen)
        if seen["excess"] > 0:
            self.problems.append(f"{self.page.url} is {seen['excess']} px too wide")
        found = [text for text in self.problems if not any(allowed in text for allowed in self.expected)]
        assert not found, "\n".join(found)

    def check_access(self, seen: Mapping[str, Any]) -> None:
        """Note what axe finds in structures, and in colours of words, in which it has not found nothing before."""
        structure = f"structure {seen['structure']}"
        ways = _sound.unknown(seen["ways"])
        new = bool(_sound.unknown([structure]))
        if not seen["axe"] and (ways or new):
            self.load_axe()
        if new and not self.note_findings(self.page.evaluate(RUN_STRUCTURE, COLOURS)):
            _sound.add([structure])
        if ways:
            found = self.page.evaluate(RUN_COLOURS, [COLOURS, ways])
            if not self.note_findings(found["violations"]):
                _sound.add(found["ways"])

    def load_axe(self) -> None:
        """Bring axe into the page: from its server, or from here where it has none."""
        if not self.page.evaluate(LOAD_AXE, AXE):
            self.page.evaluate(Axe().axe_script)

    def note_findings(self, findings: Sequence[Mapping[str, Any]]) -> int:
        """Note what axe found, and give how much that is."""
        for finding in findings:
            places = [node["html"][:160] for node in finding["nodes"]]
            self.problems.append(f"axe {finding['id']} on {self.page.url}: {places}")
        return len(findings)

    def hear(self, message: ConsoleMessage) -> None:
        """Note errors and warnings of the console."""
        if message.type in {"error", "warning"}:
            self.problems.append(f"console: {message.text}")

    def see(self, request: Request) -> None:
        """Note requests that leave this server."""
        if not request.url.startswith((self.base, "data:", "blob:", "about:")):
            self.problems.append(f"off site: {request.url}")
