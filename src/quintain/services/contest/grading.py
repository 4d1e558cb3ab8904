"""How a contest tells right from wrong, and how answers are written in its tables."""

from __future__ import annotations

from typing import Any

from quintain.core.contests import ContestSpec
from quintain.core.errors import Conflict
from quintain.core.task import Task
from quintain.stats.grading import Grading, written
from quintain.tasks.contract import kind_of


def require_gradable(task: Task) -> None:
    """Refuse tasks whose answers are neither one of some classes nor a text."""
    answers = kind_of(task).answers
    if not (answers.is_class or answers.is_text) or answers.several:
        raise Conflict(
            "The answers of task '{task}' cannot be scored in a contest.",
            task=task.name,
            remedy="Contests are for answers that are a label, a choice or a text.",
        )


def grading_of(task: Task, spec: ContestSpec) -> Grading:
    """Return how answers are graded: labels by accuracy, texts as the contest says."""
    if kind_of(task).answers.is_text:
        return Grading(spec.metric, spec.threshold, "squad", task.language)
    return Grading("accuracy", spec.threshold, "squad", task.language)


def as_cell(task: Task, answer: Any) -> Any:
    """Return an answer as the tables of a contest hold it: a text, or a list where several are right."""
    answers = kind_of(task).answers
    if answer is None:
        return None
    if not answers.is_text:
        return written(answer)
    texts = answers.texts(answer)
    return texts[0] if len(texts) == 1 else texts
