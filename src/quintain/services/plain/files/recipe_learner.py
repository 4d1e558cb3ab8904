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
from quintain.core.hashing import content_id
from quintain.core.task import Label, Task
from quintain.core.toml import parse_toml
from quintain.data.mixing import Mix
from quintain.data.text import read_bytes
from quintain.models.checkpoint_folder import named_checkpoint
from quintain.models.contract import Handler
from quintain.models.learning import Learner, Lesson, learner_faults, make_learner, predicted, probabilities
from quintain.stats.artefacts.examples import Examples
from quintain.stats.artefacts.learner import OPTIONS, SeenFields, without_content
from quintain.stats.bootstrap import IntArray

STUDY_TASK = Task("study", "text-classification", {"en": "Study"}, (Label("no"), Label("yes")))
BETWEEN = " \n "  # fields of one example
RIGHT_OR_NOT = ("wrong", "right")  # what is learned of an option


@dataclass(frozen=True, slots=True)
class _Ready:
    """Texts with the codes of their *labels*; where there are options a text for each, *sizes* of them an example."""

    table: pl.DataFrame
    answer: IntArray
    labels: tuple[str, ...]
    sizes: IntArray | None = None

    def rows_of(self, examples: IntArray) -> IntArray:
        """Return the rows of some examples: one each, or those of their options."""
        if self.sizes is None:
            return examples
        ends = np.cumsum(self.sizes)
        parts = [np.arange(ends[at] - self.sizes[at], ends[at]) for at in examples.tolist()]
        return np.concatenate(parts) if parts else np.zeros(0, dtype=np.int64)


class RecipeLearner:
    """A learner that is trained anew for every question; fields of an example are one text to it.

    Where examples have options, it learns of each whether it is right, and chooses the one of which it is surest.
    """

    def __init__(self, name: str, learner: Learner, digest: str = "") -> None:
        self.name, self.learner, self.digest = name, learner, digest

    def ready(self, examples: Examples, reading: SeenFields) -> _Ready:
        """Put the fields of each example together, with each option where there are some."""
        columns = [examples.fields[name] for name in reading.fields if name != OPTIONS]
        texts = [BETWEEN.join(row) for row in zip(*columns, strict=True)] if columns else [""] * len(examples)
        if reading.masked:
            texts = without_content(texts)
        if not examples.options:
            return _Ready(pl.DataFrame({"text": texts}), examples.answer, tuple(examples.labels))
        pairs = [
            (f"{option}{BETWEEN}{text}" if text else option, int(place == right))
            for text, options, right in zip(texts, examples.options, examples.answer.tolist(), strict=True)
            for place, option in enumerate(options)
        ]
        sizes = np.array([len(options) for options in examples.options], dtype=np.int64)
        right = np.array([is_right for _, is_right in pairs], dtype=np.int64)
        return _Ready(pl.DataFrame({"text": [text for text, _ in pairs]}), right, RIGHT_OR_NOT, sizes)

    def answers(
        self, ready: _Ready, rows: IntArray, asked: Sequence[tuple[_Ready, IntArray]], seed: int
    ) -> list[IntArray]:
        """Train on the rows, and give the most probable label, or option, of each that is asked."""
        rows = ready.rows_of(rows)
        # What no example teaches can never be the answer, and some learners refuse to learn it.
        taught = np.unique(ready.answer[rows])
        labels = tuple(ready.labels[code] for code in taught.tolist())
        task = Task("study", "text-classification", {"en": "Study"}, tuple(map(Label, labels)))
        self.learner.refuse_unsuited(task)
        with tempfile.TemporaryDirectory(prefix="quintain-study-") as folder:
            lesson = Lesson(task, _mix(ready, rows, taught, labels), Path(folder), seed=seed)
            handler = self.learner.learn(lesson).handler
            return [
                taught[predicted(handler, each.table[held], labels)]
                if each.sizes is None
                else _surest(handler, each, held)
                for each, held in asked
            ]


def _surest(handler: Handler, ready: _Ready, examples: IntArray) -> IntArray:
    """Return the place of the option of each example that a handler finds most probably right."""
    if ready.sizes is None:
        raise ValueError("there are no options")
    right = RIGHT_OR_NOT[1]
    sure = np.array(probabilities(handler, ready.table[ready.rows_of(examples)], right), dtype=np.float64)
    ends = np.cumsum(ready.sizes[examples])
    return np.array([int(part.argmax()) for part in np.split(sure, ends[:-1])], dtype=np.int64)


def _mix(ready: _Ready, rows: IntArray, taught: IntArray, labels: tuple[str, ...]) -> Mix:
    code = np.searchsorted(taught, ready.answer[rows])
    says = np.eye(len(labels), dtype=np.float32)[code]
    answers = pl.Series("answer", [labels[one] for one in code.tolist()], dtype=pl.String())
    table = ready.table[rows].with_columns(answers)
    number = len(rows)
    ones = np.ones(number, dtype=np.float32)
    return Mix(labels, table, says, np.ones(number, dtype=np.int64), ones, np.zeros(number, dtype=bool))


def parse_learner(
    text: str, name: str = "", *, file: str | None = None, base: Path | None = None, checkpoints: Path | None = None
) -> RecipeLearner:
    """Return the learner that a recipe's `learner` and `options` name; its data is not looked at.

    Folders lie in *base* where there is one, and else are names of those in *checkpoints*. Refused are options that are
    wrong, a package that is missing, and a checkpoint that is not there or not complete. *name* is what reports say.
    """
    values: dict[str, Any] = parse_toml(text, file=file)
    faults = list(learner_faults(values))
    if faults:
        raise BadInput(faults=faults)
    kind, options = str(values.get("learner", "linear")), dict(values.get("options", {}))
    chosen = make_learner(kind, options)
    chosen.permit()
    for option, value in chosen.folders().items():
        options[option] = str(base / value if base else named_checkpoint(checkpoints, value, f"options.{option}"))
    learner = make_learner(kind, options)
    learner.check_trainable(STUDY_TASK, None)
    return RecipeLearner(
        name or kind, learner, content_id([kind, sorted((key, repr(options[key])) for key in options)])
    )


def read_recipe(path: Path) -> RecipeLearner:
    """Return the learner of a recipe's file; folders in its options are relative to it."""
    text = read_bytes(path).decode("utf-8", "replace")
    return parse_learner(text, path.stem, file=path.name, base=path.parent)
