"""What stands before the predicate, or after it, by the form of the question."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, ClassVar

import polars as pl

from quintain.core.task import Task
from quintain.core.words import without_spaces
from quintain.models.contract import BASELINES, Batch, Progress
from quintain.models.fields import clean, of_type
from quintain.models.spans import SpanBaseline, span

_BREAK = re.compile(r"[,;:.!?()\"“”、。，；：！？（）「」،؛؟।]|\s--?\s")


@BASELINES.register("predicate-side")
class PredicateSide(SpanBaseline):
    """Take the piece on one side of the predicate; which side, the question's first words tell."""

    name: ClassVar[str] = "predicate-side"
    title: ClassVar[str] = "Side of the predicate"
    about: ClassVar[str] = (
        "It answers with the piece of the sentence just before or just after the predicate, up to the next "
        "punctuation. Which side it takes depends on the question's first two words, as learned from the training "
        "data. Passives, questions on something further away and pieces that end without punctuation are beyond it."
    )

    @classmethod
    def suits(cls, task: Task) -> bool:
        """Ask for spans of a sentence, with a predicate and a question."""
        return super().suits(task) and len(of_type(task, "text")) == 2

    def fit(self, table: pl.DataFrame, *, seed: int, progress: Progress) -> None:
        """Count on which side the answers to each form of question stand."""
        sides: dict[str, int] = {}
        for row in table.iter_rows(named=True):
            text = self.source(row)
            at = self._predicate(row, text)
            for answer in row["answer"] or ():
                start = answer["start"] if answer["start"] is not None else text.lower().find(answer["text"].lower())
                for form in _forms(self.cutting.words(self.question(row))):
                    sides[form] = sides.get(form, 0) + (1 if start > at[0] else -1)
        self.state["sides"] = sides

    def predict(self, batch: Batch) -> list[Any]:
        """Return one piece of each sentence."""
        return [self._answer(example) for example in batch]

    def _answer(self, example: dict[str, Any]) -> dict[str, Any]:
        text = self.source(example)
        start, end = self._predicate(example, text)
        sides: dict[str, int] = self.state["sides"]
        known = [sides[form] for form in _forms(self.cutting.words(self.question(example))) if sides.get(form)]
        breaks = [match.span() for match in _BREAK.finditer(text)]
        before = (max((stop for _, stop in breaks if stop <= start), default=0), start)
        after = (end, min((first for first, _ in breaks if first >= end), default=len(text)))
        order = (after, before) if known and known[0] > 0 else (before, after)
        chosen = next((piece for piece in order if text[slice(*piece)].strip()), (0, len(text)))
        return span(text, *chosen)

    def _predicate(self, example: dict[str, Any], text: str) -> tuple[int, int]:
        """Find the predicate as a word of the sentence, or at least within it."""
        predicate = clean(example.get(of_type(self.task, "text")[0]))
        match = _as_word(predicate).search(text) if predicate else None
        return match.span() if match else (0, 0)


def _as_word(predicate: str) -> re.Pattern[str]:
    """Look for a whole word; where words stand without spaces, anywhere."""
    word = re.escape(predicate)
    return re.compile(word if without_spaces(predicate) else rf"(?<!\w){word}(?!\w)", re.IGNORECASE)


def _forms(asked: Sequence[str]) -> list[str]:
    """Return what is known of a question's form, the most telling first: its first two words, its first, nothing."""
    return [" ".join(asked[:2]), " ".join(asked[:1]), ""]
