"""Finding words in the help: its pages cut at their headings, ranked by how rare the words are and where they stand."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from markupsafe import Markup

from quintain.core.words import SEARCHED, find_all
from quintain.web.help_pages import ENGLISH, folder, help_page, names
from quintain.web.search_marks import excerpt, marked

MOST_SECTIONS = 12
TITLE_WEIGHT = 6.0
_ENDINGS = re.compile(r"(?:ies|ing|ers|ed|es|er|s|y)$")


@dataclass(frozen=True, slots=True)
class HelpSection:
    """What stands under one heading of a document."""

    page: str
    page_title: str
    title: str
    url: str
    text: str
    language: str


@dataclass(frozen=True, slots=True)
class HelpHit:
    """A section in which all words of a query occur: its heading and an excerpt, the words marked."""

    title: Markup
    page_title: str
    url: str
    excerpt: Markup
    language: str


@dataclass(frozen=True, slots=True)
class _Index:
    sections: tuple[HelpSection, ...]
    titles: tuple[frozenset[str], ...]
    counts: tuple[Counter[str], ...]


def search_help(query: str, language: str = ENGLISH) -> list[HelpHit]:
    """Return the sections that hold every word of *query*, the best first; none where the query has no words.

    Pages that are translated into *language* are searched in it, the others in English.
    """
    stems = [stem(word) for word in find_all(SEARCHED, query)]
    if not stems:
        return []
    index = _index(language)
    rarity = {word: _rarity(index, word) for word in stems}
    scored = [
        (score, position) for position in range(len(index.sections)) if (score := _score(index, position, rarity))
    ]
    best = sorted(scored, key=lambda pair: (-pair[0], pair[1]))[:MOST_SECTIONS]
    return [_hit(index.sections[position], stems) for _, position in best]


def stem(word: str) -> str:
    """Cut a word to what its forms share.

    >>> [stem(word) for word in ("Leaderboards", "agreed", "scores", "queries", "is")]
    ['leaderboard', 'agr', 'scor', 'quer', 'is']
    """
    small = word.lower()
    cut = _ENDINGS.sub("", small)
    return (cut.rstrip("e") or cut) if len(cut) > 2 else small


def _score(index: _Index, position: int, rarity: Mapping[str, float]) -> float:
    """Weigh a section by how often the words stand in it, the rare ones more, and more in its heading; 0 lacks one."""
    counts, title = index.counts[position], index.titles[position]
    if not all(counts[word] for word in rarity):
        return 0.0
    return sum(
        weight * (counts[word] / (counts[word] + 1.5) + TITLE_WEIGHT * (word in title))
        for word, weight in rarity.items()
    )


def _rarity(index: _Index, word: str) -> float:
    return math.log(1 + len(index.sections) / (1 + sum(1 for counts in index.counts if counts[word])))


@cache
def _index(language: str) -> _Index:
    sections = tuple(section for name in ("", *names()) for section in _sections(name, language)) if folder() else ()
    titles = tuple(frozenset(_stems(section.title)) for section in sections)
    counts = tuple(Counter(_stems(f"{section.title} {section.text}")) for section in sections)
    return _Index(sections, titles, counts)


def _stems(text: str) -> list[str]:
    return [stem(word) for word in find_all(SEARCHED, text)]


def _sections(name: str, language: str) -> list[HelpSection]:
    """Return what stands under each heading of a document; what stands above the first is called as the page."""
    page = help_page(name, language)
    addresses = [f"{page.url}#{section.anchor}".removesuffix("#") for section in page.sections]
    return [
        HelpSection(name, page.title, section.title, address, section.text, page.language)
        for section, address in zip(page.sections, addresses, strict=True)
        if section.text or section.level > 1
    ]


def _hit(section: HelpSection, stems: Sequence[str]) -> HelpHit:
    title = section.title.replace("`", "")

    def is_meant(word: str) -> bool:
        return stem(word) in stems

    shown = marked(excerpt(section.text, is_meant), is_meant)
    return HelpHit(marked(title, is_meant), section.page_title, section.url, shown, section.language)
