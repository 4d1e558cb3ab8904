"""The figures of a round: of a large one a worker counts them; they have a time, and name nobody who was erased."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest
from sqlalchemy.orm import Session

from quintain.core.people import OPERATOR, Actor
from quintain.core.records.collect import Counters
from quintain.services.collect.rounds import round_figures
from quintain.services.collect.rounds.manage import RoundInfo
from quintain.services.collect.rounds.round_figures import counters, written
from quintain.services.collect.writing.sessions import start_session
from quintain.services.house.personal_data import delete_person
from quintain.services.jobs import figures
from quintain.services.jobs.figures import check, handler_of
from quintain.services.jobs.running import run_all
from quintain.services.validate.judging.retraction import retract
from quintain.store.blobs import Blobs
from quintain.store.queries.jobs import figures as kept
from tests.collecting import add_round, submit, writers

pytestmark = pytest.mark.both_databases


@pytest.fixture
def info(db: Session, blobs: Blobs, owner: Actor, tmp_path: Path) -> RoundInfo:
    """A round in which nobody has written yet."""
    return add_round(db, blobs, owner, tmp_path)


@pytest.fixture
def large(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every round counts as large, and is counted as soon as something is new."""
    monkeypatch.setattr(figures, "REST", 0.0)
    monkeypatch.setattr(round_figures, "ROUND", replace(round_figures.ROUND, at_once=0))


def count_anew(db: Session, blobs: Blobs) -> int:
    """Do what a worker would, and look at what is true afterwards."""
    db.rollback()

    @contextmanager
    def session() -> Iterator[Session]:
        with Session(db.get_bind(), expire_on_commit=False) as one:
            yield one

    return run_all(session, blobs, {round_figures.ROUND.job: handler_of(round_figures.ROUND)})


def at_once(db: Session, owner: Actor, ref: str) -> Counters:
    """Count all of a round, as is done for a small one."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(round_figures, "ROUND", replace(round_figures.ROUND, name="again", at_once=1_000))
        return counters(db, owner, ref)


@pytest.mark.usefixtures("large")
def test_a_large_round_is_counted_when_attempts_come_in(
    db: Session, blobs: Blobs, owner: Actor, info: RoundInfo
) -> None:
    """An attempt wakes the count; who looks sees the last one with its time, and the next equals a full recount."""
    ann, bob = writers(db, 2)
    key = start_session(db, blobs, ann, info.ref).key
    first = submit(db, blobs, ann, key, "It was bad.")
    assert count_anew(db, blobs) == 1
    known = counters(db, owner, info.ref)
    assert (known.attempts, known.as_of) == (1, None)
    submit(db, blobs, bob, start_session(db, blobs, bob, info.ref).key, "A good day for some.", target="positive")
    outrun = counters(db, owner, info.ref)
    assert outrun.attempts == written(db, info) == 1
    assert outrun.as_of is not None
    assert count_anew(db, blobs) == 1
    again = counters(db, owner, info.ref)
    assert again.attempts == written(db, info) == 2
    assert again == at_once(db, owner, info.ref)
    retract(db, ann, first.attempt_id)
    assert counters(db, owner, info.ref).as_of is not None
    assert count_anew(db, blobs) == 1
    assert counters(db, owner, info.ref) == at_once(db, owner, info.ref)
    assert check(db, blobs, OPERATOR, [round_figures.ROUND]).faults == ()


@pytest.mark.usefixtures("large")
def test_what_is_kept_of_a_round_names_nobody(db: Session, blobs: Blobs, owner: Actor, info: RoundInfo) -> None:
    """Names are put in when somebody looks: a person who is erased is in no figure that was kept before."""
    (ann,) = writers(db, 1)
    submit(db, blobs, ann, start_session(db, blobs, ann, info.ref).key, "It was bad.")
    count_anew(db, blobs)
    assert [one.name for one in counters(db, owner, info.ref).by_worker] == [ann.name]
    row = kept.figure(db, "round", info.ref)
    assert row is not None
    assert ann.name not in str(row.value)
    delete_person(db, OPERATOR, ann.name)
    assert ann.name not in [one.name for one in counters(db, owner, info.ref).by_worker]


def test_what_is_kept_of_a_round_does_not_grow_with_it(
    db: Session, blobs: Blobs, owner: Actor, info: RoundInfo, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of people, prompts and hours some are kept, of people those who wrote most; days add up to all attempts."""
    monkeypatch.setattr(round_figures, "MOST", 1)
    ann, bob = writers(db, 2)
    submit(db, blobs, ann, start_session(db, blobs, ann, info.ref).key, "It was bad.")
    key = start_session(db, blobs, bob, info.ref).key
    for text in ("A good day for some.", "Nobody was glad."):
        submit(db, blobs, bob, key, text)
    found = counters(db, owner, info.ref)
    assert [(one.name, one.attempts) for one in found.by_worker] == [(bob.name, 2)]
    assert (found.workers, len(found.by_hour)) == (2, 1)
    assert sum(one.attempts for one in found.by_day) == found.attempts == 3
    assert counters(db, owner, info.ref, most=0).by_worker == []
