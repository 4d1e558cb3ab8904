"""No text of ours says by itself who leads or which model is the best: the board's claim does."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import quintain.web
from quintain.services.board.claims import claim_text

LOCALE = Path(quintain.web.__file__).parent / "locale/de/LC_MESSAGES"
ROOT = Path(quintain.web.__file__).parents[3]
CLAIMING = re.compile(
    r"\bbest (model|system)|\b(model|system)s?\b[^.]{0,90}\b(best|leads(?! to)|wins|leader)\b"
    r"|\bleads(?! to)\b[^.]{0,30}\b(with|by)\b"
    r"|\bbest of the board\b|\bleader\b|\bthe winner\b",
    re.IGNORECASE,
)
# What asks, or says what a board is for, or is the board's own word for what it has computed.
ALLOWED = {
    "Each model on the day of its version, and the best so far; by the owner's default data sets.": "a figure's record",
    "Models on the day of their versions (those that were the best when they came, and the newest others), and the "
    "best so far; by the owner's default data sets.": "a figure's record",
    "Models between two lines cannot be told apart from the best of them.": "how sure the order is",
    "Models from the best by the weights above each column": "the order of the table",
    "Which model is best depends on what counts. Move the weights, and the ranking follows.": "no model is named",
    "Which model is best depends on what you care about. Move the weights; the ranking follows.": "no model is named",
    "Without {without}, scores move by up to {points}, and {leader} comes first.": "what the order hangs on",
    "{leader} stays first as long as {ranges}": "what the order hangs on",
    "{leader} stays first for every ε from {low} to {high}": "what the order hangs on",
    "{model} leads with a {figure} of {score:.1f} {unit}, ahead {sure}.": claim_text.__name__,
}


def _texts(catalogue: str) -> set[str]:
    entries = re.findall(r"^msgid (.*?)^msgstr", (LOCALE / catalogue).read_text("utf-8"), re.MULTILINE | re.DOTALL)
    return {"".join(re.findall(r'"(.*)"', entry)).replace('\\"', '"') for entry in entries}


@pytest.mark.parametrize("catalogue", ["messages.po", "errors.po"])
def test_only_the_claim_of_a_board_names_a_leader(catalogue: str) -> None:
    """Pages, notifications, mails, letters, cards and datasheets are made of the texts of these two catalogues."""
    offenders = {text for text in _texts(catalogue) if CLAIMING.search(text)} - ALLOWED.keys()
    assert offenders == set()


def test_the_list_of_texts_that_may_speak_of_the_best_is_no_longer_than_it_must_be() -> None:
    """A text that is gone, or says nothing of the kind any more, is taken off the list."""
    known = _texts("messages.po") | _texts("errors.po")
    assert {text for text in ALLOWED if text not in known or not CLAIMING.search(text)} == set()


def test_the_first_page_of_the_documentation_names_no_leader() -> None:
    """README shows boards of demo data, too small to rank on."""
    text = (ROOT / "README.md").read_text("utf-8")
    assert [found[0] for found in CLAIMING.finditer(text)] == []
