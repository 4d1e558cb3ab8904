"""Which word a prepositional phrase attaches to, asked of a parser.

The answer is the preposition's grandparent in Universal Dependencies: in "He ate pizza with friends" the preposition
"with" hangs on "friends", and "friends" on "ate".
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import polars as pl

from quintain.core.errors import BadInput, Fault
from quintain.core.example import Answer, Example, Inputs, Prediction
from quintain.core.task import AnswerType, Field, Task
from quintain.stats.alignment import follow_word
from quintain.tasks.answers import chosen, distribution, refuse_unknown
from quintain.tasks.contract import KINDS, FormField, TaskKind
from quintain.tasks.positions import resolve_word, words_of
from quintain.tasks.rules import Rule, index_rules


@KINDS.register("attachment")
class Attachment(TaskKind):
    """The word that a prepositional phrase attaches to."""

    name: ClassVar[str] = "attachment"
    title: ClassVar[str] = "Attachment of prepositional phrases"
    hub_categories: ClassVar[tuple[str, ...]] = ("token-classification",)
    answer_type: ClassVar[AnswerType] = "token"
    default_metrics: ClassVar[tuple[str, ...]] = ("attachment",)
    example: ClassVar[Example] = Example(
        {"tokens": ["He", "ate", "pizza", "with", "friends", "."], "preposition": 3}, 1
    )

    def fields(self, task: Task) -> tuple[Field, ...]:
        """Ask for the words of the sentence and for the preposition among them."""
        return (
            # A perturbation edits tokens one by one and keeps their number, so that the numbers below stay right.
            Field("tokens", "tokens", title="Sentence", max_length=10_000),
            Field("preposition", "token", title="Preposition", perturbable=False),
        )

    def answer_rules(self, task: Task) -> Sequence[Rule]:
        """Ask for tokens of the sentence that are not the same one."""
        same = pl.col("answer") == pl.col("preposition")
        return [
            *index_rules("tokens", answer="preposition"),
            *index_rules("tokens"),
            Rule("answer", same, "is the preposition itself"),
        ]

    def parse_answer(self, task: Task, inputs: Inputs, raw: Any) -> Prediction:
        """Read a token's number, a word that occurs once, or probabilities by number or in the tokens' order."""
        tokens = list(inputs.get("tokens", ()))
        if not tokens:
            raise BadInput("There are no tokens to attach to.")
        if isinstance(raw, Mapping) and "token" in raw:
            refuse_unknown(raw, ("token", "probabilities", "score"))
            shares = raw.get("probabilities")
            answer = chosen("tokens", tokens, raw["token"])
            return Prediction(answer, None if shares is None else _spread(tokens, shares))
        if isinstance(raw, Mapping | list | tuple):
            probabilities = _spread(tokens, raw)
            return Prediction(max(range(len(tokens)), key=lambda number: probabilities[str(number)]), probabilities)
        return Prediction(chosen("tokens", tokens, raw))

    def resolved(
        self, task: Task, inputs: Inputs, answer: Answer, before: Inputs | None = None
    ) -> tuple[dict[str, Any], Answer, list[Fault]]:
        """Read the answer as the preposition: as a number, as a word that stands once, or as both (`3:with`)."""
        inputs, answer, faults = super().resolved(task, inputs, answer, before)
        words = words_of(inputs.get("tokens"))
        if isinstance(answer, str) and words:
            answer, fault = resolve_word(words, answer, "answer", "tokens")
            faults = [*faults, fault] if fault else faults
        return inputs, answer, faults

    def followed(self, task: Task, before: Inputs, inputs: Inputs, answer: Answer) -> Answer:
        """Move the answer along with its word."""
        first, words = words_of(before.get("tokens")), words_of(inputs.get("tokens"))
        if not isinstance(answer, int) or not 0 <= answer < len(first):
            return answer
        number = follow_word(first, words, answer)
        return number if number is not None and words[number] == first[answer] else None

    def fooled(self, task: Task, target: Answer, prediction: Answer) -> bool:
        """Whether another word was taken."""
        return bool(target != prediction)

    def answer_control(self, task: Task) -> FormField:
        """Let a word of the sentence be picked."""
        return FormField("answer", "token", "Attaches to", of="tokens")


def _spread(tokens: Sequence[str], raw: Any) -> dict[str, float]:
    return distribution([str(number) for number in range(len(tokens))], raw)
