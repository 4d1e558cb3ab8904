"""Drafts of minimal edits, made by rules: what a person may start from, and nothing that counts by itself.

A rule is one file in this package with one function decorated by `@DRAFT_RULES.register(name)`: from a text to the
edits that it can make there, each a place and what stands there instead. Rules know words and not meanings: whether
the label changed, and whether the sentence is still one, a person says. That is why every draft names its rule.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from quintain.core.registry import Registry
from quintain.stats.diff import EditSize, edit_size

WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)?")


@dataclass(frozen=True, slots=True)
class Change:
    """One edit: what stands from *start* to *end* becomes *after*."""

    start: int
    end: int
    after: str


@dataclass(frozen=True, slots=True)
class MinimalDraft:
    """A text that a rule made, unconfirmed: the *rule*, what it took away (*before*) and put there (*after*)."""

    rule: str
    text: str
    before: str
    after: str
    size: EditSize


Rule = Callable[[str], Iterator[Change]]

DRAFT_RULES: Registry[Rule] = Registry("draft rule", package="quintain.perturbations.drafts", group="quintain.drafts")


def make_drafts(text: str, rules: Sequence[str] = (), *, most: int = 50) -> list[MinimalDraft]:
    """Return the drafts that *rules* (by default all of them) make of *text*, in order and at most so many.

    >>> [(one.rule, one.text) for one in make_drafts("All of it was good.", ["antonyms", "quantifiers"])]
    [('antonyms', 'All of it was bad.'), ('quantifiers', 'None of it was good.')]
    """
    by_text: dict[str, MinimalDraft] = {}
    for name in rules or DRAFT_RULES.names():
        for change in DRAFT_RULES.get(name)(text):
            after = text[: change.start] + change.after + text[change.end :]
            if after != text and after not in by_text:
                before = text[change.start : change.end]
                by_text[after] = MinimalDraft(name, after, before, change.after, edit_size(text, after))
            if len(by_text) >= most:
                return list(by_text.values())
    return list(by_text.values())


def words_of(text: str) -> Iterator[re.Match[str]]:
    """Go through the words of a text."""
    return WORD.finditer(text)
