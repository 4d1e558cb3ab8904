"""What is known of one model version on one data set version, and who may see how much of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any

from quintain.core.people import Actor, RoleName
from quintain.core.records import results as records
from quintain.core.records.base import decode
from quintain.core.records.figures import Gap, RunCounts

# On hidden labels, what rests on fewer examples than this would tell about single ones, and is shown to owners only.
FEWEST_SHOWN = 10


@dataclass(frozen=True, slots=True)
class StoredResult:
    """What is known of one model version on one data set version. Rates are fractions, memory is in GiB.

    *examples* are those of its *rows* that have a gold answer, on which the metrics rest. *failed* counts, by variant,
    the examples that the model gave no usable answer to: they count as wrong, and as changed. *bounds* say, of each
    metric, what it is with those that failed all wrong, and all right. *draws* names where the resampled shares of
    robustness and fairness are kept, for `read_draws`. *waiting* counts the runs that wait for a machine with a
    sandbox. *uneven* names the slices, by slicing and value, whose gold answers are nearly all one label. *gaps* say
    of each axis without a figure why it has none, and *runs* how many of the runs behind the axes are done. *asked* is
    how a model elsewhere was asked in words, and *refusals* `apart` where what was refused is left out of metrics.
    """

    model_version_id: int
    dataset_version_id: int
    dataset: str
    number: int
    role: str
    rows: int
    examples: int = 0
    hidden: bool = False
    metrics: Mapping[str, Any] = field(default_factory=dict)
    slices: Sequence[Mapping[str, Any]] = ()
    confusion: Mapping[str, Any] | None = None
    measurements: Mapping[str, Any] = field(default_factory=dict)
    robustness: Mapping[str, Any] | None = None
    fairness: Mapping[str, Any] | None = None
    states: Mapping[str, str] = field(default_factory=dict)
    cells: Mapping[str, int] = field(default_factory=dict)
    draws: Mapping[str, str] = field(default_factory=dict)
    failed: Mapping[str, int] = field(default_factory=dict)
    bounds: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    waiting: int = 0
    uneven: Sequence[Sequence[str]] = ()
    gaps: Mapping[str, Gap] = field(default_factory=dict)
    runs: RunCounts = field(default_factory=RunCounts)
    asked: Mapping[str, Any] | None = None
    refusals: str | None = None

    @property
    def outstanding(self) -> bool:
        """Whether runs of it are still to come, or going on."""
        return not {"queued", "running"}.isdisjoint(self.states.values())

    def record(self) -> records.DatasetResult:
        """Return the result as programs see it."""
        shape = {item.name: getattr(self, item.name) for item in fields(records.DatasetResult)}
        # What is kept is plain data, and stays so until somebody asks for it: a board is made of thousands of these.
        return decode(records.DatasetResult, shape | {"dataset": f"{self.dataset}@{self.number}"})


def newest_only(stored: Sequence[StoredResult]) -> list[StoredResult]:
    """Keep the newest version of each data set."""
    newest = {result.dataset: result for result in sorted(stored, key=lambda result: result.number)}
    return [newest[name] for name in sorted(newest)]


def sees_all(actor: Actor, task: str, hidden: bool) -> bool:
    """Whether *actor* may see figures on single examples: everybody on open labels, on hidden ones the owners."""
    return not hidden or actor.has(RoleName.OWNER, task)


def guarded(result: StoredResult) -> StoredResult:
    """Leave out what would tell hidden labels: slices that are small or of one label, labels that were rarely answered.

    Without this, a model that answers one label for one example only would read that example's label off the
    confusion matrix, and a tag that one example has would do the same; so would a tag that all but one have, by what is
    missing to the whole. Where all examples of a tag have one label, any of its figures would tell the labels of all:
    a correlation is undefined there, a class does not occur, and a mean over classes is half the accuracy or less.
    """
    uneven = {tuple(names) for names in result.uneven}
    slices = [
        {name: value for name, value in part.items() if name != "one_label"}
        for part in result.slices
        if not few_of(part["examples"], result.rows) and (part["by"], part["value"]) not in uneven
    ]
    table = result.confusion
    if table is not None and sum(map(bool, map(sum, _of_gold(table)))) < 2:
        table = None
    if table is not None:
        answered = [sum(column) for column in zip(*table["counts"], strict=True)]
        # An example that goes unanswered tells its label as well as one that is answered like no other.
        if any(0 < number < FEWEST_SHOWN for number in (*answered, sum(table["unanswered"]))):
            table = None
    # With one failed example taken for right, some metrics would tell its label.
    bounds = {name: bound for name, bound in result.bounds.items() if bound["examples"] >= FEWEST_SHOWN}
    return replace(result, metrics=_defined(result.metrics), slices=slices, confusion=table, bounds=bounds, uneven=())


def _of_gold(table: Mapping[str, Any]) -> list[list[int]]:
    """List, of each gold label, how often each was answered to it, and how often nothing."""
    return [[*counts, none] for counts, none in zip(table["counts"], table["unanswered"], strict=True)]


def _defined(metrics: Mapping[str, Any]) -> dict[str, Any]:
    """Keep the metrics that have a value: that one has none, and why, tells of which labels the gold answers are."""
    return {
        name: {**one, "parts": {part: value for part, value in one["parts"].items() if value["value"] is not None}}
        if one.get("parts")
        else one
        for name, one in metrics.items()
        if one["value"] is not None
    }


def few_of(examples: int, rows: int) -> bool:
    """Whether a figure on so many of *rows* examples tells of single ones: of those it has, or those it lacks."""
    return examples < FEWEST_SHOWN or 0 < rows - examples < FEWEST_SHOWN
