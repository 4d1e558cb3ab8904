"""Kept figures: shown when they fit, shown with their time when outrun, repaired when wrong, rebuilt on demand."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

import pytest
from sqlalchemy.orm import Session

from quintain.core.errors import Forbidden
from quintain.core.people import OPERATOR, Actor
from quintain.services.jobs.figures import (
    FigureKind,
    ReportProgress,
    check,
    handler_of,
    rebuild,
    refresh,
    shown_figure,
)
from quintain.services.jobs.running import run_all
from quintain.store.blobs import Blobs
from quintain.store.database import transaction
from quintain.store.queries.jobs import figures as queries


class Facts:
    """Facts that a test can add to, and how often somebody has read them all."""

    def __init__(self) -> None:
        self.rows = [1, 2, 3]
        self.read = 0

    def kind(self, at_once: int) -> FigureKind:
        """Give the figure that adds them up."""
        return FigureKind(
            "sum",
            basis=lambda db, subject: str(len(self.rows)),
            facts=lambda db, subject: len(self.rows),
            compute=self._add_up,
            subjects=lambda db: ["all"],
            at_once=at_once,
        )

    def _add_up(self, db: Session, blobs: Blobs | None, subject: str, tell: ReportProgress) -> dict[str, int]:
        self.read += 1
        tell(len(self.rows), len(self.rows))
        return {"sum": sum(self.rows)}


@pytest.fixture
def facts() -> Facts:
    """Three facts."""
    return Facts()


def do_jobs(db: Session, blobs: Blobs, kind: FigureKind) -> int:
    """Do what a worker would."""

    @contextmanager
    def session() -> Iterator[Session]:
        with Session(db.get_bind(), expire_on_commit=False) as one:
            yield one

    return run_all(session, blobs, {kind.job: handler_of(kind)})


def test_few_facts_are_added_up_at_once(db: Session, blobs: Blobs, facts: Facts) -> None:
    """A small site is up to date without any worker."""
    shown = shown_figure(db, blobs, facts.kind(at_once=10), "all")
    assert (shown.value, shown.fresh, shown.job) == ({"sum": 6}, True, None)


def test_many_facts_are_left_to_a_job(db: Session, blobs: Blobs, facts: Facts) -> None:
    """Nobody who looks reads all facts: first there is nothing, then the figure, then the outrun one with its time."""
    kind = facts.kind(at_once=0)
    first = shown_figure(db, blobs, kind, "all", task="mood")
    assert (first.value, first.fresh, facts.read) == (None, False, 0)
    assert first.job is not None
    assert first.job.task == "mood"
    assert do_jobs(db, blobs, kind) == 1
    known = shown_figure(db, blobs, kind, "all")
    assert (known.value, known.fresh, facts.read) == ({"sum": 6}, True, 1)
    facts.rows.append(4)
    outrun = shown_figure(db, blobs, kind, "all")
    assert (outrun.value, outrun.fresh, facts.read) == ({"sum": 6}, False, 1)
    assert outrun.computed_at == known.computed_at
    assert outrun.job is not None
    assert outrun.job.state == "queued"


def test_a_figure_that_disagrees_with_its_facts_is_repaired_and_reported(
    db: Session, blobs: Blobs, facts: Facts
) -> None:
    """The check counts again; an outrun figure is no fault, and one of nothing is dropped."""
    kind = facts.kind(at_once=0)
    refresh(db, blobs, kind, "all")
    kept = queries.figure(db, "sum", "all")
    assert kept is not None
    with transaction(db):
        for subject in ("all", "gone"):
            queries.put(
                db, "sum", subject, basis=kept.basis, value={"sum": 999}, at=kept.computed_at, seconds=kept.seconds
            )
    found = check(db, blobs, OPERATOR, [kind])
    assert (found.checked, found.outrun) == (1, 0)
    assert [(fault.subject, fault.kept, fault.counted) for fault in found.faults] == [("all", {"sum": 999}, {"sum": 6})]
    assert queries.subjects(db, "sum") == ["all"]
    assert shown_figure(db, blobs, kind, "all").value == {"sum": 6}
    facts.rows.append(4)
    again = check(db, blobs, OPERATOR, [kind])
    assert (again.outrun, list(again.faults)) == (1, [])


def test_figures_are_rebuilt_from_facts(db: Session, blobs: Blobs, facts: Facts) -> None:
    """Everything that is kept can be thrown away."""
    kind = facts.kind(at_once=0)
    assert rebuild(db, blobs, OPERATOR, [kind, replace(kind, name="other")]) == 2
    assert shown_figure(db, blobs, kind, "all").value == {"sum": 6}
    with pytest.raises(Forbidden):
        rebuild(db, blobs, Actor(user_id=1, name="somebody"), [kind])
