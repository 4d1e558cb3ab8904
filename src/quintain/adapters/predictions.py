"""A file of predictions, `id,prediction`: somebody else ran the model, we only score it.

A row belongs to an example by the example's id, the hash of its inputs, as every download of a data set shows it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, ClassVar

import polars as pl

from quintain.adapters.contract import ADAPTERS, Adapter, Connection, ModelStart, Options, Outside, TaskSketch
from quintain.core.errors import BadInput, Fault
from quintain.core.example import Example
from quintain.core.task import Task
from quintain.core.untrusted import Bounds, read_json
from quintain.data.tables import read_table
from quintain.tasks.contract import kind_of

SUFFIXES = (".csv", ".tsv", ".jsonl", ".parquet")
LISTED = 20
ANSWER = Bounds(size=64 << 10, text=64 << 10, elements=2048)


@ADAPTERS.register("predictions")
class PredictionsAdapter(Adapter):
    """A file of predictions `id,prediction`: scored, and marked as not run by us."""

    name = "predictions"
    title = "File of predictions"
    place = "file"
    options: ClassVar[Mapping[str, str]] = {"file": "The file; predictions.csv (or .tsv, .jsonl, .parquet) by default."}
    bare: ClassVar[Mapping[str, str]] = {suffix: f"predictions{suffix}" for suffix in SUFFIXES}

    def check(self, folder: Path, task: Task, options: Options) -> list[Fault]:
        """Read the file, and find ids that stand there twice and answers that are none."""
        try:
            table = read_predictions(folder, options)
        except BadInput as error:
            return list(error.faults) or [Fault(error.message)]
        name = find_file(folder, options).name
        return [*_duplicates(table, name), *_bad_labels(table, name, task)][:LISTED]

    def start(self, sketch: TaskSketch) -> ModelStart:
        """Return a file with its two columns and no row."""
        left = "Write a row for each example into predictions.csv: its id, as the download has it, and your answer."
        return ModelStart({"predictions.csv": "id,prediction\n"}, left=(left,))

    @contextmanager
    def connect(self, folder: Path, task: Task, options: Options, outside: Outside) -> Iterator[Connection]:
        """Yield a `predict` that looks answers up."""
        table = read_predictions(folder, options)
        answers = dict(zip(table["id"].to_list(), table["prediction"].to_list(), strict=True))

        def predict(batch: list[Mapping[str, Any]]) -> list[Any]:
            ids = [Example(inputs).id for inputs in batch]
            missing = [one for one in ids if one not in answers]
            if missing:
                raise BadInput(
                    "There is no prediction for {n} examples; the first is {first}.", n=len(missing), first=missing[0]
                )
            return [parse_cell(answers[one]) for one in ids]

        yield Connection(predict)


def find_file(folder: Path, options: Options) -> Path:
    """Find the file of predictions in *folder*."""
    if "file" in options:
        chosen = folder / str(options["file"])
        if chosen.is_file() and chosen.resolve().is_relative_to(folder.resolve()):
            return chosen
        raise BadInput(faults=[Fault("is missing", file=str(options["file"]))])
    candidates = [folder / f"predictions{suffix}" for suffix in SUFFIXES if (folder / f"predictions{suffix}").is_file()]
    if len(candidates) != 1:
        if not candidates:
            raise BadInput(faults=[Fault("is missing", file="predictions.csv")])
        last, file = candidates[-1].name, candidates[0].name
        raise BadInput(faults=[Fault("stands beside {name}: only one may be there", name=last, file=file)])
    return candidates[0]


def read_predictions(folder: Path, options: Options) -> pl.DataFrame:
    """Read the columns `id` and `prediction`."""
    return read_table(find_file(folder, options), required=["id", "prediction"], mapped=False).select(
        "id", "prediction"
    )


def parse_cell(value: Any) -> Any:
    """Read an answer from a cell of a table: JSON where it is a list or an object, else the text itself."""
    if isinstance(value, str) and value[:1] in {"{", "["}:
        try:
            return read_json(value, ANSWER)
        except BadInput:
            return value
    return value


def _duplicates(table: pl.DataFrame, file: str) -> list[Fault]:
    rows = table.with_row_index("row", offset=1)
    later = rows.filter(pl.col("id").is_not_null() & pl.col("id").is_duplicated()).filter(
        ~pl.struct("id").is_first_distinct()
    )
    faults = [
        Fault("id '{name}' was there before", name=name, file=file, row=row)
        for row, name in later.select("row", "id").head(LISTED).iter_rows()
    ]
    return faults + [
        Fault("has no id", file=file, row=row)
        for (row,) in rows.filter(pl.col("id").is_null()).select("row").iter_rows()
    ]


def _bad_labels(table: pl.DataFrame, file: str, task: Task) -> list[Fault]:
    kind = kind_of(task)
    if not kind.needs_labels:
        return []  # whether a choice or a span is one depends on its example
    faults = []
    first = table.with_row_index("row", offset=1).unique("prediction", keep="first", maintain_order=True)
    for row, value in first.select("row", "prediction").iter_rows():
        try:
            kind.parse_answer(task, {}, parse_cell(value))
        except BadInput as error:
            faults.append(Fault(error.message, file=file, row=row))
    return faults
