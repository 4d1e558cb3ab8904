"""The run that is scored, timed: what ranks a submitted model is of the very requests that its answers are scored by.

The plain examples are shared out over up to three processes, while nothing else runs. All of them are alike to the
model, as are those that follow: one that is asked again for some of the examples, to see how often the model changes
its mind, and the further ones of a measurement. A model that treats any of them otherwise is scored by what it did.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl

from quintain.core.task import Task
from quintain.engine.asking import Failures
from quintain.engine.cutting import cut_requests, timed_rows
from quintain.engine.machine_hold import Hold
from quintain.engine.machine_load import machine
from quintain.engine.measuring import OpenRunner, count_unlike
from quintain.engine.pace import Pace
from quintain.engine.predicting import PredictionWriter, prediction_table
from quintain.engine.sandbox.limits import OURS, RunEnded
from quintain.engine.session_watch import SessionWatch
from quintain.engine.sessions import Session
from quintain.engine.timing import watch_request
from quintain.metrics.flips import same_answers
from quintain.tasks.contract import kind_of

AGAIN_ROWS = 412  # examples that are asked again, where there are so many
BATCH_ROWS = 60  # of them that are asked one by one, where the model takes batches


def run_scored(open_model: OpenRunner, writer: PredictionWriter, hold: Hold, pace: Pace) -> tuple[dict[str, Any], str]:
    """Run a submitted model on the plain examples, and return what was measured, and what it printed.

    The predictions are in the writer's file afterwards. RunEnded is raised where too many examples fail.
    """
    sessions: list[Session] = []
    layers, printed = None, ""
    with writer:
        for share in range(writer.shares):
            hold.alone()
            with open_model() as runner:
                assert runner.usage is not None  # noqa: S101 - it runs in the sandbox
                rows = timed_rows(writer.batch_size)
                watch = SessionWatch(runner, runner.usage, writer.batch_size, pace, rows, timed_out=hold.share)
                writer.answer(runner, watch.begin(), share)
                if writer.rows:
                    sessions.append(watch.finish())
                layers, printed = runner.layers, runner.printed()
        writer.write()
        hold.alone()
        again = _ask_again(open_model, writer, pace)
    timing = {
        "sessions": [session.as_dict() for session in sessions],
        "machine": machine(),
        "batch_size": writer.batch_size,
        "layers": layers,
    }
    return {"failed": writer.failures.count, "timing": timing, **again}, printed


def _ask_again(open_model: OpenRunner, writer: PredictionWriter, pace: Pace) -> dict[str, int]:
    """Ask a fresh process for some of the examples, and count those that it answers otherwise.

    Where it ends before that, nothing is known of it: what was scored stays.
    """
    if not writer.rows:
        return {}
    generator = np.random.default_rng()
    table = writer.sample(AGAIN_ROWS, generator)
    task, inputs = writer.task, table.drop("id").to_dicts()
    requests = cut_requests(len(inputs), writer.batch_size, generator)
    failures = Failures(len(inputs), allowed=len(inputs))
    try:
        with open_model() as runner:
            assert runner.usage is not None  # noqa: S101 - it runs in the sandbox
            watch = SessionWatch(runner, runner.usage, writer.batch_size, pace, timed_rows(writer.batch_size)).begin()
            answers = [
                answer
                for request in requests
                for answer in watch_request(runner, task, inputs[request.start : request.stop], failures, watch)
            ]
            watch.finish()
            alone = [range(row, row + 1) for request in requests if len(request) > 1 for row in request][:BATCH_ROWS]
            differs = count_unlike(runner, task, inputs, answers, alone)
    except RunEnded as error:
        if error.outcome in OURS:
            raise
        return {}
    again = prediction_table(task, table["id"], answers)
    return {"asked_again": table.height, "unstable": _count_unlike(task, writer, again), "batch_differs": differs}


def _count_unlike(task: Task, writer: PredictionWriter, again: pl.DataFrame) -> int:
    """Count the examples that were answered otherwise than in the file of predictions."""
    scored = pl.scan_parquet(writer.out).filter(pl.col("id").is_in(again["id"].implode())).collect()
    both = again.select("id", again="prediction").join(scored.select("id", scored="prediction"), on="id")
    return int((~same_answers(kind_of(task).answer_type, both["scored"], both["again"], task.language)).sum())
