"""Which perturbations are for texts of which language, and which of them may enter a figure there."""

from __future__ import annotations

from quintain.core.languages import base_language
from quintain.data.writing_systems import scripts_of
from quintain.perturbations.contract import PERTURBATIONS
from quintain.perturbations.wordbooks import languages_with, table_of


def applies_in(language: str, name: str) -> bool:
    """Whether a perturbation can be made of texts in *language*: from its lists, or as one that knows its letters.

    >>> applies_in("de", "filler_words"), applies_in("zh", "word_case"), applies_in("sw", "filler_words")
    (True, False, False)
    """
    member = PERTURBATIONS.get(name)
    if member.table and table_of(language, member.table) is not None:
        return True
    if member.languages and base_language(language) not in member.languages:
        return False
    return not member.scripts or bool(set(member.scripts).intersection(scripts_of(language) or member.scripts))


def counts_in(language: str, name: str) -> bool:
    """Whether a perturbation applies to *language*, and what was read of it there allows a figure to rest on it.

    >>> counts_in("hi", "typos"), counts_in("ar", "typos")
    (True, False)
    """
    table = table_of(language, PERTURBATIONS.get(name).table)
    return applies_in(language, name) and not (table or {}).get("shown_only")


def languages_of(name: str) -> list[str]:
    """List the languages that a perturbation has words of; none where it knows scripts only, or needs neither."""
    member = PERTURBATIONS.get(name)
    others = languages_with(member.table) if member.table else ()
    return sorted({*member.languages, *others})
