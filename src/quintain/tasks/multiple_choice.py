"""A question on a passage with options, one of which is right: QuAIL, RACE, the protocols study."""

from __future__ import annotations

import string
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import polars as pl

from quintain.core.errors import BadInput
from quintain.core.example import Answer, Example, Inputs, Prediction
from quintain.core.task import AnswerType, Field, Label, Task
from quintain.stats.alignment import follow_word
from quintain.tasks.answers import chosen, distribution, refuse_unknown
from quintain.tasks.contract import KINDS, FormField, TaskKind
from quintain.tasks.positions import words_of
from quintain.tasks.rules import Rule, distinct_rule, index_rules


@KINDS.register("multiple-choice")
class MultipleChoice(TaskKind):
    """One of several options, given a passage."""

    name: ClassVar[str] = "multiple-choice"
    title: ClassVar[str] = "Multiple choice on a passage"
    hub_categories: ClassVar[tuple[str, ...]] = ("multiple-choice",)
    answer_type: ClassVar[AnswerType] = "choice"
    default_metrics: ClassVar[tuple[str, ...]] = ("accuracy",)
    example: ClassVar[Example] = Example(
        {
            "passage": "Ida missed the last bus and walked home in the rain.",
            "question": "Why did Ida get wet?",
            "options": ["She fell into a pond.", "She walked in the rain.", "The bus leaked."],
        },
        1,
    )

    def fields(self, task: Task) -> tuple[Field, ...]:
        """Ask for the passage, which a prompt gives, the question and the options."""
        return (
            Field("passage", "long_text", title="Passage", editable=False),
            Field("question", "text", title="Question", max_length=2_000),
            Field("options", "texts", title="Options", help="One to a line."),
        )

    def answer_rules(self, task: Task) -> Sequence[Rule]:
        """Ask for two different options at least, and for one of them."""
        single = Rule("options", pl.col("options").list.len() == 1, "has only one entry")
        return [single, distinct_rule("options"), *index_rules("options")]

    def parse_answer(self, task: Task, inputs: Inputs, raw: Any) -> Prediction:
        """Read an option's number, text or letter, or probabilities by number, text or in the options' order.

        Keys of one table are either all option texts or all numbers; a text wins where an option is itself a number.
        """
        options = list(inputs.get("options", ()))
        if isinstance(raw, Mapping) and "choice" in raw:
            refuse_unknown(raw, ("choice", "probabilities", "score"))
            shares = raw.get("probabilities")
            return Prediction(_chosen(options, raw["choice"]), None if shares is None else _spread(options, shares))
        if isinstance(raw, Mapping | list | tuple):
            probabilities = _spread(options, raw)
            return Prediction(max(range(len(options)), key=lambda number: probabilities[str(number)]), probabilities)
        return Prediction(_chosen(options, raw))

    def followed(self, task: Task, before: Inputs, inputs: Inputs, answer: Answer) -> Answer:
        """Move the answer along with its option."""
        if not isinstance(answer, int):
            return answer
        return follow_word(words_of(before.get("options")), words_of(inputs.get("options")), answer)

    def fooled(self, task: Task, target: Answer, prediction: Answer) -> bool:
        """Whether another option was chosen."""
        return bool(target != prediction)

    def judged_by(self, task: Task, inputs: Inputs) -> tuple[Label, ...] | None:
        """Let judges choose an option: its label is its number from 0, and the gloss is the option."""
        return tuple(Label(str(number), str(text)) for number, text in enumerate(inputs.get("options") or ()))

    def answer_control(self, task: Task) -> FormField:
        """Offer the options."""
        return FormField("answer", "options", "Right option", of="options")


def _chosen(options: Sequence[str], raw: Any) -> int:
    if isinstance(raw, str) and raw not in options and len(raw) == 1 and raw in string.ascii_uppercase:
        number = string.ascii_uppercase.index(raw)
        if number < len(options):
            return number
    return chosen("options", options, raw)


def _spread(options: Sequence[str], raw: Any) -> dict[str, float]:
    """Return probabilities by the options' numbers, whatever they are keyed by."""
    if not options:
        raise BadInput("There are no options to choose from.")
    numbers = [str(number) for number in range(len(options))]
    if isinstance(raw, Mapping) and raw and all(key in options for key in raw):
        raw = {str(options.index(key)): value for key, value in raw.items()}
    return distribution(numbers, raw)
