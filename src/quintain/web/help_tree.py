"""The order of the documents: the sections of their list, the pages of each, and what comes before and after a page."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from quintain.web.help_pages import ENGLISH, help_page


@dataclass(frozen=True, slots=True)
class TreeEntry:
    """A page in the tree: its title there, its address, and the pages of its folder."""

    title: str
    url: str
    pages: tuple[TreeEntry, ...] = ()


@dataclass(frozen=True, slots=True)
class TreeSection:
    """A heading of the tree and the pages below it."""

    title: str
    pages: tuple[TreeEntry, ...]


@cache
def help_tree(language: str = ENGLISH) -> tuple[TreeSection, ...]:
    """Return the sections of the list of all documents; a page that has a list of its own is followed by those."""
    listed = help_page("", language).sections
    sections = (
        TreeSection(section.title, _entries(section.links, language)) for section in listed if section.level > 1
    )
    return tuple(section for section in sections if section.pages)


def _entries(links: tuple[tuple[str, str], ...], language: str) -> tuple[TreeEntry, ...]:
    pages = [(title, url) for title, url in links if "#" not in url and url.startswith("/help/")]
    return tuple(TreeEntry(title, url, _below(url, language)) for title, url in pages)


def _below(url: str, language: str) -> tuple[TreeEntry, ...]:
    """List the pages of a folder, in the order in which its own list names them; none where *url* is one page."""
    page = help_page(url.removeprefix("/help/"), language)
    links = [link for section in page.sections for link in section.links]
    inside = {target: title for title, target in reversed(links) if target.startswith(f"{url}/") and "#" not in target}
    return tuple(TreeEntry(title, target) for target, title in reversed(inside.items()))


def neighbours(url: str, language: str = ENGLISH) -> tuple[TreeEntry | None, TreeEntry | None]:
    """Return the pages before and after the one at *url*, in the order of the tree; None at either end."""
    order = [entry for section in help_tree(language) for page in section.pages for entry in (page, *page.pages)]
    addresses = [entry.url for entry in order]
    if url not in addresses:
        return None, order[0] if order else None
    position = addresses.index(url)
    before, after = order[position - 1] if position else None, order[position + 1 : position + 2]
    return before, after[0] if after else None
