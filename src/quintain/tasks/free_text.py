"""A source and a text made from it: translation, summaries, open answers.

Whether a model was fooled is decided by how near its text comes to the references (option `fooled_by` is bleu, chrf
or rouge_l, each between 0 and 1, and `threshold`), or by the worker (`fooled_by = "worker"`, the default).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar

import polars as pl

from quintain.core.errors import BadInput
from quintain.core.example import Answer, Example, Inputs, Prediction
from quintain.core.task import AnswerType, Field, Task
from quintain.core.texts import Text
from quintain.stats.text import bleu_tokeniser, exact_match, rouge_l
from quintain.tasks.answers import refuse_unknown, show
from quintain.tasks.contract import KINDS, FormField, TaskKind
from quintain.tasks.rules import CONTROL, Rule, blank


@KINDS.register("free-text")
class FreeText(TaskKind):
    """A text compared with references."""

    name: ClassVar[str] = "free-text"
    title: ClassVar[str] = "Free text"
    hub_categories: ClassVar[tuple[str, ...]] = ("text-generation",)
    answer_type: ClassVar[AnswerType] = "text"
    default_metrics: ClassVar[tuple[str, ...]] = ("chrf", "bleu", "rouge_l")
    default_options: ClassVar[Mapping[str, Any]] = {"fooled_by": "worker", "threshold": 0.3}
    example: ClassVar[Example] = Example({"source": "Der Zug hat Verspätung."}, ["The train is late."])

    def fields(self, task: Task) -> tuple[Field, ...]:
        """Ask for the source."""
        return (Field("source", "long_text", title="Source"),)

    def answer_rules(self, task: Task) -> Sequence[Rule]:
        """Ask for references with something in them."""
        answer = pl.col("answer")
        return [
            Rule("answer", answer.list.len() == 0, "has no reference"),
            Rule("answer", blank(answer), "has an empty reference", each="answer"),
            Rule("answer", answer.str.contains(CONTROL), "has a control character", each="answer"),
        ]

    def parse_answer(self, task: Task, inputs: Inputs, raw: Any) -> Prediction:
        """Read a text, or `{"text": …}`."""
        if isinstance(raw, Mapping):
            refuse_unknown(raw, ("text", "score"))
            raw = raw.get("text")
        if not isinstance(raw, str):
            raise BadInput("The answer {raw} is not a text.", raw=show(raw))
        return Prediction(str(raw))

    def fooled(self, task: Task, target: Answer, prediction: Answer) -> bool:
        """Whether *prediction* is too far from every reference; the worker may overrule it (`asks_worker`)."""
        references = self.answers.stored(target)
        if self.asks_worker(task):
            return not exact_match(prediction, references, task.language)
        score = _SCORES[self.option(task, "fooled_by")](prediction, references, task.language)
        return score < float(self.option(task, "threshold"))

    def asks_worker(self, task: Task) -> bool:
        """Whether the worker decides."""
        return bool(self.option(task, "fooled_by") == "worker")

    def answer_control(self, task: Task) -> FormField:
        """Ask for the reference."""
        return FormField("answer", "textarea", "Reference")

    def check_options(self, options: Mapping[str, Any]) -> Sequence[str]:
        """Ask for a way to decide and a threshold that fits it."""
        faults = list(super().check_options(options))
        ways = ("worker", *_SCORES)
        if options.get("fooled_by", "worker") not in ways:
            faults.append(
                Text(
                    "option 'fooled_by' is {value}; it is one of {known}",
                    value=repr(options["fooled_by"]),
                    known=", ".join(ways),
                )
            )
        threshold = options.get("threshold", 0.3)
        if isinstance(threshold, bool) or not isinstance(threshold, int | float) or not 0 < threshold <= 1:
            faults.append(
                Text("option 'threshold' is {value}; it lies above 0 and is at most 1", value=repr(threshold))
            )
        return faults


# The library is imported where it is used: it takes a second to load, which other kinds need not wait.
def _bleu(text: str, references: Sequence[str], language: str) -> float:
    from sacrebleu.metrics.bleu import BLEU

    del language  # the script of the references decides
    counter = BLEU(effective_order=True, tokenize=bleu_tokeniser(references))
    return float(counter.sentence_score(text, list(references)).score) / 100


def _chrf(text: str, references: Sequence[str], language: str) -> float:
    from sacrebleu.metrics.chrf import CHRF

    del language  # it counts characters
    return float(CHRF().sentence_score(text, list(references)).score) / 100


_SCORES: Mapping[str, Callable[[str, Sequence[str], str], float]] = {"bleu": _bleu, "chrf": _chrf, "rouge_l": rouge_l}
