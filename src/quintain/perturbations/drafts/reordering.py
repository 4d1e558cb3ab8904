"""Change the order of what is said."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator

from quintain.perturbations.drafts.contract import DRAFT_RULES, Change

# Both begin where something else ends, so that no place within a clause is tried again.
_HALVES = re.compile(
    r"(?<![^,.!?;:])(?P<first>[^,.!?;:]+),\s+(?P<word>but|and|yet)\s(?P<second>[^,.!?;:]+)(?P<end>[.!?]|$)"
)
_PAIR = re.compile(r"\b(?P<first>[^\W\d_]+)\s+(?P<word>and|or|than)\s+(?P<second>[^\W\d_]+)\b")
_SENTENCE = re.compile(r"(?<![^.!?])[^.!?]+[.!?]+")


@DRAFT_RULES.register("reordering")
def turn_order(text: str) -> Iterator[Change]:
    """Turn the halves of a sentence round "but", the words round "and" and "than", and sentences that are neighbours.

    >>> [one.after for one in turn_order("Big on slogans, but low on plot.")]
    ['Low on plot, but big on slogans.']
    """
    for match in _HALVES.finditer(text):
        lead = len(match["first"]) - len(match["first"].lstrip())
        first, second = match["first"].strip(), match["second"].strip()
        turned = f"{_large(second, first)}, {match['word']} {_small(first)}{match['end']}"
        yield Change(match.start() + lead, match.end(), turned)
    for match in _PAIR.finditer(text):
        if match["first"].lower() != match["second"].lower():
            second = _large(match["second"], match["first"])
            yield Change(match.start(), match.end(), f"{second} {match['word']} {_small(match['first'])}")
    sentences = [match for match in _SENTENCE.finditer(text) if match[0].strip()]
    for left, right in itertools.pairwise(sentences):
        lead = len(left[0]) - len(left[0].lstrip())
        yield Change(left.start() + lead, right.end(), f"{right[0].strip()} {left[0].strip()}")


def _large(text: str, model: str) -> str:
    return text[:1].upper() + text[1:] if model[:1].isupper() and text[:1].islower() else text


def _small(text: str) -> str:
    """Begin with a small letter, unless the first word is I or in capitals."""
    word = text.split(" ", 1)[0]
    return text if len(word) < 2 or not word[1:].islower() else text[:1].lower() + text[1:]
