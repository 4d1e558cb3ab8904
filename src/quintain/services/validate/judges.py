"""The judges of a validation as a table for its owner, and everything that happened to one of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import scipy
from sqlalchemy.orm import Session

from quintain.core.people import Actor
from quintain.core.records.figures import Estimate
from quintain.core.records.judging import JudgeEstimate, JudgeHistory, QualificationChange, Standing
from quintain.core.records.validate import Judge
from quintain.services.access.actors import find_for
from quintain.services.access.permissions import require_owner
from quintain.services.validate.kept import known, people_of
from quintain.services.validate.validation import QUALIFICATION, ValidationInfo
from quintain.services.validate.validations import find
from quintain.stats.workers import wilson
from quintain.store.queries.access.people import names as people_names
from quintain.store.queries.validate import judgements as queries
from quintain.store.queries.work import qualify as qualify_queries

NOTHING_YET = Estimate(None, reason="nothing to compare with yet")


def judge_table(db: Session, actor: Actor, ref: str) -> list[Judge]:
    """List the judges with their figures, those with the lowest accuracy first, for the owner's console."""
    validation = find(db, ref)
    require_owner(actor, validation.task.name)
    known(db, validation)
    return table_of(db, validation, people_of(db, validation).get("judges", {}))


def table_of(db: Session, validation: ValidationInfo, columns: Mapping[str, Any]) -> list[Judge]:
    """Write figures, as they are kept, as the rows of a table.

    `qualified` says who may take pages here, as `slots.require_judge` decides: a judge who was unqualified in another
    validation of the task may not, though what they judged here counts until it is `set_aside`, too.
    """
    if not columns:
        return []
    names = people_names(db, columns["user"])
    standings = queries.standings(db, validation.id)
    ended = qualify_queries.ended_qualifications(db, validation.task_id, QUALIFICATION)
    shares = zip(
        _shares(columns["agreed"], columns["compared"]),
        _shares(columns["gold_right"], columns["gold_seen"]),
        _accuracies(columns["right"], columns["wrong"]),
        strict=True,
    )
    rows = []
    for code, (user, (agreement, gold, accuracy)) in enumerate(zip(columns["user"], shares, strict=True)):
        standing = standings.get(user)
        aside = standing is not None and not standing.qualified
        rows.append(
            Judge(
                worker=names[user],
                judgements=columns["judgements"][code],
                compared=columns["compared"][code],
                agreement=agreement,
                accuracy=accuracy,
                gold=gold,
                gold_seen=columns["gold_seen"][code],
                median_seconds=columns["seconds"][code],
                patterns=columns["patterns"][code],
                qualified=not aside and user not in ended,
                set_aside=aside,
                reason=standing.reason if standing is not None and aside else ended.get(user, ""),
            )
        )
    return sorted(rows, key=lambda row: (row.accuracy.value or 0, row.worker))


def _shares(hits: Sequence[int], totals: Sequence[int]) -> list[Estimate]:
    low, high = wilson(np.array(hits), np.array(totals))
    rows = zip(hits, totals, low.tolist(), high.tolist(), strict=True)
    return [Estimate(hit / total, down, up) if total else NOTHING_YET for hit, total, down, up in rows]


def _accuracies(right: Sequence[float], wrong: Sequence[float]) -> list[Estimate]:
    good, bad = np.array(right, dtype=np.float64), np.array(wrong, dtype=np.float64)
    low, high = (scipy.special.betaincinv(good, bad, share) for share in (0.025, 0.975))
    columns = (good / (good + bad), low, high)
    return [Estimate(*row) for row in zip(*(column.tolist() for column in columns), strict=True)]


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
