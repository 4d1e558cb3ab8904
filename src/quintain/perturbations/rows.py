"""Perturb the texts of rows: some columns are open, some are closed but must stay in keeping with them.

A column may hold a text, several texts, or the tokens of one text. Coherent perturbations (those of fairness) read the
closed columns too: a name that a closed column holds as well stays everywhere in that row.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
import polars as pl

from quintain.core.languages import ENGLISH
from quintain.core.words import SPACED, compiled
from quintain.perturbations import draws
from quintain.perturbations.apply import PerturbedText, drop_protected, outcomes, rate_of, replay
from quintain.perturbations.batch import Span, TextBatch
from quintain.perturbations.contract import Edit, Perturbation

Shape = Literal["text", "texts", "tokens"]


@dataclass(frozen=True, slots=True)
class TextColumn:
    """A column with texts in it; a closed one is read and never changed."""

    name: str
    shape: Shape = "text"
    open: bool = True


@dataclass(slots=True)
class RowChange:
    """What a perturbation made of one row: new values by column, edits, groups.

    Edits are by column; those of the third of several texts are under `column[2]`, those of tokens are in the offsets
    of the tokens joined by blanks.
    """

    values: dict[str, Any] = field(default_factory=dict)
    edits: dict[str, tuple[Edit, ...]] = field(default_factory=dict)
    groups: set[tuple[str, str]] = field(default_factory=set)

    @property
    def group(self) -> dict[str, str] | None:
        """From which group to which the row goes; several are joined with a plus sign."""
        if not self.groups:
            return None
        ways = zip(*sorted(self.groups), strict=True)
        old, new = ("+".join(dict.fromkeys(names)) for names in ways)
        return {"from": old, "to": new}


@dataclass(frozen=True, slots=True)
class _Slot:
    """One text of one row."""

    row: int
    column: TextColumn
    place: int
    text: str
    protected: tuple[Span, ...]


def perturb_rows(
    table: pl.DataFrame,
    columns: Sequence[TextColumn],
    perturbation: Perturbation,
    *,
    contents: Sequence[str],
    seed: int = 0,
    severity: float = 1.0,
    protected: Mapping[str, Sequence[Sequence[Span]]] | None = None,
    language: str = ENGLISH,
) -> list[RowChange | None]:
    """Perturb each row of *table*, whose texts are in *language*; None stands for one that stays as it is.

    *contents* names what each row's seed comes from, such as its id. *protected* lists, by column and row, the
    spans of a text in which nothing may change.
    """
    rate = rate_of(perturbation, severity)
    used = [column for column in columns if column.open or perturbation.family == "fairness"]
    slots = _slots(table, used, protected or {})
    result: list[RowChange | None] = [None] * table.height
    if not slots:
        return result
    owners = np.array([slot.row for slot in slots], dtype=np.int64)
    owner_seeds = draws.keyed(draws.hashes_of(contents), perturbation.name, perturbation.version, seed)
    order = np.arange(len(slots)) - np.searchsorted(owners, owners)
    batch = TextBatch(
        [slot.text for slot in slots],
        draws.at(owner_seeds[owners], order, 15),
        protected=[slot.protected for slot in slots],
        owners=owners,
        owner_seeds=owner_seeds,
        language=language,
    )
    for slot, outcome in zip(
        slots, outcomes(batch, drop_protected(batch, perturbation.proposal(batch, rate))), strict=True
    ):
        if outcome is not None and slot.column.open:
            result[slot.row] = _note(result[slot.row] or RowChange(), slot, outcome, table)
    return [change if change is not None and change.values else None for change in result]


def _slots(
    table: pl.DataFrame, columns: Sequence[TextColumn], protected: Mapping[str, Sequence[Sequence[Span]]]
) -> list[_Slot]:
    slots: list[_Slot] = []
    for column in columns:
        spans = protected.get(column.name)
        for row, value in enumerate(table[column.name].to_list()):
            if value is None:
                continue
            texts = value if column.shape == "texts" else [" ".join(value) if column.shape == "tokens" else value]
            for number, text in enumerate(texts):
                frozen = tuple(spans[row]) if spans is not None and column.open else ()
                slots.append(_Slot(row, column, number, text, frozen if column.open else ((0, len(text)),)))
    # Texts of one row stand together, in the order of the columns: that numbers them for their seeds.
    return sorted(slots, key=lambda slot: slot.row)


def _note(change: RowChange, slot: _Slot, outcome: PerturbedText, table: pl.DataFrame) -> RowChange:
    """Write the outcome of one text into the change of its row."""
    name = label = slot.column.name
    edits = outcome.edits
    if slot.column.shape == "text":
        change.values[name] = outcome.text
    elif slot.column.shape == "texts":
        values = change.values.setdefault(name, table[name][slot.row].to_list())
        values[slot.place] = outcome.text
        label = f"{name}[{slot.place}]"
    else:
        tokens, edits = _within_tokens(table[name][slot.row].to_list(), outcome.edits)
        if not edits:
            return change
        change.values[name] = tokens
    change.edits[label] = edits
    change.groups |= outcome.groups
    return change


def _within_tokens(tokens: Sequence[str], edits: Sequence[Edit]) -> tuple[list[str], tuple[Edit, ...]]:
    """Carry out the edits that stay inside one token and leave it one token."""
    result, applied, begin = list(tokens), [], 0
    for i, token in enumerate(tokens):
        end = begin + len(token)
        inside = [edit for edit in edits if begin <= edit[0] and edit[1] <= end and not any(map(str.isspace, edit[2]))]
        new = replay(token, [(start - begin, stop - begin, text) for start, stop, text in inside])
        if inside and new.strip():
            result[i] = new
            applied += inside
        begin = end + 1
    return result, tuple(applied)


def words_touched(text: str, edits: Sequence[Edit]) -> int:
    """Count the words of *text*, between blanks, that *edits* reach; one between two words counts for the first.

    A character of a script without spaces is a word.

    >>> words_touched("a good film", [(3, 4, "0"), (4, 5, "0"), (11, 11, "!")])
    2
    """
    begins = np.array([match.start() for match in compiled(SPACED).finditer(text)])
    if not len(begins):
        return 0
    firsts = np.searchsorted(begins, [edit[0] for edit in edits], side="right")
    lasts = np.searchsorted(begins, [max(edit[0], edit[1] - 1) for edit in edits], side="right")
    ranges = zip(firsts.tolist(), lasts.tolist(), strict=True)
    return len({word for first, last in ranges for word in range(first, last + 1)})
