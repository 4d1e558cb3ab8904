"""A trial of ways of writing, from files."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import polars as pl

from quintain.core.errors import BadInput
from quintain.core.records.base import plain
from quintain.core.records.report import Report
from quintain.data.tables import write_table
from quintain.data.trial_tables import grades_table, items_table, judgements_table, predictions_table
from quintain.data.trials import TrialArm, read_trial
from quintain.library.reported import ReportedResult
from quintain.services.plain.reports.trial_measures import ReportOptions
from quintain.services.plain.reports.trials import report_on

TABLES = {
    "items.jsonl": items_table,
    "judgements.csv": judgements_table,
    "grades.csv": grades_table,
    "predictions.csv": predictions_table,
}


@dataclass(frozen=True, slots=True, repr=False)
class TrialFound(ReportedResult):
    """A trial: its report and, as tables, what it rests on."""

    title = "Trial"
    report: Report
    arms: Sequence[TrialArm] = field(default_factory=tuple)

    @property
    def table(self) -> pl.DataFrame:
        """The items with their texts: one row each."""
        return items_table(self.arms)

    @property
    def judgements(self) -> pl.DataFrame:
        """The judgements: arm, item, worker, label."""
        return judgements_table(self.arms)

    @property
    def grades(self) -> pl.DataFrame:
        """What graders answered: arm, stage, item, grader, whether an expert, question, answer."""
        return grades_table(self.arms)

    @property
    def predictions(self) -> pl.DataFrame:
        """What models said: arm, item, model, label."""
        return predictions_table(self.arms)

    def content(self) -> Mapping[str, Any]:
        """Return the whole report."""
        content: Mapping[str, Any] = plain(self.report)
        return content

    def chart(self) -> Mapping[str, Any]:
        """Draw how far models are behind people in each arm."""
        charts = self.report.sections[0].charts
        if not charts:
            raise BadInput("There is nothing to draw: neither people nor models have a figure.")
        return charts[0].spec

    def facts(self) -> Iterator[str]:
        """Return how much there is."""
        for arm in self.arms:
            yield f"{arm.name}: {len(arm.items):,} items"


def trial(*files: str | Path, sample: int = 4, draws: int = 100, seed: int = 0) -> TrialFound:
    """Read the items of a trial's arms, as `trial export` writes them or as published, and report on them.

    Labels are the majority of *sample* drawn votes and the writer's; they are drawn *draws* times, by *seed*.
    """
    if not files:
        raise BadInput("No file is named.", remedy="Name the files of the arms.")
    paths = [Path(file) for file in files]
    arms = read_trial(paths)
    return TrialFound(report_on(paths, arms, ReportOptions(sample, draws, seed)), tuple(arms))


def write_tables(files: Sequence[Path], folder: Path) -> dict[str, int]:
    """Write a trial's items, judgements, grades and predictions as tables into a folder; count the rows of each.

    Of several arms, the data of each are also in a table of their own, to be compared as data sets.
    """
    arms = read_trial(files)
    folder.mkdir(parents=True, exist_ok=True)
    rows = {}
    each = {f"items-{arm.name}.jsonl": items_table([replace(arm, earlier=())]) for arm in arms} if len(arms) > 1 else {}
    for name, table in {**{name: make(arms) for name, make in TABLES.items()}, **each}.items():
        if table.height:
            write_table(table, folder / name)
            rows[name] = table.height
    return rows
