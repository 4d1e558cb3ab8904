"""Who did what to whom: a fixed question on the predicate of a sentence, answered by a piece of the sentence.

As in the Build It Break It contest, only the sentence may be rewritten; the predicate and its question stand.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import polars as pl

from quintain.core.example import Example
from quintain.core.task import Field, Task
from quintain.tasks.contract import KINDS
from quintain.tasks.rules import Rule, blank, holds, shown
from quintain.tasks.spans import SpanKind


@KINDS.register("qa-srl")
class QaSrl(SpanKind):
    """A fixed question on a predicate, answered by a substring of the sentence."""

    name: ClassVar[str] = "qa-srl"
    title: ClassVar[str] = "Semantic roles by questions"
    hub_categories: ClassVar[tuple[str, ...]] = ("question-answering",)
    source: ClassVar[str] = "sentence"
    # Annotators capitalise: "In 1992" for "in 1992".
    ignore_case: ClassVar[bool] = True
    example: ClassVar[Example] = Example(
        {"sentence": "The baker sold us two loaves .", "predicate": "sold", "question": "who sold something ?"},
        [{"text": "The baker", "start": 0}],
    )

    def fields(self, task: Task) -> tuple[Field, ...]:
        """Ask for the sentence; the predicate and the question are fixed."""
        return (
            Field("sentence", "long_text", title="Sentence", max_length=5_000),
            _fixed("predicate", "Predicate", 200),
            _fixed("question", "Question", 2_000),
        )

    def answer_rules(self, task: Task) -> Sequence[Rule]:
        """Ask that the predicate and the answers are in the sentence."""
        sentence, predicate = pl.col("sentence").str.to_lowercase(), pl.col("predicate").str.to_lowercase()
        absent = ~blank(predicate) & ~holds(sentence, predicate)
        given: dict[str, pl.Expr | str] = {"text": shown(pl.col("predicate")), "of": "sentence"}
        return [Rule("predicate", absent, "'{text}' is not in '{of}'", values=given), *super().answer_rules(task)]


def _fixed(name: str, title: str, most: int) -> Field:
    return Field(name, "text", title=title, max_length=most, perturbable=False, editable=False, fixed=True)
