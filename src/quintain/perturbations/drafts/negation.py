"""Negate a verb, or take a negation away."""

from __future__ import annotations

import re
from collections.abc import Iterator

from quintain.perturbations.drafts.contract import DRAFT_RULES, Change
from quintain.perturbations.wordlists import cased_like

_AUXILIARIES = "is are was were am do does did has have had can could will would should must may might"
_NEGATED = re.compile(
    rf"\b(?:(?P<aux>{_AUXILIARIES.replace(' ', '|')})n['’]t|(?P<cannot>cannot|can['’]t)|(?P<wont>won['’]t))\b"
    r"|\s(?:not|never)\b",
    re.IGNORECASE,
)
_AUXILIARY = re.compile(rf"\b(?:{_AUXILIARIES.replace(' ', '|')})\b(?!n['’]t)(?!\s+(?:not|never)\b)", re.IGNORECASE)


@DRAFT_RULES.register("negation")
def negate(text: str) -> Iterator[Change]:
    """Take each negation away, and put "not" behind each auxiliary that has none.

    >>> text = "It isn't fun, but it was short."
    >>> [text[: one.start] + one.after + text[one.end :] for one in negate(text)]
    ['It is fun, but it was short.', "It isn't fun, but it was not short."]
    """
    for match in _NEGATED.finditer(text):
        if match["aux"]:
            yield Change(match.start(), match.end(), match["aux"])
        elif match["cannot"] or match["wont"]:
            yield Change(match.start(), match.end(), cased_like(match[0], "can" if match["cannot"] else "will"))
        else:
            yield Change(match.start(), match.end(), "")
    for match in _AUXILIARY.finditer(text):
        yield Change(match.end(), match.end(), " not")
