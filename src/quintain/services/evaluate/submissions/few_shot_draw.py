"""Examples that a model is shown before it is asked: drawn once, and never from what models are evaluated on.

They come from training data whose labels are open. What is like an evaluated example, word for word or nearly, is not
drawn; and a run on data that is like what its model is shown is refused, since such data may come after the draw.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from quintain.adapters.chat import LONGEST_SHOT
from quintain.adapters.chat_prompt import Shot, read_shots, write_shots
from quintain.core.errors import BadInput, NotFound
from quintain.core.example import Role
from quintain.core.task import Task
from quintain.data.importing import write_examples
from quintain.data.plan import ImportPlan
from quintain.services.plain.files.overlap import joined_texts
from quintain.stats.near_duplicates import find_nearest
from quintain.tasks.contract import kind_of

POOL = 256  # examples that are kept where each question draws its own
SPARE = 8  # times as many candidates as examples are looked at first

Spec = Mapping[str, Any]


def few_shot_of(options: Mapping[str, Any]) -> Spec | None:
    """Return what a manifest says of examples to be shown; None where none are."""
    few = options.get("few_shot")
    return few if isinstance(few, Mapping) else None


@contextmanager
def with_shots(folder: Path, task: Task, options: Mapping[str, Any], evaluated: pl.DataFrame) -> Iterator[Path]:
    """Yield the folder of a model with its examples drawn from a file, beside the model or from here."""
    few = few_shot_of(options)
    if few is None:
        yield folder
        return
    source = next((path for path in (folder / str(few["data"]), Path(str(few["data"]))) if path.is_file()), None)
    if source is None:
        raise NotFound(
            "There is no file '{data}' to draw examples from.",
            data=few["data"],
            remedy="Outside of a workspace, few_shot.data is a file beside the model, or from here.",
        )
    names = [item.name for item in kind_of(task).fields(task)]
    with tempfile.TemporaryDirectory(prefix="quintain-shots-") as name:
        copy, table = Path(name) / "model", Path(name) / "train.parquet"
        shutil.copytree(folder, copy)
        write_examples(source, task, ImportPlan(role=Role.TRAIN, duplicates="first"), table)
        write_shots(copy, draw(task, pl.read_parquet(table), few, joined_texts(evaluated.select(names), names)))
        yield copy


def draw(task: Task, table: pl.DataFrame, few: Spec, avoided: Sequence[str]) -> list[Shot]:
    """Draw the examples that *few* asks for from *table*; none of them is like one of the texts *avoided*.

    The same seed draws the same examples from the same data, for every model.
    """
    number = int(few["examples"])
    rows_needed = POOL if few.get("draw", "same") == "each" else number
    usable = table.filter(pl.col("answer").is_not_null()).sort("id")
    order = np.random.default_rng(int(few.get("seed", 0))).permutation(usable.height)
    candidates = usable[order]
    if few.get("balanced"):
        candidates = _balanced(task, candidates)
    shots: list[Shot] = []
    ahead = SPARE * rows_needed
    for start in (0, ahead):
        part = candidates.slice(start, ahead if not start else None)
        shots += _unlike(task, part, avoided)
        if len(shots) >= rows_needed:
            break
    if len(shots) < number:
        raise BadInput(
            "{data} has {n} examples that may be shown, of {rows}; {examples} are asked for.",
            data=few["data"],
            n=len(shots),
            rows=table.height,
            examples=number,
            remedy="Long ones, and those like evaluated ones, are not shown. Ask for fewer, or name other data.",
        )
    return shots[:rows_needed]


def refuse_shown(task: Task, folder: Path, options: Mapping[str, Any], evaluated: pl.DataFrame) -> None:
    """Refuse a run on examples of which some are like those that the model in *folder* is shown."""
    if few_shot_of(options) is None:
        return
    shots = read_shots(folder)
    if not shots:
        raise BadInput("The examples that the model is to be shown were not drawn.", remedy="Submit it again.")
    names = [item.name for item in kind_of(task).fields(task)]
    shown = pl.DataFrame([{name: shot.inputs.get(name) for name in names} for shot in shots], infer_schema_length=None)
    like = find_nearest(joined_texts(shown, names), joined_texts(evaluated.select(names), names))
    alike = np.flatnonzero(like.index >= 0)
    if len(alike):
        shot = shots[int(alike[0])]
        raise BadInput(
            "The model is shown example {id}, and the data has it, or one that is nearly the same.",
            id=shot.id,
            remedy="Submit a new version: its examples are drawn anew, from what is not evaluated.",
        )


def _balanced(task: Task, candidates: pl.DataFrame) -> pl.DataFrame:
    """Order candidates so that each label comes once before any comes twice, and so on."""
    if not kind_of(task).answers.is_class:
        raise BadInput("The answers of this task are no classes that few_shot.balanced could balance.")
    turn = pl.int_range(pl.len()).over("answer")
    return candidates.with_columns(turn=turn).sort("turn", maintain_order=True).drop("turn")


def _unlike(task: Task, candidates: pl.DataFrame, avoided: Sequence[str]) -> list[Shot]:
    """Return those of the candidates that are short enough, like nothing *avoided* and like none before them."""
    if candidates.is_empty():
        return []
    names = [item.name for item in kind_of(task).fields(task)]
    texts = joined_texts(candidates.select(names), names)
    like = find_nearest(texts, avoided).index >= 0 if avoided else np.zeros(len(texts), dtype=bool)
    rows = candidates.select("id", "answer", *names).to_dicts()
    return [
        Shot(str(row["id"]), {name: row[name] for name in names}, row["answer"])
        for row, text, near in zip(rows, texts, like, strict=True)
        if not near and len(text.encode()) + len(str(row["answer"]).encode()) <= LONGEST_SHOT
    ]
