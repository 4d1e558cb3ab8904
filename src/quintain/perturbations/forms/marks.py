"""Marks that are added, doubled or left out, and words that say nothing: both with the signs of the language."""

from __future__ import annotations

import regex

from quintain.core.words import ALONE
from quintain.perturbations.batch import TextBatch
from quintain.perturbations.contract import Proposal
from quintain.perturbations.matches import edit_matches
from quintain.perturbations.wordbooks import Table, compiled

_MARKS = r"[,.;:!?…،؛؟।，。；：！？、]"
# Behind a word: where its mark stands alone, or where a space, a line or the text ends it.
_PLACES = rf"(?<=[\p{{L}}\p{{M}}])(?:{_MARKS}(?=\s|$)|(?=\s|$))"
_PLACES_BETWEEN = rf"(?<={ALONE})(?:{_MARKS}(?!{_MARKS})|$)"
_COMMA = r"，(?=\p{Han})"
_SMALL = r"(?!\p{Lu})[\p{L}\p{M}]{2,}"
_BETWEEN = rf"(?<![\p{{L}}\p{{M}}])(?P<before>{_SMALL})\K(?= (?P<after>{_SMALL}))"


def other_marks(batch: TextBatch, rate: float, table: Table) -> Proposal:
    """Drop or double the mark behind a word, or add one that the language has."""
    added = table["added"]

    def replace(match: regex.Match[str], draw: int) -> str:
        if match[0]:
            return "" if draw % 2 else match[0] * 2
        return str(added[(draw >> 1) % len(added)])

    return edit_matches(batch, compiled(rf"(?V1){_PLACES}|{_PLACES_BETWEEN}"), rate, replace)


def fillers(batch: TextBatch, rate: float, table: Table) -> Proposal:
    """Insert words that say nothing: between two words in small letters, in Chinese at a comma."""
    words, form = table["words"], str(table["form"])
    if form.strip()[0] == "，":
        return edit_matches(batch, compiled(_COMMA), rate, lambda match, draw: form.format(words[draw % len(words)]))
    left, right = set(table.get("not_after", ())), set(table.get("not_before", ()))

    def replace(match: regex.Match[str], draw: int) -> str | None:
        if match["before"] in left or match["after"] in right:
            return None
        return form.format(words[draw % len(words)])

    return edit_matches(batch, compiled(_BETWEEN), rate, replace)
