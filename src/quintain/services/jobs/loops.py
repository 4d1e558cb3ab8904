"""What goes on in the processes of a house: written down by each process, so that whoever looks sees all of it."""

from __future__ import annotations

import os
import secrets
import socket
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime, timedelta

from sqlalchemy.orm import Session

from quintain.core.people import Actor
from quintain.core.records.base import decode, to_plain
from quintain.core.records.jobs import LoopReport, LoopReports
from quintain.engine.loops import Each, Loop, LoopBook, LoopCondition, LoopState
from quintain.services.access.permissions import require_admin
from quintain.services.jobs.lease import Sessions
from quintain.store.base import now
from quintain.store.database import transaction
from quintain.store.queries.jobs import loops as queries

PULSE_S = 30.0  # between two times that a process says how its loops fare
SILENT = timedelta(seconds=6 * PULSE_S)
FORGOTTEN = timedelta(days=1)


def process_name() -> str:
    """Name this process so that a person can find it."""
    return f"{socket.gethostname()}:{os.getpid()}:{secrets.token_hex(2)}"


@contextmanager
def pulse(sessions: Sessions, book: LoopBook) -> Iterator[None]:
    """Write down every half minute how the loops of this process fare, for as long as the block runs."""
    process, stop = process_name(), threading.Event()

    def step(each: Each) -> None:
        states = {state.name: to_plain(state) for state in book.states()}
        with sessions() as db, transaction(db):
            queries.put(db, process, states, now())

    def forget() -> None:
        with sessions() as db, transaction(db):
            queries.forget(db, process)

    loop = book.add(Loop("pulse", step, every=PULSE_S))
    thread = loop.start(stop)
    try:
        yield
    finally:
        stop.set()
        thread.join(PULSE_S)
        Loop("pulse", lambda each: forget(), every=PULSE_S).once()
        book.remove(loop)


def loop_reports(db: Session, *, own: Sequence[LoopState] = ()) -> list[LoopReport]:
    """Return how all loops fare that are written down; those of this process are passed as they are now, as *own*.

    A process that has said nothing for a while is silent, unless another one does the same.
    """
    moment = now()
    rows = [(row.process, row.seen_at, decode(LoopState, row.state)) for row in queries.known(db)]
    heard = {state.name for _, seen, state in rows if moment - seen < SILENT} | {state.name for state in own}
    reports = [_report(state, "", moment, mine=True) for state in own]
    ours = {(state.name, state.begun_at) for state in own}
    for process, seen, state in rows:
        if (state.name, state.begun_at) in ours:
            continue
        silent = moment - seen >= SILENT
        if silent and state.name in heard:
            continue
        reports.append(_report(state, process, moment, silent=silent))
    return sorted(reports, key=lambda report: (report.name, report.process))


def list_loops(db: Session, actor: Actor, *, own: Sequence[LoopState] = ()) -> LoopReports:
    """Return how all loops fare, with the reasons of failures (admins)."""
    require_admin(actor)
    return LoopReports(loop_reports(db, own=own))


def forget_silent(db: Session) -> None:
    """Strike out the loops of processes that nobody has heard of for a day."""
    with transaction(db):
        queries.forget_before(db, now() - FORGOTTEN)


def _report(
    state: LoopState, process: str, moment: datetime, *, mine: bool = False, silent: bool = False
) -> LoopReport:
    condition = LoopCondition.SILENT if silent else state.condition(moment)
    return LoopReport(
        name=state.name,
        process=process,
        here=mine,
        condition=condition.value,
        succeeded_at=state.succeeded_at,
        failed_at=state.failed_at,
        failures=state.failures,
        resting=state.items,
        reason=state.reason,
    )
