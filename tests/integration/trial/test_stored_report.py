"""The report of a trial is kept: made at once of little, by a worker of much, and made anew when facts arrive."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest
from sqlalchemy.orm import Session

from quintain.core.errors import BadInput, Forbidden, Unavailable
from quintain.core.people import OPERATOR, Actor
from quintain.services.house.job_kinds import figure_kinds
from quintain.services.jobs.figures import check, handler_of, rebuild
from quintain.services.jobs.running import run_all
from quintain.services.trial import stored_report
from quintain.services.trial.model_runs import run_models
from quintain.services.trial.reporting import report
from quintain.services.trial.stored_report import REPORT, get_report, shown_report
from quintain.services.validate.quality.unqualify import unqualify
from quintain.store.blobs import Blobs
from tests.integration.trial.modelled import WHERE, begin, judge


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Note each time that a report is made."""
    found: list[str] = []

    def making(*given: object) -> object:
        found.append("made")
        return report(*given)  # type: ignore[arg-type]

    monkeypatch.setattr(stored_report, "report", making)
    return found


@pytest.mark.both_databases
def test_a_report_is_made_once_until_something_happens(
    db: Session, blobs: Blobs, owner: Actor, made: list[str], tmp_path: Path
) -> None:
    """Who looks again reads the kept one; runs of models and a judge who is unqualified make another."""
    people = begin(db, blobs, owner, tmp_path)
    with pytest.raises(BadInput, match="Nothing of this trial was judged"):
        get_report(db, blobs, owner, *WHERE)
    judge(db, owner)
    made.clear()
    first = get_report(db, blobs, owner, *WHERE)
    assert get_report(db, blobs, owner, *WHERE) == first == report(db, blobs, owner, *WHERE)
    assert made == ["made"]
    shown = shown_report(db, blobs, owner, *WHERE)
    assert shown.fresh
    assert shown.computed_at is not None
    with pytest.raises(Forbidden):
        get_report(db, blobs, people[0], *WHERE)
    run_models(db, blobs, owner, *WHERE)
    assert "Not finished yet" in str(get_report(db, blobs, owner, *WHERE).sections[0].findings)
    assert len(made) == 2
    unqualify(db, owner, "mood/trial-words", ["judge0"], reason="test")
    assert get_report(db, blobs, owner, *WHERE) == report(db, blobs, owner, *WHERE)
    assert len(made) == 3
    assert REPORT in figure_kinds()
    assert check(db, blobs, OPERATOR, [REPORT]).faults == ()
    assert rebuild(db, blobs, OPERATOR, [REPORT]) == 1


def test_a_large_report_is_left_to_a_worker(
    db: Session, blobs: Blobs, owner: Actor, made: list[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Nobody who looks computes it: first there is none, then it is there, then the outrun one with its time."""
    large = replace(REPORT, at_once=1)
    monkeypatch.setattr(stored_report, "REPORT", large)
    begin(db, blobs, owner, tmp_path)
    judge(db, owner)
    with pytest.raises(Unavailable) as refused:
        get_report(db, blobs, owner, *WHERE)
    assert refused.value.code == "report_pending"
    shown = shown_report(db, blobs, owner, *WHERE)
    assert (shown.report, shown.fresh, made) == (None, False, [])
    assert shown.job is not None

    @contextmanager
    def session() -> Iterator[Session]:
        with Session(db.get_bind(), expire_on_commit=False) as one:
            yield one

    db.rollback()
    assert run_all(session, blobs, {large.job: handler_of(large)}) == 1
    found = shown_report(db, blobs, owner, *WHERE)
    assert found.fresh
    assert found.report is not None
    run_models(db, blobs, owner, *WHERE)
    outrun = shown_report(db, blobs, owner, *WHERE)
    assert (outrun.report, outrun.computed_at, outrun.fresh) == (found.report, found.computed_at, False)
    assert made == ["made"]
