"""Checking what is kept by itself: every hour a worker compares a part with its facts, and goes on there next time.

So a wrong figure is found without somebody asking, and a large site is never checked all at once.
"""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta

from sqlalchemy.orm import Session

from quintain.core.people import Actor
from quintain.core.records.base import decode, to_json
from quintain.core.records.jobs import CheckRound, FigureFault, SeenFault
from quintain.services.access.permissions import require_admin
from quintain.services.jobs import queue
from quintain.services.jobs.checks import CheckKind, shortened, walk
from quintain.services.jobs.running import Handler, JobRun
from quintain.store.base import now
from quintain.store.database import transaction
from quintain.store.queries.jobs import figures as queries

JOB, SUBJECT = "check", "house"
KEPT = ("check", "house")  # under what it is written down how far the round is
BETWEEN = timedelta(minutes=55)
PART_S = 60.0  # how long a worker is at it, but for what it has begun
FAULTS_SHOWN = 20


def ask_if_due(db: Session) -> bool:
    """Have a worker check the next part, once in an hour; says whether it was asked to."""
    last = queue.newest(db, JOB, SUBJECT)
    if last is not None and (last.going or last.asked_at > now() - BETWEEN):
        return False
    queue.enqueue(db, JOB, SUBJECT)
    return True


def how_far(db: Session, actor: Actor) -> CheckRound | None:
    """Return how far the check of all that is kept is, and what it found last; None before the first (admins)."""
    require_admin(actor)
    return _read(db)


def handler_of(kinds: Sequence[CheckKind], *, seconds: float = PART_S) -> Handler:
    """Return what a worker does for the job that checks the next part of *kinds*."""

    def check(run: JobRun) -> dict[str, int]:
        return check_part(run, kinds, seconds=seconds)

    return check


def check_part(run: JobRun, kinds: Sequence[CheckKind], *, seconds: float = PART_S) -> dict[str, int]:
    """Check from where the last part ended, for so many *seconds* or to the end of the round; say what was found."""
    until = time.monotonic() + seconds
    checked = faults = 0
    with run.sessions() as db:
        check_round = _begin(db)
        first_kind = next((at for at, kind in enumerate(kinds) if kind.name == check_round.kind), 0)
        for kind in kinds[first_kind:]:
            todo = _left(list(kind.subjects(db)), check_round.subject if kind.name == check_round.kind else "")
            for subject, checked_subject in walk(db, run.blobs, kind, todo):
                checked, faults = checked + checked_subject.number, faults + len(checked_subject.faults)
                check_round = _after(check_round, kind.name, subject, checked_subject.number, checked_subject.faults)
                _write(db, check_round)
                run.report_progress(0, 0)
                if time.monotonic() >= until:
                    return {"checked": checked, "faults": faults}
        _write(db, replace(check_round, kind="", subject="", at=now(), ended_at=now()))
    return {"checked": checked, "faults": faults}


def note(db: Session, checked: int, faults: Sequence[FigureFault]) -> None:
    """Write down that all was checked at once, by somebody who asked for it."""
    begun = replace(_begin(db), kind="", subject="", checked=0, began_at=now())
    _write(db, replace(_after(begun, "", "", checked, faults), ended_at=now()))


def _left(subjects: list[str], last: str) -> list[str]:
    """Return what comes after the one that was checked last; everything where that is gone."""
    return subjects[subjects.index(last) + 1 :] if last in subjects else subjects


def _begin(db: Session) -> CheckRound:
    """Go on with the round that is not through, or begin another."""
    known = _read(db)
    if known is None:
        return CheckRound("", "", 0, now(), now(), None, ())
    return known if known.kind else replace(known, checked=0, began_at=now())


def _after(check_round: CheckRound, kind: str, subject: str, number: int, faults: Sequence[FigureFault]) -> CheckRound:
    seen = [
        SeenFault(now(), fault.kind, fault.subject, shortened(fault.kept), shortened(fault.counted))
        for fault in faults[:FAULTS_SHOWN]
    ]
    return replace(
        check_round,
        kind=kind,
        subject=subject,
        checked=check_round.checked + number,
        at=now(),
        faults=(*seen, *check_round.faults)[:FAULTS_SHOWN],
    )


def _read(db: Session) -> CheckRound | None:
    figure = queries.figure(db, *KEPT)
    return decode(CheckRound, figure.value) if figure is not None else None


def _write(db: Session, check_round: CheckRound) -> None:
    db.rollback()
    with transaction(db):
        queries.put(db, *KEPT, basis="", value=json.loads(to_json(check_round)), at=now(), seconds=0.0)
