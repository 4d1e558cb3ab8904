"""Validated model error rate and aimed success, by round, model, writer and label; and the bonus that follows.

vMER: items whose validated label is an answer of the task and differs from what the model said, divided by all items
collected. Aimed success: the validated label is the one the writer aimed at, and the model said otherwise; for written
items only. In a round with several models at once, an item is an error where every one of them missed.

By label means by the label aimed at; harvested items, which nobody aimed, are put under what the model said.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy.orm import Session

from quintain.core.people import Actor
from quintain.core.records.base import decode
from quintain.core.records.figures import Estimate
from quintain.core.records.validate import ErrorRates, LabelRates, ModelRates, Outcomes, TextOutcome, WorkerRates
from quintain.services.access.permissions import require_owner, require_user
from quintain.services.validate.console.manage import find_validation
from quintain.services.validate.quality.tallies import ItemOutcome, OutcomeTally, outcome_of
from quintain.services.validate.quality.validation_figures import all_rates, validation_figures
from quintain.store.queries.access.people import names as people_names
from quintain.store.queries.validate import collected as queries
from quintain.store.queries.validate import item_figures
from quintain.store.queries.validate.collected import Collected
from quintain.store.queries.validate.item_figures import ItemFigures


def error_rates(db: Session, actor: Actor, ref: str) -> ErrorRates:
    """Return the rates of a validation: over all, and by model, writer and label (owners)."""
    validation = find_validation(db, ref)
    require_owner(actor, validation.task.name)
    validation_figures(db, validation)
    return rates_of(db, all_rates(db, validation))


def rates_of(db: Session, stored: Mapping[str, Any], *, writers: int | None = None) -> ErrorRates:
    """Read rates as they are kept; with *writers*, only of the so many who wrote most."""
    if not stored:
        return ErrorRates(**OutcomeTally().rates(), models=[], workers=[], labels=[])
    wrote = stored["writers"][:writers]
    names = people_names(db, (user for user, _ in wrote))
    return ErrorRates(
        **_fields(stored["whole"]),
        models=[ModelRates(**_fields(rates), model=name) for name, rates in stored["models"]],
        workers=sorted(
            (WorkerRates(**_fields(rates), worker=names[user]) for user, rates in wrote if user in names),
            key=lambda rates: rates.worker,
        ),
        labels=[LabelRates(**_fields(rates), label=name) for name, rates in stored["labels"]],
    )


def _fields(stored: Mapping[str, Any]) -> dict[str, Any]:
    aimed = stored["aimed_success"]
    return {
        **stored,
        "vmer": decode(Estimate, stored["vmer"]),
        "aimed_success": None if aimed is None else decode(Estimate, aimed),
    }


def my_outcomes(db: Session, actor: Actor, ref: str, *, limit: int = 1000, offset: int = 0) -> Outcomes:
    """Tell a writer what became of what they wrote: the validated label, the votes, and whether they succeeded.

    The newest come first.
    """
    user_id = require_user(actor)
    validation = find_validation(db, ref)
    validation_figures(db, validation)
    own = (validation.id, validation.round_id, user_id)
    mine = queries.own_items(db, *own, limit=limit, offset=offset)
    rows = {row.item_id: row for row in item_figures.in_order(db, [one.item_id for one in mine if one.item_id])}
    outcomes = []
    for item in mine:
        row = rows.get(item.item_id or 0)
        judged = row if row is not None and row.state != "waiting" else None
        label = judged.label if judged else None
        outcome = outcome_of(validation, item, label)
        outcomes.append(
            TextOutcome(
                attempt=item.attempt_id,
                aim=item.aim,
                state=_state(item, outcome, ready=judged is not None),
                label=label,
                distribution=_distribution(judged, validation.task.judgement_labels) if judged else None,
                success=outcome.success if judged else None,
            )
        )
    return Outcomes(outcomes, queries.count_own_items(db, *own))


def _distribution(row: ItemFigures, classes: Sequence[str]) -> dict[str, float]:
    """Return each label's share of the votes."""
    total = max(row.judgements, 1)
    return {name: row.votes.get(name, 0) / total for name in sorted({*classes, *row.votes})}


def _state(item: Collected, outcome: ItemOutcome, *, ready: bool) -> str:
    """Return how far the judging of an item is."""
    if outcome.label:
        return "validated"
    if ready:
        return "no majority"
    return "waiting" if item.item_id is not None else "not judged"
