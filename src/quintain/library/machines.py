"""Machines beside people: how a machine judges, and figures from its labels of many items and people's of some."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

import polars as pl

from quintain.core.records.base import plain
from quintain.core.records.figures import Estimate
from quintain.core.records.machines import EstimateBeside, MachineAgreement
from quintain.data.in_memory import source_of
from quintain.library.labels import JUDGEMENTS, as_repeats
from quintain.library.results import Result
from quintain.reports.charts import interval_chart
from quintain.services.plain.labels.judgements import JudgementReading
from quintain.services.plain.labels.machine_estimate import EstimatedMetric, Estimating, estimate_with_machine
from quintain.services.plain.labels.machine_judge import JudgeTest, judge_machine
from quintain.stats.alternative_annotator import MARGIN


@dataclass(frozen=True, slots=True, repr=False)
class MachineAgreementFound(Result):
    """How a machine judges beside people."""

    title = "A machine among judges"
    record: MachineAgreement

    @property
    def table(self) -> pl.DataFrame:
        """A row for each person: on how many items the machine does at least as well, and whether it beats them."""
        rows = [plain(person) for person in self.record.persons]
        names = {"person": pl.String(), "items": pl.Int64(), "advantage": pl.Float64(), "disadvantage": pl.Float64()}
        return pl.DataFrame(rows, schema={**names, "p": pl.Float64(), "beaten": pl.Boolean()})

    def content(self) -> Mapping[str, Any]:
        """Return all figures."""
        shape: Mapping[str, Any] = plain(self.record)
        return shape

    def chart(self) -> Mapping[str, Any]:
        """Draw how far the machine and people agree with people, by chance and beyond it."""
        record = self.record
        rows = [
            (what, name, Estimate(side.value, side.low, side.high) if what == "agreement" else side.kappa, record.items)
            for what in ("agreement", "kappa")
            for name, side in ((record.machine, record.agreement), ("people", record.people_agreement))
        ]
        return interval_chart(rows, row="figure", series="who", value="with people")

    def facts(self) -> Iterator[str]:
        """Return what it rests on, and what it comes to."""
        yield f"{self.record.items:,} items"
        yield f"{self.record.people:,} people"
        yield self.record.verdict


def machine_agreement(
    judgements: Any,
    machine: str,
    *,
    epsilon: float = MARGIN,
    seed: int = 0,
    columns: Mapping[str, str] | None = None,
    labels: Sequence[str] = (),
    repeats: str = "refuse",
    everything: bool = False,
) -> MachineAgreementFound:
    """Compare a *machine* that judges with people: agreement, the alternative annotator test, and a verdict.

    *judgements* is a table `item, worker, label` in which one worker is the machine. Rows of other
    machines are left out where a column `machine` marks them. Each person with at least 30 items that the machine and
    somebody else judged is left out in turn; the machine beats them where their advantage is surely below *epsilon*.

    >>> votes = [(str(item), who, "yes" if item % 2 else "no") for item in range(40) for who in ("ann", "bob", "gpt")]
    >>> machine_agreement(votes, "gpt").record.verdict
    'may replace one of 2'
    """
    reading = JudgementReading(columns or {}, labels, as_repeats(repeats), everything)
    table = source_of(judgements, JUDGEMENTS, name="the judgements")
    return MachineAgreementFound(judge_machine(table, JudgeTest(machine, epsilon, seed), reading))


@dataclass(frozen=True, slots=True, repr=False)
class EstimateFound(Result):
    """A figure from people alone, and from people and a machine."""

    title = "Estimate"
    record: EstimateBeside

    @property
    def table(self) -> pl.DataFrame:
        """Both figures with their intervals."""
        both = (("people", self.record.people), ("together", self.record.together))
        figures = ("value", "low", "high", "n", "machine_n")
        rows = [{"from": name, **{figure: getattr(part, figure) for figure in figures}} for name, part in both]
        return pl.DataFrame(rows)

    def content(self) -> Mapping[str, Any]:
        """Return all figures."""
        shape: Mapping[str, Any] = plain(self.record)
        return shape

    def chart(self) -> Mapping[str, Any]:
        """Draw both intervals."""
        record = self.record
        rows = [
            (name, "", Estimate(part.value, part.low, part.high), part.n)
            for name, part in (("people", record.people), ("together", record.together))
        ]
        return interval_chart(rows, row="from", series="", value=record.label or record.metric)

    def facts(self) -> Iterator[str]:
        """Return what it rests on."""
        yield f"{self.record.metric} of {self.record.label}" if self.record.label else self.record.metric
        yield f"{self.record.people.n:,} items that people judged"
        yield f"{self.record.together.machine_n or 0:,} of the machine"


def estimate(
    people: Any,
    machine: Any,
    metric: str = "share",
    *,
    label: str | None = None,
    predictions: Any = None,
    half_width: float = 0.01,
    votes: bool = False,
    columns: Mapping[str, str] | None = None,
    labels: Sequence[str] = (),
    repeats: str = "refuse",
    everything: bool = False,
) -> EstimateFound:
    """Estimate a figure from people's labels of some items and a machine's of all, with an interval that stays true.

    *people* is a table `item, worker, label` of items drawn at random, *machine* one of `item, label`. *metric* is the
    `share` of a *label*, or the `accuracy` or `macro_f1` of *predictions* (`id, prediction`). The interval is never
    wider than that of people alone. *half_width* is what `needed` reckons with; *votes* takes shares of votes.

    >>> people = [(str(item), "ann", "yes" if item % 4 else "no") for item in range(100)]
    >>> machine = [(str(item), "yes" if item % 4 else "no") for item in range(5000)]
    >>> estimate(people, machine, label="yes").table["value"].to_list()
    [0.75, 0.75]
    """
    answers = None if predictions is None else source_of(predictions, ("id", "prediction"), name="the predictions")
    estimating = Estimating(cast(EstimatedMetric, metric), label, answers, half_width, votes)
    reading = JudgementReading(columns or {}, labels, as_repeats(repeats), everything)
    return EstimateFound(
        estimate_with_machine(
            source_of(people, JUDGEMENTS, name="people's judgements"),
            source_of(machine, ("item", "label"), name="the machine's labels"),
            estimating,
            reading,
        )
    )
