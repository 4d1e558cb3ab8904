"""Which pairs wait for the organisers, and whether the final results wait with them."""

from __future__ import annotations

from sqlalchemy.orm import Session

from quintain.core.contests import Phase
from quintain.core.people import OPERATOR
from quintain.services.contest.contests import ContestInfo
from quintain.services.contest.pair_outcomes import judges_all, pair_outcomes, rules_of
from quintain.services.data.datasets import get_version
from quintain.services.tasks.definitions import get_task
from quintain.store.queries.contest import pairs as queries
from quintain.store.queries.jobs import figures

PAIRS = "contest pairs"  # the kind of figure that counts them
AT_A_TIME = 500
LIVE = 1_000  # pairs that are looked at while somebody waits


def waiting_pairs(db: Session, info: ContestInfo) -> list[int] | None:
    """Return the pairs that only the organisers can settle, in order; None where too many would have to be read."""
    ids = queries.unruled(db, info.id, disputed=not judges_all(info.spec), limit=LIVE + 1)
    return _waiting(db, info, ids) if len(ids) <= LIVE else None


def count_waiting(db: Session, info: ContestInfo) -> int:
    """Count the pairs that only the organisers can settle; where there are many, as it is kept."""
    waiting = waiting_pairs(db, info)
    if waiting is not None:
        return len(waiting)
    stored = figures.figure(db, PAIRS, info.ref)
    return int(stored.value.get("waiting", 0)) if stored is not None else 0


def results_wait(db: Session, info: ContestInfo) -> bool:
    """Whether the final results wait for the organisers: labels that are open once stay so."""
    if info.phase is not Phase.OVER or info.spec.undecided != "wait" or info.pairs_version_id is None:
        return False
    if not get_version(db, OPERATOR, f"{info.task}/{pairs_name(info)}").hidden:
        return False
    ids = queries.unruled(db, info.id, disputed=not judges_all(info.spec))
    return any(_waiting(db, info, ids[start : start + AT_A_TIME]) for start in range(0, len(ids), AT_A_TIME))


def pairs_name(info: ContestInfo) -> str:
    """Return the name of the data set that a contest's pairs become."""
    return f"contest-{info.name}"


def _waiting(db: Session, info: ContestInfo, ids: list[int]) -> list[int]:
    task = get_task(db, info.task)
    rules = rules_of(info, task)
    rows = [found.row for found in queries.of_contest(db, info.id, ids=ids)] if ids else []
    return sorted(pair for pair, standing in pair_outcomes(db, info, task, rows).items() if rules.waits(standing))
