"""The documents of the product as pages of its own: found beside the package, rendered, their links leading on here."""

from __future__ import annotations

import re
import struct
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from markdown_it import MarkdownIt
from markdown_it.token import Token
from markupsafe import Markup

import quintain
from quintain.core.errors import NotFound

PACKAGE = Path(quintain.__file__).parent
PLACES = (PACKAGE / "docs", PACKAGE.parent.parent / "docs")  # as installed, and in a checkout
FIRST = "README"
NAME = re.compile(r"[a-z0-9][a-z0-9-]*")
PICTURES = "images"
_KEY = re.compile(r"&lt;kbd&gt;(\w+)&lt;/kbd&gt;")  # the one mark beyond Markdown that the documents use
_PICTURE = re.compile(r"[a-z0-9][a-z0-9-]*\.png")
# Where each room of a task is explained.
ROOMS = {
    "overview": "concepts",
    "board": "board",
    "write": "writing",
    "judge": "validating",
    "data": "data",
    "models": "models",
    "runs": "evaluation",
    "talk": "models",
    "validation": "validating",
    "rounds": "collecting",
    "contests": "contests",
    "codings": "studying",
    "reports": "studying",
    "pay": "paying",
    "settings": "tasks",
}


@dataclass(frozen=True, slots=True)
class HelpPage:
    """One document: its name, its title, and what it says."""

    name: str
    title: str
    html: Markup


@cache
def folder() -> Path | None:
    """Find the documents; None where the product was installed without them."""
    return next((place for place in PLACES if (place / f"{FIRST}.md").is_file()), None)


def picture(name: str) -> Path:
    """Find a picture of the documents."""
    place = folder()
    if place is None or not _PICTURE.fullmatch(name) or not (place / PICTURES / name).is_file():
        raise NotFound("There is no picture '{name}' in the help.", name=name)
    return place / PICTURES / name


@cache
def help_page(name: str = "") -> HelpPage:
    """Give a document, the list of all where no *name* is given."""
    place = folder()
    if place is None:
        raise NotFound("The help is not installed here.")
    path = place / f"{name or FIRST}.md"
    if (name and not NAME.fullmatch(name)) or not path.is_file():
        raise NotFound("There is no page '{name}' in the help.", name=name, remedy="See the list of pages.")
    heading, _, text = path.read_text(encoding="utf-8").partition("\n")
    return HelpPage(name, heading.removeprefix("# ").strip(), _render(text))


def _render(text: str) -> Markup:
    parser = MarkdownIt("commonmark", {"html": False, "linkify": False}).enable("table")
    tokens = parser.parse(text)
    taken: dict[str, int] = {}
    for place, token in enumerate(tokens):
        if token.type == "heading_open":
            token.attrSet("id", _anchor(tokens[place + 1].content, taken))
        if token.type in {"th_open", "td_open"}:
            token.attrs.pop("style", None)
        _lead_on(token.children or [])
    html = parser.renderer.render(tokens, parser.options, {})
    html = _KEY.sub(r"<kbd>\1</kbd>", html)
    for wide in ("pre", "table"):  # which scroll on a phone, so that keys must reach them; text in them is escaped
        html = html.replace(f"<{wide}>", f'<{wide} tabindex="0">')
    return Markup(html)  # noqa: S704 - the renderer escapes all text


def _anchor(title: str, taken: dict[str, int]) -> str:
    """Name a heading as links to it do: small letters and hyphens, a number where the name is taken.

    >>> _anchor("What `quintain` asks, and pays", {})
    'what-quintain-asks-and-pays'
    """
    name = re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-")
    taken[name] = taken.get(name, -1) + 1
    return f"{name}-{taken[name]}" if taken[name] else name


def _lead_on(tokens: list[Token]) -> None:
    """Lead links and pictures to where they are here; what is in the repository only stays plain text."""
    plain = False
    for token in tokens:
        if token.type == "image":
            _place_picture(token)
        if token.type == "link_open":
            target = _target(str(token.attrs.get("href", "")))
            plain = target is None
            if target is not None:
                token.attrSet("href", target)
                continue
        if plain and token.type in {"link_open", "link_close"}:
            plain = token.type == "link_open"
            token.type, token.tag, token.nesting, token.content = "text", "", 0, ""


def _place_picture(token: Token) -> None:
    """Show a picture of the documents when it comes into sight, in the room that it needs; others stay their words."""
    folder_name, _, name = str(token.attrs.get("src", "")).partition("/")
    try:
        path = picture(name if folder_name == PICTURES else "")
    except NotFound:
        token.type, token.tag = "text", ""
        return
    with path.open("rb") as stream:
        width, height = struct.unpack(">16xII", stream.read(24))
    token.attrs = {
        "src": f"/help/{PICTURES}/{name}",
        "alt": "",  # the renderer puts the description in
        "width": width,
        "height": height,
        "loading": "lazy",
    }


def _target(href: str) -> str | None:
    """Say where a link leads from here.

    >>> _target("board.md#weights"), _target("#top"), _target("../CONTRIBUTING.md")
    ('/help/board#weights', '#top', None)
    """
    if href.startswith(("#", "https://", "http://", "/")):
        return href
    path, _, anchor = href.partition("#")
    name = path.removesuffix(".md")
    if not path.endswith(".md") or not (NAME.fullmatch(name) or name == FIRST):
        return None
    page = "/help" if name == FIRST else f"/help/{name}"
    return f"{page}#{anchor}" if anchor else page
