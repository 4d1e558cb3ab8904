"""The judges of a validation as a table for its owner, and everything that happened to one of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy
from sqlalchemy.orm import Session

from quintain.core.people import Actor
from quintain.core.records.figures import Estimate
from quintain.core.records.judging import JudgeEstimate, JudgeHistory, QualificationChange, Standing
from quintain.core.records.validate import Judge, Judges
from quintain.services.access.actors import find_for
from quintain.services.access.permissions import require_owner
from quintain.services.validate.console.manage import find_validation
from quintain.services.validate.quality.validation_figures import people_figures, validation_figures
from quintain.services.validate.types import QUALIFICATION, ValidationInfo
from quintain.stats.workers import wilson
from quintain.store.queries.access.people import names as people_names
from quintain.store.queries.validate import judgements as queries
from quintain.store.queries.work import qualify as qualify_queries

NOTHING_YET = Estimate(None, reason="nothing to compare with yet")


@dataclass(frozen=True, slots=True)
class JudgeQuery:
    """Which judges: worth a `look`, `qualified` or `unqualified`, whose names contain a *text*; and which of them."""

    show: str = ""
    text: str = ""
    order: str = "accuracy"
    down: bool = False
    offset: int = 0
    limit: int = 25


class JudgeList:
    """The judges of a validation by their figures as they are kept, in columns: only rows that are shown are made.

    Who is *qualified* may take pages here, as `slots.require_judge` decides: a judge who was unqualified in another
    validation of the task may not, though what they judged here counts until it is `set_aside`, too.
    """

    def __init__(self, db: Session, validation: ValidationInfo, columns: Mapping[str, Any]) -> None:
        self._db, self._columns = db, columns
        self._users: list[int] = columns.get("user", [])
        self._standings = queries.standings(db, validation.id)
        self._ended = qualify_queries.ended_qualifications(db, validation.task_id, QUALIFICATION)
        self._all = range(len(self._users))

    def __len__(self) -> int:
        return len(self._users)

    def rows(self, offset: int = 0, limit: int | None = None) -> list[Judge]:
        """Return them, or some of them, those with the lowest accuracy first; of equals, who came first."""
        keys = self._keys("accuracy", {})
        order = sorted(self._all, key=lambda code: (keys[code], self._users[code]))
        return self._rows(order[offset : None if limit is None else offset + limit])

    def page(self, query: JudgeQuery) -> tuple[list[Judge], int]:
        """Return one page of those that *query* asks for, and how many there are; rows without a value come last."""
        names = people_names(self._db, self._users) if query.text or query.order == "worker" else {}
        chosen = [code for code in self._all if self._is_shown(code, query.show)]
        if query.text:
            sought = query.text.lower()
            chosen = [code for code in chosen if sought in names[self._users[code]].lower()]
        keys = self._keys(query.order, names)
        with_value = sorted(
            (code for code in chosen if keys[code] is not None), key=keys.__getitem__, reverse=query.down
        )
        order = [*with_value, *(code for code in chosen if keys[code] is None)]
        first = min(query.offset, max(len(order) - 1, 0) // query.limit * query.limit)  # beyond the end: the last
        return self._rows(order[first : first + query.limit]), len(order)

    def _keys(self, order: str, names: Mapping[int, str]) -> list[Any]:
        """Return what each is sorted by."""
        columns = self._columns
        if order == "worker":
            return [names[user] for user in self._users]
        if order == "agreement":
            return [hits / total if total else None for hits, total in self._pairs("agreed", "compared")]
        if order == "gold":
            return [hits / total if total else None for hits, total in self._pairs("gold_right", "gold_seen")]
        accuracy = [right / (right + wrong) for right, wrong in self._pairs("right", "wrong")]
        if order == "look":
            looks = zip(self._all, columns.get("patterns", []), accuracy, strict=True)
            return [(not self._is_qualified(code), -len(found), share) for code, found, share in looks]
        return columns.get(order, []) if order in {"judgements", "seconds"} else accuracy

    def _pairs(self, first: str, second: str) -> Iterable[tuple[Any, Any]]:
        return zip(self._columns.get(first, []), self._columns.get(second, []), strict=True)

    def _is_aside(self, code: int) -> bool:
        newest = self._standings.get(self._users[code])
        return newest is not None and not newest.qualified

    def _is_qualified(self, code: int) -> bool:
        return not self._is_aside(code) and self._users[code] not in self._ended

    def _is_shown(self, code: int, show: str) -> bool:
        if show == "look":
            return bool(self._columns["patterns"][code]) and self._is_qualified(code)
        return show not in {"qualified", "unqualified"} or self._is_qualified(code) == (show == "qualified")

    def _rows(self, codes: Sequence[int]) -> list[Judge]:
        if not codes:
            return []
        part = {name: [values[code] for code in codes] for name, values in self._columns.items()}
        names = people_names(self._db, part["user"])
        shares = zip(
            codes,
            _shares(part["agreed"], part["compared"]),
            _shares(part["gold_right"], part["gold_seen"]),
            _accuracies(part["right"], part["wrong"]),
            strict=True,
        )
        return [
            Judge(
                worker=names[part["user"][place]],
                judgements=part["judgements"][place],
                compared=part["compared"][place],
                agreement=agreement,
                accuracy=accuracy,
                gold=gold,
                gold_seen=part["gold_seen"][place],
                median_seconds=part["seconds"][place],
                patterns=part["patterns"][place],
                qualified=self._is_qualified(code),
                set_aside=self._is_aside(code),
                reason=self._reason(code),
            )
            for place, (code, agreement, gold, accuracy) in enumerate(shares)
        ]

    def _reason(self, code: int) -> str:
        """Return why somebody is not qualified."""
        user = self._users[code]
        return self._standings[user].reason if self._is_aside(code) else self._ended.get(user, "")


def judges_of(db: Session, validation: ValidationInfo) -> JudgeList:
    """Return the judges of a validation; for other services, which have asked who may see them."""
    return JudgeList(db, validation, people_figures(db, validation).get("judges", {}))


def judge_list(db: Session, actor: Actor, ref: str) -> JudgeList:
    """Return the judges of a validation, to be asked for page by page (owners)."""
    validation = find_validation(db, ref)
    require_owner(actor, validation.task.name)
    validation_figures(db, validation)
    return judges_of(db, validation)


def judge_table(db: Session, actor: Actor, ref: str) -> list[Judge]:
    """List the judges with their figures, those with the lowest accuracy first, for the owner's console."""
    return judge_list(db, actor, ref).rows()


def judge_page(db: Session, actor: Actor, ref: str, *, limit: int, offset: int = 0) -> Judges:
    """Return a page of the judges with their figures, those with the lowest accuracy first (owners)."""
    judges = judge_list(db, actor, ref)
    return Judges(judges.rows(offset, limit), len(judges), offset)


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
    """Return everything that happened to one judge (owners): what reviews found, and every change of standing.

    `standings` are of this validation; `qualifications` are of the whole task, whoever changed them and where.
    """
    validation = find_validation(db, ref)
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
