"""A small task of each kind, with a table to train on, made from the kind's own example."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import polars as pl

from quintain.core.task import Label, Task
from quintain.tasks.contract import KINDS, kind_of

WORDS = ["river", "lamp", "table", "cloud", "green", "seven", "quiet", "old", "paper", "winter"]


def task_of(kind: str, labels: tuple[str, ...] = ()) -> Task:
    """Make a task of *kind* with *labels*, or those that the kind starts with."""
    found = KINDS.get(kind)
    names = labels or found.fixed_labels or (("yes", "no", "maybe") if found.needs_labels else ())
    return Task(name="sample", kind=kind, title={"en": "Sample"}, labels=tuple(Label(name) for name in names))


def table_of(task: Task, rows: int = 12) -> pl.DataFrame:
    """Make *rows* examples by changing the words of the kind's own example, so that they are not all alike."""
    kind = kind_of(task)
    found = []
    for number in range(rows):
        answer = task.label_names[number % len(task.label_names)] if task.labels else kind.example.answer
        found.append({**_changed(kind.example.inputs, task, number), "answer": answer})
    return pl.DataFrame(found, schema=kind.schema(task))


def inputs_of(table: pl.DataFrame) -> list[dict[str, Any]]:
    """Give the rows as a model meets them."""
    return table.drop("answer").to_dicts()


def _changed(inputs: Mapping[str, Any], task: Task, number: int) -> dict[str, Any]:
    """Add a word to the end of each text: gold spans and numbers stay right."""
    word = WORDS[number % len(WORDS)]
    types = {field.name: field.type for field in kind_of(task).fields(task)}
    return {
        name: f"{value} {word}" if types[name] in {"text", "long_text"} and name != "predicate" else value
        for name, value in inputs.items()
    }
