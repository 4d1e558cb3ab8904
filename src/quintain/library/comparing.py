"""Data sets beside each other."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import polars as pl

from quintain.core.errors import BadInput
from quintain.core.records.base import plain
from quintain.core.records.report import Report
from quintain.core.records.study import TransferCell
from quintain.data.in_memory import source_of
from quintain.library.reported import ReportedResult
from quintain.reports.folder import write_folder
from quintain.services.plain.files.checkpoints import Checkpoints
from quintain.services.plain.files.recipe_learner import read_recipe
from quintain.services.plain.reports.artefact_files import ExampleColumns
from quintain.services.plain.reports.comparing.reading import DatasetColumns, read_dataset, read_training
from quintain.services.plain.reports.comparing.report import CompareOptions, compare_datasets, quiet
from quintain.services.plain.reports.responses import LONG, ResponseReading, read_responses
from quintain.stats.artefacts.learner import LinearLearner, Teachable
from quintain.stats.irt.fit import IrtModel
from quintain.stats.irt.responses import Responses


@dataclass(frozen=True, slots=True, repr=False)
class ComparisonFound(ReportedResult):
    """Data sets beside each other."""

    title = "Data sets beside each other"
    report: Report
    transfer: list[TransferCell]
    checkpoints: Checkpoints = field(default_factory=Checkpoints)

    @property
    def table(self) -> pl.DataFrame:
        """How well a learner does that was trained on each data set: mean over seeds, interval, deviation."""
        rows = [
            {
                "train": one.train,
                "test": one.test,
                "accuracy": one.accuracy.value,
                "low": one.accuracy.low,
                "high": one.accuracy.high,
                "deviation": one.deviation,
            }
            for one in self.transfer
        ]
        return pl.DataFrame(rows, infer_schema_length=None)

    def content(self) -> Mapping[str, Any]:
        """Return the whole report, and the matrix of what carries over."""
        data: Mapping[str, Any] = {**plain(self.report), "transfer": self.transfer}
        return data

    def chart(self) -> Mapping[str, Any]:
        """Draw what carries over."""
        [section] = [section for section in self.report.sections if section.key == "transfer"]
        return section.charts[0].spec

    def facts(self) -> Iterator[str]:
        """Return how large the data sets are."""
        for name in dict.fromkeys(one.test for one in self.transfer):
            yield f"{name} {next(fact.value for fact in self.report.facts if fact.title == name)} examples"

    def save(self, folder: str | Path) -> Path:
        """Write the report to a folder: HTML with its charts, Markdown, LaTeX tables and JSON."""
        written = write_folder(self.report, Path(folder))
        self.checkpoints.clear()
        return written


def compare(
    datasets: Any,
    fields: Sequence[str] = ("text",),
    *,
    label: str = "label",
    options: Sequence[str] = (),
    context: str = "",
    writer: str = "",
    id: str = "",  # noqa: A002 - the column is called so
    tags: str = "",
    votes: str = "",
    intended: str = "",
    models: Sequence[str] = (),
    train: Any = (),
    responses: Any = None,
    irt_model: IrtModel = "2pl",
    recipe: str | Path | None = None,
    seeds: int = 3,
    seed: int = 0,
    keep: str | Path | None = None,
    commands: Sequence[str] = (),
    progress: Callable[[float], None] | None = None,
) -> ComparisonFound:
    """Hold data sets beside each other: gap, transfer, difficulty, lengths, vocabulary, variety, phenomena.

    *datasets* maps names to tables, or is a list of paths. *fields*, *label*, *options*, *context* and *writer* are
    columns as in `artefacts`. *votes* is a column of people's answers (a list, or counts by answer) and *models* are
    columns of models' answers: they give the gap between people and models; with *intended*, the writer's own label,
    votes set the label. *tags* is the column of phenomena. *train* has further data sets, only to learn from.
    Difficulty is estimated from *responses* (as in `irt`, matched by *id*), or from three models or more. *recipe* is a
    recipe's file whose learner takes the place of the linear one. *keep* is a folder in which parts of the work are
    kept until the report is saved, so that it can be interrupted.

    >>> films = {"text": [f"{'good' if at % 2 else 'dull'} {at}" for at in range(30)], "label": ["y", "n"] * 15}
    >>> found = compare({"one": films, "two": films}, seeds=1)
    >>> found.table["test"].to_list()
    ['one', 'two', 'one', 'two']
    """
    columns = DatasetColumns(
        ExampleColumns(list(fields), label, list(options), context, writer), id, tags, votes, intended, list(models)
    )
    sets = [read_dataset(name, source_of(one, name=name), columns) for name, one in _named(datasets)]
    outside = [read_training(name, source_of(one, name=name), columns.examples) for name, one in _named(train)]
    learner: Teachable = LinearLearner() if recipe is None else read_recipe(Path(recipe))
    key = [*(one.digest() for one in [*sets, *outside]), seeds, seed, learner.digest]
    settings = CompareOptions(
        outside,
        learner,
        seeds,
        seed,
        _responses(responses),
        irt_model,
        list(commands),
        Checkpoints(Path(keep) if keep else None).keyed(key),
    )
    comparison = compare_datasets(sets, settings, progress or quiet)
    return ComparisonFound(comparison.report, comparison.transfer, settings.checkpoints)


def _named(datasets: Any) -> list[tuple[str, Any]]:
    """Return data sets with their names: of a mapping, or of files without the suffix; refuse one without a name."""
    if isinstance(datasets, Mapping):
        return [(str(name), one) for name, one in datasets.items()]
    if isinstance(datasets, str | Path):
        datasets = [datasets]
    if not isinstance(datasets, Iterable) or not all(isinstance(dataset, str | Path) for dataset in datasets):
        raise BadInput("A data set has no name.", remedy="Give a mapping from names to tables, or a list of paths.")
    return [(Path(dataset).name.partition(".")[0], dataset) for dataset in datasets]


def _responses(value: Any) -> Responses | None:
    if value is None:
        return None
    return read_responses([source_of(value, LONG, name="the responses")], ResponseReading())
