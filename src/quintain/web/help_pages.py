"""The documents of the product as pages of its own: found beside the package, rendered, their links leading on here."""

from __future__ import annotations

import posixpath
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
def names() -> tuple[str, ...]:
    """Name every document but the list of all: those of a folder by its name and theirs, its own list by its name."""
    docs = folder()
    if docs is None:
        return ()
    lists = [path.parent.name for path in docs.glob(f"*/{FIRST}.md")]
    pages = [*docs.glob("*.md"), *(path for name in lists for path in docs.glob(f"{name}/*.md"))]
    titled = [path.relative_to(docs).with_suffix("").as_posix() for path in pages if path.stem != FIRST]
    return tuple(sorted(name for name in (*titled, *lists) if all(map(NAME.fullmatch, name.split("/")))))


@cache
def help_page(name: str = "") -> HelpPage:
    """Give a document, the list of all where no *name* is given, and that of a folder by the folder's name."""
    docs = folder()
    if docs is None:
        raise NotFound("The help is not installed here.")
    if name and name not in names():
        raise NotFound("There is no page '{name}' in the help.", name=name, remedy="See the list of pages.")
    path = _path(docs, name)
    heading, _, text = path.read_text(encoding="utf-8").partition("\n")
    here = path.parent.relative_to(docs).as_posix()
    return HelpPage(name, heading.removeprefix("# ").strip(), _render(text, here))


def source_of(name: str) -> str:
    """Return the Markdown of a document below its title; NotFound where no documents are installed."""
    docs = folder()
    if docs is None:
        raise NotFound("The help is not installed here.")
    return _path(docs, name).read_text(encoding="utf-8").partition("\n")[2]


def _path(docs: Path, name: str) -> Path:
    return docs / name / f"{FIRST}.md" if not name or (docs / name).is_dir() else docs / f"{name}.md"


def _render(text: str, here: str) -> Markup:
    parser = MarkdownIt("commonmark", {"html": False, "linkify": False}).enable("table")
    tokens = parser.parse(text)
    taken: dict[str, int] = {}
    for place, token in enumerate(tokens):
        if token.type == "heading_open":
            token.attrSet("id", anchor_of(tokens[place + 1].content, taken))
        if token.type in {"th_open", "td_open"}:
            token.attrs.pop("style", None)
        _lead_on(token.children or [], here)
    html = parser.renderer.render(tokens, parser.options, {})
    html = _KEY.sub(r"<kbd>\1</kbd>", html)
    for wide in ("pre", "table"):  # which scroll on a phone, so that keys must reach them; text in them is escaped
        html = html.replace(f"<{wide}>", f'<{wide} tabindex="0">')
    return Markup(html)  # noqa: S704 - the renderer escapes all text


def anchor_of(title: str, taken: dict[str, int]) -> str:
    """Name a heading as links to it do: small letters and hyphens, a number where the name is taken.

    >>> anchor_of("What `quintain` asks, and pays", {})
    'what-quintain-asks-and-pays'
    """
    name = re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-")
    taken[name] = taken.get(name, -1) + 1
    return f"{name}-{taken[name]}" if taken[name] else name


def _lead_on(tokens: list[Token], here: str) -> None:
    """Lead links and pictures of a document in folder *here* to their pages; what has none stays plain text."""
    plain = False
    for token in tokens:
        if token.type == "image":
            _place_picture(token, here)
        if token.type == "link_open":
            target = _target(str(token.attrs.get("href", "")), here)
            plain = target is None
            if target is not None:
                token.attrSet("href", target)
                continue
        if plain and token.type in {"link_open", "link_close"}:
            plain = token.type == "link_open"
            token.type, token.tag, token.nesting, token.content = "text", "", 0, ""


def _place_picture(token: Token, here: str) -> None:
    """Show a picture of the documents when it comes into sight, in the room that it needs; others stay their words."""
    source = posixpath.normpath(posixpath.join(here, str(token.attrs.get("src", ""))))
    folder_name, _, name = source.partition("/")
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


def _target(href: str, here: str = "") -> str | None:
    """Say where a link of a document in folder *here* leads.

    >>> _target("board.md#weights"), _target("#top"), _target("../CONTRIBUTING.md")
    ('/help/board#weights', '#top', None)
    >>> _target("../board.md", "repeating"), _target("README.md", "repeating"), _target("../README.md", "repeating")
    ('/help/board', '/help/repeating', '/help')
    """
    if href.startswith(("#", "https://", "http://", "/")):
        return href
    path, _, anchor = href.partition("#")
    name = posixpath.normpath(posixpath.join(here, path)).removesuffix(".md").removesuffix(FIRST).rstrip("/")
    if not path.endswith(".md") or (name and name not in names()):
        return None
    page = f"/help/{name}" if name else "/help"
    return f"{page}#{anchor}" if anchor else page
