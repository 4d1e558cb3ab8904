"""One request to a model with our clock beside it, and the same request once more without."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from quintain.core.example import Prediction
from quintain.core.task import Task
from quintain.engine.asking import Failures, ask, read_answer
from quintain.engine.runner import ModelRunner
from quintain.engine.sandbox.limits import AnswersLost


@dataclass(frozen=True, slots=True)
class TimedRequest:
    """The numbers of the inputs that were asked for together, the nanoseconds that it took, and what was answered."""

    rows: Sequence[int]
    ns: int
    predictions: Sequence[Prediction]


def timed(
    runner: ModelRunner, task: Task, inputs: Sequence[dict[str, Any]], rows: Sequence[int], failures: Failures
) -> TimedRequest:
    """Ask for the inputs with these numbers. One that is lost takes its time, and that of asking one by one."""
    asked = [inputs[row] for row in rows]
    start = time.perf_counter_ns()
    try:
        reply = runner.predict(asked)
    except AnswersLost as error:
        if len(asked) == 1:
            return TimedRequest(rows, time.perf_counter_ns() - start, [failures.mark(error)])
        answers = [answer for example in asked for answer in ask(runner, task, [example], failures, single=True)]
        return TimedRequest(rows, time.perf_counter_ns() - start, answers)
    answers = [
        read_answer(runner, task, example, raw, failures) for example, raw in zip(asked, reply.answers, strict=True)
    ]
    return TimedRequest(rows, reply.ns, answers)


def ask_again(
    runner: ModelRunner,
    task: Task,
    inputs: Sequence[dict[str, Any]],
    requests: Sequence[TimedRequest],
    *,
    single: bool = False,
) -> int:
    """Ask again as it was asked, or one by one (*single*), and count the examples that are answered otherwise."""
    differing = 0
    for request in requests:
        asked = [inputs[row] for row in request.rows]
        failures = Failures(len(asked), allowed=len(asked))
        parts = [[example] for example in asked] if single else [asked]
        again = [answer for part in parts for answer in ask(runner, task, part, failures, single=single)]
        pairs = zip(request.predictions, again, strict=True)
        differing += sum(first.answer != second.answer for first, second in pairs)
    return differing
