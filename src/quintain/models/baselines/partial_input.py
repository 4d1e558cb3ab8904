"""Models that read a part of the input on purpose: what they get right, the data gives away."""

from __future__ import annotations

from typing import ClassVar

from quintain.core.task import Task
from quintain.models.baselines.tfidf import TermRegression
from quintain.models.contract import BASELINES
from quintain.models.fields import of_type, text_fields

_PARTIAL = (
    "It sees only a part of the input, so whatever it gets right beyond the majority label shows that the data gives "
    "the answer away. It is a measure of the data, not a way to solve the task."
)


@BASELINES.register("hypothesis-only")
class HypothesisOnly(TermRegression):
    """Read the second of two texts."""

    name: ClassVar[str] = "hypothesis-only"
    title: ClassVar[str] = "Hypothesis only"
    about: ClassVar[str] = f"A TF-IDF logistic regression on the last text field alone. {_PARTIAL}"

    @classmethod
    def suits(cls, task: Task) -> bool:
        """Ask for labels on two or more texts of one standing."""
        return super().suits(task) and len(text_fields(task)) > 1 and not _question(task)

    @classmethod
    def reads(cls, task: Task) -> list[str]:
        """Read the last text field."""
        return text_fields(task)[-1:]


@BASELINES.register("question-only")
class QuestionOnly(TermRegression):
    """Read the question and not the passage."""

    name: ClassVar[str] = "question-only"
    title: ClassVar[str] = "Question only"
    about: ClassVar[str] = f"A TF-IDF logistic regression on the question, without the passage. {_PARTIAL}"

    @classmethod
    def suits(cls, task: Task) -> bool:
        """Ask for labels on a passage with a shorter text beside it."""
        return super().suits(task) and _question(task) is not None

    @classmethod
    def reads(cls, task: Task) -> list[str]:
        """Read the short text."""
        question = _question(task)
        return [] if question is None else [question]


@BASELINES.register("statement-only")
class StatementOnly(TermRegression):
    """Read the statement and look at no image."""

    name: ClassVar[str] = "statement-only"
    title: ClassVar[str] = "Statement only"
    about: ClassVar[str] = f"A TF-IDF logistic regression on the statement, without the images. {_PARTIAL}"

    @classmethod
    def suits(cls, task: Task) -> bool:
        """Ask for labels on images with a text."""
        return super().suits(task) and bool(of_type(task, "image"))


def _question(task: Task) -> str | None:
    """Return the one short text that stands beside a long one."""
    short, long = of_type(task, "text"), of_type(task, "long_text")
    return short[0] if len(short) == 1 and long else None
