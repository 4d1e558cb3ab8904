"""Whether the accuracies of systems that are kept follow from their answers; what disagrees is set right."""

from __future__ import annotations

from sqlalchemy.orm import Session

from quintain.core.people import OPERATOR
from quintain.services.contest.answers import computed_accuracies, given_answers
from quintain.services.contest.contests import find_contest
from quintain.services.contest.systems import visible_systems
from quintain.services.evaluate.cells.recount import set_right
from quintain.services.jobs.checks import Checked
from quintain.services.tasks.definitions import get_task
from quintain.store.blobs import Blobs
from quintain.store.queries.contest import contests as queries
from quintain.store.queries.evaluate import results as cache

KIND = "figures of contests"


def contests(db: Session) -> list[str]:
    """Name the contests whose pairs are gathered."""
    return queries.refs_with_pairs(db)


def check_contest(db: Session, blobs: Blobs, ref: str) -> Checked:
    """Compare the accuracies that are kept with the answers to the development set; set them right."""
    info = find_contest(db, ref)
    if not info.frozen:
        return Checked()
    names = visible_systems(db, OPERATOR, info)
    submitted = given_answers(db, info, [system for system, _ in names])
    counted = computed_accuracies(db, blobs, info, get_task(db, info.task), submitted)
    known = cache.cached(db, list(counted))
    return set_right(db, KIND, ref, {key: value for key, value in counted.items() if key in known})
