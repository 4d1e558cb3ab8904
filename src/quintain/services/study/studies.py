"""Studies: the whole report of a data set, a round or a trial, or of data sets side by side, made by a worker and kept.

A report is made when an owner asks for it (see `making`), and shown with its time until they ask again.
"""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy.orm import Session

from quintain.core.errors import BadInput, NotFound
from quintain.core.people import Actor
from quintain.core.records.report import Report
from quintain.core.records.studies import KeptStudy
from quintain.core.records.study import MOST_SETS
from quintain.reports.plain import from_plain
from quintain.services.access.permissions import require_owner
from quintain.services.collect.attempts import owned
from quintain.services.data.datasets import get_version
from quintain.services.jobs import queue
from quintain.services.tasks.definitions import find_row
from quintain.services.trial.trials import find as find_trial
from quintain.store.queries.jobs import figures as kept_queries

KIND = "study"
BESIDE = "+"  # between the names of data sets that are compared
LONGEST = 200  # of the name of what is studied


def start_study(db: Session, actor: Actor, task: str, source: str, *, seed: int = 0) -> KeptStudy:
    """Have a worker make the report of *source* (owners).

    It is `data/NAME`, `rounds/NUMBER`, `trials/NAME` or, for data sets side by side, `compared/NAME+NAME`.
    """
    require_owner(actor, task)
    pinned = _pinned(db, actor, task, source)
    queue.ask(db, KIND, _subject(task, pinned), task=task, by=actor, params={"seed": seed})
    return _study(db, task, pinned)


def get_study(db: Session, actor: Actor, task: str, source: str) -> KeptStudy:
    """Give the last report of *source*, and how far the next one is (owners: labels may be hidden)."""
    require_owner(actor, task)
    return _study(db, task, _pinned(db, actor, task, source))


def kept_report(db: Session, actor: Actor, task: str, source: str) -> Report:
    """Give the last report of *source*, to be sent as a file (owners)."""
    found = get_study(db, actor, task, source)
    if found.report is None:
        raise NotFound(
            "No report of {source} has been made yet.",
            source=found.source,
            remedy="Ask for one: `quintain study start {task} {source}`.",
            task=task,
            page="Ask for one on its page.",
        )
    return found.report


def _study(db: Session, task: str, source: str) -> KeptStudy:
    subject = _subject(task, source)
    kept = kept_queries.figure(db, KIND, subject)
    job = queue.newest(db, KIND, subject)
    return KeptStudy(
        task=task,
        source=source,
        report=from_plain(kept.value) if kept else None,
        at=kept.computed_at if kept else None,
        seconds=kept.seconds if kept else None,
        job=job,
    )


def _subject(task: str, source: str) -> str:
    return f"{task} {source}"


def _pinned(db: Session, actor: Actor, task: str, source: str) -> str:
    """Give *source* with the version of a data set, or say that there is no such thing."""
    find_row(db, task)
    room, _, name = source.partition("/")
    if room == "data":
        version = get_version(db, actor, f"{task}/{name}")
        return f"data/{version.dataset}@{version.number}"
    if room == "rounds":
        return f"rounds/{owned(db, actor, f'{task}/{name}').number}"
    if room == "trials":
        return f"trials/{find_trial(db, task, name).name}"
    if room == "compared":
        return _beside(db, actor, task, name.split(BESIDE))
    raise NotFound(
        "There is no '{source}' to study.",
        source=source,
        remedy="Name data/NAME, rounds/NUMBER, trials/NAME or compared/NAME+NAME.",
    )


def _beside(db: Session, actor: Actor, task: str, names: Sequence[str]) -> str:
    """Name data sets that are to be compared, each with its version and once."""
    found = [get_version(db, actor, f"{task}/{name}") for name in names]
    pinned = list(dict.fromkeys(f"{one.dataset}@{one.number}" for one in found))
    if not 2 <= len(pinned) <= MOST_SETS:
        raise BadInput(
            "Data sets are compared, and {n} was named.", n=len(pinned), remedy="Name 2 to {most}.", most=MOST_SETS
        )
    source = f"compared/{BESIDE.join(pinned)}"
    if len(source) > LONGEST:
        raise BadInput("The names of these data sets are too long together.", remedy="Compare fewer at a time.")
    return source
