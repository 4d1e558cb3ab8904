"""A task at a glance: the rounds that are open and how they go, who leads, and the rounds before."""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy.orm import Session

from quintain.core.contests import Phase
from quintain.core.people import Actor
from quintain.core.records.coding import Coding
from quintain.core.records.contrasting import ContrastProject
from quintain.core.records.trial import CrowdTrial
from quintain.core.rounds import RoundState
from quintain.services.board.standings import BoardStanding, known_standings
from quintain.services.collect.rounds.manage import RoundInfo, list_rounds
from quintain.services.collect.rounds.round_figures import written_and_fooled
from quintain.services.collect.rounds.target_names import spec_for
from quintain.services.contest.contests import ContestInfo, list_contests
from quintain.services.contrast.projects import list_projects
from quintain.services.house.browse import TaskCard, task_card
from quintain.services.study.codings import list_codings
from quintain.services.trial.trials import list_trials
from quintain.store.base import now
from quintain.store.blobs import Blobs
from quintain.store.queries.validate import validation as validation_queries

ROUNDS = 12  # of those before, the newest
CONTESTS = 3  # the newest
OPEN = "open"


@dataclass(frozen=True, slots=True)
class OpenRound:
    """A round in which people write: what it aims at, as the reader may know it, and how many texts fooled that."""

    info: RoundInfo
    targets: tuple[str, ...]
    texts: int
    fooled: int


@dataclass(frozen=True, slots=True)
class TaskOverview:
    """What a task's first page shows; *standing* is None until its board has been made."""

    card: TaskCard
    open: list[OpenRound]
    before: list[RoundInfo]
    standing: BoardStanding | None
    contests: list[ContestInfo]


def overview_of(db: Session, blobs: Blobs, actor: Actor, name: str) -> TaskOverview:
    """Return the task called *name* at a glance, without waiting for its board."""
    card = task_card(db, actor, name)
    rounds, moment = list_rounds(db, actor, name)[::-1], now()
    is_open = [one for one in rounds if one.state is RoundState.OPEN and not one.closed_because(moment)]
    return TaskOverview(
        card,
        [_open(db, actor, one) for one in is_open],
        [one for one in rounds if one not in is_open][:ROUNDS],
        known_standings(db, blobs, [name]).get(name),
        list_contests(db, name)[:CONTESTS],
    )


def _open(db: Session, actor: Actor, info: RoundInfo) -> OpenRound:
    texts, fooled = written_and_fooled(db, info)
    targets = () if info.spec.targets.mode == "best" else spec_for(db, actor, info).targets.models
    return OpenRound(info, tuple(ref.partition("/")[2] or ref for ref in targets), texts, fooled)


@dataclass(frozen=True, slots=True)
class Running:
    """What goes on in a task that is archived: people take part in it, though no list leads there."""

    rounds: list[RoundInfo]
    contests: list[ContestInfo]
    trials: list[CrowdTrial]
    judgings: list[str]
    contrasts: list[ContrastProject]
    codings: list[Coding]

    @property
    def anything(self) -> bool:
        """Whether anything goes on."""
        return any((self.rounds, self.contests, self.trials, self.judgings, self.contrasts, self.codings))


def running_in(db: Session, actor: Actor, task: str) -> Running:
    """List what is open: rounds, contests, trials, judging, contrast projects and codings."""
    return Running(
        [info for info in list_rounds(db, actor, task) if info.state is RoundState.OPEN],
        [info for info in list_contests(db, task) if info.phase is not Phase.OVER],
        [trial for trial in list_trials(db, actor, task) if trial.state == OPEN],
        [row.name for _, row in validation_queries.all_of(db, task) if row.state == OPEN],
        [project for project in list_projects(db, actor, task).projects if project.state == OPEN],
        [coding for coding in list_codings(db, actor, task).codings if coding.state == OPEN],
    )
