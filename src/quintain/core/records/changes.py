"""What a new specification changes of the one that holds."""

from __future__ import annotations

from dataclasses import dataclass

from quintain.core.records.base import Record


@dataclass(frozen=True, slots=True)
class SpecChange(Record):
    """One option that changes: its place, and what it says *before* and *after*, empty where it says nothing.

    *removed* is whether the new specification does not mention it, so that it would be reset.
    """

    option: str
    before: str
    after: str
    removed: bool = False


@dataclass(frozen=True, slots=True)
class SpecChanges(Record):
    """What changes, and a *digest* of it, by which somebody confirms what they have seen."""

    changes: list[SpecChange]
    digest: str
