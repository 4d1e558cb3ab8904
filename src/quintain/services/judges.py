"""What is known of the judges: agreement with the others, accuracy, gold items, times and patterns, all at once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
from sqlalchemy.orm import Session

from quintain.core.people import Actor
from quintain.services.actors import find_for
from quintain.services.ground import Ground
from quintain.services.permissions import require_owner
from quintain.services.slots import QUALIFICATION
from quintain.services.validate import find
from quintain.stats.bootstrap import Estimate, FloatArray, IntArray
from quintain.stats.judge_patterns import copies, keys_in_turn
from quintain.stats.judgements import Judgements
from quintain.stats.one_coin import OneCoin, fit_one_coin
from quintain.stats.workers import agreement_with_others, median_by, wilson
from quintain.store.queries import judgements as queries
from quintain.store.queries import qualify as qualify_queries
from quintain.store.queries.judgements import JudgementTable

LEAST = 10  # judgements before a pattern is worth a look
SAME_SHARE = 0.95
FAST_SHARE = 1 / 3


@dataclass(frozen=True, slots=True)
class Evidence:
    """Judgements of a validation, read once: all of them, and those that count (not gold, not set aside) as codes.

    *users* are the people who judged, by their codes in *counted*; *items* likewise. *rows* says which rows of
    *table* the counted ones are, in their order. Gold items up to a person's judgement in *anew* are forgiven.
    """

    table: JudgementTable
    counted: Judgements
    rows: IntArray
    users: IntArray
    items: IntArray
    aside: Mapping[int, int]
    anew: Mapping[int, int] = field(default_factory=dict)

    def code_of(self) -> dict[int, int]:
        """Give the code of each user."""
        return {int(user): code for code, user in enumerate(self.users)}


@dataclass(frozen=True, slots=True)
class Figures:
    """One entry per judge (*users*), in the order of their codes; *right* and *wrong* are a Beta distribution."""

    users: IntArray
    judgements: IntArray
    compared: IntArray
    agreed: IntArray
    gold_seen: IntArray
    gold_right: IntArray
    right: FloatArray
    wrong: FloatArray
    seconds: FloatArray
    top_share: FloatArray
    fit: OneCoin


def gather(db: Session, ground: Ground) -> Evidence:
    """Read the judgements of a validation."""
    table = queries.table(db, ground.id)
    aside = queries.set_aside(db, ground.id)
    anew = queries.begun_anew(db, ground.id)
    return evidence_of(table, aside, ground.task.judgement_labels, anew)


def evidence_of(
    table: JudgementTable, aside: Mapping[int, int], labels: tuple[str, ...], anew: Mapping[int, int] | None = None
) -> Evidence:
    """Code judgements; those that are set aside or on gold items are left out of what counts."""
    users, user = np.unique(table.user, return_inverse=True)
    limits = np.array([aside.get(int(one), 0) for one in users], dtype=np.int64)
    counts = (table.gold == "") & (table.id > (limits[user] if len(users) else 0))
    items, item = np.unique(table.item[counts], return_inverse=True)
    names = sorted({*labels, *set(table.label.tolist())})
    place = {name: code for code, name in enumerate(names)}
    label = np.fromiter(map(place.__getitem__, table.label[counts]), dtype=np.int64)
    rows = np.flatnonzero(counts)
    order = np.lexsort((user[counts], item))
    counted = Judgements(
        item[order].astype(np.int64),
        user[counts][order].astype(np.int64),
        label[order],
        [f"{one:012}" for one in items.tolist()],
        [f"{one:012}" for one in users.tolist()],
        tuple(names),
    )
    return Evidence(table, counted, rows[order], users, items, aside, anew or {})


def measure(evidence: Evidence) -> Figures:
    """Measure every judge. Those whose judgements are set aside have figures on gold and times only."""
    table, counted = evidence.table, evidence.counted
    people, classes = len(evidence.users), len(counted.classes)
    everybody = np.searchsorted(evidence.users, table.user)
    gold = table.gold != ""
    begun = np.array([evidence.anew.get(int(user), 0) for user in evidence.users], dtype=np.int64)
    tested = gold & (table.id > begun[everybody]) if people else gold
    compared, agreed = agreement_with_others(counted) if len(counted) else (np.zeros(people, int),) * 2
    fit = fit_one_coin(counted)
    made = np.bincount(counted.worker, minlength=people)
    labels = np.bincount(counted.worker * classes + counted.label, minlength=people * classes)
    return Figures(
        users=evidence.users,
        judgements=np.bincount(everybody[~gold], minlength=people),
        compared=compared,
        agreed=agreed,
        gold_seen=np.bincount(everybody[tested], minlength=people),
        gold_right=np.bincount(everybody[tested & (table.label == table.gold)], minlength=people),
        right=fit.right,
        wrong=fit.wrong,
        seconds=median_by(everybody, table.seconds, people),
        top_share=labels.reshape(people, classes).max(axis=1, initial=0) / np.maximum(made, 1),
        fit=fit,
    )


def patterns(evidence: Evidence, figures: Figures) -> dict[int, tuple[str, ...]]:
    """Name what looks wrong with judges: too fast, always the same key, keys in turn, the same errors as another."""
    counted = evidence.counted
    made = np.bincount(counted.worker, minlength=len(figures.users))
    enough = made >= LEAST
    pool = np.bincount(counted.label, minlength=len(counted.classes)) / max(len(counted), 1)
    in_time = np.argsort(evidence.table.id[evidence.rows], kind="stable")
    times = figures.seconds
    usual = float(np.nanmedian(times)) if np.isfinite(times).any() else np.nan
    flags: dict[str, npt.NDArray[np.bool_]] = {
        "too_fast": enough & (np.nan_to_num(times, nan=np.inf) < FAST_SHARE * usual),
        "same_key": enough & (figures.top_share >= SAME_SHARE) & (pool.max(initial=0.0) < SAME_SHARE),
        "keys_in_turn": enough & keys_in_turn(counted.worker[in_time], counted.label[in_time], len(figures.users)),
        "copies": copies(counted, counted.counts().argmax(axis=1)),
    }
    return {
        int(user): tuple(name for name, flag in flags.items() if flag[code]) for code, user in enumerate(figures.users)
    }


def judge_table(db: Session, actor: Actor, ref: str) -> list[dict[str, Any]]:
    """List the judges with their figures, those with the lowest accuracy first, for the owner's console."""
    ground = find(db, ref)
    require_owner(actor, ground.task.name)
    evidence = gather(db, ground)
    return table_of(db, ground, evidence, measure(evidence))


