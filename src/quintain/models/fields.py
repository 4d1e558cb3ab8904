"""What a task's fields are to a baseline: which are texts, which one is the options, which one is read alone."""

from __future__ import annotations

from typing import Any

import polars as pl

from quintain.core.task import FieldType, Task
from quintain.models.contract import Batch
from quintain.tasks.contract import kind_of

TEXTS: tuple[FieldType, ...] = ("text", "long_text")


def of_type(task: Task, *types: FieldType) -> list[str]:
    """List the names of the fields of these types, in the order of the kind."""
    return [field.name for field in kind_of(task).fields(task) if field.type in types]


def text_fields(task: Task) -> list[str]:
    """List the fields that hold one text each."""
    return of_type(task, *TEXTS)


def column(batch: Batch, name: str) -> list[str]:
    """Return one text field of a batch as texts that can be written as UTF-8; what is missing is empty."""
    return [clean(example.get(name)) for example in batch]


def clean(text: Any) -> str:
    """Return *text* without halves of surrogate pairs, which no file can hold."""
    if text is None:
        return ""
    value = str(text)
    if value.isascii():
        return value
    return value.encode("utf-8", "replace").decode("utf-8")


def table_column(table: pl.DataFrame, name: str) -> list[str]:
    """Return one text column of a table; what is missing is empty."""
    return table[name].cast(pl.String).fill_null("").to_list()
