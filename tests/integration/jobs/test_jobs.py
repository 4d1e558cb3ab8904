"""Jobs: asked for once, done by one worker, taken over from where a dead one was, cancelled, forgotten."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from datetime import timedelta

import pytest
from sqlalchemy import select, update
from sqlalchemy.orm import Session

from quintain.core.errors import Conflict, NotFound
from quintain.core.people import OPERATOR, Actor, Grant, RoleName
from quintain.services.jobs import queue, running
from quintain.services.jobs.running import JobRun, keep_running, run_all, run_next
from quintain.store.base import now
from quintain.store.blobs import Blobs
from quintain.store.database import transaction
from quintain.store.tables import Job

Sessions = Callable[[], AbstractContextManager[Session]]
OWNER = Actor(user_id=None, name="owner", grants=frozenset({Grant(RoleName.OWNER, "mood")}), operator=False)


@pytest.fixture
def sessions(db: Session) -> Sessions:
    """Sessions of their own on the database of *db*, as workers have."""
    engine = db.get_bind()

    @contextmanager
    def open_session() -> Iterator[Session]:
        with Session(engine, expire_on_commit=False) as session:
            yield session

    return open_session


def state(db: Session, number: int) -> str:
    """Give the state of a job as it is stored."""
    return queue.get_job(db, OPERATOR, number).state


def test_what_waits_is_not_asked_for_twice(db: Session) -> None:
    """While a job waits, asking again gives the same one; another subject is another job."""
    first = queue.enqueue(db, "count", "a")
    assert queue.enqueue(db, "count", "a").id == first.id
    assert queue.enqueue(db, "count", "b").id != first.id


def test_a_job_is_done_once_and_keeps_its_result(db: Session, blobs: Blobs, sessions: Sessions) -> None:
    """It says how far it was, what came of it, and is not done again."""
    seen: list[str] = []

    def count(run: JobRun) -> dict[str, int]:
        seen.append(run.subject)
        run.report_progress(3, 4)
        return {"found": 7}

    number = queue.enqueue(db, "count", "a", params={"deep": True}).id
    assert run_all(sessions, blobs, {"count": count}) == 1
    assert run_all(sessions, blobs, {"count": count}) == 0
    job = queue.get_job(db, OPERATOR, number)
    assert (seen, job.state, dict(job.result), job.share) == (["a"], "done", {"found": 7}, 1.0)


def test_a_failure_is_written_down_and_ends_nothing(db: Session, blobs: Blobs, sessions: Sessions) -> None:
    """A handler that breaks fails its job with the reason; the next job is done all the same."""

    def breaks(run: JobRun) -> None:
        if run.subject == "a":
            raise ZeroDivisionError("by nothing")

    first, second = queue.enqueue(db, "count", "a").id, queue.enqueue(db, "count", "b").id
    assert run_all(sessions, blobs, {"count": breaks}) == 2
    assert queue.get_job(db, OPERATOR, first).reason == "ZeroDivisionError: by nothing"
    assert (state(db, first), state(db, second)) == ("failed", "done")


def test_what_a_dead_worker_left_is_gone_on_with(db: Session, blobs: Blobs, sessions: Sessions) -> None:
    """A lease that has run out is taken by the next worker, who gets the checkpoint and not the beginning."""
    number = queue.enqueue(db, "count", "a").id
    begun: list[dict[str, int]] = []

    def dies(run: JobRun) -> None:
        begun.append(dict(run.checkpoint))
        if len(begun) == 1:
            run.save({"row": 500})
            raise SystemExit  # as if the process had ended: nothing is written down

    with pytest.raises(SystemExit):
        run_next(sessions, blobs, {"count": dies}, "first", threading.Event())
    assert not run_next(sessions, blobs, {"count": dies}, "second", threading.Event()), "the lease still holds"
    with transaction(db):
        db.execute(update(Job).values(lease_until=now() - timedelta(seconds=1)))
    assert run_next(sessions, blobs, {"count": dies}, "second", threading.Event())
    assert begun == [{}, {"row": 500}]
    assert state(db, number) == "done"


def test_a_job_that_kills_its_workers_is_given_up(db: Session, blobs: Blobs, sessions: Sessions) -> None:
    """After so many lost workers it fails instead of taking the next one along."""
    number = queue.enqueue(db, "count", "a").id
    with transaction(db):
        db.execute(update(Job).values(attempts=running.MAX_ATTEMPTS))
    assert run_next(sessions, blobs, {"count": lambda run: None}, "next", threading.Event())
    assert state(db, number) == "failed"


def test_a_worker_that_is_to_end_puts_its_job_back(db: Session, blobs: Blobs, sessions: Sessions) -> None:
    """Stopping is no failed attempt: the job waits again."""
    number = queue.enqueue(db, "count", "a").id
    stop = threading.Event()

    def stopped(run: JobRun) -> None:
        stop.set()
        run.report_progress(1, 10)

    assert run_next(sessions, blobs, {"count": stopped}, "first", stop)
    row = db.scalars(select(Job).where(Job.id == number)).one()
    assert (row.state, row.attempts) == ("queued", 0)


def test_what_was_cancelled_is_left_by_its_worker(db: Session, blobs: Blobs, sessions: Sessions) -> None:
    """A cancelled job stays cancelled, and its worker writes no checkpoint of it."""
    number = queue.enqueue(db, "count", "a").id

    def cancelled(run: JobRun) -> None:
        queue.cancel(db, OPERATOR, number)
        run.save({"row": 1})

    assert run_next(sessions, blobs, {"count": cancelled}, "first", threading.Event())
    assert state(db, number) == "cancelled"
    with pytest.raises(Conflict):
        queue.cancel(db, OPERATOR, number)


def test_new_facts_wake_a_job_while_its_like_is_running(db: Session, blobs: Blobs, sessions: Sessions) -> None:
    """What arrives while a job runs asks for another one, which waits until the first is over."""
    queue.enqueue(db, "count", "a")
    seen: list[int] = []

    def count(run: JobRun) -> None:
        seen.append(run.number)
        if len(seen) == 1:
            queue.enqueue(db, "count", "a")
            assert not run_next(sessions, blobs, {"count": count}, "second", threading.Event())

    assert run_all(sessions, blobs, {"count": count}) == 2
    assert len(set(seen)) == 2


def test_a_job_rests_as_many_times_as_long_as_it_took(db: Session, blobs: Blobs, sessions: Sessions) -> None:
    """With rest, the next one of its kind begins later; without, at once."""
    number = queue.enqueue(db, "count", "a").id
    assert run_all(sessions, blobs, {"count": lambda run: None}) == 1
    with transaction(db):
        db.execute(update(Job).where(Job.id == number).values(started_at=now() - timedelta(minutes=1)))
    queue.enqueue(db, "count", "a", rest=4.0)
    assert run_all(sessions, blobs, {"count": lambda run: None}) == 0
    waiting = db.scalars(select(Job).where(Job.state == "queued")).one()
    assert timedelta(minutes=3) < waiting.not_before - now() <= timedelta(minutes=4)


def test_only_the_newest_that_are_over_are_kept(db: Session, blobs: Blobs, sessions: Sessions) -> None:
    """A figure that is computed a thousand times leaves a handful of jobs behind."""
    for _ in range(running.KEPT + 3):
        queue.enqueue(db, "count", "a")
        run_all(sessions, blobs, {"count": lambda run: None})
    assert len(db.scalars(select(Job)).all()) == running.KEPT


def test_jobs_are_shown_to_owners_of_their_task_only(db: Session) -> None:
    """An owner sees the jobs of the own task; others learn not even that there is one."""
    mine, other = queue.enqueue(db, "count", "a", task="mood"), queue.enqueue(db, "count", "b", task="irony")
    owner = Actor(user_id=1, name="owner", grants=OWNER.grants)
    assert [job.id for job in queue.list_jobs(db, owner).jobs] == [mine.id]
    assert queue.get_job(db, owner, mine.id).subject == "a"
    for act in (queue.get_job, queue.cancel):
        with pytest.raises(NotFound):
            act(db, owner, other.id)


def test_a_worker_goes_on_until_nothing_is_left(db: Session, blobs: Blobs, sessions: Sessions) -> None:
    """`until_empty` ends when every job is over."""
    numbers = [queue.enqueue(db, "count", name).id for name in "abc"]
    keep_running(sessions, blobs, {"count": lambda run: None}, "one", threading.Event(), until_empty=True)
    assert {state(db, number) for number in numbers} == {"done"}
