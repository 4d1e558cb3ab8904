"""What error rates are made of, counted in one pass over everything collected: in all, by model, writer and label.

A round has hundreds of thousands of attempts with what the models said to each: they are read some at a time, and only
the numbers stay.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy.orm import Session

from quintain.core.records.figures import Estimate
from quintain.services.validate.labels import meets_aim, misses, scores
from quintain.services.validate.quality.final_labels import FinalLabels
from quintain.services.validate.types import ValidationInfo
from quintain.stats.workers import validated_share
from quintain.store.queries.validate import collected as queries
from quintain.store.queries.validate.collected import Collected

NO_MODEL = Estimate(None, reason="no model has answered any of the items")


@dataclass(frozen=True, slots=True)
class ItemOutcome:
    """What validation said of one collected item, for one model or for all at once."""

    label: str | None
    error: bool
    success: bool


@dataclass(slots=True)
class OutcomeTally:
    """The numbers of some items; *decided* are those among the *written* ones that have a label."""

    collected: int = 0
    validated: int = 0
    errors: int = 0
    written: int = 0
    successes: int = 0
    decided: int = 0
    asked: bool = False

    def add(self, item: Collected, outcome: ItemOutcome) -> None:
        """Count one item."""
        labelled = outcome.label is not None
        self.collected += 1
        self.validated += labelled
        self.errors += outcome.error
        self.written += item.written
        self.successes += outcome.success
        self.decided += item.written and labelled
        self.asked = self.asked or bool(item.predictions)

    def rates(self) -> dict[str, Any]:
        """Return the fields of `Rates`."""
        known = self.asked or not self.collected
        aimed = validated_share(self.successes, self.decided, self.written) if self.written and self.asked else None
        return {
            "collected": self.collected,
            "validated": self.validated,
            "errors": self.errors,
            "vmer": validated_share(self.errors, self.validated, self.collected) if known else NO_MODEL,
            "written": self.written,
            "successes": self.successes,
            "aimed_success": aimed,
        }

    def counts(self) -> list[int]:
        """Return what vMER is made of, as reviews keep it and boards read it."""
        return [self.collected, self.validated, self.errors]


@dataclass(slots=True)
class Tallies:
    """All items, and those of each model, writer (by id) and label; *earned* are attempt and writer of successes."""

    whole: OutcomeTally = field(default_factory=OutcomeTally)
    models: dict[str, OutcomeTally] = field(default_factory=dict)
    writers: dict[int, OutcomeTally] = field(default_factory=dict)
    labels: dict[str, OutcomeTally] = field(default_factory=dict)
    earned: list[tuple[int, int]] = field(default_factory=list)

    def error_counts(self) -> dict[str, Any]:
        """Count what vMER is made of, over all and by model, as `[collected, validated, errors]`."""
        models = {name: self.models[name].counts() for name in sorted(self.models)}
        return {"all": self.whole.counts(), "models": models}


def tally(db: Session, validation: ValidationInfo, final: FinalLabels) -> Tallies:
    """Count everything that was collected for a validation."""
    tallies = Tallies()
    for item, label in _labelled(queries.collected(db, validation.id, validation.round_id), final):
        outcome = outcome_of(validation, item, label)
        tallies.whole.add(item, outcome)
        for model in dict.fromkeys(str(prediction.get("model")) for prediction in item.predictions):
            own = outcome_of(validation, item, label, model)
            tallies.models.setdefault(model, OutcomeTally()).add(item, own)
        if item.author_id is not None:
            tallies.writers.setdefault(item.author_id, OutcomeTally()).add(item, outcome)
        if name := aim_of(item):
            tallies.labels.setdefault(name, OutcomeTally()).add(item, outcome)
        if outcome.success and item.attempt_id is not None and item.author_id:
            tallies.earned.append((item.attempt_id, item.author_id))
    return tallies


def _labelled(items: Iterable[Collected], final: FinalLabels) -> Iterator[tuple[Collected, str | None]]:
    """Yield each item with its validated label, where nobody is asked about it any more."""
    at, names, complete = final.by_item(), final.names(), final.complete.tolist()
    for item in items:
        where = at.get(item.item_id) if item.item_id is not None else None
        yield item, names[where] if where is not None and complete[where] else None


def outcome_of(validation: ValidationInfo, item: Collected, label: str | None, model: str | None = None) -> ItemOutcome:
    """Return whether the model (or every model) missed the validated *label* of an item."""
    predictions = [prediction for prediction in item.predictions if model is None or prediction.get("model") == model]
    if label is None or not predictions:
        return ItemOutcome(label, error=False, success=False)
    missed = all(misses(validation.task, label, prediction, item.answer) for prediction in predictions)
    return ItemOutcome(
        label,
        error=missed and scores(validation.task, label),
        success=missed and item.written and meets_aim(validation.task, label, item.aim),
    )


def aim_of(item: Collected) -> str | None:
    """Return the label aimed at; of a harvested item, which nobody aimed, what the model said."""
    if item.aim:
        return item.aim
    return str(item.predictions[0].get("answer")) if item.predictions else None
