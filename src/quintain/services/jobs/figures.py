"""Figures that follow from facts: computed by a job when facts arrive, kept with what they rest on, shown as they are.

Facts are the truth, and a figure can be thrown away. A kind of figure says cheaply what it would rest on now; where
that is what the kept one rests on, the kept one is shown. Where facts have outrun it, it is still shown, with its time,
while a job computes the next one; only where there are few facts is it computed at once, so that a small site is always
up to date.

    DRAWN = FigureKind("drawn", basis=…, facts=…, compute=…, subjects=…)
    shown = show(db, blobs, DRAWN, "sentiment/r1", task="sentiment")
    shown.value, shown.computed_at, shown.fresh
"""

from __future__ import annotations

import json
import logging
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import Any

from sqlalchemy.orm import Session

from quintain.core.errors import Unavailable
from quintain.core.people import Actor
from quintain.core.records.jobs import FigureCheck, FigureFault, JobStanding
from quintain.services.access.permissions import require_admin
from quintain.services.jobs import counts, queue
from quintain.services.jobs.checks import Checked, CheckKind, agrees, walk
from quintain.services.jobs.counts import CountKind
from quintain.services.jobs.running import Handler, JobRun
from quintain.store.base import now
from quintain.store.blobs import Blobs
from quintain.store.database import transaction
from quintain.store.queries.jobs import figures as queries

AT_ONCE = 5_000  # facts of which a figure is computed while somebody waits: some tens of milliseconds
REST = 4.0  # a figure is not computed again before four times as long has passed as computing took
ReportProgress = Callable[[int, int], None]

log = logging.getLogger("quintain.jobs")


@dataclass(frozen=True, slots=True)
class WithRows:
    """A figure with rows of its own in tables, which lists page through.

    *keep* brings the rows into step with the facts that were read, in short transactions, and gives how many were not.
    """

    value: Mapping[str, Any]
    keep: Callable[[Session], int]


Compute = Callable[[Session, Blobs | None, str, ReportProgress], Mapping[str, Any] | WithRows]


@dataclass(frozen=True, slots=True)
class FigureKind:
    """A kind of figure. *compute* gives plain data for JSON, alone or `WithRows`, and may say how far it is.

    *basis* says what it would rest on now, and *facts* how many facts that are: both are asked at every look, so they
    read an index and never a table. *subjects* lists what there are figures of. *at_once* is how many facts may be
    read while somebody waits. A figure that has *rows* is kept whenever it is computed, because lists read them, and so
    is one that is *kept_always*, because computing it takes longer than writing it. One that reads files asks for them
    with `files`; the others can be shown without. Where *compute* takes over what is kept while nothing has changed,
    *recount* computes it from the facts alone, for those who check it.
    """

    name: str
    basis: Callable[[Session, str], str]
    facts: Callable[[Session, str], int]
    compute: Compute
    subjects: Callable[[Session], Iterable[str]]
    at_once: int = AT_ONCE
    rows: bool = False
    recount: Compute | None = None
    kept_always: bool = False

    @property
    def job(self) -> str:
        """The kind of job that computes it."""
        return f"figure:{self.name}"


@dataclass(frozen=True, slots=True)
class ShownFigure:
    """A figure as it is shown: None where it was never computed. *job* is on the way where it is not *fresh*."""

    value: Mapping[str, Any] | None
    computed_at: datetime | None
    fresh: bool
    job: JobStanding | None = None


def shown_figure(db: Session, blobs: Blobs | None, kind: FigureKind, subject: str, *, task: str = "") -> ShownFigure:
    """Return the figure of *subject* as it is known; the next one is asked for where it is outrun."""
    basis = kind.basis(db, subject)
    stored = queries.figure(db, kind.name, subject)
    if stored is not None and stored.basis == basis:
        return ShownFigure(stored.value, stored.computed_at, fresh=True)
    if kind.facts(db, subject) <= kind.at_once:
        return ShownFigure(compute_now(db, blobs, kind, subject), now(), fresh=True)
    job = schedule_refresh(db, kind, subject, task=task)
    if stored is None:
        return ShownFigure(None, None, fresh=False, job=job)
    return ShownFigure(stored.value, stored.computed_at, fresh=False, job=job)


def compute_now(db: Session, blobs: Blobs | None, kind: FigureKind, subject: str) -> Mapping[str, Any]:
    """Compute a figure of few facts. Where it cannot be written, because the disk is full, it is shown anyway."""
    basis, started = kind.basis(db, subject), time.perf_counter()
    computed = kind.compute(db, blobs, subject, quietly)
    if isinstance(computed, WithRows) or kind.kept_always:
        try:
            _keep(db, kind, subject, basis, computed, time.perf_counter() - started)
        except Unavailable as error:
            log.warning("The figure %s of %s could not be kept: %s", kind.name, subject, error)
    return _value(computed)


def files(blobs: Blobs | None) -> Blobs:
    """Return the files that a figure reads; a figure that asks for them although it reads none is a mistake."""
    if blobs is None:
        raise TypeError("This figure reads files, and is to be shown with them.")
    return blobs


def schedule_refresh(db: Session, kind: FigureKind, subject: str, *, task: str = "") -> JobStanding:
    """Have a figure computed: facts have arrived that it does not know."""
    return queue.enqueue(db, kind.job, subject, task=task, rest=REST)


def is_refresh_scheduled(db: Session, kind: FigureKind, subject: str) -> bool:
    """Whether a job that will compute a figure waits already: it will see what is written now."""
    return queue.is_waiting(db, kind.job, subject)


