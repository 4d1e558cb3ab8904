"""Tables of pairs: two rows each, `pair_id,side,<inputs>,label`, with side a the original and side b the modified one.

`gold` may stand for `label`, and `sentence` for the one input that may be changed, so that the table that a contest
exports can be read again. What is fixed may be left out of the modified row. Files of Build It Break It 2017 are read
as they were released (`quintain.data.shared_task`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from quintain.core.contests import PAIR_FORMATS
from quintain.core.errors import BadInput, Conflict, Fault
from quintain.core.task import Task
from quintain.core.texts import Text
from quintain.data.rows import PlainRow, read_rows, refuse
from quintain.data.shared_task import pair_rows
from quintain.data.tables import read_table
from quintain.services.contest.pair_checks import PairDraft
from quintain.stats.grading import written
from quintain.tasks.contract import kind_of

REQUIRED = ("pair_id", "side", "label")
BESIDE = ("rationale", "strategy", "tags")
SIDES = {"a": 0, "b": 1, "original": 0, "modified": 1}
STRATEGY = "strategy:"
LABELS_2017 = {"-1": "negative", "0": "neutral", "1": "positive"}


@dataclass(frozen=True, slots=True)
class PairRow:
    """A pair of a table, with the numbers of its rows."""

    draft: PairDraft
    rows: tuple[int, int]

    def row_of(self, field: str | None) -> int:
        """Return the number of the row that a fault at *field* is in."""
        return self.rows[1] if (field or "").startswith("modified") else self.rows[0]


def read_pairs(path: Path, task: Task, columns: Mapping[str, str], preset: str = "") -> list[PairRow]:
    """Read the pairs of a table, or say everything that keeps its rows from being pairs.

    *preset* names the form of the file where it is no table of ours (`PAIR_FORMATS`).
    """
    if preset not in ("", *PAIR_FORMATS):
        known = ", ".join(PAIR_FORMATS)
        raise BadInput(faults=[Fault("'{name}' is not one of {known}", name=preset, known=known, field="preset")])
    if preset == "bibi-2017":
        return _paired(_rows_of_2017(path, task), path, task)
    fields = [item.name for item in kind_of(task).fields(task)]
    mapped = _columns(path, task, columns)
    return _paired(read_rows(path, required=REQUIRED, optional=(*fields, *BESIDE), columns=mapped), path, task)


def _rows_of_2017(path: Path, task: Task) -> list[PlainRow]:
    """Read a file of 2017 for a task with one text to change; its labels -1 and 1 may be called by their words."""
    free = [item.name for item in kind_of(task).fields(task) if item.editable]
    if len(free) != 1:
        raise Conflict(
            "The files of 2017 have one sentence a row, and an example of task '{task}' has several texts to change.",
            task=task.name,
            remedy="Send a table with a column for each.",
        )
    rows = []
    for row in pair_rows(path):
        label = str(row.values["label"])
        word = LABELS_2017.get(label, label)
        own = word if label not in task.label_names and word in task.label_names else label
        rows.append(PlainRow(row.number, {**row.values, free[0]: row.values["sentence"], "label": own}))
    return rows


def _paired(rows: Sequence[PlainRow], path: Path, task: Task) -> list[PairRow]:
    """Put rows together in pairs, or say everything that keeps them from being some."""
    faults: list[Fault] = []
    members: dict[str, dict[int, PlainRow]] = {}
    for row in rows:
        name, side = _text(row, "pair_id"), SIDES.get(_text(row, "side").lower())
        if not name:
            faults.append(Fault("is empty", row=row.number, field="pair_id"))
        if side is None:
            faults.append(Fault("'{side}' is neither a nor b", side=_text(row, "side"), row=row.number, field="side"))
            continue
        sides = members.setdefault(name, {})
        if side in sides:
            faults.append(
                Fault(
                    "pair '{name}' has side '{side}' in row {first} already",
                    name=name,
                    side=_text(row, "side"),
                    first=sides[side].number,
                    row=row.number,
                    field="pair_id",
                )
            )
        sides.setdefault(side, row)
    for name, sides in members.items():
        if len(sides) < 2:
            only = next(iter(sides.values()))
            reason = (
                Text("pair '{name}' has no modified side", name=name)
                if 0 in sides
                else Text("pair '{name}' has no original side", name=name)
            )
            faults.append(Fault(reason, row=only.number))
    refuse(
        sorted((fault.at(file=path.name) for fault in faults), key=lambda fault: fault.row or 0),
        Text("Every pair has two rows: side a (the original) and side b."),
    )
    return [_pair(name, there[0], there[1], task) for name, there in members.items()]


def _columns(path: Path, task: Task, columns: Mapping[str, str]) -> dict[str, str]:
    """Return which column holds what: as we are told, or under the names that a contest's own tables have."""
    known = read_table(path, required=("pair_id", "side"), columns=dict(columns)).columns
    chosen = dict(columns)
    if "label" not in (*known, *chosen) and "gold" in known:
        chosen["label"] = "gold"
    free = [field.name for field in kind_of(task).fields(task) if field.editable]
    if len(free) == 1 and free[0] not in (*known, *chosen) and "sentence" in known:
        chosen[free[0]] = "sentence"
    return chosen


def _pair(name: str, first: PlainRow, second: PlainRow, task: Task) -> PairRow:
    fields = kind_of(task).fields(task)
    original = _inputs(first, [field.name for field in fields])
    fixed = {field.name: original[field.name] for field in fields if not field.editable and field.name in original}
    tags = list(dict.fromkeys([*_tags(first), *_tags(second)]))
    strategy = _text(second, "strategy") or _text(first, "strategy")
    named = [tag for tag in tags if tag.startswith(STRATEGY)]
    return PairRow(
        PairDraft(
            name=name,
            original=original,
            modified={**fixed, **_inputs(second, [field.name for field in fields])},
            original_label=_label(first),
            modified_label=_label(second),
            rationale=_text(second, "rationale") or _text(first, "rationale"),
            strategy=strategy or (named[0].removeprefix(STRATEGY) if named else ""),
            tags=tuple(tag for tag in tags if tag not in named),
        ),
        (first.number, second.number),
    )


def _inputs(row: PlainRow, names: Sequence[str]) -> dict[str, Any]:
    return {name: value for name in names if (value := row.values.get(name)) not in (None, "", [])}


def _label(row: PlainRow) -> Any:
    value = row.values.get("label")
    return value if value is None or isinstance(value, dict | list | int) else str(value).strip()


def _text(row: PlainRow, name: str) -> str:
    value = row.values.get(name)
    return "" if value is None else written(value)


def _tags(row: PlainRow) -> list[str]:
    value = row.values.get("tags") or []
    parts = value if isinstance(value, list) else str(value).replace("|", ";").replace(",", ";").split(";")
    return [str(part).strip() for part in parts if str(part).strip()]
