"""What gives answers away."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from quintain.core.records.base import plain
from quintain.core.records.figures import Estimate
from quintain.core.records.report import Report
from quintain.data.given import source_of
from quintain.library.reported import ReportedResult
from quintain.services.plain.artefact_files import ExampleColumns, read_examples
from quintain.services.plain.artefacts import ArtefactOptions, artefact_report
from quintain.services.plain.recipe_learner import read_recipe


@dataclass(frozen=True, slots=True, repr=False)
class ArtefactsFound(ReportedResult):
    """What gives answers away."""

    title = "Artefacts"
    report: Report

    @property
    def table(self) -> pl.DataFrame:
        """How far each part of the input goes: accuracy over five folds, and chance."""
        rows = [
            {"input": str(name), **_spread(accuracy), "deviation": deviation, "chance": chance}
            for name, accuracy, deviation, chance in self.report.sections[0].tables[0].rows
        ]
        return pl.DataFrame(rows, infer_schema_length=None)

    def content(self) -> Mapping[str, Any]:
        """Give the whole report."""
        found: Mapping[str, Any] = plain(self.report)
        return found

    def chart(self) -> Mapping[str, Any]:
        """Draw how far each part of the input goes."""
        return self.report.sections[0].charts[0].spec

    def facts(self) -> Iterator[str]:
        """Say how much was looked at."""
        yield f"{self.report.facts[0].value} examples"


def artefacts(
    examples: Any,
    fields: Sequence[str] = ("text",),
    *,
    label: str = "label",
    options: Sequence[str] = (),
    context: str = "",
    writer: str = "",
    partial: Sequence[Sequence[str]] = (),
    recipe: str | Path | None = None,
    seed: int = 0,
    commands: Sequence[str] = (),
    progress: Callable[[float], None] | None = None,
) -> ArtefactsFound:
    """Look for what gives answers away: partial inputs, lengths, words, repeats, writers, who texts are about.

    *fields* are the columns of the input; of multiple choice, *options* is the column of the options, or one for each.
    *context* is the column of what examples share, such as a passage's id: a context is never in two folds. *partial*
    lists parts of the input to try; all that make sense by default. *recipe* is a recipe's file whose learner tries
    them in place of the linear one.
    """
    source = source_of(examples, name="the examples")
    found = read_examples(source, ExampleColumns(list(fields), label, list(options), context, writer))
    learner = None if recipe is None else read_recipe(Path(recipe))
    wanted = ArtefactOptions([list(one) for one in partial], seed, list(commands), learner)
    told = {"done": progress} if progress else {}
    return ArtefactsFound(artefact_report(found, source.name, wanted, **told))


def _spread(cell: Any) -> dict[str, Any]:
    if isinstance(cell, Estimate):
        return {"accuracy": cell.value, "low": cell.low, "high": cell.high}
    return {"accuracy": cell, "low": None, "high": None}
