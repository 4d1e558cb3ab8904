"""Validated model error rate and aimed success, by round, model, writer and label; and the bonus that follows.

vMER: items whose validated label is an answer of the task and differs from what the model said, divided by all items
collected. Aimed success: the validated label is the one the writer aimed at, and the model said otherwise; for written
items only. In a round with several models at once, an item is an error where every one of them missed.

By label means by the label aimed at; harvested items, which nobody aimed, are put under what the model said.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy.orm import Session

from quintain.core.people import OPERATOR, Actor
from quintain.core.records.figures import Estimate
from quintain.core.records.validate import ErrorRates, LabelRates, ModelRates, Outcome, WorkerRates
from quintain.services.access.permissions import require_owner, require_user
from quintain.services.collect.rounds import get_round
from quintain.services.pay import earnings
from quintain.services.validate.final_labels import FinalLabels, final_labels
from quintain.services.validate.judge_figures import measured
from quintain.services.validate.labels import meets_aim, misses, scores
from quintain.services.validate.validation import ValidationInfo
from quintain.services.validate.validations import find
from quintain.services.work import qualify
from quintain.stats.workers import validated_share
from quintain.store.queries.validate import collected as queries
from quintain.store.queries.validate import judgements as judgement_queries
from quintain.store.queries.validate.collected import Collected

NO_MODEL = Estimate(None, reason="no model has answered any of the items")


@dataclass(frozen=True, slots=True)
class _Outcome:
    """What validation said of one collected item, for one model or for all at once."""

    item: Collected
    label: str | None
    error: bool
    success: bool


def error_rates(db: Session, actor: Actor, ref: str) -> ErrorRates:
    """Give the rates of a validation: over all, and by model, writer and label. For owners."""
    validation = find(db, ref)
    require_owner(actor, validation.task.name)
    known = measured(db, validation)
    return rates_of(db, validation, final_labels(db, validation, known.evidence, known.figures))


def rates_of(db: Session, validation: ValidationInfo, final: FinalLabels) -> ErrorRates:
    """Compute the rates from labels that are there already."""
    items = queries.collected(db, validation.id, validation.round_id)
    whole = _outcomes(validation, final, items)
    names = judgement_queries.names(db, {item.author_id for item in items if item.author_id is not None})
    models = sorted({str(one.get("model")) for item in items for one in item.predictions})
    return ErrorRates(
        **_rates(whole),
        models=[ModelRates(**_rates(_outcomes(validation, final, items, model)), model=model) for model in models],
        workers=[
            WorkerRates(**_rates(some), worker=name)
            for name, some in _sliced(whole, lambda one: names.get(one.item.author_id or 0))
        ],
        labels=[LabelRates(**_rates(some), label=name) for name, some in _sliced(whole, _label_of)],
    )


def error_counts(db: Session, validation: ValidationInfo, final: FinalLabels) -> dict[str, Any]:
    """Count what vMER is made of, over all and by model, as `[collected, validated, errors]`.

    Reviews keep it, and boards read it there.
    """
    items = queries.collected(db, validation.id, validation.round_id)
    models = sorted({str(one.get("model")) for item in items for one in item.predictions})
    return {
        "all": _counts(_outcomes(validation, final, items)),
        "models": {model: _counts(_outcomes(validation, final, items, model)) for model in models},
    }


def _counts(outcomes: Sequence[_Outcome]) -> list[int]:
    validated, errors = sum(one.label is not None for one in outcomes), sum(one.error for one in outcomes)
    return [len(outcomes), validated, errors]


def _outcomes(
    validation: ValidationInfo, final: FinalLabels, items: Sequence[Collected], model: str | None = None
) -> list[_Outcome]:
    """Say of each item whether the model (or every model) missed the validated label."""
    place, names = final.by_item(), final.names()
    found = []
    for item in items:
        said = [one for one in item.predictions if model is None or one.get("model") == model]
        if model is not None and not said:
            continue
        where = place.get(item.item_id) if item.item_id is not None else None
        label = names[where] if where is not None and final.complete[where] else None
        error = success = False
        if label is not None and said:
            missed = all(misses(validation.task, label, one, item.answer) for one in said)
            error = missed and scores(validation.task, label)
            success = missed and item.written and meets_aim(validation.task, label, item.aim)
        found.append(_Outcome(item, label, error, success))
    return found


def _rates(outcomes: Sequence[_Outcome]) -> dict[str, Any]:
    """Give the fields of `Rates`."""
    written = [one for one in outcomes if one.item.written]
    asked = any(one.item.predictions for one in outcomes)
    errors, successes = sum(one.error for one in outcomes), sum(one.success for one in written)
    validated = sum(one.label is not None for one in outcomes)
    return {
        "collected": len(outcomes),
        "validated": validated,
        "errors": errors,
        "vmer": validated_share(errors, validated, len(outcomes)) if asked or not outcomes else NO_MODEL,
        "written": len(written),
        "successes": successes,
        "aimed_success": _success_rate(written, successes) if written and asked else None,
    }


def _success_rate(written: Sequence[_Outcome], successes: int) -> Estimate:
    return validated_share(successes, sum(one.label is not None for one in written), len(written))


def _sliced(outcomes: Sequence[_Outcome], key: Callable[[_Outcome], str | None]) -> list[tuple[str, list[_Outcome]]]:
    groups: dict[str, list[_Outcome]] = {}
    for one in outcomes:
        value = key(one)
        if value:
            groups.setdefault(value, []).append(one)
    return sorted(groups.items())


def _label_of(outcome: _Outcome) -> str | None:
    if outcome.item.aim:
        return outcome.item.aim
    return str(outcome.item.predictions[0].get("answer")) if outcome.item.predictions else None


@dataclass(frozen=True, slots=True)
class Settled:
    """Bonuses that were paid, and each writer's successes of decided attempts, by `user:<id>`."""

    paid: int
    writers: dict[str, list[int]]


