"""What writers are owed for aimed successes, and how often they succeed: paid and noted some at a time."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from sqlalchemy.orm import Session

from quintain.core.people import OPERATOR
from quintain.services.collect.rounds.manage import get_round
from quintain.services.pay import earnings
from quintain.services.validate.quality.tallies import Tallies
from quintain.services.validate.types import ValidationInfo
from quintain.services.work import qualify
from quintain.store.database import transaction
from quintain.store.queries.pay import earnings as earning_queries
from quintain.store.queries.validate import collected as queries
from quintain.store.queries.work import qualify as qualify_queries
from quintain.store.write_queue import sqlite_write_queue

AT_A_TIME = 50  # bonuses that one transaction pays: others wait for some milliseconds
NOTED_AT_A_TIME = 500


@dataclass(frozen=True, slots=True)
class Settled:
    """Bonuses that were paid, and each writer's successes of decided attempts, by `user:<id>`."""

    paid: int
    writers: dict[str, list[int]]


def settle_bonuses(db: Session, validation: ValidationInfo, tallies: Tallies) -> Settled:
    """Pay the writers' bonus for aimed successes that are not paid yet, and note how often each writer succeeds.

    What was paid stays paid, whatever later judgements say; what was taken back meanwhile is not. In a pool of several
    rounds, each item earns what its own round promises.
    """
    rounds = queries.rounds_of(db, validation.id, validation.round_id)
    if not rounds:
        return Settled(0, {})
    return Settled(_pay(db, validation, rounds, tallies), _note_writers(db, validation, tallies))


def _pay(db: Session, validation: ValidationInfo, rounds: Mapping[int, tuple[int, int]], tallies: Tallies) -> int:
    task = validation.task.name
    specs = {key: get_round(db, OPERATOR, f"{task}/{number}").spec for key, number in {*rounds.values()}}
    earned = [pair for pair in tallies.earned if pair[0] in rounds and specs[rounds[pair[0]][0]].reward.bonus]
    known = earning_queries.paid_works(db, [earnings.bonus_work(attempt) for attempt, _ in earned])
    owed = [(attempt, author) for attempt, author in earned if earnings.bonus_work(attempt) not in known]
    paid = 0
    for start in range(0, len(owed), AT_A_TIME):
        some = owed[start : start + AT_A_TIME]
        with sqlite_write_queue(db), transaction(db):
            not_retracted = queries.standing_attempts(db, [attempt for attempt, _ in some])
            for attempt, author in some:
                if attempt in not_retracted:
                    round_id = rounds[attempt][0]
                    paid += earnings.earn_bonus(db, specs[round_id], validation.task_id, round_id, author, attempt)
    return paid


def _note_writers(db: Session, validation: ValidationInfo, tallies: Tallies) -> dict[str, list[int]]:
    """Keep what the rule `validated_fooling` asks for: successes of decided attempts, over all rounds of the task."""
    decided = {author: one for author, one in sorted(tallies.writers.items()) if author and one.decided}
    writers = {f"user:{author}": [one.successes, one.decided] for author, one in decided.items()}
    elsewhere = queries.writers_elsewhere(db, validation.task_id, validation.id)
    name = qualify.fooling_fact(validation.task.name)
    known = qualify_queries.facts_called(db, name)
    changed = []
    for author in decided:
        counts = [one.get(f"user:{author}", [0, 0]) for one in (writers, *elsewhere)]
        rate = f"{sum(right for right, _ in counts)}/{sum(made for _, made in counts)}"
        if known.get(author) != rate:
            changed.append((author, rate))
    for start in range(0, len(changed), NOTED_AT_A_TIME):
        with sqlite_write_queue(db), transaction(db):
            for author, rate in changed[start : start + NOTED_AT_A_TIME]:
                qualify.add_fact(db, author, name, rate, source="validation")
    return writers
