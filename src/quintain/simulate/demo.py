"""The demo's life: the wheel turned twice, work that waits for the visitor, and people who answer them.

The first two rounds are released. A third, harvested one is judged and waits for its release; the fourth is being
judged, with pages left for the visitor; the fifth is open for writing; and experts are asked about sentences on which
judges could not agree. A contest of builders and breakers is over, with its results. As long as the demo runs,
simulated judges answer what the visitor writes, so that one sentence's whole life can be watched.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import numpy as np
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.orm import Session

from quintain.compose import Workspace
from quintain.core.errors import QuintainError
from quintain.core.people import OPERATOR
from quintain.core.validation import ValidationState
from quintain.services.collect import attempts
from quintain.services.collect.rounds import list_rounds
from quintain.services.house.demo import MIXED
from quintain.services.validate.item_files import open_with_items
from quintain.services.validate.status import progress as progress_of
from quintain.services.validate.validations import find, list_validations
from quintain.simulate.contest import play_contest
from quintain.simulate.driving import Wait, at_once, hire, judge_all
from quintain.simulate.people import SimulatedPerson
from quintain.simulate.stations import MARK, TASK, Progress, Sizes, Wheel, at_the_wheel, draw_crowd, model_name
from quintain.simulate.wheel import turn_twice
from quintain.store.queries.validate import judgements

SEED = 3
SIZES = Sizes(reviews=800, harvested=300, written=220, judges=12, writers=12)
READY = 90  # harvested sentences that wait for their release
JUDGED = 45  # texts of the round that is being judged
JUDGED_PAGES = 16  # of ten items, so that some are complete and some wait
WRITTEN = 24  # texts of the round that is open
DAYS = 13.0
LONGEST_PAGE_SECONDS = 5.0
LAZY = 0.5  # of the time, from which on somebody is none of the crew
CREW_SECONDS = 5.0  # between two looks for something to judge
log = logging.getLogger("quintain.demo")


def bring_to_life(workspace: Workspace, *, progress: Progress | None = None) -> None:
    """Turn the wheel twice, and leave work for whoever comes; what is there already is left as it is."""
    with at_the_wheel(workspace, SEED, "", SIZES, days=DAYS, progress=progress) as wheel:
        models, _ = turn_twice(wheel)
        judges, writers = wheel.people()
        wheel.time.wait_until(days=7)
        _harvest_to_release(wheel, models[-1], judges)
        wheel.time.wait_until(days=9)
        _texts_to_judge(wheel, models[-1], judges, writers)
        _items_to_decide(wheel, judges)
        wheel.time.wait_until(days=12)
        _model_to_fool(wheel, models[-1], judges, writers)
    if progress is not None:
        progress("Contest", 0, 1)
    play_contest(workspace)


def _harvest_to_release(wheel: Wheel, target: str, judges: Sequence[SimulatedPerson]) -> None:
    made = wheel.harvest(2, target, READY)
    if progress_of(wheel.db, OPERATOR, made.ref).judgements:
        return
    wheel.judge(2, made.ref, judges)
    wheel.settle(made.ref)


def _texts_to_judge(
    wheel: Wheel, target: str, judges: Sequence[SimulatedPerson], writers: Sequence[SimulatedPerson]
) -> None:
    made = wheel.open_writing(3, target)
    wheel.write(3, made, writers, JUDGED)
    wheel.close_writing(made, page=10)
    if not progress_of(wheel.db, OPERATOR, made.ref).judgements:
        wheel.judge(3, made.ref, judges, pages=JUDGED_PAGES)


def _items_to_decide(wheel: Wheel, judges: Sequence[SimulatedPerson]) -> None:
    """Have sentences judged that praise and blame at once: people do not agree on all of them."""
    ref = f"{TASK}/{MIXED.name}"
    if ref in list_validations(wheel.db, TASK):
        return
    blobs, policy = wheel.workspace.blobs, wheel.policy()
    open_with_items(wheel.db, blobs, OPERATOR, ref, policy, seed=SEED, dataset=f"{TASK}/{MIXED.name}")
    wheel.judge(5, ref, judges)


def _model_to_fool(
    wheel: Wheel, target: str, judges: Sequence[SimulatedPerson], writers: Sequence[SimulatedPerson]
) -> None:
    made = wheel.open_writing(4, target, title=f"Fool {model_name(target)}")
    if attempts.counters(wheel.db, OPERATOR, made.ref).attempts:
        return
    wheel.write(4, made, writers, WRITTEN)
    wheel.let_judge(made, page=10)
    wheel.judge(4, made.ref, judges)


@contextmanager
def crew_at_work(workspace: Workspace) -> Iterator[None]:
    """Let simulated judges answer what is written, until the demo ends."""
    stop = threading.Event()
    crew = threading.Thread(target=_work, args=(workspace, stop), name="demo-crew", daemon=True)
    crew.start()
    try:
        yield
    finally:
        stop.set()
        crew.join(10)


def _work(workspace: Workspace, stop: threading.Event) -> None:
    rng = np.random.default_rng()
    while not stop.wait(CREW_SECONDS):
        try:
            judge_what_waits(workspace, rng, lambda seconds: _linger(stop, seconds))
        except (QuintainError, SQLAlchemyError) as error:
            log.warning("the demo's judges had to stop: %s", error)


def _linger(stop: threading.Event, seconds: float) -> None:
    """Take a little of the time that somebody would: whoever answers at once does not read."""
    stop.wait(min(seconds, LONGEST_PAGE_SECONDS))


def judge_what_waits(workspace: Workspace, rng: np.random.Generator, wait: Wait = at_once) -> int:
    """Let the crew judge every open validation that is not left to the visitor; give how many judgements they gave."""
    judges, _ = draw_crowd(SEED, "", SIZES)
    with workspace.session() as db:
        actors = hire(db, judges)
        simulated = {actor.user_id for actor in actors.values()}
        theirs = [ref for ref in list_validations(db, TASK) if _is_theirs(db, ref, simulated)]
        people = [(one, actors[one.name]) for one in judges if one.laziness < LAZY]
        return sum(judge_all(db, rng, ref, people, wait=wait) for ref in theirs)


def _is_theirs(db: Session, ref: str, simulated: set[int | None]) -> bool:
    """Say whether the crew judges there; what simulated people wrote is left until the visitor has had a turn."""
    validation = find(db, ref)
    if validation.state is not ValidationState.OPEN:
        return False
    titles = {one.ref: one.spec.title for one in list_rounds(db, OPERATOR, TASK)}
    if not titles.get(ref, "").startswith(MARK):
        return True
    return bool(set(judgements.table(db, validation.id).user.tolist()) - simulated)
