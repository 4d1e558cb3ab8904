"""Where a validation stands: progress and forecast, agreement, labels, confusion, judges, contested items, batches."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy.orm import Session

from quintain.core.people import Actor
from quintain.core.records.base import decode
from quintain.core.records.validate import (
    AskedPart,
    Asking,
    Forecast,
    GoldUse,
    JudgedAgreement,
    ReviewedAgreement,
    Validation,
    ValidationProgress,
    Waiting,
)
from quintain.core.rounds import Money
from quintain.core.validation import SlotState, ValidationState
from quintain.services.access.permissions import require_owner
from quintain.services.pay.earnings import hourly, pace
from quintain.services.tasks.definitions import get_task
from quintain.services.validate.console.manage import find_validation, list_validations
from quintain.services.validate.judging import remaining_items
from quintain.services.validate.policy import dump_policy
from quintain.services.validate.quality.judges import judges_of
from quintain.services.validate.quality.validation_figures import (
    ValidationFigures,
    all_rates,
    people_figures,
    validation_figures,
)
from quintain.services.validate.quality.vmer import rates_of
from quintain.services.validate.types import ValidationInfo
from quintain.store.base import now
from quintain.store.queries.validate import items as item_queries
from quintain.store.queries.validate import judgements as queries
from quintain.store.queries.validate import validation as validation_queries

WINDOW_DAYS = 7  # the forecast looks at the pace of so many days
PACED = 5000  # and of so many judgements at most
RECENT = 1000  # and at the times of so many judgements


def status(db: Session, actor: Actor, ref: str, *, glance: int | None = None) -> Validation:
    """Return everything that the owner's console shows, as it was counted last (owners).

    At a *glance*, only the rates of so many writers, twenty at most, and no judges: they have a list of their own.
    """
    validation = find_validation(db, ref)
    require_owner(actor, validation.task.name)
    figures = validation_figures(db, validation)
    rates = all_rates(db, validation) if glance is None else people_figures(db, validation).get("rates", {})
    return status_of(db, validation, figures, rates, glance=glance)


def status_of(
    db: Session,
    validation: ValidationInfo,
    figures: ValidationFigures,
    rates: Mapping[str, Any],
    *,
    glance: int | None = None,
) -> Validation:
    """Return the same from what was read already; for other services."""
    return Validation(
        validation=validation.ref,
        state=validation.state.value,
        policy=dump_policy(validation.policy),
        method=validation.policy.method,
        progress=figures.progress,
        asking=asking(validation, figures.whole.get("parts", [])),
        forecast=forecast(db, validation, figures.slots),
        waiting=_waiting(db, validation),
        gold=GoldUse(validation.policy.gold.rate, item_queries.count_gold(db, validation.id)),
        agreement=decode(JudgedAgreement, figures.whole.get("agreement", {"reason": "nothing was counted yet"})),
        agreement_by_review=_by_review(db, validation),
        labels=figures.whole.get("labels", {}),
        confusion=figures.confusion,
        judges=judges_of(db, validation).rows() if glance is None else [],
        contested=figures.contested,
        rates=rates_of(db, rates, writers=glance),
        batches=figures.batches,
        as_of=figures.as_of,
        counted=figures.counted,
    )


def progresses(db: Session, actor: Actor, task: str) -> list[ValidationProgress]:
    """Return progress and forecast of every validation of a task (owners)."""
    get_task(db, task)
    require_owner(actor, task)
    return [progress(db, actor, ref) for ref in list_validations(db, task)]


def progress(db: Session, actor: Actor, ref: str) -> ValidationProgress:
    """Return progress and forecast only (owners): what a page asks for again and again, reading no judgements."""
    validation = find_validation(db, ref)
    require_owner(actor, validation.task.name)
    figures = validation_figures(db, validation)
    return progress_of(validation, figures, forecast(db, validation, figures.slots), _waiting(db, validation))


def progress_of(
    validation: ValidationInfo, figures: ValidationFigures, foreseen: Forecast, waiting: Waiting | None
) -> ValidationProgress:
    """Return the same from what was read already; for other services."""
    slots = sum(figures.slots.values()) - figures.slots.get(SlotState.DROPPED, 0)
    return ValidationProgress(
        validation=validation.ref,
        state=validation.state.value,
        items=figures.progress.items,
        judgements=figures.judgements,
        slots=figures.slots,
        done=figures.slots.get(SlotState.FILLED, 0) / slots if slots else 0.0,
        forecast=foreseen,
        waiting=waiting,
        as_of=figures.as_of,
        counted=figures.counted,
    )


def _waiting(db: Session, validation: ValidationInfo) -> Waiting | None:
    """Return who is needed for the last judgements; None where nobody is."""
    return remaining_items.who_is_missing(db, validation) if validation.state is ValidationState.OPEN else None


def asking(validation: ValidationInfo, parts: Sequence[Sequence[Any]]) -> Asking:
    """Return how many judgements items get, and how many items of each part are judged more often."""
    policy = validation.policy
    return Asking(
        judgements=policy.judgements,
        writer=policy.writer,
        setting=policy.setting,
        often=policy.often.judgements if policy.often is not None else None,
        sample=policy.often.items if policy.often is not None else 0,
        share=policy.often.share if policy.often is not None else 0.0,
        parts=[AskedPart(part, items, often) for part, items, often, _asked in parts],
    )


def forecast(
    db: Session, validation: ValidationInfo, slots: Mapping[str, int], *, moment: datetime | None = None
) -> Forecast:
    """Return what is to go by the numbers of *slots*.

    Days are those at the pace of the last week, or of the newest judgements; None where nothing has come in.
    """
    moment = moment or now()
    left = sum(number for state, number in slots.items() if SlotState(state).is_pending)
    policy = validation.policy
    real = max(policy.page_size * (1 - policy.gold.rate), 1.0)  # gold items take their places on pages
    pages = -(-left // int(real)) if left else 0
    seconds = validation_queries.recent_seconds(db, validation.id, RECENT)
    each, timed = pace(seconds, policy.seconds_per_item, policy.page_size)
    recent, first = queries.lately(db, validation.id, moment - timedelta(days=WINDOW_DAYS), PACED)
    days = None
    if recent and first is not None:
        span = max((moment - first).total_seconds() / 86_400, 1 / 24)
        days = left / (recent / span)
    reward = Money(policy.reward.amount, policy.reward.currency)
    return Forecast(
        judgements=left,
        pages=pages,
        cost=Money(pages * reward.amount, reward.currency),
        hours=round(left * each / 3600, 2),
        days=days if left else 0.0,
        reward=reward,
        hourly=hourly(reward, each * policy.page_size / 60),
        measured=timed,
    )


def _by_review(db: Session, validation: ValidationInfo) -> list[ReviewedAgreement]:
    """Return how agreement went from review to review."""
    return [
        ReviewedAgreement(
            at=row.created_at,
            judgements=row.judgements,
            agreement=row.summary.get("agreement"),
            caught=len(row.summary.get("caught", {})),
        )
        for row in reversed(queries.reviews(db, validation.id))
    ]
