"""Files of answers, `id,prediction`: whole, each id once, each an answer, and to the part that is asked for now."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from quintain.adapters.predictions import parse_cell
from quintain.core.errors import BadInput, Fault
from quintain.core.task import Task
from quintain.core.texts import Text
from quintain.data.tables import read_table, row_number
from quintain.services.data.content import scan_for_scoring
from quintain.services.data.datasets import VersionInfo
from quintain.store.blobs import Blobs
from quintain.tasks.contract import kind_of

LISTED = 20


@dataclass(frozen=True, slots=True)
class StoredAnswers:
    """A file of answers that was taken: to which part, how many, and where it is kept."""

    part: str
    rows: int
    blob: str


def store_predictions(
    blobs: Blobs, task: Task, parts: Mapping[str, VersionInfo], part: str | None, path: Path
) -> StoredAnswers:
    """Take the file at *path* as answers to *part*, or to the part that its ids belong to; all of it, or nothing."""
    table = read_table(path, required=["id", "prediction"], mapped=False).select("id", "prediction")
    ids = [None if example_id is None else str(example_id) for example_id in table["id"].to_list()]
    examples = {name: _examples(blobs, task, version) for name, version in parts.items()}
    known_ids = {name: sum(example_id in rows for example_id in ids) for name, rows in examples.items()}
    likely = max(known_ids, key=lambda name: known_ids[name])
    name_of_part = part or likely
    if name_of_part not in examples:
        raise BadInput("There are no pairs to answer: no breaker handed in any.")
    if likely != name_of_part and known_ids[likely] and not known_ids[name_of_part]:
        raise BadInput(
            "These are answers to the development set, and this phase asks for answers to the pairs."
            if name_of_part == "pairs"
            else "These are answers to the pairs, and this phase asks for answers to the development set.",
            remedy="Download what is asked for on the contest's page, and hand in answers to that.",
            code="wrong_phase",
        )
    faults = list(_row_faults(path, ids, examples[name_of_part]))
    answers, wrong = _answers(path, task, ids, table["prediction"].to_list(), examples[name_of_part])
    missing = [
        example_id for example_id in examples[name_of_part] if example_id not in answers and example_id not in ids
    ]
    faults += [
        *wrong,
        *(Fault("there is no prediction for '{id}'", id=example_id, file=path.name) for example_id in missing),
    ]
    if faults:
        ordered = sorted(faults, key=lambda fault: fault.row or 10**9)
        raise BadInput(
            faults=ordered[:LISTED], total=len(ordered), remedy=Text("Mend the file; nothing of it was taken.")
        )
    kind = kind_of(task)
    predictions = pl.Series(
        "prediction",
        [kind.answers.as_prediction(example_id) for example_id in answers.values()],
        dtype=kind.answers.predicted,
    )
    with blobs.scratch(suffix=".parquet") as target:
        pl.DataFrame({"id": list(answers), "prediction": predictions}).write_parquet(target)
        return StoredAnswers(name_of_part, len(answers), blobs.put_file(target))


def _examples(blobs: Blobs, task: Task, version: VersionInfo) -> dict[str, dict[str, Any]]:
    names = [field.name for field in kind_of(task).fields(task)]
    rows = scan_for_scoring(blobs, version).select("id", *names).collect().to_dicts()
    return {row.pop("id"): row for row in rows}


def _row_faults(path: Path, ids: list[str | None], examples: Mapping[str, Any]) -> Iterator[Fault]:
    first: dict[str, int] = {}
    for index, example_id in enumerate(ids):
        row = row_number(path, index)
        if example_id is None:
            yield Fault("has no id", file=path.name, row=row)
        elif example_id in first:
            yield Fault(
                "id '{id}' is in row {first} already", id=example_id, first=first[example_id], file=path.name, row=row
            )
        elif example_id not in examples:
            yield Fault("there is no example '{id}'", id=example_id, file=path.name, row=row)
        if example_id is not None:
            first.setdefault(example_id, row)


def _answers(
    path: Path, task: Task, ids: list[str | None], predictions: list[Any], examples: Mapping[str, dict[str, Any]]
) -> tuple[dict[str, Any], list[Fault]]:
    kind = kind_of(task)
    answers: dict[str, Any] = {}
    faults = []
    for index, (example_id, raw) in enumerate(zip(ids, predictions, strict=True)):
        if example_id is None or example_id not in examples:
            continue
        try:
            answers[example_id] = kind.parse_answer(task, examples[example_id], parse_cell(raw)).answer
        except BadInput as error:
            faults.append(Fault(error.message, file=path.name, row=row_number(path, index)))
    return answers, faults
