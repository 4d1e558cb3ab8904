"""The front page: every task with who leads, the round that is open, and what moved last."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sqlalchemy.orm import Session

from quintain.core.people import Actor
from quintain.core.records.house import Movement, MovementKind
from quintain.core.records.ranking import BoardClaim
from quintain.core.records.trial import CrowdTrial
from quintain.core.rounds import RoundState
from quintain.services.board.standings import BoardStanding, known_standings
from quintain.services.collect.rounds.manage import RoundInfo, list_rounds
from quintain.services.house.browse import TaskCard, task_cards
from quintain.services.trial.trials import list_trials
from quintain.store.base import now
from quintain.store.blobs import Blobs
from quintain.store.queries.house import movements

TRIALS = 3  # of a task, the newest


@dataclass(frozen=True, slots=True)
class FrontCard:
    """A task on the front page, with its newest trials. *claim* says who leads; it is None while that is not known."""

    card: TaskCard
    claim: BoardClaim | None
    round: RoundInfo | None
    moved: Movement | None
    trials: tuple[CrowdTrial, ...] = ()


@dataclass(frozen=True, slots=True)
class Front:
    """All tasks, and what is known of their boards."""

    cards: list[FrontCard]
    standings: Mapping[str, BoardStanding]


def front(db: Session, blobs: Blobs, actor: Actor) -> Front:
    """Return the tasks in use as *actor* may see them, without waiting for any board."""
    cards = task_cards(db, actor)
    standings = known_standings(db, blobs, [card.task.name for card in cards])
    moment = now()
    rounds = [info for info in list_rounds(db, actor) if info.spec.listed]
    is_open = {
        one.task: one
        for one in rounds  # in the order of their numbers: the newest is kept
        if one.state is RoundState.OPEN and not one.closed_because(moment)
    }
    moved = last_movements(db, rounds)
    trials = [trial for trial in list_trials(db, actor) if trial.state != "draft"]
    front_cards = [
        FrontCard(
            card,
            standings[card.task.name].claim if card.task.name in standings else None,
            is_open.get(card.task.name),
            moved.get(card.task.name),
            tuple(trial for trial in trials if trial.task == card.task.name)[:TRIALS],
        )
        for card in cards
    ]
    # Where there is work to do, first.
    return Front(sorted(front_cards, key=lambda front_card: front_card.round is None), standings)


def last_movements(db: Session, rounds: Sequence[RoundInfo]) -> dict[str, Movement]:
    """Return what moved each task last: a release, a model that everybody may see, one of *rounds* that was closed."""
    movements_by_task: dict[str, Movement] = {}
    ended = sorted((one.closed_at, one.task, one.number) for one in rounds if one.closed_at is not None)
    closed = {task: (str(number), at) for at, task, number in ended}  # the last is kept
    for kind, newest in (
        (MovementKind.MODEL, movements.newest_models(db)),
        (MovementKind.ROUND, closed),
        (MovementKind.RELEASE, movements.newest_releases(db)),
    ):
        for task, (name, at) in newest.items():
            if task not in movements_by_task or at >= movements_by_task[task].at:
                movements_by_task[task] = Movement(kind, name, at)
    return movements_by_task
