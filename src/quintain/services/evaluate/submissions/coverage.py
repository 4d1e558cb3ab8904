"""Which data sets a file of predictions covers: all of one, or none of it."""

from __future__ import annotations

from pathlib import Path

import polars as pl
from sqlalchemy.orm import Session

from quintain.adapters.contract import Options
from quintain.adapters.predictions import find_file, parse_cell, read_predictions
from quintain.core.errors import BadInput, Fault
from quintain.core.task import Task
from quintain.core.texts import Text
from quintain.services.evaluate.cells.lifecycle import EVALUATED
from quintain.services.tasks.definitions import find_row
from quintain.store.blobs import Blobs
from quintain.store.queries.evaluate import cells as queries
from quintain.store.tables import Dataset
from quintain.tasks.contract import kind_of

LISTED = 10


def covered(db: Session, blobs: Blobs, task: Task, folder: Path, options: Options) -> list[str]:
    """Return the hashes of the data set versions whose every example has a prediction in *folder*.

    Ids that belong to no data set, and data sets that are covered in part, are faults.
    """
    table = read_predictions(folder, options).with_row_index("row", offset=1)
    file = find_file(folder, options).name
    known = table["id"]
    hashes: list[str] = []
    faults: list[Fault] = []
    seen: list[pl.Series] = []
    names: list[str] = []
    for version in queries.newest_dataset_versions(db, find_row(db, task.name).id, EVALUATED):
        name = f"{db.get_one(Dataset, version.dataset_id).name}@{version.number}"
        names.append(name)
        source = pl.scan_parquet(blobs.path(version.blob))
        ids = source.select("id").collect()["id"]
        is_known = ids.is_in(known.implode())
        if not is_known.any():
            continue
        seen.append(ids)
        missing = ids.filter(~is_known)
        if missing.len():
            shown = ", ".join(missing.head(3).to_list())
            faults.append(
                Fault(
                    "{missing} of {ids} examples of {name} have no prediction: {shown}",
                    missing=missing.len(),
                    ids=ids.len(),
                    name=name,
                    shown=shown,
                    file=file,
                )
            )
            continue
        hashes.append(version.hash)
        faults += _bad_answers(task, source, table, file)
    unknown = table.filter(~pl.col("id").is_in(pl.concat(seen).implode())) if seen else table
    faults += [
        Fault(
            "id '{id}' belongs to no example of {names}",
            id=one,
            names=", ".join(names) or Text("any data set"),
            file=file,
            row=row,
        )
        for row, one in unknown.select("row", "id").head(LISTED).iter_rows()
    ]
    if faults:
        total = len(faults) + max(0, unknown.height - LISTED)
        raise BadInput(
            faults=faults, total=total, remedy="Give one prediction for every example of the data sets you cover."
        )
    return hashes


def _bad_answers(task: Task, source: pl.LazyFrame, table: pl.DataFrame, file: str) -> list[Fault]:
    """Find answers that do not fit their example; those that are labels were looked at with the file alone."""
    kind = kind_of(task)
    if not kind.answers.by_example:
        return []
    fields = [item.name for item in kind.fields(task)]
    joined = source.select("id", *fields).join(table.lazy(), on="id").collect()
    faults: list[Fault] = []
    for row in joined.iter_rows(named=True):
        try:
            kind.parse_answer(task, {name: row[name] for name in fields}, parse_cell(row["prediction"]))
        except BadInput as error:
            faults.append(Fault(error.message, file=file, row=row["row"]))
            if len(faults) == LISTED:
                break
    return faults
