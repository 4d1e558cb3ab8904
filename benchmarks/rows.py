"""One line of the table of races."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Row:
    """What was measured, in which race, and what was aimed at."""

    race: str
    what: str
    value: str
    aim: str = ""


def print_rows(rows: Iterable[Row]) -> None:
    """Print rows as a Markdown table."""
    print("| race | what | measured | aim |\n| --- | --- | --- | --- |")
    for row in rows:
        print(f"| {row.race} | {row.what} | {row.value} | {row.aim} |", flush=True)
