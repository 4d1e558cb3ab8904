"""No regular expression takes time that grows with the square of what somebody sends."""

from __future__ import annotations

import re

from tests.unit.patterns import Use, held_up_by, uses


def test_no_pattern_is_held_up() -> None:
    """Every pattern of the source, used as it is there, takes time in step with the text, whatever that is made of."""
    found = uses()
    assert len(found) > 60
    assert {use.place: text for use in found if (text := held_up_by(use))} == {}


def test_a_quadratic_pattern_would_be_found() -> None:
    """The search finds the kind of pattern that it is there for."""
    bad = Use("here", re.compile(r"[a-z]+\s*(?:=\s*1)?\s*;"), frozenset({"fullmatch"}))
    assert "' '" in held_up_by(bad)
