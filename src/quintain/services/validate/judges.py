"""The judges of a validation as a table for its owner, and everything that happened to one of them."""

from __future__ import annotations

import numpy as np
from sqlalchemy.orm import Session

from quintain.core.people import Actor
from quintain.core.records.figures import Estimate
from quintain.core.records.judging import JudgeEstimate, JudgeHistory, QualificationChange, Standing
from quintain.core.records.validate import Judge
from quintain.services.access.actors import find_for
from quintain.services.access.permissions import require_owner
from quintain.services.validate.judge_figures import MeasuredJudges, measured
from quintain.services.validate.validation import QUALIFICATION, ValidationInfo
from quintain.services.validate.validations import find
from quintain.stats.workers import wilson
from quintain.store.queries.validate import judgements as queries
from quintain.store.queries.work import qualify as qualify_queries


def judge_table(db: Session, actor: Actor, ref: str) -> list[Judge]:
    """List the judges with their figures, those with the lowest accuracy first, for the owner's console."""
    validation = find(db, ref)
    require_owner(actor, validation.task.name)
    return table_of(db, validation, measured(db, validation))


def table_of(db: Session, validation: ValidationInfo, found: MeasuredJudges) -> list[Judge]:
    """Write figures as the rows of a table.

    `qualified` says who may take pages here, as `slots.require_judge` decides: a judge who was unqualified in another
    validation of the task may not, though what they judged here counts until it is `set_aside`, too.
    """
    figures = found.figures
    names = queries.names(db, figures.users.tolist())
    standings = queries.standings(db, validation.id)
    ended = qualify_queries.ended_qualifications(db, validation.task_id, QUALIFICATION)
    agree_low, agree_high = wilson(figures.agreed, figures.compared)
    gold_low, gold_high = wilson(figures.gold_right, figures.gold_seen)
    low, high = figures.fit.accuracy_quantile(0.025), figures.fit.accuracy_quantile(0.975)
    rows = []
    for code, user in enumerate(figures.users.tolist()):
        standing = standings.get(user)
        aside = standing is not None and not standing.qualified
        compared, seen = int(figures.compared[code]), int(figures.gold_seen[code])
        accuracy = float(figures.right[code] / (figures.right[code] + figures.wrong[code]))
        rows.append(
            Judge(
                worker=names[user],
                judgements=int(figures.judgements[code]),
                compared=compared,
                agreement=_share(int(figures.agreed[code]), compared, agree_low[code], agree_high[code]),
                accuracy=Estimate(accuracy, float(low[code]), float(high[code])),
                gold=_share(int(figures.gold_right[code]), seen, gold_low[code], gold_high[code]),
                gold_seen=seen,
                median_seconds=None if np.isnan(figures.seconds[code]) else float(figures.seconds[code]),
                patterns=list(found.suspicious[user]),
                qualified=not aside and user not in ended,
                set_aside=aside,
                reason=standing.reason if standing is not None and aside else ended.get(user, ""),
            )
        )
    return sorted(rows, key=lambda row: (row.accuracy.value or 0, row.worker))


def _share(hits: int, total: int, low: float, high: float) -> Estimate:
    if not total:
        return Estimate(None, reason="nothing to compare with yet")
    return Estimate(hits / total, float(low), float(high))


def judge_history(db: Session, actor: Actor, ref: str, name: str) -> JudgeHistory:
    """Give everything that happened to one judge: what each review found, and every change of standing.

    `standings` are of this validation; `qualifications` are of the whole task, whoever changed them and where.
    """
    validation = find(db, ref)
    user = find_for(db, actor, name, lambda: require_owner(actor, validation.task.name))
    return JudgeHistory(
        worker=user.name,
        reviews=[
            JudgeEstimate(
                at=review.created_at,
                judgements=one.judgements,
                compared=one.compared,
                agreed=one.agreed,
                gold_seen=one.gold_seen,
                gold_right=one.gold_right,
                accuracy=one.right / (one.right + one.wrong),
            )
            for review, one in queries.estimate_history(db, validation.id, user.id)
        ],
        standings=[
            Standing(row.created_at, row.qualified, row.rule, row.reason, row.aside_through)
            for row in queries.standing_history(db, validation.id, user.id)
        ],
        qualifications=[
            QualificationChange(row.created_at, row.held, row.reason)
            for row in qualify_queries.qualification_history(db, validation.task_id, user.id)
            if row.name == QUALIFICATION
        ],
    )
