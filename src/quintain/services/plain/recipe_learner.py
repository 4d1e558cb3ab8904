"""A recipe's learner in the place of the linear one: whatever learns labels from texts can be studied with."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from quintain.core.errors import BadInput
from quintain.core.task import Label, Task
from quintain.core.toml import parse_toml
from quintain.data.mixing import Mix
from quintain.data.text import read_bytes
from quintain.models.learning import Learner, Lesson, learner_faults, make_learner, predicted
from quintain.stats.artefacts.examples import Examples
from quintain.stats.artefacts.learner import SeenFields, without_content
from quintain.stats.bootstrap import IntArray

BETWEEN = " \n "  # fields of one example


@dataclass(frozen=True, slots=True)
class _Ready:
    table: pl.DataFrame
    answer: IntArray
    labels: tuple[str, ...]


class RecipeLearner:
    """A learner that is trained anew for every question; fields of an example are one text to it."""

    def __init__(self, name: str, learner: Learner) -> None:
        self.name, self.learner = name, learner

    def ready(self, examples: Examples, reading: SeenFields) -> _Ready:
        """Put the fields of each example together."""
        if examples.options:
            raise BadInput(
                "A recipe learns labels, and these examples have options to choose from.",
                remedy="Leave the recipe out: the built-in learner chooses among options.",
            )
        columns = [examples.fields[name] for name in reading.fields]
        texts = [BETWEEN.join(row) for row in zip(*columns, strict=True)]
        if reading.masked:
            texts = without_content(texts)
        return _Ready(pl.DataFrame({"text": texts}), examples.answer, tuple(examples.labels))

    def answers(
        self, ready: _Ready, rows: IntArray, asked: Sequence[tuple[_Ready, IntArray]], seed: int
    ) -> list[IntArray]:
        """Train on the rows, and give the most probable label of each that is asked."""
        # What no example teaches can never be the answer, and some learners refuse to learn it.
        taught = np.unique(ready.answer[rows])
        labels = tuple(ready.labels[code] for code in taught.tolist())
        task = Task("study", "text-classification", {"en": "Study"}, tuple(map(Label, labels)))
        self.learner.refuse_unsuited(task)
        with tempfile.TemporaryDirectory(prefix="quintain-study-") as folder:
            lesson = Lesson(task, _mix(ready, rows, taught, labels), Path(folder), seed=seed)
            handler = self.learner.learn(lesson).handler
            return [taught[predicted(handler, one.table[held], labels)] for one, held in asked]


def _mix(ready: _Ready, rows: IntArray, taught: IntArray, labels: tuple[str, ...]) -> Mix:
    code = np.searchsorted(taught, ready.answer[rows])
    says = np.eye(len(labels), dtype=np.float32)[code]
    answers = pl.Series("answer", [labels[one] for one in code.tolist()], dtype=pl.String())
    table = ready.table[rows].with_columns(answers)
    number = len(rows)
    ones = np.ones(number, dtype=np.float32)
    return Mix(labels, table, says, np.ones(number, dtype=np.int64), ones, np.zeros(number, dtype=bool))


def read_recipe(path: Path) -> RecipeLearner:
    """Take `learner` and `options` of a recipe; its data is not looked at."""
    values: dict[str, Any] = parse_toml(read_bytes(path).decode("utf-8", "replace"), file=path.name)
    faults = list(learner_faults(values))
    if faults:
        raise BadInput(faults=faults)
    learner = make_learner(str(values.get("learner", "linear")), values.get("options", {}))
    learner.permit()
    return RecipeLearner(path.stem, learner)
