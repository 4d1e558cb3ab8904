"""The documents of the product as pages of its own: found beside the package, parsed once, their links leading on here.

A document may stand in other languages, too: `docs/de/writing.md` is `docs/writing.md` for those who read German. Its
headings are those of the English one, in its order, and are called as there in addresses, so that every link works in
every language.
"""

from __future__ import annotations

import posixpath
import re
import struct
from collections.abc import Iterator, Mapping, Sequence
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
ENGLISH = "en"
CONTENTS = (2, 3)  # the levels of headings that a page lists
_LANGUAGE = re.compile(r"[a-z]{2}")  # the name of a folder that holds documents in another language
_COMMENT = re.compile(r"^<!--.*?-->\n", re.MULTILINE | re.DOTALL)  # for those who write the documents
_KEY = re.compile(r"&lt;kbd&gt;(\w+)&lt;/kbd&gt;")  # the one mark beyond Markdown that the documents use
_PICTURE = re.compile(r"[a-z0-9][a-z0-9-]*\.png")
_TABLE = re.compile(r"<(table|pre)>(.*?)</\1>", re.DOTALL)
# Names of what stands on every page: a heading has another.
_TAKEN = ("main", "keys", "keys-title", "site-search", "ask-first-title", "contents", "help-tree")
# Where each room of a task is explained.
ROOMS = {
    "overview": "concepts",
    "board": "board",
    "write": "writing",
    "judge": "judging",
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
class Section:
    """What stands under one heading: its level (1 is the page's own), its name in addresses, its words, its links.

    *links* are the words and addresses of those that lead to pages of the help.
    """

    level: int
    title: str
    anchor: str
    text: str
    links: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class HelpPage:
    """One document: its name, its title, what it says, the same cut at its headings, and in which language."""

    name: str
    title: str
    html: Markup
    sections: tuple[Section, ...]
    language: str = ENGLISH

    @property
    def url(self) -> str:
        """Where it is shown."""
        return f"/help/{self.name}" if self.name else "/help"

    @property
    def contents(self) -> tuple[Section, ...]:
        """The headings to list beside it; none where there is only one."""
        listed = tuple(section for section in self.sections if section.level in CONTENTS)
        return listed if len(listed) > 1 else ()


@cache
def folder() -> Path | None:
    """Find the documents; None where the product was installed without them."""
    return next((path for path in PLACES if (path / f"{FIRST}.md").is_file()), None)


def picture(name: str) -> Path:
    """Find a picture of the documents."""
    docs = folder()
    if docs is None or not _PICTURE.fullmatch(name) or not (docs / PICTURES / name).is_file():
        raise NotFound("There is no picture '{name}' in the help.", name=name)
    return docs / PICTURES / name


@cache
def names() -> tuple[str, ...]:
    """Name every document but the list of all: those of a folder by its name and theirs, its own list by its name."""
    docs = folder()
    if docs is None:
        return ()
    lists = [path.parent.name for path in docs.glob(f"*/{FIRST}.md") if not _LANGUAGE.fullmatch(path.parent.name)]
    pages = [*docs.glob("*.md"), *(path for name in lists for path in docs.glob(f"{name}/*.md"))]
    titled = [path.relative_to(docs).with_suffix("").as_posix() for path in pages if path.stem != FIRST]
    return tuple(sorted(name for name in (*titled, *lists) if all(map(NAME.fullmatch, name.split("/")))))


@cache
def help_page(name: str = "", language: str = ENGLISH) -> HelpPage:
    """Return a document in *language*, or in English where it is not translated; NotFound where there is none.

    Without a *name* it is the list of all; that of a folder has the folder's name.
    """
    docs = folder()
    if docs is None:
        raise NotFound("The help is not installed here.")
    if name and name not in names():
        raise NotFound("There is no page '{name}' in the help.", name=name, remedy="See the list of pages.")
    path = _path(docs, name)
    translated = docs / language / path.relative_to(docs)
    if language == ENGLISH or not _LANGUAGE.fullmatch(language) or not translated.is_file():
        return _read(docs, path, name)
    anchors = [section.anchor for section in help_page(name).sections[1:]]
    return _read(docs, translated, name, language, anchors)


def _path(docs: Path, name: str) -> Path:
    return docs / name / f"{FIRST}.md" if not name or (docs / name).is_dir() else docs / f"{name}.md"


def _read(docs: Path, path: Path, name: str, language: str = ENGLISH, anchors: Sequence[str] = ()) -> HelpPage:
    """Parse one file; its headings have the names in *anchors*, as far as those go, else names of their own."""
    heading, _, text = path.read_text(encoding="utf-8").partition("\n")
    title = heading.removeprefix("# ").strip()
    here = path.parent.relative_to(docs).as_posix()
    parser = MarkdownIt("commonmark", {"html": False, "linkify": False}).enable("table")
    tokens = parser.parse(_COMMENT.sub("", text))
    own = _name_headings(tokens, anchors)
    for token in tokens:
        if token.type in {"th_open", "td_open"}:
            token.attrs.pop("style", None)
        _lead_on(token.children or [], here, own)
    sections = _sections(title, tokens)
    html = _KEY.sub(r"<kbd>\1</kbd>", parser.renderer.render(tokens, parser.options, {}))
    # What is wide scrolls within itself, so that keys must reach it; text in it is escaped.
    html = _TABLE.sub(r'<div class="wide" tabindex="0"><\1>\2</\1></div>', html)
    return HelpPage(name, title, Markup(html), sections, language)  # noqa: S704 - the renderer escapes all text


def _name_headings(tokens: Sequence[Token], anchors: Sequence[str]) -> dict[str, str]:
    """Name the headings, and return for each what links within the document call it: in a translation, otherwise."""
    taken: dict[str, int] = {}
    own: dict[str, str] = {}
    english = iter(anchors)
    for position, token in enumerate(tokens):
        if token.type == "heading_open":
            called = anchor_of(tokens[position + 1].content, taken)
            anchor = next(english, None) or (f"{called}-" if called in _TAKEN else called)
            own[called] = anchor
            token.attrSet("id", anchor)
    return own


def _sections(title: str, tokens: Sequence[Token]) -> tuple[Section, ...]:
    """Cut a document at its headings."""
    sections: list[Section] = []
    level, anchor, words, links = 1, "", list[str](), list[tuple[str, str]]()
    for position, token in enumerate(tokens):
        if token.type == "heading_open":
            sections.append(Section(level, title, anchor, " ".join(words), tuple(links)))
            level, title, anchor = int(token.tag[1]), _plain(tokens[position + 1].content), str(token.attrs["id"])
            words, links = [], []
        elif token.type in {"inline", "fence"} and tokens[position - 1].type != "heading_open":
            words.append(_plain(token.content) if token.type == "inline" else token.content)
            links += _links(token.children or [])
    return (*sections, Section(level, title, anchor, " ".join(words), tuple(links)))


def _links(tokens: Sequence[Token]) -> Iterator[tuple[str, str]]:
    """Go through the links to pages of the help: their words, and where they lead."""
    for position, token in enumerate(tokens):
        href = str(token.attrs.get("href", "")) if token.type == "link_open" else ""
        if href.startswith("/help"):
            yield tokens[position + 1].content, href


def anchor_of(title: str, taken: dict[str, int]) -> str:
    """Name a heading as links to it do: small letters and hyphens, a number where the name is taken.

    >>> anchor_of("What `quintain` asks, and pays", {})
    'what-quintain-asks-and-pays'
    """
    name = re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-")
    taken[name] = taken.get(name, -1) + 1
    return f"{name}-{taken[name]}" if taken[name] else name


def _plain(text: str) -> str:
    """Leave what a reader sees of Markdown: the words of links and pictures, no marks.

    >>> _plain("See [the board](board.md#x), `--json` and **all**.")
    'See the board, --json and all.'
    """
    return re.sub(r"!?\[([^\[\]]*)\]\([^()]*\)", r"\1", text).replace("`", "").replace("**", "").replace("\n", " ")


def _lead_on(tokens: list[Token], here: str, own: Mapping[str, str]) -> None:
    """Lead links and pictures of a document in folder *here* to their pages; what has none stays plain text."""
    plain = False
    for token in tokens:
        if token.type == "image":
            _show_picture(token, here)
        if token.type == "link_open":
            target = _target(str(token.attrs.get("href", "")), here)
            plain = target is None
            if target is not None:
                inside = target.startswith("#")
                token.attrSet("href", f"#{own.get(target[1:], target[1:])}" if inside else target)
                continue
        if plain and token.type in {"link_open", "link_close"}:
            plain = token.type == "link_open"
            token.type, token.tag, token.nesting, token.content = "text", "", 0, ""


def _show_picture(token: Token, here: str) -> None:
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
    """Return where a link of a document in folder *here* leads; a document in any language is one page.

    >>> _target("board.md#weights"), _target("#top"), _target("../CONTRIBUTING.md")
    ('/help/board#weights', '#top', None)
    >>> _target("../board.md", "repeating"), _target("README.md", "repeating"), _target("../README.md", "repeating")
    ('/help/board', '/help/repeating', '/help')
    >>> _target("writing.md", "de"), _target("../board.md", "de")
    ('/help/writing', '/help/board')
    >>> _target("de/README.md"), _target("../README.md", "de")
    ('/help?language=de', '/help?language=en')
    """
    if href.startswith(("#", "https://", "http://", "/")):
        return href
    path, _, anchor = href.partition("#")
    parts = posixpath.normpath(posixpath.join(here, path)).split("/")
    language = parts.pop(0) if len(parts) > 1 and _LANGUAGE.fullmatch(parts[0]) else ENGLISH
    name = "/".join(parts).removesuffix(".md").removesuffix(FIRST).rstrip("/")
    if not path.endswith(".md") or (name and name not in names()):
        return None
    page = f"/help/{name}" if name else "/help"
    if not name and language != (here if _LANGUAGE.fullmatch(here) else ENGLISH):
        page = f"{page}?language={language}"
    return f"{page}#{anchor}" if anchor else page
