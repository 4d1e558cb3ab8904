"""From a file of inputs to a file of predictions, in blocks, so that memory does not grow with the data.

The model meets the blocks, and the examples within a block, in shuffled order: nothing can be learned from position.
Before the blocks come the examples that a measurement times, in an order of their own, so that the run that is scored
begins as the timed one does.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from quintain.core.example import Prediction
from quintain.core.task import Task
from quintain.engine.asking import FAILURE_LIMIT, Failures, ask
from quintain.engine.cutting import MEASURED_ROWS, cut_requests
from quintain.engine.runner import ModelRunner
from quintain.tasks.contract import kind_of

BLOCK = 8192
MESSAGE = 256  # examples per message to what runs out of our sight, which may ask for several at a time

Progress = Callable[[int], None]


# How a model elsewhere was asked in words, and what it wrote: columns that only files of such models have.
EXCHANGE: Mapping[str, pl.DataType] = {
    "prompt": pl.String(),
    "reply": pl.String(),
    "input_tokens": pl.Int64(),
    "output_tokens": pl.Int64(),
}


def prediction_schema(task: Task, *, worded: bool = False) -> dict[str, pl.DataType]:
    """Return the columns of a predictions file; *worded* are those of models that are asked in words.

    Spans and texts are kept as text. An example without a prediction says why in `failure`, and in `outcome` whether
    the model or its server failed, or its reply was unreadable or refused.
    """
    kind = kind_of(task)
    schema: dict[str, pl.DataType] = {"id": pl.String(), "prediction": kind.answers.predicted}
    if kind.needs_labels:
        schema["probabilities"] = pl.Struct({label: pl.Float64() for label in task.label_names})
    schema["failure"] = pl.String()
    schema["outcome"] = pl.String()
    return {**schema, **EXCHANGE} if worded else schema


def write_predictions(
    runner: ModelRunner,
    task: Task,
    inputs: Path,
    out: Path,
    *,
    batch_size: int,
    seed: int,
    progress: Progress,
    failure_limit: float = FAILURE_LIMIT,
) -> Failures:
    """Ask *runner* for every row of *inputs* (`id` and the input fields) and write *out*; give what failed of them.

    RunEnded is raised where more than *failure_limit*, a share of the rows, fail.
    """
    rows: int = pl.scan_parquet(inputs).select(pl.len()).collect().item()
    generator = np.random.default_rng(seed)
    answering = _Answering(runner, task, batch_size, generator, Failures(rows, limit=failure_limit), progress)
    first = answering.answer(pl.scan_parquet(inputs).bottom_k(MEASURED_ROWS, by="id").collect())
    blocks = np.arange(-(-rows // BLOCK))
    generator.shuffle(blocks)
    with tempfile.TemporaryDirectory(dir=out.parent) as folder:
        for block in blocks:
            table = pl.scan_parquet(inputs).slice(int(block) * BLOCK, BLOCK).collect()
            later = answering.answer(table.join(first, on="id", how="anti", maintain_order="left"))
            answered = table.select("id").join(pl.concat([first, later]), on="id", how="left", maintain_order="left")
            answered.write_parquet(Path(folder) / f"{block:08}.parquet")
        if rows:
            pl.scan_parquet(f"{folder}/*.parquet").sink_parquet(out)
        else:
            pl.DataFrame(schema=prediction_schema(task, worded=runner.worded)).write_parquet(out)
    return answering.failures


@dataclass(slots=True)
class _Answering:
    """A model that is asked for one table after the other."""

    runner: ModelRunner
    task: Task
    batch_size: int
    generator: np.random.Generator
    failures: Failures
    progress: Progress
    done: int = 0

    def answer(self, table: pl.DataFrame) -> pl.DataFrame:
        """Ask for all rows of *table* in shuffled order, and give their predictions."""
        shuffled = table[self.generator.permutation(table.height)]
        examples = shuffled.drop("id").to_dicts()
        answers: list[Prediction] = []
        for request in self._requests(len(examples)):
            part = examples[request.start : request.stop]
            answers += ask(self.runner, self.task, part, self.failures, single=self.batch_size == 1)
            self.done += len(part)
            self.progress(self.done)
        return prediction_table(self.task, shuffled["id"], answers, worded=self.runner.worded)

    def _requests(self, rows: int) -> list[range]:
        """Cut the rows as a timed run does; what is never timed is asked in as few messages as can be."""
        if self.runner.usage is not None:
            return cut_requests(rows, self.batch_size, self.generator)
        size = MESSAGE if self.batch_size == 1 else self.batch_size
        return [range(start, min(start + size, rows)) for start in range(0, rows, size)]


def prediction_table(
    task: Task, ids: pl.Series, predictions: Sequence[Prediction], *, worded: bool = False
) -> pl.DataFrame:
    """Put predictions beside the ids of their examples, in the columns of `prediction_schema`."""
    schema, as_kept = prediction_schema(task, worded=worded), kind_of(task).answers.as_prediction
    answers = [as_kept(prediction.answer) for prediction in predictions]
    columns: dict[str, Any] = {"id": ids, "prediction": pl.Series(answers, dtype=schema["prediction"])}
    if "probabilities" in schema:
        distributions = [prediction.probabilities for prediction in predictions]
        columns["probabilities"] = pl.Series(
            [None if p is None else dict(p) for p in distributions], dtype=schema["probabilities"]
        )
    columns["failure"] = pl.Series([prediction.failure for prediction in predictions], dtype=schema["failure"])
    columns["outcome"] = pl.Series([prediction.outcome for prediction in predictions], dtype=schema["outcome"])
    for name in EXCHANGE if worded else ():
        exchanged = [getattr(prediction.exchange, name, None) for prediction in predictions]
        columns[name] = pl.Series(exchanged, dtype=schema[name])
    return pl.DataFrame(columns)
