"""A question with candidate answers, any number of which are plausible: MC-TACO."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import polars as pl

from quintain.core.errors import BadInput
from quintain.core.example import Answer, Example, Inputs, Prediction
from quintain.core.task import AnswerType, Field, Task
from quintain.stats.alignment import follow_word
from quintain.tasks.answers import by_name, chosen, refuse_unknown, show
from quintain.tasks.contract import KINDS, FormField, TaskKind
from quintain.tasks.positions import words_of
from quintain.tasks.rules import Rule, distinct_rule, index_rules


@KINDS.register("several-answers")
class SeveralAnswers(TaskKind):
    """Every plausible candidate, given a passage; the answer may be none of them."""

    name: ClassVar[str] = "several-answers"
    title: ClassVar[str] = "Several plausible answers"
    hub_categories: ClassVar[tuple[str, ...]] = ("multiple-choice",)
    answer_type: ClassVar[AnswerType] = "choices"
    default_metrics: ClassVar[tuple[str, ...]] = ("set_f1", "set_exact_match")
    example: ClassVar[Example] = Example(
        {
            "passage": "He baked a loaf of bread for breakfast.",
            "question": "How long did the loaf take?",
            "candidates": ["two hours", "ten years", "ninety minutes", "one second"],
        },
        [0, 2],
    )

    def fields(self, task: Task) -> tuple[Field, ...]:
        """Ask for the passage, which a prompt gives, the question and the candidates."""
        return (
            Field("passage", "long_text", title="Passage", editable=False),
            Field("question", "text", title="Question", max_length=2_000),
            Field("candidates", "texts", title="Candidates", help="One to a line."),
        )

    def answer_rules(self, task: Task) -> Sequence[Rule]:
        """Ask for different candidates, and for some of them, none twice."""
        answer = pl.col("answer")
        twice = Rule("answer", answer.list.n_unique() < answer.list.len(), "names a candidate twice")
        gap = Rule("answer", answer.is_null(), "has an entry that is no number", each="answer")
        return [distinct_rule("candidates"), twice, gap, *index_rules("candidates", each=True)]

    def parse_answer(self, task: Task, inputs: Inputs, raw: Any) -> Prediction:
        """Read a list of numbers or texts, one truth value per candidate, or a probability for each.

        Candidates are judged one by one, so the probabilities need not sum to one; those of at least 0.5 are chosen.
        """
        candidates = list(inputs.get("candidates", ()))
        if isinstance(raw, Mapping) and "choices" in raw:
            refuse_unknown(raw, ("choices", "probabilities"))
            shares = raw.get("probabilities")
            answer = _several(candidates, raw["choices"])
            return Prediction(answer, None if shares is None else _each(candidates, shares))
        if isinstance(raw, Mapping):
            probabilities = _each(candidates, raw)
            return Prediction([int(key) for key, value in probabilities.items() if value >= 0.5], probabilities)
        return Prediction(_several(candidates, raw))

    def followed(self, task: Task, before: Inputs, inputs: Inputs, answer: Answer) -> Answer:
        """Move the answers along with their candidates."""
        if not isinstance(answer, list | tuple):
            return answer
        first, second = words_of(before.get("candidates")), words_of(inputs.get("candidates"))
        places = [follow_word(first, second, number) for number in answer]
        return None if None in places else sorted(place for place in places if place is not None)

    def fooled(self, task: Task, target: Answer, prediction: Answer) -> bool:
        """Whether the two sets differ."""
        return set(target) != set(prediction)

    def answer_control(self, task: Task) -> FormField:
        """Offer the candidates, to tick."""
        return FormField("answer", "checkboxes", "Plausible answers", required=False, of="candidates")


def _several(candidates: Sequence[str], raw: Any) -> list[int]:
    if not isinstance(raw, list | tuple):
        raise BadInput(
            "The answer {raw} is not a list of candidates.", raw=show(raw), remedy="Give their numbers from 0."
        )
    if raw and len(raw) == len(candidates) and all(isinstance(one, bool) for one in raw):
        return [number for number, plausible in enumerate(raw) if plausible]
    numbers = [chosen("candidates", candidates, one) for one in raw]
    if len(set(numbers)) < len(numbers):
        raise BadInput("The answer {raw} names a candidate twice.", raw=show(raw))
    return sorted(numbers)


def _each(candidates: Sequence[str], raw: Any) -> dict[str, float]:
    if isinstance(raw, Mapping) and raw and all(key in candidates for key in raw):
        raw = {str(candidates.index(key)): value for key, value in raw.items()}
    return by_name([str(number) for number in range(len(candidates))], raw)
