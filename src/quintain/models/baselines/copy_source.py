"""Texts that are copied rather than written."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
import polars as pl

from quintain.core.task import AnswerType, Task
from quintain.data.sentences import sentences
from quintain.models.contract import BASELINES, Baseline, Batch, Progress
from quintain.models.fields import clean, text_fields


class CopyBaseline(Baseline):
    """A baseline for tasks whose answer is a text made from another."""

    answer_types: ClassVar[tuple[AnswerType, ...]] = ("text",)

    @classmethod
    def finds_fields(cls, task: Task) -> bool:
        """Ask for a text to make the answer from."""
        return bool(text_fields(task))

    def source(self, example: dict[str, Any]) -> str:
        """Return the text that the answer is made from."""
        return clean(example.get(text_fields(self.task)[0]))


@BASELINES.register("copy-source")
class CopySource(CopyBaseline):
    """Answer with the source itself."""

    name: ClassVar[str] = "copy-source"
    title: ClassVar[str] = "Copy the source"
    about: ClassVar[str] = (
        "It answers with the source itself. What it scores is what names, numbers and shared letters are worth."
    )

    def fit(self, table: pl.DataFrame, *, seed: int, progress: Progress) -> None:
        """Learn nothing."""

    def predict(self, batch: Batch) -> list[Any]:
        """Return each source as its answer."""
        return [self.source(example) for example in batch]


@BASELINES.register("lead")
class Lead(CopyBaseline):
    """Answer with the beginning of the source, as long as answers usually are."""

    name: ClassVar[str] = "lead"
    title: ClassVar[str] = "Lead sentences"
    about: ClassVar[str] = (
        "It answers with the first sentences of the source, as many as come nearest to the median length of the "
        "training answers. For news this is a strong summary; it never rewords or looks further down."
    )

    def fit(self, table: pl.DataFrame, *, seed: int, progress: Progress) -> None:
        """Learn how long answers are."""
        lengths = [len(self.cutting.words(answer)) for answers in table["answer"].to_list() for answer in answers]
        self.state["length"] = float(np.median(lengths)) if lengths else 20.0

    def predict(self, batch: Batch) -> list[Any]:
        """Return the beginning of each source."""
        return [self._lead(self.source(example)) for example in batch]

    def _lead(self, text: str) -> str:
        ends = [end for _, end in sentences(text)] or [len(text)]
        best = min(ends, key=lambda end: abs(len(self.cutting.words(text[:end])) - self.state["length"]))
        return text[:best].strip()
