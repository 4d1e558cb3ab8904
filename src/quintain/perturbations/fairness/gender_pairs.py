"""The words of one gender with those of the other."""

from __future__ import annotations

from functools import cache

from quintain.perturbations.wordlists import lines_of


@cache
def pairs() -> dict[str, tuple[str, str]]:
    """Read the pairs: for each word, the word of the other gender, and the gender of the word."""
    table: dict[str, tuple[str, str]] = {}
    for line in lines_of("gender_pairs.txt"):
        male, sign, female = line.split()
        if sign in {"=", ">"}:
            table.setdefault(male, (female, "male"))
        if sign in {"=", "<"}:
            table.setdefault(female, (male, "female"))
    return table
