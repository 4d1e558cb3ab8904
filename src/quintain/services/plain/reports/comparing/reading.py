"""Data sets from plain files, with tags, votes and models' answers where columns have them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import polars as pl

from quintain.core.errors import BadInput, Fault
from quintain.core.jsontext import NotJson, parse_json
from quintain.core.label_form import LabelNames
from quintain.data.in_memory import Source
from quintain.data.tables import FAULT_LIMIT, read_table, row_number
from quintain.services.plain.reports.artefact_files import (
    ExampleColumns,
    as_list,
    example_table,
    examples_of,
    option_place,
    read_examples,
)
from quintain.stats.artefacts.examples import Examples
from quintain.stats.bootstrap import IntArray
from quintain.stats.comparing.compared import ComparedSet
from quintain.stats.label_columns import in_names


@dataclass(frozen=True, slots=True)
class DatasetColumns:
    """Which columns have what: those of the examples, and where there are some ids, tags, votes, models' answers.

    *intended* is the column of what the writer meant, where votes are to set the label. Votes are a list of answers,
    or a mapping from answers to how often they were given.
    """

    examples: ExampleColumns
    id: str = ""
    tags: str = ""
    votes: str = ""
    intended: str = ""
    models: Sequence[str] = field(default_factory=tuple)

    @property
    def more(self) -> list[str]:
        """The columns beside those of the examples."""
        return [*filter(None, (self.id, self.tags, self.votes, self.intended)), *self.models]


def read_dataset(name: str, path: Source, columns: DatasetColumns) -> ComparedSet:
    """Read one data set."""
    table = example_table(path, columns.examples, columns.more)
    examples = examples_of(table, path, columns.examples)
    answers = _Answers(examples, columns.examples.options)
    return ComparedSet(
        name,
        examples,
        table[columns.id].cast(pl.String).fill_null("").to_list() if columns.id else (),
        [tags_of(one) for one in table[columns.tags].to_list()] if columns.tags else (),
        _votes(table[columns.votes], path, answers) if columns.votes else None,
        answers.codes(table[columns.intended]) if columns.intended else None,
        {model: answers.codes(table[model]) for model in columns.models},
    )


def read_training(name: str, path: Source, columns: ExampleColumns) -> ComparedSet:
    """Read a data set that is only learned from: its answers and texts, and its contexts where it has the column."""
    present = read_table(path, required=()).columns
    own = ExampleColumns(
        columns.fields, columns.label, columns.options, columns.context if columns.context in present else ""
    )
    return ComparedSet(name, read_examples(path, own))


class _Answers:
    """What answers are called: labels by their names, options by whatever names them."""

    def __init__(self, examples: Examples, columns: Sequence[str]) -> None:
        self.examples, self.columns = examples, columns
        self.place = {name: at for at, name in enumerate(examples.labels)}
        self.names = LabelNames(examples.labels)

    def code(self, row: int, answer: object) -> int:
        """Return the code of an answer; -1 for what is none."""
        if self.examples.options:
            return option_place(str(answer), self.examples.options[row], self.columns)
        return self.place.get(self.names.find(answer) or "", -1)

    def codes(self, column: pl.Series) -> IntArray:
        """Return the codes of a column."""
        if self.examples.options:
            codes = [self.code(row, answer) for row, answer in enumerate(column.to_list())]
            return np.array(codes, dtype=np.int64)
        names = in_names(column, self.names).fill_null("")
        coded = names.replace_strict(list(self.place), list(self.place.values()), default=-1, return_dtype=pl.Int64())
        return coded.to_numpy().astype(np.int64)


def tags_of(value: Any) -> list[str]:
    """Read the tags of an example: a list, or a text of several by commas or semicolons.

    >>> tags_of("negation; numbers"), tags_of(None)
    (['negation', 'numbers'], [])
    """
    if value is None:
        return []
    if isinstance(value, str) and not value.lstrip().startswith("["):
        return [tag.strip() for tag in value.replace(";", ",").split(",") if tag.strip()]
    return as_list(value)


def _votes(column: pl.Series, path: Source, answers: _Answers) -> IntArray:
    labels = len(answers.examples.labels)
    counts = np.zeros((len(column), labels + 1), dtype=np.int64)
    faults: list[Fault] = []
    for row, value in enumerate(column.to_list()):
        times_by_answer = votes_of(value)
        if times_by_answer is None:
            faults.append(Fault("has no votes that can be read", file=path.name, row=row_number(path, row)))
            continue
        for answer, times in times_by_answer.items():
            counts[row, answers.code(row, answer)] += times  # -1 is the last column: for no answer
    if faults:
        raise BadInput(
            faults=faults[:FAULT_LIMIT],
            total=len(faults),
            remedy="Votes are a list of answers, or a mapping from answers to how often each was given.",
        )
    return counts


def votes_of(value: Any) -> dict[str, int] | None:
    """Read votes: a list of answers, a mapping to counts, either as JSON; None where it is neither.

    >>> votes_of('{"yes": 3, "no": null}'), votes_of(["a", "a"]), votes_of("3")
    ({'yes': 3}, {'a': 2}, None)
    """
    if value is None:
        return {}
    if isinstance(value, str):
        try:
            value = parse_json(value)
        except NotJson:
            return None
    if isinstance(value, Mapping):
        numbers = {str(name): times for name, times in value.items() if times is not None}
        fine = all(
            isinstance(number, int | float) and number >= 0 and int(number) == number for number in numbers.values()
        )
        return {name: int(times) for name, times in numbers.items()} if fine else None
    if isinstance(value, list):
        counts: dict[str, int] = {}
        for answer in value:
            if answer is not None and answer != "":
                counts[str(answer)] = counts.get(str(answer), 0) + 1
        return counts
    return None


def same_shape(sets: Sequence[ComparedSet]) -> None:
    """Refuse data sets that cannot be held beside each other: names that repeat, options in one and labels in another.

    One data set alone is nothing to compare.
    """
    if len(sets) < 2:
        raise BadInput("There is one data set, and a comparison takes two.", remedy="Name another one.")
    names = [one.name for one in sets]
    for name in names:
        if names.count(name) > 1:
            raise BadInput(
                "Two data sets are called '{name}'.", name=name, remedy="Rename one of the files, or give it a name."
            )
    kinds = {bool(one.examples.options) for one in sets}
    if len(kinds) > 1:
        raise BadInput(
            "Some of the data sets have options and some have labels.", remedy="Compare data sets of one kind of task."
        )
    shared = set.intersection(*(set(one.examples.fields) for one in sets))
    if not shared and not kinds.pop():
        raise BadInput("The data sets have no field in common.", remedy="Name the same fields for all of them.")
