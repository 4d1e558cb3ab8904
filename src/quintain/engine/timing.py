"""One request to a model with our clock beside it."""

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
from quintain.engine.session_watch import SessionWatch


@dataclass(frozen=True, slots=True)
class TimedRequest:
    """What was answered to one request, and the nanoseconds that it took."""

    predictions: Sequence[Prediction]
    ns: int


def timed(runner: ModelRunner, task: Task, asked: list[dict[str, Any]], failures: Failures) -> TimedRequest:
    """Ask for these inputs at once. A request that is lost takes its time, and that of asking one by one."""
    start = time.perf_counter_ns()
    try:
        reply = runner.predict(asked)
    except AnswersLost as error:
        if len(asked) == 1:
            return TimedRequest([failures.mark(error)], time.perf_counter_ns() - start)
        answers = [answer for example in asked for answer in ask(runner, task, [example], failures, single=True)]
        return TimedRequest(answers, time.perf_counter_ns() - start)
    answers = [
        read_answer(runner, task, example, raw, failures) for example, raw in zip(asked, reply.answers, strict=True)
    ]
    return TimedRequest(answers, reply.ns)


def watch_request(
    runner: ModelRunner, task: Task, asked: list[dict[str, Any]], failures: Failures, watch: SessionWatch
) -> Sequence[Prediction]:
    """Ask for these inputs at once while *watch* times it, and return the answers."""
    before = failures.count
    request = timed(runner, task, asked, failures)
    watch.note(len(asked), request.ns, failures.count - before)
    return request.predictions
