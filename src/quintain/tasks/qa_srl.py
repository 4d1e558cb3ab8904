"""Who did what to whom: a fixed question on the predicate of a sentence, answered by a piece of the sentence.

As in the Build It Break It contest, only the sentence may be rewritten; the predicate and its question stand.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, ClassVar

import polars as pl

from quintain.core.errors import Fault
from quintain.core.example import Answer, Example, Inputs
from quintain.core.task import Field, Task
from quintain.core.texts import Text
from quintain.stats.alignment import follow_piece
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
        values: dict[str, pl.Expr | str] = {"text": shown(pl.col("predicate")), "of": "sentence"}
        return [Rule("predicate", absent, "'{text}' is not in '{of}'", values=values), *super().answer_rules(task)]

    def resolved(
        self, task: Task, inputs: Inputs, answer: Answer, before: Inputs | None = None
    ) -> tuple[dict[str, Any], Answer, list[Fault]]:
        """Ask that an edit leaves the predicate a word of the sentence, and the one that the question is about."""
        inputs, answer, faults = super().resolved(task, inputs, answer, before)
        if before is not None and (reason := _predicate_fault(before, inputs)):
            faults = [*faults, Fault(reason, field="predicate")]
        return inputs, answer, faults


def _predicate_fault(before: Inputs, inputs: Inputs) -> Text | None:
    first, second = (str(one.get("sentence") or "") for one in (before, inputs))
    predicate = str(before.get("predicate") or "").strip()
    places_before, places = _words_at(predicate, first), _words_at(predicate, second)
    if first == second or not places_before or predicate.lower() not in second.lower():
        return None  # nothing was edited, or the rules of the kind say what is wrong
    if not places:
        return Text("'{text}' is only a part of another word now; keep the word itself", text=predicate[:80])
    followed = {follow_piece(first, second, start, len(predicate)) for start in places_before} - {None}
    if len(places) == 1 or followed:
        return None
    return Text(
        "'{text}' is not where it was and stands {n} times now; keep the one that the question is about",
        text=predicate[:80],
        n=len(places),
    )


def _words_at(word: str, text: str) -> list[int]:
    """List where *word* stands in *text*, whatever its case, and not as a part of another word."""
    if not word:
        return []
    return [match.start() for match in re.finditer(rf"(?<!\w)(?i:{re.escape(word)})(?!\w)", text)]


def _fixed(name: str, title: str, most: int) -> Field:
    return Field(name, "text", title=title, max_length=most, perturbable=False, editable=False, fixed=True)