def table_of(db: Session, ground: Ground, evidence: Evidence, figures: Figures) -> list[dict[str, Any]]:
    """Write figures as the rows of a table.

    `qualified` says who may take pages here, as `slots.require_judge` decides: a judge who was unqualified in another
    validation of the task may not, though what they judged here counts until it is `set_aside`, too.
    """
    names = queries.names(db, figures.users.tolist())
    standings = queries.standings(db, ground.id)
    ended = qualify_queries.ended_qualifications(db, ground.task_id, QUALIFICATION)
    suspicious = patterns(evidence, figures)
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
            {
                "worker": names[user],
                "judgements": int(figures.judgements[code]),
                "compared": compared,
                "agreement": _share(int(figures.agreed[code]), compared, agree_low[code], agree_high[code]),
                "accuracy": Estimate(accuracy, float(low[code]), float(high[code])).as_dict(),
                "gold": _share(int(figures.gold_right[code]), seen, gold_low[code], gold_high[code]),
                "gold_seen": seen,
                "median_seconds": None if np.isnan(figures.seconds[code]) else float(figures.seconds[code]),
                "patterns": list(suspicious[user]),
                "qualified": not aside and user not in ended,
                "set_aside": aside,
                "reason": standing.reason if standing is not None and aside else ended.get(user, ""),
            }
        )
    return sorted(rows, key=lambda row: (row["accuracy"]["value"], row["worker"]))


def _share(hits: int, total: int, low: float, high: float) -> dict[str, Any]:
    if not total:
        return Estimate(None, reason="nothing to compare with yet").as_dict()
    return Estimate(hits / total, float(low), float(high)).as_dict()


def judge_history(db: Session, actor: Actor, ref: str, name: str) -> dict[str, Any]:
    """Give everything that happened to one judge: what each review found, and every change of standing.

    `standings` are of this validation; `qualifications` are of the whole task, whoever changed them and where.
    """
    ground = find(db, ref)
    user = find_for(db, actor, name, lambda: require_owner(actor, ground.task.name))
    return {
        "worker": user.name,
        "reviews": [
            {
                "at": review.created_at.isoformat(),
                "judgements": one.judgements,
                "compared": one.compared,
                "agreed": one.agreed,
                "gold_seen": one.gold_seen,
                "gold_right": one.gold_right,
                "accuracy": one.right / (one.right + one.wrong),
            }
            for review, one in queries.estimate_history(db, ground.id, user.id)
        ],
        "standings": [
            {
                "at": row.created_at.isoformat(),
                "qualified": row.qualified,
                "rule": row.rule,
                "reason": row.reason,
                "set_aside_through": row.aside_through,
            }
            for row in queries.standing_history(db, ground.id, user.id)
        ],
        "qualifications": [
            {"at": row.created_at.isoformat(), "held": row.held, "reason": row.reason}
            for row in qualify_queries.qualification_history(db, ground.task_id, user.id)
            if row.name == QUALIFICATION
        ],
    }
