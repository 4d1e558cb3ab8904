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
from quintain.services.collect.rounds import RoundInfo, get_round, list_rounds
from quintain.services.jobs import figures
from quintain.services.jobs.figures import FigureKind, ShownFigure, Tell
from quintain.stats.workers import wilson
from quintain.store.base import now
from quintain.store.blobs import Blobs
from quintain.store.queries.access import people
from quintain.store.queries.collect import attempts as queries
from quintain.store.queries.collect import prompts as prompt_queries
from quintain.store.queries.collect import round_facts
from quintain.store.queries.collect import rounds as round_queries

SHAPE = 1  # of what is kept: figures of another shape are counted anew
MOST = 1_000  # prompts of which a count is kept, those with the most attempts
GROUPS = ("worker", "prompt", "label", "condition", "number", "hour")
Counted = Sequence[tuple[Any, int, int]]


def counters(db: Session, actor: Actor, ref: str, shown: ShownFigure | None = None) -> Counters:
    """Say how a round goes, for its owner: attempts and the rate at which they fool the model, by everything.

    *shown* is what is known of it, where the caller has asked already.
    """
    info = get_round(db, actor, ref)
    require_owner(actor, info.task)
    shown = shown or show(db, info)
    known = shown.value or {}
    total = _count("", *known.get("total", (0, 0)))
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
        flags=known.get("flags", 0),
        sessions={name or "open": count for name, count in round_queries.session_counts(db, info.id).items()},
        prompts=prompt_queries.tally(db, info.id, now()),
        by_worker=_by_name(db, known.get("worker", [])),
        **{f"by_{name}": [_count(_text(key), *counts) for key, *counts in known.get(name, [])] for name in GROUPS[1:]},
        as_of=None if shown.fresh else shown.computed_at,
    )


def show(db: Session, info: RoundInfo) -> ShownFigure:
    """Give what is known of a round, and see to it that it is counted anew where more has come in."""
    return figures.show(db, None, ROUND, info.ref, task=info.task)


def written(db: Session, info: RoundInfo) -> int:
    """Give the number of attempts that were not retracted."""
    made = round_facts.count_to(db, info.id, ROUND.at_once + 1)
    if made <= ROUND.at_once:
        return made - queries.retracted_count(db, info.id)
    known = show(db, info).value
    return int(known["total"][0]) if known else made


def written_and_fooled(db: Session, info: RoundInfo) -> tuple[int, int]:
    """Give the number of attempts that were not retracted, and of those that fooled a model, as far as it is known."""
    if round_facts.count_to(db, info.id, ROUND.at_once + 1) <= ROUND.at_once:
        _, made, fooled = queries.tally(db, info.id)[0]
        return made, fooled
    made, fooled = (show(db, info).value or {}).get("total", (0, 0))
    return made, fooled


def wake(db: Session, info: RoundInfo) -> None:
    """Have a round counted anew where that is left to workers; for other services, in their transaction."""
    if round_facts.count_to(db, info.id, ROUND.at_once + 1) > ROUND.at_once:
        figures.wake(db, ROUND, info.ref, task=info.task)


def _by_name(db: Session, counted: Counted) -> list[RoundCount]:
    """Name the people, in the order of their names."""
    names = people.names(db, [key for key, *_ in counted if key is not None])
    return sorted((_count(names.get(key, ""), made, good) for key, made, good in counted), key=lambda one: one.name)


def _text(key: object) -> str:
    return "" if key is None else str(key)


def _count(name: str, attempts: int, fooled: int) -> RoundCount:
    """Give the model's error rate as writers see it, with its Wilson interval; none where nothing was written."""
    if not attempts:
        return RoundCount(name, attempts, fooled, None, None, None)
    low, high = wilson(np.array(fooled), np.array(attempts))
    return RoundCount(name, attempts, fooled, fooled / attempts, float(low), float(high))


def _basis(db: Session, ref: str) -> str:
    return f"{SHAPE}/{round_facts.newest_facts(db, get_round(db, OPERATOR, ref).id)}"


def _facts(db: Session, ref: str) -> int:
    return round_facts.count_to(db, get_round(db, OPERATOR, ref).id, ROUND.at_once + 1)


def _compute(db: Session, blobs: Blobs | None, ref: str, tell: Tell) -> Mapping[str, Any]:
    info = get_round(db, OPERATOR, ref)
    found: dict[str, Any] = {
        "total": queries.tally(db, info.id)[0][1:3],
        "retracted": queries.retracted_count(db, info.id),
        "workers": queries.worker_count(db, info.id),
        "flags": len(queries.flags(db, info.id, decided=False)),
    }
    for number, name in enumerate(GROUPS):
        tell(number, len(GROUPS))
        found[name] = queries.tally(db, info.id, name)
    if len(found["prompt"]) > MOST:
        found["prompt"] = sorted(found["prompt"], key=lambda one: -one[1])[:MOST]
    return found


def _subjects(db: Session) -> Iterable[str]:
    return [info.ref for info in list_rounds(db, OPERATOR)]


ROUND = FigureKind("round", basis=_basis, facts=_facts, compute=_compute, subjects=_subjects)
