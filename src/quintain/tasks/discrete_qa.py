"""A question over one or more passages, answered by one or several spans, a number or a date: DROP, Quoref, ROPES.

Which passages there are is the task's: the option `passages` names them (`["background", "situation"]` for ROPES).
Answers need not stand in a passage: numbers are counted, and some answers stand in the question only.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import polars as pl

from quintain.core.errors import BadInput
from quintain.core.example import Answer, Example, Inputs, Prediction
from quintain.core.task import AnswerType, Field, Task
from quintain.core.texts import Text
from quintain.stats.drop import drop_f1
from quintain.tasks.answer_kinds.discrete import right_answers, spans_of
from quintain.tasks.answers import show
from quintain.tasks.contract import KINDS, RESERVED, FormField, TaskKind
from quintain.tasks.rules import CONTROL, Rule, blank

MOST_PASSAGES = 8
_NAME = re.compile(r"[a-z][a-z0-9_]{0,39}")


@KINDS.register("discrete-qa")
class DiscreteQA(TaskKind):
    """A question over passages, answered by one or several spans, a number or a date."""

    name: ClassVar[str] = "discrete-qa"
    title: ClassVar[str] = "Questions over passages"
    hub_categories: ClassVar[tuple[str, ...]] = ("question-answering",)
    answer_type: ClassVar[AnswerType] = "discrete"
    default_metrics: ClassVar[tuple[str, ...]] = ("drop_f1", "drop_exact_match")
    default_options: ClassVar[Mapping[str, Any]] = {"passages": ("passage",), "f1_threshold": 0.4}
    example: ClassVar[Example] = Example(
        {
            "passage": "The Rams scored in the first and the third quarter, the Bears in the second.",
            "question": "Which teams scored after the first quarter?",
        },
        [["The Rams", "the Bears"]],
    )

    def fields(self, task: Task) -> tuple[Field, ...]:
        """Ask for the passages, which a prompt gives, and the question."""
        # A perturbed passage would spell the answer otherwise than the gold one does.
        passages = (
            Field(name, "long_text", title=_title(name), editable=False, perturbable=False)
            for name in self.option(task, "passages")
        )
        return (*passages, Field("question", "text", title="Question", max_length=2_000))

    def answer_rules(self, task: Task) -> Sequence[Rule]:
        """Ask for right answers with something in each of their texts."""
        answer = pl.col("answer")
        texts = answer.list.eval(pl.element().explode().drop_nulls())
        gaps = (answer.list.len() == 0) | answer.list.eval(pl.element().list.len() == 0).list.any()
        return [
            Rule("answer", gaps, "has no text"),
            Rule("answer", texts.list.eval(blank(pl.element())).list.any(), "has an empty text"),
            Rule("answer", texts.list.eval(pl.element().str.contains(CONTROL)).list.any(), "has a control character"),
        ]

    def parse_answer(self, task: Task, inputs: Inputs, raw: Any) -> Prediction:
        """Read a text, a number, a list of texts, or DROP's `{"spans"}`, `{"number"}` or `{"date"}`."""
        spans = spans_of(raw)
        if spans is None:
            raise BadInput(
                "The answer {raw} is neither a text, a number nor a list of texts.",
                raw=show(raw),
                remedy="Give a text, or one text for each of several spans.",
            )
        return Prediction([span.strip() for span in spans if span.strip()])

    def fooled(self, task: Task, target: Answer, prediction: Answer) -> bool:
        """Whether DROP's F1 of *prediction* stays below the threshold, whichever right answer is taken."""
        score = drop_f1(spans_of(prediction) or [], right_answers(target) or [], task.language)
        return score < float(self.option(task, "f1_threshold"))

    def answer_control(self, task: Task) -> FormField:
        """Let the answer be typed, one span to a line."""
        return FormField("answer", "textarea", "Answer", help="A number, a date, or one span to a line.")

    def check_options(self, options: Mapping[str, Any]) -> Sequence[str]:
        """Ask for passages with names, and a threshold that something can be below, and reach."""
        faults = list(super().check_options(options))
        names = options.get("passages", ("passage",))
        taken = {*RESERVED, "question"}
        if (
            not isinstance(names, list | tuple)
            or not 1 <= len(names) <= MOST_PASSAGES
            or any(not isinstance(name, str) or not _NAME.fullmatch(name) or name in taken for name in names)
            or len(set(names)) < len(names)
        ):
            faults.append(
                Text(
                    "option 'passages' is {value}; it lists 1 to {most} different names of small letters, "
                    "none of which is {taken}",
                    value=repr(names),
                    most=MOST_PASSAGES,
                    taken=", ".join(sorted(taken)),
                )
            )
        threshold = options.get("f1_threshold", 0.4)
        if isinstance(threshold, bool) or not isinstance(threshold, int | float) or not 0 < threshold <= 1:
            faults.append(
                Text("option 'f1_threshold' is {value}; it lies above 0 and is at most 1", value=repr(threshold))
            )
        return faults


def _title(name: str) -> str:
    return name.replace("_", " ").capitalize()
