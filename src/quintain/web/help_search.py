"""Finding words in the help: its pages cut at their headings, ranked by how rare the words are and where they stand."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from markupsafe import Markup, escape

from quintain.web.help_pages import ENGLISH, folder, help_page, names

MOST_SECTIONS = 12
EXCERPT = 200
TITLE_WEIGHT = 6.0
_WORD = re.compile(r"[^\W_]+")
_ENDINGS = re.compile(r"(?:ies|ing|ers|ed|es|er|s|y)$")


@dataclass(frozen=True, slots=True)
class HelpSection:
    """What stands under one heading of a document."""

    page: str
    page_title: str
    title: str
    url: str
    text: str


@dataclass(frozen=True, slots=True)
class HelpHit:
    """A section in which all words of a query occur: its heading and an excerpt, the words marked."""

    title: Markup
    page_title: str
    url: str
    excerpt: Markup


@dataclass(frozen=True, slots=True)
class _Index:
    sections: tuple[HelpSection, ...]
    titles: tuple[frozenset[str], ...]
    counts: tuple[Counter[str], ...]


def search_help(query: str, language: str = ENGLISH) -> list[HelpHit]:
    """Return the sections that hold every word of *query*, the best first; none where the query has no words.

    Pages that are translated into *language* are searched in it, the others in English.
    """
    stems = [stem(word) for word in _WORD.findall(query)]
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
    return [stem(word) for word in _WORD.findall(text)]


def _sections(name: str, language: str) -> list[HelpSection]:
    """Return what stands under each heading of a document; what stands above the first is called as the page."""
    page = help_page(name, language)
    return [
        HelpSection(name, page.title, section.title, f"{page.url}#{section.anchor}".removesuffix("#"), section.text)
        for section in page.sections
        if section.text or section.level > 1
    ]


def _hit(section: HelpSection, stems: Sequence[str]) -> HelpHit:
    title = section.title.replace("`", "")
    return HelpHit(marked(title, stems), section.page_title, section.url, marked(_excerpt(section.text, stems), stems))


def _excerpt(text: str, stems: Sequence[str]) -> str:
    """Cut a piece around the first of the words, at borders of words."""
    first = next((match.start() for match in _WORD.finditer(text) if stem(match.group()) in stems), 0)
    begin = max(0, first - EXCERPT // 3)
    begin = text.find(" ", begin) + 1 if begin else 0
    piece = text[begin : begin + EXCERPT]
    if begin + EXCERPT < len(text):
        piece = piece.rpartition(" ")[0] + " …"
    return f"… {piece}" if begin else piece


def marked(text: str, stems: Sequence[str]) -> Markup:
    """Mark every word of *text* whose stem is one of *stems*.

    >>> marked("Two <boards>", ["board"])
    Markup('Two &lt;<mark>boards</mark>&gt;')
    """
    pieces: list[Markup] = []
    end = 0
    for match in _WORD.finditer(text):
        if stem(match.group()) in stems:
            pieces += [escape(text[end : match.start()]), Markup("<mark>{}</mark>").format(match.group())]
            end = match.end()
    return Markup("").join([*pieces, escape(text[end:])])
