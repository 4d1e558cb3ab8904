"""What gives answers away."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import polars as pl

from quintain.core.errors import BadInput
from quintain.core.records.base import plain
from quintain.core.records.figures import Estimate
from quintain.core.records.report import Report
from quintain.data.in_memory import source_of
from quintain.library.reported import ReportedResult
from quintain.reports.folder import write_folder
from quintain.services.plain.files.checkpoints import Checkpoints
from quintain.services.plain.files.recipe_learner import read_recipe
from quintain.services.plain.reports.artefact_files import ExampleColumns, read_examples
from quintain.services.plain.reports.artefacts import ArtefactOptions, artefact_report


@dataclass(frozen=True, slots=True, repr=False)
class ArtefactsFound(ReportedResult):
    """What gives answers away."""

    title = "Artefacts"
    report: Report
    checkpoints: Checkpoints = field(default_factory=Checkpoints)

    @property
    def table(self) -> pl.DataFrame:
        """How far each part of the input goes: accuracy over five folds, and chance."""
        rows = [
            {"input": str(name), **_spread(accuracy), "deviation": deviation, "chance": chance}
            for name, accuracy, deviation, chance in self.report.sections[0].tables[0].rows
        ]
        return pl.DataFrame(rows, infer_schema_length=None)

    def content(self) -> Mapping[str, Any]:
        """Return the whole report."""
        data: Mapping[str, Any] = plain(self.report)
        return data

    def chart(self) -> Mapping[str, Any]:
        """Draw how far each part of the input goes."""
        charts = self.report.sections[0].charts
        if not charts:
            raise BadInput("There is nothing to draw: no part of the input could be learned from.")
        return charts[0].spec

    def save(self, folder: str | Path) -> Path:
        """Write the report to a folder: HTML with its charts, Markdown, LaTeX tables and JSON."""
        written = write_folder(self.report, Path(folder))
        self.checkpoints.clear()
        return written

    def facts(self) -> Iterator[str]:
        """Return how much was looked at."""
        yield f"{self.report.facts[0].value} examples"


def artefacts(
    examples: Any,
    fields: Sequence[str] = ("text",),
    *,
    label: str = "label",
    options: Sequence[str] = (),
    context: str = "",
    writer: str = "",
    arm: str = "",
    partial: Sequence[Sequence[str]] = (),
    recipe: str | Path | None = None,
    seed: int = 0,
    keep: str | Path | None = None,
    commands: Sequence[str] = (),
    progress: Callable[[float], None] | None = None,
) -> ArtefactsFound:
    """Look for what gives answers away: partial inputs, lengths, words, repeats, writers, who texts are about.

    *fields* are the columns of the input; of multiple choice, *options* is the column of the options, or one for each.
    *context* is the column of what examples share, such as a passage's id: a context is never in two folds. *arm* is
    the column of the protocol or condition, by which options are told apart, too. *partial* lists parts of the input to
    try; all that make sense by default. *recipe* is a recipe's file, whose learner takes the place of the linear one.
    *keep* is a folder in which parts of the work are kept until the report is saved, so that it can be interrupted.
    """
    source = source_of(examples, name="the examples")
    parsed = read_examples(source, ExampleColumns(list(fields), label, list(options), context, writer, arm))
    learner = None if recipe is None else read_recipe(Path(recipe))
    key = [parsed.digest(), seed, "" if learner is None else learner.digest]
    checkpoints = Checkpoints(Path(keep) if keep else None).keyed(key)
    settings = ArtefactOptions([list(one) for one in partial], seed, list(commands), learner, checkpoints)
    callbacks = {"done": progress} if progress else {}
    return ArtefactsFound(artefact_report(parsed, source.name, settings, **callbacks), checkpoints)


def _spread(cell: Any) -> dict[str, Any]:
    if isinstance(cell, Estimate):
        return {"accuracy": cell.value, "low": cell.low, "high": cell.high}
    return {"accuracy": cell, "low": None, "high": None}
