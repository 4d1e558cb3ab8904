"""What models said of a trial's final items, as its report reads it.

A figure stands only when the run that it rests on is done: of a model whose run is not, nothing is read, and the report
says so. Where items were judged that models were never asked about, no figure of any model stands.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any

import polars as pl
from sqlalchemy.orm import Session

from quintain.core.cells import PLAIN, CellState
from quintain.core.texts import Text
from quintain.services.trial.model_runs import covering, was_asked
from quintain.store.blobs import Blobs
from quintain.store.queries.trial import pool as queries
from quintain.store.queries.trial.pool import PoolRun


@dataclass(frozen=True, slots=True)
class ModelAnswers:
    """By model, what it said of each item by its hash, null where it failed; *missing* says what is not there yet."""

    said: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    missing: tuple[Text, ...] = ()

    def of(self, item: str) -> dict[str, Any]:
        """Return what each model said of one item."""
        return {model: said[item] for model, said in self.said.items() if item in said}


def model_answers(db: Session, blobs: Blobs, task: str, trial: str, judged: Collection[str]) -> ModelAnswers:
    """Read what finished runs say of the items that were *judged*, which are named by their hashes."""
    if not judged:
        return ModelAnswers()
    version = covering(db, blobs, task, trial, judged)
    if version is None:
        return ModelAnswers(missing=(_never_asked(db, task, trial),))
    runs = queries.runs(db, version.id, PLAIN)
    done = [run for run in runs if run.state == CellState.DONE and run.predictions]
    return ModelAnswers({one.model: _read(blobs, one) for one in done}, _unfinished(runs))


def _read(blobs: Blobs, run: PoolRun) -> dict[str, Any]:
    table = pl.scan_parquet(blobs.path(str(run.predictions)), glob=False).select("id", "prediction").collect()
    return dict(zip(table["id"].to_list(), table["prediction"].to_list(), strict=True))


def _never_asked(db: Session, task: str, trial: str) -> Text:
    if was_asked(db, task, trial):
        return Text("Some of these items were judged after models were run, so that no figure of a model stands.")
    return Text("No model has been run on these items; an owner can have that done on the trial’s page.")


def _unfinished(runs: Collection[PoolRun]) -> tuple[Text, ...]:
    waiting = [run for run in runs if run.state in {CellState.QUEUED, CellState.RUNNING}]
    failed = [run for run in runs if run.state == CellState.FAILED]
    cancelled = [run for run in runs if run.state == CellState.CANCELLED]
    notes = []
    if waiting:
        notes.append(Text("Not finished yet, so without a figure: {models}.", models=_names(waiting)))
    if failed:
        notes.append(Text("Failed, so without a figure: {models}.", models=_names(failed)))
    if cancelled:
        notes.append(Text("Cancelled, so without a figure: {models}.", models=_names(cancelled)))
    return tuple(notes)


def _names(runs: Collection[PoolRun]) -> str:
    return ", ".join(run.model for run in runs)