def settle_bonuses(db: Session, validation: ValidationInfo, final: FinalLabels) -> Settled:
    """Pay the writers' bonus for aimed successes that are not paid yet, and note how often each writer succeeds.

    For other services, in their transaction. What was paid stays paid, whatever later judgements say. In a pool of
    several rounds, each item earns what its own round promises.
    """
    rounds = queries.rounds_of(db, validation.id, validation.round_id)
    if not rounds:
        return Settled(0, {})
    outcomes = _outcomes(validation, final, queries.collected(db, validation.id, validation.round_id))
    decided = [one for one in outcomes if one.item.written and one.label is not None and one.item.author_id]
    task = validation.task.name
    specs = {key: get_round(db, OPERATOR, f"{task}/{number}").spec for key, number in {*rounds.values()}}
    paid = 0
    for one in decided:
        attempt, author = one.item.attempt_id, one.item.author_id
        if not one.success or attempt not in rounds or author is None:
            continue
        round_id = rounds[attempt][0]
        if specs[round_id].reward.bonus:
            paid += earnings.earn_bonus(db, specs[round_id], validation.task_id, round_id, author, attempt)
    return Settled(paid, _note_writers(db, validation, decided))


def _note_writers(db: Session, validation: ValidationInfo, decided: Sequence[_Outcome]) -> dict[str, list[int]]:
    """Keep what the rule `validated_fooling` asks for: successes of decided attempts, over all rounds of the task."""
    total = Counter(one.item.author_id for one in decided if one.item.author_id is not None)
    good = Counter(one.item.author_id for one in decided if one.success)
    writers = {f"user:{author}": [good[author], count] for author, count in sorted(total.items())}
    elsewhere = queries.writers_elsewhere(db, validation.task_id, validation.id)
    for author in sorted(total):
        counts = [one.get(f"user:{author}", [0, 0]) for one in (writers, *elsewhere)]
        rate = f"{sum(right for right, _ in counts)}/{sum(made for _, made in counts)}"
        qualify.add_fact(db, author, qualify.fooling_fact(validation.task.name), rate, source="validation")
    return writers


def my_outcomes(db: Session, actor: Actor, ref: str) -> list[Outcome]:
    """Tell a writer what became of what they wrote: the validated label, the votes, and whether they succeeded."""
    user_id = require_user(actor)
    validation = find(db, ref)
    known = measured(db, validation)
    final = final_labels(db, validation, known.evidence, known.figures)
    mine = [item for item in queries.collected(db, validation.id, validation.round_id) if item.author_id == user_id]
    place, shares = final.by_item(), final.distribution()
    found = []
    for one in _outcomes(validation, final, mine):
        where = place.get(one.item.item_id or 0)
        ready = where is not None and bool(final.complete[where])
        found.append(
            Outcome(
                attempt=one.item.attempt_id,
                aim=one.item.aim,
                state=_state(one, ready=ready),
                label=one.label,
                distribution=dict(zip(final.classes, shares[where].tolist(), strict=True)) if ready else None,
                success=one.success if ready else None,
            )
        )
    return found


def _state(outcome: _Outcome, *, ready: bool) -> str:
    """Say how far the judging of an item is."""
    if outcome.label:
        return "validated"
    if ready:
        return "no majority"
    return "waiting" if outcome.item.item_id is not None else "not judged"
