"""Responses on plain files: `respondent,item,correct`, or a table with a column for each item; one file or several."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import polars as pl

from quintain.core.errors import BadInput, Fault
from quintain.core.label_form import label_form
from quintain.data.in_memory import Source
from quintain.data.tables import FAULT_LIMIT, read_table, row_number
from quintain.stats.bootstrap import FloatArray
from quintain.stats.irt.responses import Responses

LONG = ("respondent", "item", "correct")
TEST = "test"
RIGHT = {"1": 1.0, "true": 1.0, "0": 0.0, "false": 0.0}  # by their form
EMPTY = ("", "na", "nan", "null")


@dataclass(frozen=True, slots=True)
class ResponseReading:
    """How to read responses: names of columns, whether a wide table names respondents, which column counts rows."""

    columns: Mapping[str, str] = field(default_factory=dict)
    named: bool = True
    frequency: str = ""


def read_responses(paths: Sequence[Source], reading: ResponseReading) -> Responses:
    """Read responses, long or wide; an empty cell is no response. Each of several files is a test of its own.

    Respondents of several files are the same where their names are.
    """
    if len(paths) > 1 and (not reading.named or reading.frequency):
        raise BadInput(
            "Several files need the names of their respondents, so that it is known who is the same.",
            remedy="Give a first column with names, or one file.",
        )
    tests = [_read(path, reading) for path in paths]
    return tests[0] if len(tests) == 1 else _joined(tests, paths)


def _joined(parts: Sequence[Responses], paths: Sequence[Source]) -> Responses:
    """Put the responses of several files beside each other."""
    people = list(dict.fromkeys(name for part in parts for name in part.respondents))
    common = set.intersection(*(set(part.respondents) for part in parts))
    if not common:
        raise BadInput(
            "No respondent is in all of the {n} files.",
            n=len(parts),
            remedy="See whether the first column has the same names in each of them.",
        )
    row_of = {name: at for at, name in enumerate(people)}
    correct = np.full((len(people), sum(len(part.items) for part in parts)), np.nan)
    items: list[str] = []
    tests: list[str] = []
    for part, path in zip(parts, paths, strict=True):
        rows = [row_of[name] for name in part.respondents]
        correct[rows, len(items) : len(items) + len(part.items)] = part.correct
        items += [f"{path.stem}:{name}" for name in part.items]
        tests += [path.stem] * len(part.items)
    return Responses(people, items, correct, np.ones(len(people)), tests)


def _read(path: Source, reading: ResponseReading) -> Responses:
    table = read_table(path, required=(), columns={})
    theirs = [reading.columns.get(name, name) for name in LONG]
    tests: list[str] = []
    if all(name in table.columns for name in theirs):
        respondents, items, correct, weight = _long(table, path, theirs)
        tests = _tests(table, path, theirs[1], reading.columns.get(TEST, TEST), items)
    else:
        respondents, items, correct, weight = _wide(table, path, reading)
    answers = ~np.isnan(correct)
    answered = answers.any(axis=1)
    if len(items) < 2 or answered.sum() < 2:
        raise BadInput(
            "{file} has {items} items and {n} respondents with a response: abilities need two of each.",
            file=path.name,
            items=len(items),
            n=int(answered.sum()),
            remedy="See whether the table is long (respondent,item,correct) or wide (a column for each item).",
        )
    if not answers.any(axis=0).all():
        raise BadInput(
            "Item '{item}' of {file} has no response.",
            item=items[int(answers.any(axis=0).argmin())],
            file=path.name,
            remedy="Leave it out.",
        )
    return Responses(respondents, items, correct, weight, tests)


def _tests(table: pl.DataFrame, path: Source, item: str, test: str, items: Sequence[str]) -> list[str]:
    """Return the test of each item, where a column names it."""
    if test not in table.columns:
        return []
    pairs = table.select(item=pl.col(item).cast(pl.String), test=pl.col(test).cast(pl.String).fill_null("–")).unique()
    twice = pairs.filter(pl.col("item").is_duplicated())
    if twice.height:
        raise BadInput(
            "Item '{item}' of {file} is in several tests.",
            item=twice["item"][0],
            file=path.name,
            remedy="Give each item one test, or items of different tests different names.",
        )
    named = dict(pairs.iter_rows())
    return [named[item] for item in items]


def _long(table: pl.DataFrame, path: Source, names: list[str]) -> tuple[list[str], list[str], FloatArray, FloatArray]:
    who, what, responses = (table[name].cast(pl.String) for name in names)
    values = _numbers(responses, path, names[2])
    if who.null_count() or what.null_count():
        raise BadInput("{file} has rows without a respondent or an item.", file=path.name)
    both = pl.DataFrame({"who": who, "what": what})
    repeated = both.is_duplicated()
    if repeated.any():
        row = int(repeated.arg_true()[-1])
        raise BadInput(
            faults=[
                Fault(
                    "'{who}' has a second response to '{what}'",
                    who=who[row],
                    what=what[row],
                    file=path.name,
                    row=row_number(path, row),
                )
            ]
        )
    people, items = who.unique(maintain_order=True).to_list(), what.unique(maintain_order=True).to_list()
    rows = who.replace_strict(people, range(len(people)), return_dtype=pl.Int64()).to_numpy()
    columns = what.replace_strict(items, range(len(items)), return_dtype=pl.Int64()).to_numpy()
    correct = np.full((len(people), len(items)), np.nan)
    correct[rows, columns] = values
    return people, items, correct, np.ones(len(people))


def _wide(
    table: pl.DataFrame, path: Source, reading: ResponseReading
) -> tuple[list[str], list[str], FloatArray, FloatArray]:
    weight = np.ones(table.height)
    if reading.frequency:
        if reading.frequency not in table.columns:
            raise BadInput(
                "{file} has no column '{column}'.", file=path.name, column=reading.frequency, remedy="Name another one."
            )
        weights = table[reading.frequency].cast(pl.Float64, strict=False)
        weight = _frequencies(weights, path, reading.frequency)
        table = table.drop(reading.frequency)
    named = reading.named and not reading.frequency
    people = _people(table[:, 0], path) if named else [str(at + 1) for at in range(table.height)]
    items = table.columns[1:] if named else table.columns
    columns = [_numbers(table[name].cast(pl.String), path, name) for name in items]
    correct = np.column_stack(columns) if columns else np.zeros((table.height, 0))
    return people, list(items), correct, weight


def _people(names: pl.Series, path: Source) -> list[str]:
    """Take the names of respondents, each of whom has one row."""
    own = names.cast(pl.String)
    bad = own.is_null() | own.is_duplicated()
    if bad.any():
        rows = bad.arg_true().to_list()
        faults = [
            Fault("has no respondent", file=path.name, row=row_number(path, at), field=names.name)
            if own[at] is None
            else Fault("'{who}' has several rows", who=own[at], file=path.name, row=row_number(path, at))
            for at in rows[:FAULT_LIMIT]
        ]
        raise BadInput(
            faults=faults,
            total=len(rows),
            remedy="Name each respondent once. If the first column is an item, too, say --no-respondent.",
        )
    return own.to_list()


def _frequencies(values: pl.Series, path: Source, column: str) -> FloatArray:
    """Take how often each row occurs: numbers from 0 on, not all of them 0."""
    bad = (values.is_null() | ~values.is_finite() | (values < 0)).fill_null(value=True)
    if bad.any():
        rows = bad.arg_true().to_list()
        faults = [
            Fault("is no frequency", file=path.name, row=row_number(path, at), field=column)
            for at in rows[:FAULT_LIMIT]
        ]
        raise BadInput(faults=faults, total=len(rows), remedy="A frequency is a number from 0 on.")
    if not values.sum():
        raise BadInput(
            "Every frequency in the column '{column}' of {file} is 0: there is no respondent.",
            column=column,
            file=path.name,
            remedy="Name the column that counts rows.",
        )
    return values.to_numpy().astype(np.float64)


def _numbers(values: pl.Series, path: Source, name: str) -> FloatArray:
    """Read right and wrong as 1 and 0; an empty cell is NaN, and anything else a fault with its row."""
    lower = values.str.strip_chars().str.to_lowercase().fill_null("")
    cells = lower.unique().to_list()
    by_cell = [RIGHT.get(label_form(cell)) for cell in cells]
    numbers = lower.replace_strict(cells, by_cell, return_dtype=pl.Float64())
    bad = numbers.is_null() & ~lower.is_in(EMPTY)
    if bad.any():
        places = bad.arg_true().to_list()
        faults = [
            Fault(
                "'{value}' is neither 0 nor 1",
                value=values[at],
                file=path.name,
                row=row_number(path, at),
                field=name,
            )
            for at in places[:FAULT_LIMIT]
        ]
        raise BadInput(faults=faults, total=len(places))
    return numbers.fill_null(np.nan).to_numpy().astype(np.float64)
