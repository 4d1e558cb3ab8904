"""From a file of inputs to a file of predictions, in blocks, so that memory does not grow with the data.

The model meets the blocks, and the examples within a block, in shuffled order: nothing can be learned from position.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from quintain.core.errors import BadInput
from quintain.core.example import Prediction
from quintain.core.task import Task
from quintain.engine.runner import Runner
from quintain.engine.sandbox.limits import Outcome, RunEnded
from quintain.tasks.contract import TaskKind, kind_of

BLOCK = 8192
MESSAGE = 256  # examples per message; a model without batches still gets them one by one

Progress = Callable[[int], None]


def prediction_schema(task: Task) -> dict[str, pl.DataType]:
    """Give the columns of a predictions file. Spans and texts are kept as text."""
    answers: dict[str, pl.DataType] = {
        "label": pl.String(),
        "choice": pl.Int64(),
        "choices": pl.List(pl.Int64()),
        "span": pl.String(),
        "token": pl.Int64(),
        "text": pl.String(),
    }
    kind = kind_of(task)
    schema = {"id": pl.String(), "prediction": answers[kind.answer_type]}
    if kind.answer_type == "label":
        schema["probabilities"] = pl.Struct({label: pl.Float64() for label in task.label_names})
    return schema


def write_predictions(
    runner: Runner, task: Task, inputs: Path, out: Path, *, batch_size: int, seed: int, progress: Progress
) -> int:
    """Ask *runner* for every row of *inputs* (`id` and the input fields) and write *out*; give the number of rows."""
    kind = kind_of(task)
    rows: int = pl.scan_parquet(inputs).select(pl.len()).collect().item()
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
            for part in shuffled.iter_slices(max(batch_size, MESSAGE)):
                answered += _ask(runner, kind, task, part.drop("id").to_dicts(), batch_size)
                done += part.height
                progress(done)
            predictions = _table(task, shuffled["id"], answered)[np.argsort(order)]
            predictions.write_parquet(Path(folder) / f"{block:08}.parquet")
        if rows:
            pl.scan_parquet(f"{folder}/*.parquet").sink_parquet(out)
        else:
            pl.DataFrame(schema=prediction_schema(task)).write_parquet(out)
    return rows


def _ask(runner: Runner, kind: TaskKind, task: Task, inputs: list[dict[str, Any]], batch_size: int) -> list[Prediction]:
    answers: list[Any] = []
    if batch_size == 1:
        answers = runner.predict(inputs, single=True).answers
    else:
        for start in range(0, len(inputs), batch_size):
            answers += runner.predict(inputs[start : start + batch_size]).answers
    return list(parse_answers(kind, task, inputs, answers))


def parse_answers(kind: TaskKind, task: Task, inputs: list[dict[str, Any]], answers: list[Any]) -> Iterator[Prediction]:
    """Turn raw answers into predictions; one that cannot be used ends the run and says why."""
    for given, raw in zip(inputs, answers, strict=True):
        try:
            yield kind.parse_answer(task, given, raw)
        except BadInput as error:
            raise RunEnded(
                Outcome.BAD_ANSWER,
                f"The model answered {shown(raw)}: {error.message}",
                remedy="`quintain model check` shows what answers this task takes.",
            ) from error


def _table(task: Task, ids: pl.Series, predictions: list[Prediction]) -> pl.DataFrame:
    schema = prediction_schema(task)
    answers = [_stored(prediction.answer) for prediction in predictions]
    columns: dict[str, Any] = {"id": ids, "prediction": pl.Series(answers, dtype=schema["prediction"])}
    if "probabilities" in schema:
        given = [prediction.probabilities for prediction in predictions]
        columns["probabilities"] = pl.Series(
            [None if p is None else dict(p) for p in given], dtype=schema["probabilities"]
        )
    return pl.DataFrame(columns)


def _stored(answer: Any) -> Any:
    return answer["text"] if isinstance(answer, dict) else answer


def shown(raw: Any) -> str:
    """Give what a model answered in a form that fits into a message."""
    text = repr(raw)
    return text if len(text) <= 120 else f"{text[:117]}…"
