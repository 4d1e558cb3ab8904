"""What every type of answers must say of itself: how it is stored, compared, graded, read and written out.

A type is one file in this package with one class decorated by `@ANSWER_KINDS.register(name)`; other distributions add
theirs through the entry-point group `quintain.answers`. A kind of task names its type (`TaskKind.answer_type`), and
nothing else asks which one it is: what differs from type to type is a member below.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from functools import cache
from typing import Any, ClassVar, Literal, TypeAlias

import polars as pl

from quintain.core.example import Answer
from quintain.core.languages import ENGLISH
from quintain.core.registry import Registry
from quintain.core.task import AnswerType
from quintain.core.texts import Text
from quintain.tasks.shapes import misfit

Values: TypeAlias = "pl.Series | Sequence[Any]"  # a string: who only answers needs no polars
# How an answer is read from what a model wrote in words: one of the labels, an option's letter or number, several of
# those, or the words themselves.
Reading = Literal["label", "option", "options", "words"]


class AnswerKind(ABC):
    """One type of answers. See the module's docstring.

    *wanted* says in a message what a gold answer is. *dtype* is the column that keeps gold answers, *predicted* the one
    of predictions; *read_as* says how a chat model's words are read. *metrics* are computed where none is asked for;
    *f1* is what people mean by F1 here, and *graded_by* the metric that says how nearly right one answer is (None: it
    is right or wrong). *right_by* names the metric by which an answer counts as right, and what it has to be above,
    where something is right or not as a whole, as a contrast set is (None: the gold answer itself is right).

    *is_class*: an answer is one of some classes that can be counted; *named*: those are labels, compared by their form;
    *several*: it is a set of them; *is_text*: answers are compared as texts, and a gold answer may list several right
    ones; *by_example*: whether something is an answer at all depends on the example. Of several types that a file may
    hold, the one of the least *rank* is guessed first.
    """

    name: ClassVar[AnswerType]
    wanted: ClassVar[Text]
    dtype: ClassVar[pl.DataType]
    predicted: ClassVar[pl.DataType]
    read_as: ClassVar[Reading]
    metrics: ClassVar[tuple[str, ...]]
    f1: ClassVar[str | None] = None
    graded_by: ClassVar[str | None] = None
    right_by: ClassVar[tuple[str, float] | None] = None
    is_class: ClassVar[bool] = False
    named: ClassVar[bool] = False
    several: ClassVar[bool] = False
    is_text: ClassVar[bool] = False
    by_example: ClassVar[bool] = True
    rank: ClassVar[int] = 100

    @abstractmethod
    def fits(self, value: Any) -> bool:
        """Whether a plain value, as JSON brings it, has the shape of a gold answer."""

    def fault(self, value: Any) -> Text | None:
        """Return what is wrong with the shape of a gold answer, or None."""
        return None if self.fits(value) else misfit(value, self.wanted)

    def stored(self, answer: Any) -> Any:
        """Return a gold answer as it is stored."""
        return list(answer) if isinstance(answer, tuple) else answer

    def as_prediction(self, answer: Any) -> Any:
        """Return a model's answer as the column of predictions keeps it."""
        return answer

    def normalise_labels(self, values: pl.Series, labels: Sequence[str] | None = None) -> pl.Series:
        """Return answers of a file in the one form in which they are compared, as *labels* spell them."""
        return values

    def golds(self, values: Values) -> pl.Series:
        """Bring gold answers into the shape that metrics compare."""
        return self.predictions(values)

    def predictions(self, values: Values) -> pl.Series:
        """Bring predictions into the shape that metrics compare."""
        series = values if isinstance(values, pl.Series) else pl.Series("answer", list(values), strict=False)
        return series.cast(self.predicted)

    def right(self, values: Values) -> pl.Series:
        """Return, for gold answers, predictions that are right."""
        golds = self.golds(values)
        return golds if golds.dtype == self.predicted else golds.list.first()

    def normalised(self, values: pl.Series, language: str = ENGLISH) -> pl.Series:
        """Return predictions such that those which mean the same in *language* are equal."""
        return values

    def texts(self, answer: Answer) -> list[str]:
        """Return the texts that an answer consists of, where answers are compared as texts."""
        return []

    def aim(self, target: Answer) -> str:
        """Return a target as a short text to count by; empty where targets are texts of their own."""
        return str(target)[:80] if self.is_class and target is not None else ""

    def typed(self, text: str) -> Answer:
        """Return the answer that was typed into a control for text, as it stands where it is none."""
        return text or None

    def may_be(self, dtype: pl.DataType) -> bool:
        """Whether a file's column of this type may hold such answers; a text may stand for any."""
        if not dtype.is_nested():
            return True
        inner = self.dtype.inner if isinstance(self.dtype, pl.List) else None
        if isinstance(dtype, pl.Struct):
            return isinstance(inner, pl.Struct)
        return inner is not None and _numeric(inner) == (isinstance(dtype, pl.List) and _numeric(dtype.inner))

    def in_python(self, source: str) -> str:
        """Write, in Python, an answer for a model that has learned nothing; `item` is an example with a *source*."""
        return "0"


def _numeric(inner: Any) -> bool:
    return isinstance(inner, pl.DataType) and inner.is_numeric()


ANSWER_KINDS: Registry[type[AnswerKind]] = Registry(
    "answer type", package="quintain.tasks.answer_kinds", group="quintain.answers"
)


@cache
def answers_of(name: AnswerType) -> AnswerKind:
    """Return the type of answers called *name*."""
    return ANSWER_KINDS.get(name)()
