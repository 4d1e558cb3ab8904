"""What all kinds share whose answer is a label."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from quintain.core.example import Answer, Inputs, Prediction
from quintain.core.task import AnswerType, Label, Task
from quintain.tasks.answers import parse_label
from quintain.tasks.contract import FormField, TaskKind
from quintain.tasks.rules import Rule, label_rules


class LabelKind(TaskKind):
    """A kind whose answer is one of the task's labels."""

    answer_type: ClassVar[AnswerType] = "label"
    needs_labels: ClassVar[bool] = True
    default_metrics: ClassVar[tuple[str, ...]] = ("macro_f1", "accuracy")

    def answer_rules(self, task: Task) -> Sequence[Rule]:
        """Ask for one of the labels that score."""
        extra = tuple(label.name for label in task.extra_labels)
        return label_rules(task.label_names, extra=extra)

    def parse_answer(self, task: Task, inputs: Inputs, raw: Any) -> Prediction:
        """Read a label, or probabilities by label."""
        return parse_label(task.label_names, raw)

    def fooled(self, task: Task, target: Answer, prediction: Answer) -> bool:
        """Whether the two labels differ."""
        return bool(target != prediction)

    def judged_by(self, task: Task, inputs: Inputs) -> tuple[Label, ...] | None:
        """Let judges choose among the labels that score."""
        return task.labels

    def answer_control(self, task: Task) -> FormField:
        """Offer the labels that score."""
        choices = tuple((label.name, label.gloss or label.name) for label in task.labels)
        return FormField("answer", "labels", "Label", choices=choices)
