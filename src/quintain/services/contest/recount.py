"""Whether the figures of contests that are kept follow from their pairs and answers; what disagrees is set right."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from sqlalchemy.orm import Session

from quintain.core.contests import Phase
from quintain.core.people import ANONYMOUS, OPERATOR, Actor
from quintain.services.contest import scores
from quintain.services.contest.answers import computed_accuracies, given_answers
from quintain.services.contest.contests import ContestInfo, find
from quintain.services.contest.systems import visible_systems
from quintain.services.evaluate.recount import set_right
from quintain.services.jobs.checks import Checked
from quintain.services.tasks.definitions import get_task
from quintain.store.blobs import Blobs
from quintain.store.queries.contest import contests as queries
from quintain.store.queries.evaluate import results as cache
from quintain.store.tables import ContestSystem

KIND = "figures of contests"
Names = Sequence[tuple[ContestSystem, str]]


def contests(db: Session) -> list[str]:
    """Name the contests whose pairs are gathered: before that there are no figures."""
    return queries.refs_with_pairs(db)


def check_contest(db: Session, blobs: Blobs, ref: str) -> Checked:
    """Compare the scores of a contest, for all who see others of them, with its pairs and answers; set them right."""
    info = find(db, ref)
    if not info.frozen:
        return Checked()
    task = get_task(db, info.task)
    names = visible_systems(db, OPERATOR, info)
    given = given_answers(db, info, [one for one, _ in names])
    first = _known_ones(db, ref, computed_accuracies(db, blobs, info, task, given))
    counted: dict[str, dict[str, Any]] = {}
    for view in _views(db, info):
        keys = (scores.score_key(db, info, view), scores.sift_key(db, info, view))
        known = cache.cached(db, keys)
        if keys[0] in known and keys[0] not in counted:
            counted[keys[0]] = scores.compute_score(db, blobs, info, task, view)
        if keys[1] in known and keys[1] not in counted:
            counted[keys[1]] = scores.compute_sifted(db, blobs, info, view)
    second = set_right(db, KIND, ref, counted)
    return Checked(first.number + second.number, faults=[*first.faults, *second.faults])


def _known_ones(db: Session, ref: str, counted: dict[str, dict[str, float]]) -> Checked:
    known = cache.cached(db, list(counted))
    return set_right(db, KIND, ref, {key: one for key, one in counted.items() if key in known})


def _views(db: Session, info: ContestInfo) -> Iterator[Names]:
    """Give the systems by the names that people know them by: while names are hidden, each team knows its own."""
    actors = [OPERATOR, ANONYMOUS]
    if info.spec.anonymous and info.phase is not Phase.OVER:
        actors += [Actor(user_id=one) for one in queries.a_member_of_each_team(db, info.id)]
    for actor in actors:
        yield visible_systems(db, actor, info)
