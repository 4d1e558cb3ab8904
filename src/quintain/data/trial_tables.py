"""A trial as tables: its items with their texts, judgements, grades, and what models said."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any

import polars as pl

from quintain.data.trials import TrialArm, TrialItem

VOTES = ("arm", "item", "worker", "label")
GRADES = ("arm", "stage", "item", "grader", "expert", "question", "answer")
SAID = ("arm", "item", "model", "label")


def items_table(arms: Sequence[TrialArm]) -> pl.DataFrame:
    """Return a row for each item, also of the stages before the data: where it is from, its texts, its label."""
    fields = list(dict.fromkeys(name for arm in arms for _, item in _all(arm) for name in item.inputs))
    rows = [
        {
            "arm": arm.name,
            "stage": item.stage,
            "data": data,
            "item": item.name,
            "writer": item.writer,
            **{name: item.inputs.get(name) for name in fields},
            "label": item.label,
            "justification": item.justification,
            "genre": item.genre,
            "type": item.type,
            "grades": len(item.grades),
            "judgements": len(item.judgements),
        }
        for arm in arms
        for data, item in _all(arm)
    ]
    return pl.DataFrame([_even(row) for row in rows], infer_schema_length=None)


def judgements_table(arms: Sequence[TrialArm]) -> pl.DataFrame:
    """Return one row for each judgement."""
    rows = [(arm.name, item.name, *vote) for arm in arms for item in arm.items for vote in item.judgements]
    return pl.DataFrame(rows, schema=dict.fromkeys(VOTES, pl.String()), orient="row")


def grades_table(arms: Sequence[TrialArm]) -> pl.DataFrame:
    """Return one row for each answer to a question of a rubric."""
    rows = [
        (arm.name, item.stage, item.name, grade.grader, grade.expert, question, answer)
        for arm in arms
        for _, item in _all(arm)
        for grade in item.grades
        for question, answer in grade.answers.items()
    ]
    types = {name: pl.Boolean() if name == "expert" else pl.String() for name in GRADES}
    return pl.DataFrame(rows, schema=types, orient="row")


def predictions_table(arms: Sequence[TrialArm]) -> pl.DataFrame:
    """Return one row for each answer of a model."""
    rows = [(arm.name, item.name, *said) for arm in arms for item in arm.items for said in item.predictions.items()]
    return pl.DataFrame(rows, schema=dict.fromkeys(SAID, pl.String()), orient="row")


def _all(arm: TrialArm) -> Iterator[tuple[bool, TrialItem]]:
    """Yield the items of an arm, each with whether it is one of its data."""
    yield from ((False, item) for item in arm.earlier)
    yield from ((True, item) for item in arm.items)


def _even(row: dict[str, Any]) -> dict[str, Any]:
    """Write as JSON what is neither a text, a number nor a list of texts, so that a column is of one type."""
    return {
        name: json.dumps(value, ensure_ascii=False) if isinstance(value, dict) or _nested(value) else value
        for name, value in row.items()
    }


def _nested(value: Any) -> bool:
    return isinstance(value, list) and any(not isinstance(each, str) for each in value)
