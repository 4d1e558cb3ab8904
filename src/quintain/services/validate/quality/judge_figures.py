"""What is known of the judges: agreement with the others, accuracy, gold items, times and patterns, all at once.

Reading a hundred thousand judgements takes half a second: pages read what was counted last, see `kept`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt
from sqlalchemy.orm import Session

from quintain.services.validate.labels import writers_label
from quintain.services.validate.types import ValidationInfo
from quintain.stats.bootstrap import FloatArray, IntArray
from quintain.stats.judge_patterns import copies, keys_in_turn
from quintain.stats.judgements import Judgements
from quintain.stats.one_coin import OneCoin, fit_one_coin
from quintain.stats.workers import agreement_with_others, median_by, too_fast
from quintain.store.queries.validate import items as item_queries
from quintain.store.queries.validate import judgements as queries
from quintain.store.queries.validate.judgements import JudgementTable

LEAST = 10  # judgements before a pattern is worth a look
SAME_SHARE = 0.95


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


@dataclass(frozen=True, slots=True)
class Figures:
    """One entry per judge (*users*), in the order of their codes; *right* and *wrong* are a Beta distribution.

    Of the *unqualified*, whose judgements are all set aside, agreement and accuracy are those of what they did; what
    they did is in no sum over judges, and not in *fit*.
    """

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
    unqualified: npt.NDArray[np.bool_]

    def agreement_of_all(self) -> tuple[int, int]:
        """Count what was compared with a majority of the others, and what agrees with it, of those who count."""
        counts = ~self.unqualified
        return int(self.compared[counts].sum()), int(self.agreed[counts].sum())


def gather(db: Session, validation: ValidationInfo) -> Evidence:
    """Read the judgements of a validation."""
    table = queries.table(db, validation.id)
    aside = queries.set_aside(db, validation.id)
    anew = queries.begun_anew(db, validation.id)
    return evidence_of(table, aside, _labels(db, validation), anew)


def _labels(db: Session, validation: ValidationInfo) -> tuple[str, ...]:
    """Name the labels that there are without any judgement: the task's and, where writers vote, what they aimed at."""
    task = validation.task
    if not validation.policy.writer:
        return task.judgement_labels
    aims = [writers_label(task, aim) for aim in item_queries.aims(db, validation.id)]
    return (*task.judgement_labels, *(aim for aim in aims if aim is not None))


def evidence_of(
    table: JudgementTable, aside: Mapping[int, int], labels: tuple[str, ...], anew: Mapping[int, int] | None = None
) -> Evidence:
    """Code judgements; those that are set aside or on gold items are left out of what counts."""
    users = np.unique(table.user)
    rows = np.flatnonzero(_counts(table, users, aside))
    rows = rows[np.lexsort((table.user[rows], table.item[rows]))]  # codes are in the order of what they stand for
    items = np.unique(table.item[rows])
    names = sorted({*labels, *table.label})
    code_of = {name: code for code, name in enumerate(names)}
    counted = Judgements(
        np.searchsorted(items, table.item[rows]),
        np.searchsorted(users, table.user[rows]),
        np.fromiter(map(code_of.__getitem__, table.label[rows]), dtype=np.int64, count=len(rows)),
        [f"{item:012}" for item in items.tolist()],
        [f"{user:012}" for user in users.tolist()],
        tuple(names),
    )
    return Evidence(table, counted, rows, users, items, aside, anew or {})


def _counts(table: JudgementTable, users: IntArray, aside: Mapping[int, int]) -> npt.NDArray[np.bool_]:
    """Mark the judgements that are neither on gold items nor set aside."""
    normal = np.asarray(table.gold == "", dtype=np.bool_)
    if not aside:
        return normal
    limits = np.array([aside.get(int(user), 0) for user in users], dtype=np.int64)
    return normal & (table.id > limits[np.searchsorted(users, table.user)])


def measure(evidence: Evidence) -> Figures:
    """Measure every judge; those whose judgements are set aside by what they did, beside what everybody said."""
    table, counted = evidence.table, evidence.counted
    people, classes = len(evidence.users), len(counted.classes)
    everybody = np.searchsorted(evidence.users, table.user)
    gold = table.gold != ""
    begun = np.array([evidence.anew.get(int(user), 0) for user in evidence.users], dtype=np.int64)
    tested = gold & (table.id > begun[everybody]) if people else gold
    compared, agreed = agreement_with_others(counted) if len(counted) else (np.zeros(people, int),) * 2
    fit = fit_one_coin(counted)
    right, wrong = fit.right, fit.wrong
    gone = np.array([evidence.aside.get(int(user), 0) == queries.FOREVER for user in evidence.users], dtype=np.bool_)
    if gone.any():
        everything = evidence_of(table, {}, counted.classes, evidence.anew).counted
        before, then = agreement_with_others(everything), fit_one_coin(everything)
        compared, agreed = (np.where(gone, *pair) for pair in zip(before, (compared, agreed), strict=True))
        right, wrong = np.where(gone, then.right, right), np.where(gone, then.wrong, wrong)
    judged = np.bincount(counted.worker, minlength=people)
    labels = np.bincount(counted.worker * classes + counted.label, minlength=people * classes)
    return Figures(
        users=evidence.users,
        judgements=np.bincount(everybody[~gold], minlength=people),
        compared=compared,
        agreed=agreed,
        gold_seen=np.bincount(everybody[tested], minlength=people),
        gold_right=np.bincount(everybody[tested & (table.label == table.gold)], minlength=people),
        right=right,
        wrong=wrong,
        seconds=median_by(everybody, table.seconds, people),
        top_share=labels.reshape(people, classes).max(axis=1, initial=0) / np.maximum(judged, 1),
        fit=fit,
        unqualified=gone,
    )


def patterns(evidence: Evidence, figures: Figures) -> dict[int, tuple[str, ...]]:
    """Name what looks wrong with judges: too fast, always the same key, keys in turn, the same errors as another."""
    counted = evidence.counted
    judged = np.bincount(counted.worker, minlength=len(figures.users))
    enough = judged >= LEAST
    pool = np.bincount(counted.label, minlength=len(counted.classes)) / max(len(counted), 1)
    in_time = np.argsort(evidence.table.id[evidence.rows], kind="stable")
    flags: dict[str, npt.NDArray[np.bool_]] = {
        "too_fast": enough & too_fast(figures.seconds),
        "same_key": enough & (figures.top_share >= SAME_SHARE) & (pool.max(initial=0.0) < SAME_SHARE),
        "keys_in_turn": enough & keys_in_turn(counted.worker[in_time], counted.label[in_time], len(figures.users)),
        "copies": copies(counted, counted.counts().argmax(axis=1)),
    }
    return {
        int(user): tuple(name for name, flag in flags.items() if flag[code]) for code, user in enumerate(figures.users)
    }
