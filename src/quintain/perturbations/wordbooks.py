"""The lists of other languages than English: keyboards, signs, fillers, numbers, misspellings, persons, names.

One file a language, `data/languages/CODE.toml`, with one table for each kind of change; each table names its source. A
kind of perturbation names the table that it needs (`Perturbation.table`), and applies to a language where it is there.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Any

import regex

from quintain.core.languages import base_language

Table = Mapping[str, Any]


@cache
def wordbooks() -> Mapping[str, Mapping[str, Table]]:
    """Read the lists of all languages, by code."""
    folder = files("quintain.perturbations") / "data" / "languages"
    return {
        file.name.removesuffix(".toml"): tomllib.loads(file.read_text(encoding="utf-8"))
        for file in sorted(folder.iterdir(), key=lambda file: file.name)
        if file.name.endswith(".toml")
    }


def table_of(language: str, name: str) -> Table | None:
    """Return a table of a language's lists; None where it has none.

    >>> table_of("de-AT", "keyboard")["rows"][0], table_of("zh", "short"), table_of("sw", "keyboard")
    ('qwertzuiopü', None, None)
    """
    return wordbooks().get(base_language(language), {}).get(name)


def languages_with(name: str) -> tuple[str, ...]:
    """List the languages whose lists have a table."""
    return tuple(code for code, tables in wordbooks().items() if name in tables)


def pairs_of(lines: list[str]) -> dict[str, str]:
    """Read pairs that are written with an equals sign between them.

    >>> pairs_of(["nämlich=nähmlich"])
    {'nämlich': 'nähmlich'}
    """
    return {left: right for left, _, right in (line.partition("=") for line in lines)}


@cache
def compiled(source: str) -> regex.Pattern[str]:
    """Return a pattern of the lists, compiled once; what stands before may be of any length."""
    return regex.compile(source)


def any_of(words: list[str]) -> str:
    """Write a pattern of these words, the longest first."""
    return "|".join(regex.escape(word, literal_spaces=True) for word in sorted(words, key=len, reverse=True))
