"""Throughput, latency, memory and CPU time of a model, by our own clock, repeated until the figure is sharp.

Nothing that the model says about itself goes into a figure. A request is timed here, from the first byte sent to the
last byte received, and nothing is subtracted. A submitted model is timed in the very run that is scored (`scored.py`);
where that is not sharp enough, or is to be measured again, further processes of the same kind follow here, and all that
they answer is kept, to be compared with what is scored. In a process every input is new to the model: remembering
answers gains nothing, and the next process remembers nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from quintain.core.example import Prediction
from quintain.core.task import Task
from quintain.engine.asking import Failures, ask
from quintain.engine.cutting import cut_requests, session_rows
from quintain.engine.machine_load import machine
from quintain.engine.pace import Pace
from quintain.engine.runner import ModelRunner
from quintain.engine.session_watch import SessionWatch
from quintain.engine.sessions import Session, is_sharp, pooled
from quintain.engine.timing import watch_request

MOST_SESSIONS = 6  # in which it may become so
ASKED_AGAIN = 60

Inputs = list[dict[str, Any]]
OpenRunner = Callable[[], AbstractContextManager[ModelRunner]]
Answered = list[tuple[int, Prediction]]  # the number of an input, and what was answered to it


@dataclass(frozen=True, slots=True)
class Measured:
    """What one measurement found; `as_dict` is what is stored with the cell.

    *answered* is what the processes that were started for it answered, *again* how often the model changed its mind.
    """

    sessions: Sequence[Session]
    batch_size: int
    layers: Sequence[str] | None
    printed: str
    answered: Answered
    again: Mapping[str, int] = field(default_factory=dict)

    def as_dict(self) -> dict[str, Any]:
        """Return it as plain data: examples per second, seconds, GiB."""
        again = dict.fromkeys(("asked_again", "unstable", "batch_differs"), 0) | dict(self.again)
        return {**pooled(self.sessions, self.batch_size), **again, "machine": machine()}


def measure(  # noqa: PLR0913 - what is asked, and how long
    open_runner: OpenRunner,
    task: Task,
    inputs: Inputs,
    *,
    batch_size: int,
    rows: int | None = None,
    known: Sequence[Session] = (),
    layers: Sequence[str] | None = None,
    asks_again: bool = True,
    generator: np.random.Generator | None = None,
    most_sessions: int = MOST_SESSIONS,
    pace: Pace | None = None,
    progress: Callable[[int], None] = lambda sessions: None,
) -> Measured | None:
    """Measure a model on *inputs*, in one process after the other until the figure is sharp, in at most so many.

    None where it runs out of our sight, so that nothing can be said. A process answers *rows* of the inputs, in an
    order that is another each time, unless a *generator* says it. *known* are the sessions of the run that is scored,
    with the *layers* that held around them. With *asks_again*, some answers of the first process are asked for once
    more. *pace* knows the machine from before, and *progress* hears of each session that is over.
    """
    generator, pace = generator or np.random.default_rng(), pace or Pace()
    rows = rows or session_rows(batch_size)
    sessions, answered, printed = list(known), Answered(), ""
    again: Mapping[str, int] = {}
    while len(sessions) < most_sessions and not is_sharp(sessions):
        with open_runner() as runner:
            if runner.usage is None or not inputs:
                return None
            watch = SessionWatch(runner, runner.usage, batch_size, pace, rows)
            order = [int(row) for row in generator.permutation(len(inputs))[:rows]]
            asked, requests = [inputs[row] for row in order], cut_requests(len(order), batch_size, generator)
            session, answers = _session(runner, task, asked, requests, watch)
            if asks_again and not answered:
                again = ask_again(runner, task, asked, answers, requests)
            sessions.append(session)
            answered += zip(order, answers, strict=True)
            layers, printed = runner.layers, runner.printed()
        progress(len(sessions))
    return Measured(sessions, batch_size, layers, printed, answered, again)


def _session(
    runner: ModelRunner, task: Task, inputs: Inputs, requests: Sequence[range], watch: SessionWatch
) -> tuple[Session, list[Prediction]]:
    """Time one process on *inputs*, and return what it showed and what it answered."""
    failures, answers = Failures(len(inputs)), list[Prediction]()
    watch.begin()
    for request in requests:
        answers += watch_request(runner, task, inputs[request.start : request.stop], failures, watch)
    return watch.finish(), answers


def ask_again(
    runner: ModelRunner, task: Task, inputs: Inputs, answers: Sequence[Prediction], requests: Sequence[range]
) -> dict[str, int]:
    """Ask for some of what was answered once more, outside the time: as it was asked, and one by one."""
    chosen = [request for request in requests if request.start < ASKED_AGAIN]
    counts = {"asked_again": sum(map(len, chosen)), "unstable": count_unlike(runner, task, inputs, answers, chosen)}
    alone = [range(row, row + 1) for request in chosen for row in request]
    batched = len(alone) > len(chosen)
    return {**counts, "batch_differs": count_unlike(runner, task, inputs, answers, alone) if batched else 0}


def count_unlike(
    runner: ModelRunner, task: Task, inputs: Inputs, answers: Sequence[Prediction], requests: Sequence[range]
) -> int:
    """Ask for *inputs* in these requests, and count those that are not answered as in *answers*."""
    unlike = 0
    for request in requests:
        part = inputs[request.start : request.stop]
        failures = Failures(len(part), allowed=len(part))
        again = ask(runner, task, part, failures, single=len(part) == 1)
        unlike += sum(answers[row].answer != answer.answer for row, answer in zip(request, again, strict=True))
    return unlike
