"""What follows from what: every event that others wait for, and in order what is done about it.

A service announces what has happened, in its own transaction, and knows of nobody who follows. That is how a room moves
one above it, which it may not import: a run that is done moves boards. Followers are named by where they stand below
this package, as the commands are in `cli/lazy.py`, and imported when they are first needed; a test calls for each.

What is looked for instead of announced is kept up by loops (`web/housekeeping.py`, `services/jobs/running.py`): cells
that a new model or data set version lacks, such as those of a release, reviews that a process did not come to, rounds
that a model has solved. A round that closes pays and gives back what is open in it itself: its own room is below all of
that, and nobody else follows.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

    from sqlalchemy.orm import Session


class ServiceEvent(Enum):
    """What has happened; the text says what is told of it."""

    ATTEMPT_KEPT = "an attempt was kept, or its writer has said something of it: the round, how many there are if known"
    PAGE_JUDGED = "labels of a page of items came in: the validation"
    PAGE_KEPT = "what came in with a page is committed: the validation"
    BATCH_ENDED = "nothing of a batch of items is open any more, and that is committed: the validation"
    CELL_DONE = "a model was run on a data set and its figures are kept: the name of the task"
    MODEL_WITHDRAWN = "a version of a model was withdrawn: its number"
    MODEL_RESTORED = "a version of a model was taken back: its number, the name of the task"
    BOARD_MACHINE_SET = "an owner said on which class of machine a board measures: the task's number, the class or None"
    PAIR_DECIDED = "something was said of a contest's pair by judges, teams or organisers: the contest"


FOLLOWS: Mapping[ServiceEvent, tuple[str, ...]] = {
    # The round is counted anew, where it is too large to be counted while somebody looks.
    ServiceEvent.ATTEMPT_KEPT: ("collect.rounds.round_figures:schedule_refresh",),
    # Progress, labels, agreement and judges are computed anew.
    ServiceEvent.PAGE_JUDGED: ("validate.quality.validation_figures:schedule_refresh",),
    # Judges are reviewed where a batch has ended; who is caught is unqualified, and their slots open again.
    ServiceEvent.PAGE_KEPT: ("validate.quality.review:catch_up",),
    # Who began the judging hears, once, that all of it is done.
    ServiceEvent.BATCH_ENDED: ("validate.judging.submit_page:tell_done",),
    # The boards that many see are ranked anew; standings and what is known of their certainty rest on them.
    ServiceEvent.CELL_DONE: ("board.materialised:schedule_board_refresh",),
    # What is queued or running of it is cancelled.
    ServiceEvent.MODEL_WITHDRAWN: ("evaluate.cells.withdrawn_models:cancel_runs",),
    # What was cancelled then is queued again, with what came while it was away.
    ServiceEvent.MODEL_RESTORED: ("evaluate.cells.withdrawn_models:revive_runs",),
    # Measurements that are queued wait for a worker on that class.
    ServiceEvent.BOARD_MACHINE_SET: ("evaluate.cells.measure_again:send_measurements",),
    # The score tables are computed anew, and by which marks pairs are found.
    ServiceEvent.PAIR_DECIDED: ("contest.figures:schedule_refresh",),
}


def announce(db: Session, event: ServiceEvent, *about: Any) -> None:
    """Do all that follows from *event*, in order and in the caller's transaction; what fails there fails the caller."""
    for path in FOLLOWS[event]:
        follower(path)(db, *about)


def follower(path: str) -> Callable[..., None]:
    """Return the function that stands at *path*, `room.module:function` below this package."""
    module, _, name = path.partition(":")
    function: Callable[..., None] = getattr(import_module(f"{__package__}.{module}"), name)
    return function
