"""Where a validation stands: progress and forecast, agreement, labels, confusion, judges, contested items, batches."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

import numpy as np
from sqlalchemy.orm import Session

from quintain.core.people import Actor
from quintain.core.records.validate import (
    AskedPart,
    Asking,
    Batch,
    Forecast,
    GoldUse,
    ItemProgress,
    JudgedConfusion,
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
from quintain.services.validate import endgame
from quintain.services.validate.adjudicate import contested_places
from quintain.services.validate.final_labels import FinalLabels, final_labels
from quintain.services.validate.judge_figures import Evidence, measured
from quintain.services.validate.judges import table_of
from quintain.services.validate.policy import dump_policy
from quintain.services.validate.validation import ValidationInfo
from quintain.services.validate.validations import find, list_validations
from quintain.services.validate.vmer import rates_of
from quintain.stats.agreement import measure_agreement
from quintain.stats.judgements import NONE, Judgements
from quintain.store.base import now
from quintain.store.queries.validate import judgements as queries
from quintain.store.queries.validate import slots as slot_queries
from quintain.store.queries.validate import validation as validation_queries
from quintain.store.queries.validate.validation import PartCount

RESAMPLES = 200
WINDOW_DAYS = 7  # the forecast looks at the pace of so many days
RECENT = 1000  # and at the times of so many judgements


def status(db: Session, actor: Actor, ref: str) -> Validation:
    """Give everything that the owner's console shows, from one reading of the judgements."""
    validation = find(db, ref)
    require_owner(actor, validation.task.name)
    known = measured(db, validation)
    evidence = known.evidence
    final = final_labels(db, validation, evidence, known.figures)
    parts = validation_queries.parts(db, validation.id)
    return Validation(
        validation=ref,
        state=validation.state.value,
        policy=dump_policy(validation.policy),
        method=validation.policy.method,
        progress=_progress(db, validation, evidence, final, parts),
        asking=asking(validation, parts),
        forecast=forecast(db, validation),
        waiting=_waiting(db, validation),
        gold=GoldUse(validation.policy.gold.rate, validation_queries.count_gold(db, validation.id)),
        agreement=agreement_of(final.compared),
        agreement_by_review=_by_review(db, validation),
        labels=_label_counts(final),
        confusion=confusion(evidence, final),
        judges=table_of(db, validation, known),
        contested=len(contested_places(final)),
        rates=rates_of(db, validation, final),
        batches=batches(db, validation),
    )


def progresses(db: Session, actor: Actor, task: str) -> list[ValidationProgress]:
    """Give progress and forecast of every validation of a task, for its owners."""
    get_task(db, task)
    require_owner(actor, task)
    return [progress(db, actor, ref) for ref in list_validations(db, task)]


def progress(db: Session, actor: Actor, ref: str) -> ValidationProgress:
    """Give progress and forecast only: what a page asks for again and again, without reading the judgements."""
    validation = find(db, ref)
    require_owner(actor, validation.task.name)
    slots = slot_queries.counts(db, validation.id)
    wanted = sum(slots.values()) - slots.get(SlotState.DROPPED, 0)
    return ValidationProgress(
        validation=ref,
        state=validation.state.value,
        items=validation_queries.count_standing(db, validation.id),
        judgements=queries.count(db, validation.id),
        slots={state.value: count for state, count in slots.items()},
        done=slots.get(SlotState.FILLED, 0) / wanted if wanted else 0.0,
        forecast=forecast(db, validation),
        waiting=_waiting(db, validation),
    )


def _waiting(db: Session, validation: ValidationInfo) -> Waiting | None:
    """Say who is needed for the last judgements, where somebody is."""
    return endgame.waiting(db, validation) if validation.state is ValidationState.OPEN else None


