"""From a file of inputs to a file of predictions, in blocks, so that memory does not grow with the data.

The model meets the blocks, and the examples within a block, in shuffled order: nothing can be learned from position.
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
from quintain.engine.asking import FAILURE_LIMIT, Failures, ask
from quintain.engine.runner import ModelRunner
from quintain.tasks.contract import kind_of

BLOCK = 8192
MESSAGE = 256  # examples per message; a model without batches still gets them one by one

Progress = Callable[[int], None]


# How a model elsewhere was asked in words, and what it wrote: columns that only files of such models have.
EXCHANGE: Mapping[str, pl.DataType] = {
    "prompt": pl.String(),
    "reply": pl.String(),
    "input_tokens": pl.Int64(),
    "output_tokens": pl.Int64(),
}


def prediction_schema(task: Task, *, worded: bool = False) -> dict[str, pl.DataType]:
    """Give the columns of a predictions file; *worded* are those of models that are asked in words.

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
    failures = Failures(rows, limit=failure_limit)
    blocks = np.arange(-(-rows // BLOCK))
    generator = np.random.default_rng(seed)
    generator.shuffle(blocks)
    done = 0
    with tempfile.TemporaryDirectory(dir=out.parent) as folder:
        for block in blocks:
            table = pl.scan_parquet(inputs).slice(int(block) * BLOCK, BLOCK).collect()
            order = generator.permutation(table.height)
            shuffled = table[order]
            answered: list[Prediction] = []
            for part in shuffled.iter_slices(MESSAGE if batch_size == 1 else batch_size):
                answered += ask(runner, task, part.drop("id").to_dicts(), failures, single=batch_size == 1)
                done += part.height
                progress(done)
            predictions = prediction_table(task, shuffled["id"], answered, worded=runner.worded)[np.argsort(order)]
            predictions.write_parquet(Path(folder) / f"{block:08}.parquet")
        if rows:
            pl.scan_parquet(f"{folder}/*.parquet").sink_parquet(out)
        else:
            pl.DataFrame(schema=prediction_schema(task, worded=runner.worded)).write_parquet(out)
    return failures


def prediction_table(
    task: Task, ids: pl.Series, predictions: Sequence[Prediction], *, worded: bool = False
) -> pl.DataFrame:
    """Put predictions beside the ids of their examples, in the columns of `prediction_schema`."""
    schema, said = prediction_schema(task, worded=worded), kind_of(task).answers.said
    answers = [said(prediction.answer) for prediction in predictions]
    columns: dict[str, Any] = {"id": ids, "prediction": pl.Series(answers, dtype=schema["prediction"])}
    if "probabilities" in schema:
        given = [prediction.probabilities for prediction in predictions]
        columns["probabilities"] = pl.Series(
            [None if p is None else dict(p) for p in given], dtype=schema["probabilities"]
        )
    columns["failure"] = pl.Series([prediction.failure for prediction in predictions], dtype=schema["failure"])
    columns["outcome"] = pl.Series([prediction.outcome for prediction in predictions], dtype=schema["outcome"])
    for name in EXCHANGE if worded else ():
        told = [getattr(prediction.exchange, name, None) for prediction in predictions]
        columns[name] = pl.Series(told, dtype=schema[name])
    return pl.DataFrame(columns)
