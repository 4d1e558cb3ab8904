"""From a file of inputs to a file of predictions, in blocks, so that memory does not grow with the data.

The model meets the blocks, and the examples within a block, in shuffled order: nothing can be learned from position.
Where several processes of it share a file, each answers a part of every block.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from quintain.core.example import Prediction
from quintain.core.task import Task
from quintain.engine.asking import FAILURE_LIMIT, Failures, ask, ask_each
from quintain.engine.cutting import cut_requests
from quintain.engine.pace import Pace
from quintain.engine.runner import ModelRunner
from quintain.engine.session_watch import SessionWatch
from quintain.engine.timing import watch_request
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
    "thoughts": pl.String(),
}
SAMPLES = "samples"  # the column of the single answers, where a model was asked more than once


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


def sample_type(task: Task) -> pl.List:
    """Return the type of the column that holds an example's single answers, in the order in which they were asked."""
    sample = {
        "prediction": kind_of(task).answers.predicted,
        "failure": pl.String(),
        "outcome": pl.String(),
        **{name: dtype for name, dtype in EXCHANGE.items() if name != "prompt"},
    }
    return pl.List(pl.Struct(sample))


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
    pace: Pace | None = None,
) -> Failures:
    """Ask *runner* for every row of *inputs* (`id` and the input fields), write *out*, and return what failed of them.

    RunEnded is raised where more than *failure_limit*, a share of the rows, fail.
    """
    writer = PredictionWriter(
        task, inputs, out, batch_size=batch_size, seed=seed, progress=progress, failure_limit=failure_limit
    )
    watch = None
    if runner.usage is not None:  # as every process of a submitted model is, though nothing of it is told here
        watch = SessionWatch(runner, runner.usage, batch_size, pace or Pace(), rows=writer.rows).begin()
    with writer:
        writer.answer(runner, watch)
        writer.write(worded=runner.worded)
    if watch is not None:
        watch.finish()
    return writer.failures


class PredictionWriter:
    """Asks one process of a model or several for the rows of a file, each for its share, and writes what they answer.

    Use it as a context manager: meanwhile it keeps what was answered in a folder beside *out*.
    """

    def __init__(
        self,
        task: Task,
        inputs: Path,
        out: Path,
        *,
        batch_size: int,
        seed: int,
        progress: Progress,
        failure_limit: float = FAILURE_LIMIT,
        shares: int = 1,
    ) -> None:
        self.task, self.inputs, self.out = task, inputs, out
        self.batch_size, self.seed, self.shares = batch_size, seed, shares
        self.progress = progress
        self.rows: int = pl.scan_parquet(inputs).select(pl.len()).collect().item()
        self.failures = Failures(self.rows, limit=failure_limit)
        self._done = 0

    def __enter__(self) -> PredictionWriter:
        """Make the folder."""
        self._temporary = tempfile.TemporaryDirectory(dir=self.out.parent)
        self._folder = Path(self._temporary.name)
        return self

    def __exit__(self, *exception: object) -> None:
        """Remove the folder."""
        self._temporary.cleanup()

    def answer(self, runner: ModelRunner, watch: SessionWatch | None = None, share: int = 0) -> None:
        """Ask *runner* for its share of every block, while *watch* times it."""
        generator = np.random.default_rng([self.seed, share])
        for block in self._blocks():
            table = self._block(block)
            # One order for all shares, so that each row is in one of them.
            order = np.random.default_rng([self.seed, len(self._blocks()), block]).permutation(table.height)
            answered = self._ask(runner, watch, table[order[share :: self.shares]], generator)
            answered.write_parquet(self._folder / f"{block:08}.{share}.parquet")

    def write(self, *, worded: bool = False) -> None:
        """Write the answers of all shares, in the order of the file."""
        if not self.rows:
            pl.DataFrame(schema=prediction_schema(self.task, worded=worded)).write_parquet(self.out)
            return
        for block in sorted(self._blocks()):
            parts = [self._folder / f"{block:08}.{share}.parquet" for share in range(self.shares)]
            answers = pl.concat([pl.read_parquet(part) for part in parts])
            whole = self._block(block).select("id").join(answers, on="id", how="left", maintain_order="left")
            whole.write_parquet(self._folder / f"{block:08}.whole")
        pl.scan_parquet(f"{self._folder}/*.whole").sink_parquet(self.out)

    def sample(self, most: int, generator: np.random.Generator) -> pl.DataFrame:
        """Return up to so many rows of one block, with an `id` and the input fields."""
        block = self._block(int(generator.choice(self._blocks())))
        return block[generator.permutation(block.height)[:most]]

    def _blocks(self) -> list[int]:
        """Return the numbers of the blocks, in the order in which they are asked for."""
        blocks = np.arange(-(-self.rows // BLOCK))
        np.random.default_rng(self.seed).shuffle(blocks)
        return [int(block) for block in blocks]

    def _block(self, block: int) -> pl.DataFrame:
        return pl.scan_parquet(self.inputs).slice(block * BLOCK, BLOCK).collect()

    def _ask(
        self, runner: ModelRunner, watch: SessionWatch | None, table: pl.DataFrame, generator: np.random.Generator
    ) -> pl.DataFrame:
        """Ask for all rows of *table*, and return their predictions."""
        examples = table.drop("id").to_dicts()
        answers: list[Prediction] = []
        if runner.streams and watch is None:
            answers = ask_each(runner, self.task, examples, self.failures, self._advance)
            return prediction_table(self.task, table["id"], answers, worded=runner.worded)
        for request in self._requests(len(examples), generator, watched=watch is not None):
            part = examples[request.start : request.stop]
            if watch is not None:
                answers += watch_request(runner, self.task, part, self.failures, watch)
            else:
                answers += ask(runner, self.task, part, self.failures, single=self.batch_size == 1)
            self._done += len(part)
            self.progress(self._done)
        return prediction_table(self.task, table["id"], answers, worded=runner.worded)

    def _advance(self) -> None:
        self._done += 1
        self.progress(self._done)

    def _requests(self, rows: int, generator: np.random.Generator, *, watched: bool) -> list[range]:
        """Cut the rows as ever; what runs out of our sight is asked in as few messages as can be."""
        if watched:
            return cut_requests(rows, self.batch_size, generator)
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
    if any(prediction.samples for prediction in predictions):
        rows = [[_sample_row(as_kept, sample) for sample in prediction.samples] for prediction in predictions]
        columns[SAMPLES] = pl.Series(rows, dtype=sample_type(task))
    return pl.DataFrame(columns)


def _sample_row(as_kept: Callable[[Any], Any], sample: Prediction) -> dict[str, Any]:
    words = {name: getattr(sample.exchange, name, None) for name in EXCHANGE if name != "prompt"}
    columns = {"prediction": as_kept(sample.answer), "failure": sample.failure, "outcome": sample.outcome}
    return columns | words
