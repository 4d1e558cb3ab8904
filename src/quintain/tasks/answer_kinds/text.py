"""A text of its own."""

from __future__ import annotations

from typing import Any, ClassVar

import polars as pl

from quintain.core.task import AnswerType
from quintain.core.texts import Text
from quintain.tasks.answer_kinds.contract import ANSWER_KINDS
from quintain.tasks.answer_kinds.textual import TextualAnswer
from quintain.tasks.shapes import is_text, is_texts


@ANSWER_KINDS.register("text")
class TextAnswer(TextualAnswer):
    """A text; a gold answer lists the references."""

    name: ClassVar[AnswerType] = "text"
    wanted: ClassVar[Text] = Text("a text or a list of texts")
    dtype: ClassVar[pl.DataType] = pl.List(pl.String())
    metrics: ClassVar[tuple[str, ...]] = ("bleu", "chrf", "rouge_l")
    graded_by: ClassVar[str | None] = "rouge_l"
    right_by: ClassVar[tuple[str, float] | None] = ("exact_match", 0.5)
    by_example: ClassVar[bool] = False
    rank: ClassVar[int] = 5

    def fits(self, value: Any) -> bool:
        """Ask for a text or several."""
        return is_text(value) or is_texts(value)

    def stored(self, answer: Any) -> Any:
        """Return a list of references."""
        if answer is None:
            return None
        return list(answer) if isinstance(answer, list | tuple) else [answer]

    def in_python(self, source: str) -> str:
        """Return an expression for the source text itself."""
        return f"item[{source!r}]"
