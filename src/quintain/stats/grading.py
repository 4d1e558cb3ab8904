"""Whether an answer is right, and how nearly: labels, texts by exact match or token F1, and sets.

    grade = Grading("f1", threshold=0.8)
    grade("the tower", ["Eiffel Tower", "tower"])

A gold answer may list several that are right. With F1, an answer is right where it is *above* the threshold. Where a
right answer is itself a list, it is one of several spans, and compared as DROP does.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Any, Literal, NamedTuple, get_args

from quintain.core.errors import BadInput
from quintain.core.label_form import label_form
from quintain.core.languages import ENGLISH
from quintain.core.task import normalise_label
from quintain.stats.drop import drop_exact_match, drop_f1
from quintain.stats.text import normalise, token_f1

MetricName = Literal["accuracy", "exact_match", "f1", "set_exact_match"]
Normalisation = Literal["case", "squad"]
METRIC_NAMES: tuple[str, ...] = get_args(MetricName)


class Grade(NamedTuple):
    """What one answer is worth: the *score* that is averaged, and whether it is *right*."""

    score: float
    right: bool


@dataclass(frozen=True, slots=True)
class Grading:
    """How answers are graded; see the module's docstring.

    *normalise* is for exact match: `case` takes answers for the same that differ in case or in spaces around them;
    `squad` also leaves out punctuation and the articles of *language*, as F1 always does.
    """

    metric: str = "accuracy"
    threshold: float = 0.8
    normalise: str = "case"
    language: str = ENGLISH

    def __post_init__(self) -> None:
        if self.metric not in METRIC_NAMES:
            raise BadInput(
                "There is no metric '{metric}' here.",
                metric=self.metric,
                known=", ".join(METRIC_NAMES),
                remedy="Use one of {known}.",
            )
        if self.normalise not in get_args(Normalisation):
            raise BadInput(
                "Answers cannot be normalised as '{name}'.",
                name=self.normalise,
                known=", ".join(get_args(Normalisation)),
                remedy="Use one of {known}.",
            )
        if not 0 <= self.threshold < 1:
            raise BadInput(
                "The threshold {threshold:g} leaves nothing that is above it."
                if self.threshold >= 1
                else "The threshold {threshold:g} is below 0.",
                threshold=self.threshold,
                remedy="Give one from 0 to below 1; --metric exact_match asks for the whole answer.",
            )

    @property
    def of_labels(self) -> bool:
        """Whether answers are labels, which are the same or are not."""
        return self.metric == "accuracy"

    @property
    def of_sets(self) -> bool:
        """Whether an answer is a list in no order."""
        return self.metric == "set_exact_match"

    @property
    def of_texts(self) -> bool:
        """Whether answers are texts, of which there may be several."""
        return not self.of_labels and not self.of_sets

    @property
    def by_form(self) -> bool:
        """Whether *normalise* decides which answers are the same."""
        return self.metric == "exact_match"

    def __call__(self, prediction: Any, gold: Any) -> Grade:
        """Grade *prediction*; None is no answer, which is wrong.

        >>> Grading("f1")("a tower of Paris", "the Paris tower")
        Grade(score=0.8, right=False)
        >>> Grading("set_exact_match")([2, 0], [0, 2])
        Grade(score=1.0, right=True)
        """
        if prediction is None:
            return Grade(0.0, False)
        if self.of_sets:
            same = _set(prediction) == _set(gold)  # of choices, by their numbers or names
            return Grade(float(same), same)
        if isinstance(prediction, list | tuple) or (isinstance(gold, list | tuple) and any(map(_is_list, gold))):
            return self._spans(prediction, gold)
        golds = [written(one) for one in gold] if isinstance(gold, list | tuple) else [written(gold)]
        if self.metric == "f1":
            score = token_f1(written(prediction), golds, self.language)
            return Grade(score, score > self.threshold)
        form = self._form()
        answer = form(written(prediction))
        same = any(answer == form(gold) for gold in golds)
        return Grade(float(same), same)

    def _spans(self, prediction: Any, gold: Any) -> Grade:
        """Grade answers of several spans, numbers and dates as DROP does."""
        answers = _texts(prediction)
        golds = [_texts(one) for one in gold] if isinstance(gold, list | tuple) else [_texts(gold)]
        if self.metric == "f1":
            score = drop_f1(answers, golds, self.language)
            return Grade(score, score > self.threshold)
        same = drop_exact_match(answers, golds, self.language)
        return Grade(float(same), same)

    def _form(self) -> Any:
        if self.of_labels:
            return label_form
        return partial(normalise, language=self.language) if self.normalise == "squad" else str.lower


def written(value: Any) -> str:
    """Write a plain answer as the text by which it is compared: 1, 1.0 and "1" are the same, and so are equal forms.

    >>> written(1.0), written(True), written(" yes ")
    ('1', 'true', 'yes')
    """
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return _written_text(str(value))


@lru_cache(maxsize=4096)  # labels and short answers come again and again
def _written_text(text: str) -> str:
    return normalise_label(text.strip())


def is_plain(value: Any) -> bool:
    """Whether *value* is a single answer: a text, a number or a truth value."""
    return isinstance(value, str | int | float | bool)


def _is_list(value: Any) -> bool:
    return isinstance(value, list | tuple)


def _texts(value: Any) -> list[str]:
    return [written(one) for one in value] if isinstance(value, list | tuple) else [written(value)]


def _set(values: Any) -> frozenset[str]:
    several: Sequence[Any] = values if isinstance(values, list | tuple) else [values]
    return frozenset(label_form(one) for one in several)
