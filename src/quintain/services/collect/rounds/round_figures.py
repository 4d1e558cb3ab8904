"""How a round goes: counted when attempts come in, kept, and shown with its time; of a small round counted at once.

People are kept by their numbers: names are put in when somebody looks, so that nobody who was erased is named.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from sqlalchemy.orm import Session

from quintain.core.people import OPERATOR, Actor
from quintain.core.records.collect import Counters, RoundCount
from quintain.services.access.permissions import require_owner
from quintain.services.collect.rounds.manage import RoundInfo, get_round, list_rounds
from quintain.services.jobs import figures
from quintain.services.jobs.figures import FigureKind, ReportProgress, ShownFigure
from quintain.stats.workers import wilson
from quintain.store.base import now
from quintain.store.blobs import Blobs
from quintain.store.queries.access import people
from quintain.store.queries.collect import attempts as queries
from quintain.store.queries.collect import flags as flag_queries
from quintain.store.queries.collect import prompts as prompt_queries
from quintain.store.queries.collect import round_facts
from quintain.store.queries.collect import rounds as round_queries

SHAPE = 3  # of what is kept: figures of another shape are counted anew
MOST = 1_000  # people and prompts of which a count is kept, those with the most attempts; hours, the latest
GROUPS = ("worker", "prompt", "label", "condition", "number", "hour")
DAY = len("2026-11-16")  # at the front of an hour
Counted = Sequence[tuple[Any, int, int]]


def counters(
    db: Session, actor: Actor, ref: str, shown: ShownFigure | None = None, *, most: int | None = None
) -> Counters:
    """Return how a round goes (owners): attempts and the rate at which they fool the model, by everything.

    *shown* is what is known of it, where the caller has asked already. *most* people and prompts are given, those with
    the most attempts.
    """
    info = get_round(db, actor, ref)
    require_owner(actor, info.task)
    shown = shown or shown_figures(db, info)
    known = shown.value or {}
    (total,) = _counts([("", *known.get("total", (0, 0)))])
    groups = {name: known.get(name, []) for name in (*GROUPS, "day")}
    groups |= {name: groups[name][:most] for name in ("worker", "prompt")}
    groups["worker"] = _by_name(db, groups["worker"])
    return Counters(
        round=info.ref,
        state=info.state.value,
        attempts=total.attempts,
        fooled=total.fooled,
        rate=total.rate,
        low=total.low,
        high=total.high,
        retracted=known.get("retracted", 0),
        workers=known.get("workers", 0),
        flags=flag_queries.count(db, info.id, decided=False),
        sessions={name or "open": count for name, count in round_queries.session_counts(db, info.id).items()},
        prompts=prompt_queries.tally(db, info.id, now()),
        **{f"by_{name}": _counts(counted) for name, counted in groups.items()},
        as_of=None if shown.fresh else shown.computed_at,
        counted=shown.value is not None,
    )


def shown_figures(db: Session, info: RoundInfo) -> ShownFigure:
    """Return what is known of a round; it is counted anew beside where more has come in."""
    return figures.shown_figure(db, None, ROUND, info.ref, task=info.task)


def written(db: Session, info: RoundInfo) -> int:
    """Return the number of attempts that were not retracted."""
    attempts = round_facts.count_to(db, info.id, worker_threshold())
    if attempts <= ROUND.at_once:
        return attempts - queries.retracted_count(db, info.id)
    known = shown_figures(db, info).value
    return int(known["total"][0]) if known else attempts


def written_and_fooled(db: Session, info: RoundInfo) -> tuple[int, int]:
    """Return the number of attempts that were not retracted, and of those that fooled a model, as far as known."""
    if round_facts.count_to(db, info.id, worker_threshold()) <= ROUND.at_once:
        _, attempts, fooled = queries.tally(db, info.id)[0]
        return attempts, fooled
    attempts, fooled = (shown_figures(db, info).value or {}).get("total", (0, 0))
    return attempts, fooled


def worker_threshold() -> int:
    """Return with how many attempts of a round counting them is left to workers."""
    return ROUND.at_once + 1


def schedule_refresh(db: Session, info: RoundInfo, attempts: int | None = None) -> None:
    """Have a round counted anew where that is left to workers; for other services, in their transaction.

    *attempts* counts its attempts, no further than `enough`, where the caller knows.
    """
    if (round_facts.count_to(db, info.id, worker_threshold()) if attempts is None else attempts) >= worker_threshold():
        figures.schedule_refresh(db, ROUND, info.ref, task=info.task)


def _by_name(db: Session, counted: Counted) -> Counted:
    """Name the people, in the order of their names."""
    names = people.names(db, [key for key, *_ in counted if key is not None])
    return sorted((names.get(key, ""), made, good) for key, made, good in counted)


def _counts(counted: Counted) -> list[RoundCount]:
    """Return the model's error rate as writers see it, with its Wilson interval; none where nothing was written."""
    totals, good = (np.array([row[at] for row in counted], dtype=np.int64) for at in (1, 2))
    low, high = (side.tolist() for side in wilson(good, totals))
    return [
        RoundCount(_text(key), attempts, fooled, fooled / attempts, low[at], high[at])
        if attempts
        else RoundCount(_text(key), attempts, fooled, None, None, None)
        for at, (key, attempts, fooled) in enumerate(counted)
    ]


def _text(key: object) -> str:
    return "" if key is None else str(key)


def _basis(db: Session, ref: str) -> str:
    return f"{SHAPE}/{round_facts.newest_facts(db, get_round(db, OPERATOR, ref).id)}"


def _facts(db: Session, ref: str) -> int:
    return round_facts.count_to(db, get_round(db, OPERATOR, ref).id, worker_threshold())


def _compute(db: Session, blobs: Blobs | None, ref: str, tell: ReportProgress) -> Mapping[str, Any]:
    info = get_round(db, OPERATOR, ref)
    figures_of_round: dict[str, Any] = {
        "total": queries.tally(db, info.id)[0][1:3],
        "retracted": queries.retracted_count(db, info.id),
        "workers": queries.worker_count(db, info.id),
    }
    for number, name in enumerate(GROUPS):
        tell(number, len(GROUPS))
        figures_of_round[name] = queries.tally(db, info.id, name)
    for name in ("worker", "prompt"):
        figures_of_round[name] = sorted(figures_of_round[name], key=lambda row: (-row[1], -row[2]))[:MOST]
    figures_of_round["day"] = _by_day(figures_of_round["hour"])
    figures_of_round["hour"] = figures_of_round["hour"][-MOST:]
    return figures_of_round


def _by_day(hours: Counted) -> Counted:
    """Add up the hours of each day."""
    days: dict[str, tuple[int, int]] = {}
    for hour, attempts, good in hours:
        before = days.get(hour[:DAY], (0, 0))
        days[hour[:DAY]] = (before[0] + attempts, before[1] + good)
    return [(day, attempts, good) for day, (attempts, good) in days.items()]


def _subjects(db: Session) -> Iterable[str]:
    return [info.ref for info in list_rounds(db, OPERATOR)]


ROUND = FigureKind("round", basis=_basis, facts=_facts, compute=_compute, subjects=_subjects)
