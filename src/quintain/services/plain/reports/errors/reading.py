"""Gold answers, what models say of them, and people's votes, from plain files matched by id."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

import numpy as np
import polars as pl

from quintain.core.errors import BadInput, Fault
from quintain.core.label_form import LabelNames
from quintain.core.texts import Text
from quintain.data.in_memory import Source
from quintain.data.tables import FAULT_LIMIT, read_table, row_number
from quintain.services.plain.reports.comparing.reading import tags_of, votes_of
from quintain.stats.bootstrap import FloatArray, IntArray
from quintain.stats.errors.slices import Sliceable
from quintain.stats.label_columns import in_names, names_in
from quintain.stats.label_hints import label_warnings

LEAST_EXAMPLES = 20
Number = TypeVar("Number", int, float)


@dataclass(frozen=True, slots=True)
class ErrorColumns:
    """Which columns of the gold table have what; *by* are more to cut by, beside the tags and the answers."""

    fields: Sequence[str] = ("text",)
    label: str = "label"
    id: str = "id"
    tags: str = ""
    by: Sequence[str] = ()
    votes: str = ""
    prediction: str = "prediction"


@dataclass(frozen=True, slots=True)
class AnsweredSet:
    """Examples with their gold answers and what each model says of them; *ids* are theirs."""

    ids: Sequence[str]
    gold: Sequence[str]
    texts: Mapping[str, Sequence[str]]
    values: Mapping[str, Sequence[Sequence[str]]]
    said: Mapping[str, Sequence[str | None]]
    votes: Sequence[Mapping[str, int]] = ()
    believed: Mapping[str, Sequence[Mapping[str, float]]] = field(default_factory=dict)
    warnings: Sequence[Text] = ()

    def __len__(self) -> int:
        return len(self.gold)

    def right(self, model: str) -> FloatArray:
        """Return which examples *model* got right."""
        pairs = zip(self.gold, self.said[model], strict=True)
        return np.array([gold == said for gold, said in pairs], dtype=np.float64)

    def sliceable(self) -> Sliceable:
        """Return them as slices are looked for in them."""
        return Sliceable(self.texts, {**self.values, Text("answer"): [[one] for one in self.gold]})


def read_answered(path: Source, predictions: Mapping[str, Source], columns: ErrorColumns) -> AnsweredSet:
    """Read gold answers and what models say; every example must have an answer of every model."""
    needed = [columns.id, columns.label, *columns.fields, *filter(None, (columns.tags, columns.votes)), *columns.by]
    table = read_table(path, required=list(dict.fromkeys(needed)), mapped=False)
    ids = table[columns.id].cast(pl.String)
    _once(ids, path, columns.id)
    if table[columns.label].null_count():
        row = int(table[columns.label].is_null().arg_true()[0])
        raise BadInput(faults=[Fault("has no label", file=path.name, row=row_number(path, row))])
    if table.height < LEAST_EXAMPLES:
        raise BadInput(
            "{n} examples are too few to study errors.",
            n=table.height,
            remedy="Give at least {least}.",
            least=LEAST_EXAMPLES,
        )
    predicted = {name: _predictions(one, ids, path, columns) for name, one in predictions.items()}
    tags = {columns.tags: [tags_of(one) for one in table[columns.tags].to_list()]} if columns.tags else {}
    more = {name: [[one] for one in table[name].cast(pl.String).fill_null("–").to_list()] for name in columns.by}
    names = names_in(table[columns.label])
    gold = in_names(table[columns.label], names).to_list()
    return AnsweredSet(
        ids.to_list(),
        gold,
        {name: table[name].cast(pl.String).fill_null("").to_list() for name in columns.fields},
        {**tags, **more},
        {name: in_names(pl.Series(one[0], dtype=pl.String), names).to_list() for name, one in predicted.items()},
        [_called(vote, names) for vote in _votes(table[columns.votes], path)] if columns.votes else (),
        {name: [_called(share, names) for share in one[1]] for name, one in predicted.items() if one[1]},
        tuple(text for one in predicted.values() for text in label_warnings(gold, one[0])),
    )


def _called(values: Mapping[str, Number], names: LabelNames) -> dict[str, Number]:
    """Return values by label under the names of the gold answers."""
    called = names.renamed(values)
    return {called[label]: value for label, value in values.items()}


def _once(ids: pl.Series, path: Source, column: str) -> None:
    twice = ids.is_duplicated() | ids.is_null()
    if twice.any():
        rows = twice.arg_true().to_list()
        faults = [
            Fault(
                "the id '{id}' is missing or there twice",
                id=ids[at],
                file=path.name,
                row=row_number(path, at),
                field=column,
            )
            for at in rows[:FAULT_LIMIT]
        ]
        raise BadInput(faults=faults, total=len(rows))


def _predictions(
    path: Source, ids: pl.Series, gold: Source, columns: ErrorColumns
) -> tuple[list[str | None], list[Mapping[str, float]]]:
    table = read_table(path, required=[columns.id, columns.prediction], optional=["probabilities"], mapped=False)
    own = table[columns.id].cast(pl.String)
    _once(own, path, columns.id)
    row_of = {name: at for at, name in enumerate(own.to_list())}
    missing = [name for name in ids.to_list() if name not in row_of]
    if missing:
        raise BadInput(
            "{file} has no prediction for {n} of the {all} ids of {gold}, '{id}' among them.",
            file=path.name,
            n=len(missing),
            all=len(ids),
            gold=gold.name,
            id=missing[0],
            remedy="See whether the ids are the same in both files, and name their column with --id.",
        )
    rows = [row_of[name] for name in ids.to_list()]
    answers = table[columns.prediction].cast(pl.String).to_list()
    believed = _believed(table)
    return [answers[at] for at in rows], [believed[at] for at in rows] if believed else []


def _believed(table: pl.DataFrame) -> list[Mapping[str, float]]:
    """Return the probabilities: a column `probabilities` of objects, or one `prob_LABEL` for each label."""
    if "probabilities" in table.columns:
        return [_numbers(value) for value in table["probabilities"].to_list()]
    single = [name for name in table.columns if name.startswith("prob_")]
    if not single:
        return []
    numbers = table.select(pl.col(name).cast(pl.Float64, strict=False).fill_null(0.0) for name in single)
    return [dict(zip([name[5:] for name in single], row, strict=True)) for row in numbers.rows()]


def _numbers(value: Any) -> Mapping[str, float]:
    decoded = pl.Series([value]).str.json_decode(infer_schema_length=None)[0] if isinstance(value, str) else value
    if not isinstance(decoded, Mapping):
        return {}
    return {str(name): float(one) for name, one in decoded.items() if one is not None}


def _votes(column: pl.Series, path: Source) -> list[Mapping[str, int]]:
    votes = [votes_of(value) for value in column.to_list()]
    bad = [at for at, one in enumerate(votes) if one is None]
    if bad:
        faults = [Fault("has no votes that can be read", file=path.name, row=row_number(path, at)) for at in bad]
        raise BadInput(
            faults=faults[:FAULT_LIMIT],
            total=len(faults),
            remedy="Votes are a list of answers, or a mapping from answers to how often each was given.",
        )
    return [vote or {} for vote in votes]


def beliefs(answered: AnsweredSet, model: str) -> tuple[FloatArray, IntArray, IntArray]:
    """Return a model's probabilities and people's votes (examples × answers), and the rows of examples with both."""
    believed = answered.believed.get(model)
    if believed is None or not len(answered.votes):
        raise BadInput(
            "Calibration takes people's votes and the model's probabilities.",
            remedy="Name the column of the votes with --votes; predictions need a column `probabilities`, or one "
            "`prob_LABEL` for each label.",
        )
    labels = sorted({name for one in believed for name in one} | {name for vote in answered.votes for name in vote})
    column_of = {name: at for at, name in enumerate(labels)}
    shares, votes = np.zeros((len(answered), len(labels))), np.zeros((len(answered), len(labels)), dtype=np.int64)
    for row, (own, people) in enumerate(zip(believed, answered.votes, strict=True)):
        for name, value in own.items():
            shares[row, column_of[name]] = value
        for name, number in people.items():
            votes[row, column_of[name]] = number
    rows = np.flatnonzero((shares.sum(axis=1) > 0) & (votes.sum(axis=1) > 0))
    if not (shares >= 0).all():
        at = int(np.flatnonzero(~(shares >= 0).all(axis=1))[0])
        raise BadInput(
            "What {model} gives for '{id}' is no probability.",
            model=model,
            id=answered.ids[at],
            remedy="Probabilities are numbers from 0 to 1.",
        )
    if len(rows) < LEAST_EXAMPLES:
        raise BadInput(
            "{n} examples have votes and probabilities, and it takes {least}.", n=len(rows), least=LEAST_EXAMPLES
        )
    return shares[rows] / shares[rows].sum(axis=1, keepdims=True), votes[rows], rows
