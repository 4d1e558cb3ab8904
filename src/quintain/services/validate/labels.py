"""Which labels an item can get, and what a label says about the writer's aim and a model's answer.

Kinds with labels are judged by the task's labels. Of several options, judges choose one by its number. Other answers
(spans, texts, tokens, several options) are shown, and judges say whether they are right. The task's extra labels are
there in every case.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from quintain.core.errors import Fault
from quintain.core.example import Inputs
from quintain.core.label_form import label_form
from quintain.core.task import Label, Task
from quintain.tasks.contract import kind_of

RIGHT = Label("right", "The answer shown is right.")
WRONG = Label("wrong", "The answer shown is wrong.")


def choices(task: Task, inputs: Inputs) -> tuple[Label, ...]:
    """List the labels that a judge may give an item: those of its kind, and the task's extra ones."""
    own = kind_of(task).judged_by(task, inputs)
    return (*((RIGHT, WRONG) if own is None else own), *task.extra_labels)


def label_fault(task: Task, inputs: Inputs, label: Any) -> Fault | None:
    """Return what is wrong with a label; None where it is one of the item's."""
    names = [choice.name for choice in choices(task, inputs)]
    if label in names:
        return None
    return Fault("label {label} is not one of {names}", label=repr(label), names=", ".join(names), field="label")


def shows_answer(task: Task) -> bool:
    """Whether judges are shown the writer's answer, and judge that."""
    return kind_of(task).judged_by(task, {}) is None


def scores(task: Task, label: str) -> bool:
    """Whether a label is an answer of the task: not an extra label, and not "wrong"."""
    extra = {label.name for label in task.extra_labels}
    return label not in extra and (label != WRONG.name or not shows_answer(task))


def meets_aim(task: Task, label: str, aim: str) -> bool:
    """Whether the validated *label* is what the writer aimed at."""
    return label == RIGHT.name if shows_answer(task) else bool(aim) and label == aim


def writers_label(task: Task, aim: str) -> str | None:
    """Return the label by which a judge would agree with the writer; None without one."""
    return RIGHT.name if shows_answer(task) else aim or None


def misses(task: Task, label: str, prediction: Mapping[str, Any], answer: Any) -> bool:
    """Whether a model's *prediction* differs from the validated *label*."""
    predicted = prediction.get("answer")
    if not shows_answer(task):
        return label_form(predicted) != label_form(label)
    fooled = prediction.get("fooled")
    if isinstance(fooled, bool):
        return fooled
    return predicted is not None and answer is not None and kind_of(task).fooled(task, answer, predicted)
