"""Several systems on the same examples, pair by pair."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from quintain.core.errors import BadInput
from quintain.core.records.base import plain
from quintain.core.records.paired import PairedSystems
from quintain.core.task import AnswerType
from quintain.data.in_memory import Source
from quintain.library.results import Result
from quintain.library.scores import answers_source
from quintain.reports.charts import place_chart
from quintain.services.plain.files.paired import compare_files, names_of
from quintain.services.plain.files.scored_answers import Scoring

FIGURES = {"difference": pl.Float64(), "low": pl.Float64(), "high": pl.Float64(), "p": pl.Float64()}


@dataclass(frozen=True, slots=True, repr=False)
class PairedFound(Result):
    """Every pair of systems on the same examples."""

    title = "Systems in pairs"
    record: PairedSystems

    @property
    def table(self) -> pl.DataFrame:
        """A row for each pair: the difference with its interval, p, p by Holm, examples and how many would tell."""
        rows = [
            {
                "a": pair.a,
                "b": pair.b,
                "difference": pair.difference.value,
                "low": pair.difference.low,
                "high": pair.difference.high,
                "p": pair.p,
                "p_holm": pair.p_holm,
                "n": pair.n,
                "needed": power.needed,
            }
            for pair, power in zip(self.record.pairs, self.record.power, strict=True)
        ]
        names = {"a": pl.String(), "b": pl.String(), **FIGURES}
        return pl.DataFrame(rows, schema={**names, "p_holm": pl.Float64(), "n": pl.Int64(), "needed": pl.Int64()})

    def content(self) -> Mapping[str, Any]:
        """Return all pairs, and what each system has by itself."""
        shape: Mapping[str, Any] = plain(self.record)
        return shape

    def chart(self) -> Mapping[str, Any]:
        """Draw the differences with their intervals."""
        rows = [(f"{pair.a} – {pair.b}", pair.difference, pair.n) for pair in self.record.pairs]
        defined = [row for row in rows if row[1].value is not None]
        return place_chart(defined, row="systems", value=f"difference in {self.record.metric}")

    def facts(self) -> Iterator[str]:
        """Return what it rests on."""
        record = self.record
        yield record.metric
        yield f"{record.pairs[0].n:,} examples" + ("" if record.groups is None else f" in {record.groups:,} groups")
        yield f"{record.resamples:,} draws"


def paired(
    gold: Any,
    *predictions: Any,
    metric: str = "",
    columns: Mapping[str, str] | None = None,
    answer_type: AnswerType | None = None,
    cluster: str | None = None,
    allow_missing: bool = False,
    allow_unknown: bool = False,
    seed: int = 0,
    resamples: int = 10_000,
) -> PairedFound:
    """Compare every two systems by *metric* on the same *gold* answers (`id, answer`): interval, p, p by Holm, power.

    Each of *predictions* is a table `id, prediction`; one mapping from names to such tables names the systems. The
    interval is that of a paired bootstrap, p that of a permutation test; both take whole groups where *gold* has a
    column `group`, or *cluster* is one. Without a *metric* it is the first of the answers' type.

    >>> gold = {str(item): "yes" for item in range(100)}
    >>> ours = dict.fromkeys(gold, "yes")
    >>> theirs = {name: "yes" if int(name) % 4 else "no" for name in gold}
    >>> pair = paired(gold, {"ours": ours, "theirs": theirs}, metric="accuracy").record.pairs[0]
    >>> pair.difference.value, pair.p < 0.001
    (0.25, True)
    """
    names = [metric] if metric else []
    scoring = Scoring(
        names, (), columns, answer_type, cluster, allow_missing, allow_unknown, seed=seed, resamples=resamples
    )
    return PairedFound(compare_files(answers_source(gold, "answer"), _systems(predictions), scoring))


def _is_one_system(table: Mapping[Any, Any]) -> bool:
    """Whether a mapping goes from ids to answers, or is a table of columns, and not from names to systems."""
    answers = [value for value in table.values() if isinstance(value, str | int | float | None)]
    files = [value for value in answers if isinstance(value, str) and Path(value).suffix]
    return "id" in table or (len(answers) == len(table) and len(files) < len(table))


def _systems(predictions: Sequence[Any]) -> dict[str, Source]:
    """Return the predictions by name: of a mapping its own, of files theirs, of tables their numbers."""
    if len(predictions) == 1 and isinstance(predictions[0], Mapping) and not _is_one_system(predictions[0]):
        return {str(name): answers_source(table, "prediction") for name, table in predictions[0].items()}
    if all(isinstance(table, str | Path) for table in predictions):
        return dict(names_of([Path(table) for table in predictions]))
    named = [Path(table).stem if isinstance(table, str | Path) else f"{at}" for at, table in enumerate(predictions, 1)]
    if len(set(named)) < len(named):
        raise BadInput("Two systems have the same name.", remedy="Name them: one mapping from names to predictions.")
    return {name: answers_source(table, "prediction") for name, table in zip(named, predictions, strict=True)}
