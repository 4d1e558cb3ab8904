"""Keeping house while a server runs: each thing by itself, so that none holds up another."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager

from sqlalchemy.orm import Session

from quintain.compose import Workspace
from quintain.conditions import sandbox_of
from quintain.engine.loops import Each, Loop
from quintain.services.contest import freeze
from quintain.services.house import health, mailing
from quintain.services.jobs import checking, loops
from quintain.services.validate.quality import review
from quintain.services.wheel import standings
from quintain.web.error_text import translated

HOUSE_SECONDS = 60.0
MAIL_SECONDS = 5.0  # whoever forgot a password waits for it
LONGEST_MAIL_PAUSE_S = 300.0  # after which a mail server that was down is tried again
TIDY_SECONDS = 3600.0
LONGEST_STEP_S = 1800.0
MAILS_AT_ONCE = 100
GOODBYE_SECONDS = 5.0
log = logging.getLogger("quintain.web")

Keeping = Callable[[Session, Each], object]


def house_loops(workspace: Workspace) -> dict[str, Loop]:
    """Return everything that is kept up while a server runs, by name."""

    def tidied(db: Session, each: Each) -> None:
        health.tidy(db, workspace.blobs, each)

    def mailed(db: Session, each: Each) -> float | None:
        sent = mailing.deliver(db, workspace.mail, workspace.settings.link_address, say=translated, limit=MAILS_AT_ONCE)
        return 0.0 if sent == MAILS_AT_ONCE else None

    keepings: list[tuple[str, Keeping, float]] = [
        ("tidying", tidied, TIDY_SECONDS),
        ("checking", lambda db, each: checking.ask_if_due(db), TIDY_SECONDS),
        ("reviews", review.catch_up_all, HOUSE_SECONDS),
        ("standings", lambda db, each: standings.catch_up(db, workspace.blobs, each), HOUSE_SECONDS),
        ("freezing", lambda db, each: freeze.freeze_due(db, workspace.blobs, each), HOUSE_SECONDS),
        ("mail", mailed, MAIL_SECONDS),
    ]
    return {name: _loop(workspace, name, keeping, every) for name, keeping, every in keepings}


def _loop(workspace: Workspace, name: str, keeping: Keeping, every: float) -> Loop:
    def step(each: Each) -> float | None:
        with workspace.session() as db:
            result = keeping(db, each)
        return result if isinstance(result, float) else None

    longest = LONGEST_MAIL_PAUSE_S if name == "mail" else None
    return Loop(name, step, every=every, longest=longest, allowed=LONGEST_STEP_S, logger=log)


@contextmanager
def housekeeping(workspace: Workspace) -> Iterator[None]:
    """Keep house for as long as the block runs: everything but mail is done once before it begins, whatever fails."""
    stop = threading.Event()
    running = {name: workspace.loops.add(loop) for name, loop in house_loops(workspace).items()}
    threads = []
    for name, loop in running.items():
        if name != "mail":  # a mail server may let us wait
            loop.once()
        threads.append(loop.start(stop, after=0.0 if name == "mail" else loop.state.every))
    sandbox = Loop("sandbox", lambda each: _try_sandbox(workspace), every=TIDY_SECONDS, logger=log)
    threads.append(workspace.loops.add(sandbox).start(stop, after=HOUSE_SECONDS))
    with ExitStack() as stack:
        stack.enter_context(loops.pulse(workspace.session, workspace.loops))
        try:
            yield
        finally:
            stop.set()
            for thread in threads:
                thread.join(GOODBYE_SECONDS)
            for loop in (*running.values(), sandbox):
                workspace.loops.remove(loop)


def _try_sandbox(workspace: Workspace) -> None:
    """Find out which layers of the sandbox hold, which starts processes: whoever looks at the health does not wait."""
    sandbox_of(workspace.settings)
