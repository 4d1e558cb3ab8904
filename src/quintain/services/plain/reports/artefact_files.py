"""Examples read from plain files, as artefacts are looked for in them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from quintain.core.errors import BadInput, Fault
from quintain.core.jsontext import NotJson, parse_json
from quintain.core.label_form import label_form
from quintain.data.in_memory import Source
from quintain.data.tables import FAULT_LIMIT, read_table, row_number
from quintain.stats.artefacts.examples import Examples
from quintain.stats.bootstrap import IntArray

MOST_LABELS = 100


@dataclass(frozen=True, slots=True)
class ExampleColumns:
    """Which columns have the texts, the answer and, if there are any, the options, the context, the writer and the arm.

    *options* is one column of lists, or one column for each option.
    """

    fields: Sequence[str]
    label: str = "label"
    options: Sequence[str] = ()
    context: str = ""
    writer: str = ""
    arm: str = ""


def read_examples(path: Source, columns: ExampleColumns) -> Examples:
    """Read the examples of a file."""
    return examples_of(example_table(path, columns), path, columns)


def example_table(path: Source, columns: ExampleColumns, more: Sequence[str] = ()) -> pl.DataFrame:
    """Read the table of a file, which has the columns of the examples and *more*; every row has a label."""
    needed = [
        *columns.fields,
        columns.label,
        *columns.options,
        *filter(None, (columns.context, columns.writer, columns.arm)),
    ]
    table = read_table(path, required=list(dict.fromkeys([*needed, *more])), mapped=False)
    if not columns.fields and not columns.options:
        raise BadInput("No field is named.", remedy="Name the columns of the input with --field.")
    missing = table[columns.label].is_null()
    if missing.any():
        rows = missing.arg_true().to_list()
        faults = [Fault("has no label", file=path.name, row=row_number(path, at)) for at in rows[:FAULT_LIMIT]]
        raise BadInput(faults=faults, total=len(rows))
    return table


def examples_of(table: pl.DataFrame, path: Source, columns: ExampleColumns) -> Examples:
    """Make examples of a table that was read from *path*."""
    label = table[columns.label].cast(pl.String)
    options = _options(table, columns.options)
    if options:
        answer, labels = _chosen(label, options, columns.options, path)
    else:
        answer, labels = _coded(label, columns.label)
    return Examples(
        fields={name: table[name].cast(pl.String).fill_null("").to_list() for name in columns.fields},
        answer=answer,
        labels=labels,
        options=options,
        context=_names(table, columns.context),
        writer=_names(table, columns.writer),
        arm=_names(table, columns.arm),
    )


def _names(table: pl.DataFrame, column: str) -> list[str]:
    return table[column].cast(pl.String).fill_null("–").to_list() if column else []


def _coded(label: pl.Series, column: str) -> tuple[IntArray, list[str]]:
    label = label.replace({name: label_form(name) for name in label.unique().to_list() if name != label_form(name)})
    labels = sorted(label.unique().to_list())
    if len(labels) > MOST_LABELS:
        raise BadInput(
            "The column '{column}' has {n} different values, and {most} labels can be looked at.",
            column=column,
            n=len(labels),
            most=MOST_LABELS,
            remedy="Name the column of the labels with --label.",
        )
    codes = label.replace_strict(labels, range(len(labels)), return_dtype=pl.Int64())
    return codes.to_numpy().astype(np.int64), labels


def _options(table: pl.DataFrame, columns: Sequence[str]) -> list[list[str]]:
    if not columns:
        return []
    if len(columns) > 1:
        rows = table.select(pl.col(name).cast(pl.String).fill_null("") for name in columns).rows()
        return [[text for text in row if text] for row in rows]
    return [as_list(value) for value in table[columns[0]].to_list()]


def as_list(value: Any) -> list[str]:
    """Read a list, or a text that is one in JSON."""
    if isinstance(value, str):
        try:
            value = parse_json(value)
        except NotJson:
            return [value]
    return [str(one) for one in value] if isinstance(value, list) else []


def option_place(answer: str, options: Sequence[str], columns: Sequence[str] = ()) -> int:
    """Find which of the *options* is meant, by its text, column, letter, `option2` or number from 0; else -1.

    >>> [option_place(said, ["red", "blue"]) for said in ("blue", "B", "option2", "1", "green")]
    [1, 1, 1, 1, -1]
    """
    numbers = range(len(options))
    names = [options, columns, [f"option{at + 1}" for at in numbers], [chr(65 + at) for at in numbers]]
    position = next((list(name).index(answer) for name in [*names, [str(at) for at in numbers]] if answer in name), -1)
    return position if position < len(options) else -1


def _chosen(
    label: pl.Series, options: list[list[str]], columns: Sequence[str], path: Source
) -> tuple[IntArray, list[str]]:
    """Find the place of each right option."""
    places = np.zeros(len(options), dtype=np.int64)
    faults: list[Fault] = []
    for row, (answer, choices) in enumerate(zip(label.to_list(), options, strict=True)):
        position = option_place(answer, choices, columns)
        if position < 0:
            faults.append(
                Fault("'{said}' is none of the options", said=answer, file=path.name, row=row_number(path, row))
            )
        places[row] = max(position, 0)
    if faults:
        raise BadInput(faults=faults[:FAULT_LIMIT], total=len(faults))
    most = max((len(option) for option in options), default=0)
    return places, [str(at + 1) for at in range(most)]