def refresh(
    db: Session, blobs: Blobs | None, kind: FigureKind, subject: str, tell: ReportProgress | None = None
) -> dict[str, Any]:
    """Compute a figure and keep it with what it rests on: what arrives meanwhile makes it outrun, never wrong."""
    return _refresh(db, blobs, kind, subject, kind.compute, tell)[0]


def _recount(db: Session, blobs: Blobs | None, kind: FigureKind, subject: str) -> tuple[dict[str, Any], int]:
    return _refresh(db, blobs, kind, subject, kind.recount or kind.compute)


def _refresh(
    db: Session,
    blobs: Blobs | None,
    kind: FigureKind,
    subject: str,
    compute: Compute,
    tell: ReportProgress | None = None,
) -> tuple[dict[str, Any], int]:
    """Compute and keep a figure; give it, and how many of its rows were not as they should be."""
    basis, started = kind.basis(db, subject), time.perf_counter()
    computed = compute(db, blobs, subject, tell or quietly)
    return _keep(db, kind, subject, basis, computed, time.perf_counter() - started)


def _keep(
    db: Session,
    kind: FigureKind,
    subject: str,
    basis: str,
    computed: Mapping[str, Any] | WithRows,
    seconds: float,
) -> tuple[dict[str, Any], int]:
    value: dict[str, Any] = json.loads(json.dumps(_value(computed), allow_nan=False))
    wrong = computed.keep(db) if isinstance(computed, WithRows) else 0
    with transaction(db):  # which ends the reading: writing begins from what is true now, and lasts a moment
        queries.put(db, kind.name, subject, basis=basis, value=value, at=now(), seconds=seconds)
    return value, wrong


def _value(computed: Mapping[str, Any] | WithRows) -> Mapping[str, Any]:
    return computed.value if isinstance(computed, WithRows) else computed


def handler_of(kind: FigureKind) -> Handler:
    """Return what a worker does for a job that computes figures of *kind*."""

    def compute(run: JobRun) -> None:
        with run.sessions() as db:
            refresh(db, run.blobs, kind, run.subject, run.report_progress)

    return compute


def check_kinds(
    kinds: Sequence[FigureKind], numbers: Sequence[CountKind] = (), others: Sequence[CheckKind] = ()
) -> list[CheckKind]:
    """List what there is to check, in the order that it rests on each other: figures are made of all others."""
    counted = [CheckKind(number.name, lambda db: [""], _check_counts(number)) for number in numbers]
    figures = [CheckKind(kind.name, partial(_kept_subjects, kind), partial(_check_figure, kind)) for kind in kinds]
    return [*counted, *others, *figures]


def check(
    db: Session,
    blobs: Blobs,
    actor: Actor,
    kinds: Sequence[FigureKind],
    numbers: Sequence[CountKind] = (),
    others: Sequence[CheckKind] = (),
) -> FigureCheck:
    """Compare every kept figure and count with a full recount; what disagrees is repaired and reported (admins)."""
    require_admin(actor)
    checks = [
        one for kind in check_kinds(kinds, numbers, others) for _, one in walk(db, blobs, kind, list(kind.subjects(db)))
    ]
    faults = tuple(fault for one in checks for fault in one.faults)
    return FigureCheck(sum(one.number for one in checks), sum(one.outrun for one in checks), faults)


def _check_counts(kind: CountKind) -> Callable[[Session, Blobs, str], Checked]:
    def compare(db: Session, blobs: Blobs, subject: str) -> Checked:
        number, faults = counts.check(db, [kind])
        return Checked(number, faults=faults)

    return compare


def _kept_subjects(kind: FigureKind, db: Session) -> list[str]:
    """List the subjects of kept figures; a figure of what there is no more is dropped."""
    existing = set(kind.subjects(db))
    stored = queries.subjects(db, kind.name)
    for subject in stored:
        if subject not in existing:
            _drop(db, kind.name, subject)
    return [subject for subject in stored if subject in existing]


def _check_figure(kind: FigureKind, db: Session, blobs: Blobs, subject: str) -> Checked:
    stored = queries.figure(db, kind.name, subject)
    if stored is None:
        return Checked()
    before, outrun = dict(stored.value), stored.basis != kind.basis(db, subject)
    if outrun and kind.recount is None:
        schedule_refresh(db, kind, subject)
        return Checked(1, outrun=1)
    if outrun:  # the next one may be this one, taken over unseen
        before = refresh(db, blobs, kind, subject)
    counted, wrong = _recount(db, blobs, kind, subject)
    if not agrees(before, counted):
        return Checked(1, int(outrun), [FigureFault(kind.name, subject, before, counted)])
    rows = [FigureFault(kind.name, subject, {"wrong rows": wrong}, {"wrong rows": 0})] if wrong else []
    return Checked(1, int(outrun), rows)


def rebuild(
    db: Session,
    blobs: Blobs,
    actor: Actor,
    kinds: Sequence[FigureKind],
    numbers: Sequence[CountKind] = (),
    tell: ReportProgress | None = None,
) -> int:
    """Throw every kept figure away and compute it again, and counts, from the facts; give how many there are (admins).

    Figures come first: some counts are of rows that they keep.
    """
    require_admin(actor)
    figures = [(kind, subject) for kind in kinds for subject in kind.subjects(db)]
    for kind in kinds:
        _drop(db, kind.name)
    for number, (kind, subject) in enumerate(figures):
        if tell is not None:
            tell(number, len(figures))
        _recount(db, blobs, kind, subject)
    for count_kind in numbers:
        counts.repair(db, count_kind)
    return len(figures) + len(numbers)


def _drop(db: Session, kind: str, subject: str | None = None) -> None:
    with transaction(db):
        queries.drop(db, kind, subject)


def quietly(done: int, total: int) -> None:
    """Report progress to nobody."""
