"""The whole text as the answer."""

from __future__ import annotations

from typing import Any, ClassVar

import polars as pl

from quintain.models.contract import BASELINES, Batch, Progress
from quintain.models.spans import SpanBaseline, span


@BASELINES.register("return-context")
class ReturnContext(SpanBaseline):
    """Answer with the whole passage."""

    name: ClassVar[str] = "return-context"
    title: ClassVar[str] = "Return the context"
    about: ClassVar[str] = (
        "It answers every question with the whole passage. The answer is in there somewhere, so its recall is perfect "
        "and its precision is the share of the passage that the answer makes up: the floor for token F1."
    )

    def fit(self, table: pl.DataFrame, *, seed: int, progress: Progress) -> None:
        """Learn nothing."""

    def predict(self, batch: Batch) -> list[Any]:
        """Return each passage as its answer."""
        texts = [self.source(example) for example in batch]
        return [span(text, 0, len(text)) for text in texts]