def _progress(
    db: Session, validation: ValidationInfo, evidence: Evidence, final: FinalLabels, parts: Sequence[PartCount]
) -> ItemProgress:
    slots = slot_queries.counts(db, validation.id)
    table = evidence.table
    gold = int((table.gold != "").sum())
    items = sum(one.items for one in parts)
    asked = sum((one.items - one.often) * validation.policy.judgements + one.asked for one in parts)
    saved = _saved(final) if validation.policy.adaptive else 0
    settled = int(final.asked[final.complete & ~final.decided].sum())
    return ItemProgress(
        items=items,
        complete=int(final.complete.sum()),
        labelled=int((final.complete & (final.label != NONE)).sum()),
        judgements=len(table) - gold,
        gold_judgements=gold,
        counted=len(evidence.counted),
        kept=int(final.kept.sum()),
        set_aside=len(table) - gold - len(evidence.counted),
        late=int(table.late.sum()),
        slots={state.value: count for state, count in slots.items()},
        # What an adaptive policy has not had to ask for, as far as the items are complete.
        saved=saved,
        saved_share=saved / settled if settled else 0.0,
        asked_without_adapting=asked,
    )


def asking(validation: ValidationInfo, parts: Sequence[PartCount]) -> Asking:
    """Say how many judgements items get, and how many items of each part are judged more often."""
    policy = validation.policy
    return Asking(
        judgements=policy.judgements,
        writer=policy.writer,
        setting=policy.setting,
        often=policy.often.judgements if policy.often is not None else None,
        sample=policy.often.items if policy.often is not None else 0,
        share=policy.often.share if policy.often is not None else 0.0,
        parts=[AskedPart(one.part, one.items, one.often) for one in parts],
    )


def _saved(final: FinalLabels) -> int:
    over = final.complete & ~final.decided
    return int(np.maximum(final.asked - final.compared.sizes(), 0)[over].sum())


def forecast(db: Session, validation: ValidationInfo, *, moment: datetime | None = None) -> Forecast:
    """Say what is to go. Days are those at the pace of the last week; None where nothing has come in."""
    moment = moment or now()
    slots = slot_queries.counts(db, validation.id)
    left = sum(number for state, number in slots.items() if state.wanted)
    policy = validation.policy
    real = max(policy.page_size * (1 - policy.gold.rate), 1.0)  # gold items take their places on pages
    pages = -(-left // int(real)) if left else 0
    seconds = validation_queries.recent_seconds(db, validation.id, RECENT)
    each, timed = pace(seconds, policy.seconds_per_item, policy.page_size)
    recent, first = queries.since(db, validation.id, moment - timedelta(days=WINDOW_DAYS))
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


def agreement_of(judgements: Judgements) -> dict[str, Any]:
    """Give the statistics of agreement of the judgements that are kept."""
    if not len(judgements):
        return {"reason": "there are no judgements yet"}
    return measure_agreement(judgements, resamples=RESAMPLES).as_dict()


def _by_review(db: Session, validation: ValidationInfo) -> list[ReviewedAgreement]:
    """Give how agreement went from review to review."""
    return [
        ReviewedAgreement(
            at=row.created_at,
            judgements=row.judgements,
            agreement=row.summary.get("agreement"),
            caught=len(row.summary.get("caught", {})),
        )
        for row in reversed(queries.reviews(db, validation.id))
    ]


def _label_counts(final: FinalLabels) -> dict[str, int]:
    counts = np.bincount(final.label[final.complete] + 1, minlength=len(final.classes) + 1)
    return {**{name: int(counts[code + 1]) for code, name in enumerate(final.classes)}, "no majority": int(counts[0])}


def confusion(evidence: Evidence, final: FinalLabels) -> JudgedConfusion:
    """Count what judges said (columns) where the label is what the rows say, over all judgements that count."""
    counted = evidence.counted
    label = final.label[counted.item] if len(counted) else np.zeros(0, dtype=np.int64)
    there = label != NONE
    size = len(final.classes)
    cells = np.bincount(label[there] * size + counted.label[there], minlength=size * size).reshape(size, size)
    return JudgedConfusion(list(final.classes), cells.tolist())


def batches(db: Session, validation: ValidationInfo) -> list[Batch]:
    """List the batches with how far they are."""
    found = []
    for batch, counts in slot_queries.batch_counts(db, validation.id).items():
        waiting = any(state.wanted for state in counts)
        total = sum(counts.values()) - counts.get(SlotState.DROPPED, 0)
        found.append(Batch(batch + 1, total, counts.get(SlotState.FILLED, 0), done=not waiting))
    return found
