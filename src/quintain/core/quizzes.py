"""A quiz: instructions, practice with feedback, and questions that show whether they were understood."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from quintain.core import spec_kinds as kinds
from quintain.core.errors import Fault
from quintain.core.spec import option, specification, tables
from quintain.core.texts import Text

MAX_TEXT = 100_000


def _options(value: Any) -> bool:
    text_kind = kinds.text(MAX_TEXT, 1, raw=True)
    return isinstance(value, list | tuple) and len(value) > 1 and all(map(text_kind.fits, value))


@specification
class QuestionSpec:
    """A question with its options, of which one is right."""

    text: str = option(kinds.text(MAX_TEXT, 1, raw=True), help="what is asked")
    options: tuple[str, ...] = option(
        kinds.Kind(_options, Text("a list of at least two texts"), kept=tuple), help="what can be answered"
    )
    answer: int = option(kinds.whole(0, 1000), help="the number of the right option, counted from 0")
    explanation: str = option(kinds.text(MAX_TEXT, raw=True), default="", help="why it is right")

    def check(self) -> Iterator[Fault]:
        """Look the right option up."""
        if self.answer >= len(self.options):
            last = len(self.options) - 1
            yield Fault(
                "is {answer}, not an option's number from 0 to {last}", answer=self.answer, last=last, field="answer"
            )


@specification
class QuizSpec:
    """What a quiz asks. Made from TOML or JSON by `quintain.services.work.quiz_files.parse_quiz`."""

    questions: tuple[QuestionSpec, ...] = option(tables(QuestionSpec, least=1), help="what decides")
    practice: tuple[QuestionSpec, ...] = option(
        tables(QuestionSpec), default=(), help="questions of the same form that are explained at once and do not count"
    )
    instructions: str = option(kinds.text(MAX_TEXT, raw=True), default="", help="Markdown, shown before")
    tries: int = option(
        kinds.whole(1, 100), default=5, help="how often somebody may fail in a row; then there is a rest"
    )
    rest_hours: int = option(kinds.whole(0, 1000), default=24, help="how long the rest is")
    right: int | None = option(
        kinds.whole(1, 1000), default=None, help="how many must be right; all of them by default"
    )
    pay: int = option(
        kinds.money(), default=0, help="what taking it pays a worker of the task, once, whether or not it is passed"
    )
    currency: str = option(kinds.currency(), default="USD", help="of the pay")
    retired: bool = option(
        kinds.flag(), default=False, help="nobody can take it any more; whoever passed it has passed it"
    )

    @property
    def needed(self) -> int:
        """How many must be right."""
        return len(self.questions) if self.right is None else self.right

    def check(self) -> Iterator[Fault]:
        """Compare what must be right with what is asked."""
        if self.needed > len(self.questions):
            most = len(self.questions)
            yield Fault("is {right}, not a whole number from 1 to {most}", right=self.right, most=most, field="right")
