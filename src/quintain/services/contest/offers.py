"""What contests have for somebody: a system or pairs to hand in, pairs to judge, a team to join, pairs to decide on."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from enum import StrEnum

from sqlalchemy.orm import Session

from quintain.core.contests import Phase
from quintain.core.people import Actor
from quintain.services.access.permissions import require_user
from quintain.services.contest.contests import ContestInfo, newest_running, organises
from quintain.services.contest.judging import JUDGED_IN, count_to_judge, holds_a_pair
from quintain.services.contest.teams import DOES, FORMING, team_of
from quintain.services.contest.undecided import count_waiting
from quintain.store.queries.contest import contests as queries
from quintain.store.queries.contest import pairs
from quintain.store.tables import ContestTeam

MOST = 4  # of the contests that are not over, the newest are looked at


class ContestStep(StrEnum):
    """What somebody is to do in a contest."""

    JOIN = "join"
    BUILD = "build"
    ANSWER = "answer"  # the pairs, by a team that runs its own system
    BREAK = "break"
    JUDGE = "judge"
    RULE = "rule"


@dataclass(frozen=True, slots=True)
class ContestOffer:
    """A contest with one thing to do in it; *count* counts pairs, where they are what waits.

    Who has a pair in hand has *begun*.
    """

    contest: ContestInfo
    step: ContestStep
    count: int | None = None
    begun: bool = False


def contest_offers(db: Session, actor: Actor, tasks: Collection[str]) -> Iterator[ContestOffer]:
    """Go through the newest contests of *tasks* that are not over, and say what they have for *actor*.

    One that is over has something for its organisers as long as its final results wait for them. Panels' links lead to
    none.
    """
    user_id = require_user(actor)
    if actor.came_by_door:
        return
    for info in newest_running(db, MOST):
        if info.task not in tasks:
            continue
        if organises(actor, info):
            waiting = count_waiting(db, info) if info.phase in (*JUDGED_IN, Phase.OVER) else 0
            if waiting:
                yield ContestOffer(info, ContestStep.RULE, waiting)
            continue
        team = team_of(db, actor, info)
        if team is not None:
            step = _of_team(db, info, team)
            if step is not None:
                yield ContestOffer(info, step)
        elif info.phase in FORMING:
            yield ContestOffer(info, ContestStep.JOIN)
        elif info.phase in JUDGED_IN and not pairs.wrote_some(db, info.id, user_id):
            waiting = count_to_judge(db, info, user_id)
            if waiting:
                yield ContestOffer(info, ContestStep.JUDGE, waiting, begun=holds_a_pair(db, info, user_id))


def _of_team(db: Session, info: ContestInfo, team: ContestTeam) -> ContestStep | None:
    """Return what a team has not handed in yet in this phase."""
    builds, breaks = (team.role in DOES[part] for part in ("build", "break"))
    systems = [item for item in queries.systems(db, info.id) if item.team_id == team.id] if builds else []
    if info.phase is Phase.BUILD and builds and not systems:
        return ContestStep.BUILD
    if info.phase is Phase.BREAK and breaks:
        written = pairs.count(db, info.id, team_id=team.id)
        return ContestStep.BREAK if written < info.spec.pairs else None
    if info.phase is Phase.SCORE:
        by_hand = [item for item in systems if item.model_version_id is None]
        unanswered = any(not queries.times_handed_in(db, item.id, "pairs") for item in by_hand)
        return ContestStep.ANSWER if unanswered else None
    return None
