"""The rubric of a protocol that names none: that of Nangia, Sugawara et al. (2021), in the words of the task's kind.

Questions and options have the same names for every kind, so that grades are read alike.
"""

from __future__ import annotations

from dataclasses import replace

from quintain.core.task import Task
from quintain.protocols.rubric import FIGURE_2, RubricOption, RubricQuestion
from quintain.tasks.contract import TaskKind

QUESTION = "question"  # the field of kinds that ask one about something


def default_rubric(kind: TaskKind, task: Task) -> tuple[RubricQuestion, ...]:
    """Return what graders of a kind of task are asked where its owner says nothing else."""
    if any(field.name == QUESTION for field in kind.fields(task)):
        choices = kind.answer_control(task).widget in {"options", "checkboxes"}
        reading = FIGURE_2[1] if kind.context(task) else replace(FIGURE_2[1], ask=_READ_TEXT, options=_READING)
        return (FIGURE_2[0], reading, FIGURE_2[2], FIGURE_2[3] if choices else _HASTY)
    if kind.answer_control(task).widget == "labels":
        return _rubric(
            RubricQuestion("answerable", "Would people agree on its label?", _sure("label"), "answerable"),
            "How closely do you think someone would need to read it to tell its label?",
            "Does it have something that points to another label?",
        )
    return _rubric(
        RubricQuestion("answerable", "Is it clear what the right answer is?", _sure("answer"), "answerable"),
        "How closely do you think someone would need to read it to give the right answer?",
        "Does it have something that points to another answer?",
    )


def _sure(what: str) -> tuple[RubricOption, ...]:
    return (
        RubricOption("yes", "Yes", 1.0, good=True),
        RubricOption("no", "No", 0.0),
        RubricOption("wrong-label", f"Yes, but the writer’s {what} is wrong", 0.0),
    )


_YES_NO = FIGURE_2[3].options
_READ_TEXT = "How closely do you think someone would need to read the text to correctly answer the question?"
_READING = (
    RubricOption("none", "A word or two are enough", 0.0),
    RubricOption("sentence", "Quickly skim a part of it", 0.25),
    RubricOption("sentences", "Quickly skim all of it", 0.5),
    RubricOption("whole", "Read it closely", 0.75),
    RubricOption("twice", "May need to read it more than once", 1.0),
)
_HASTY = RubricQuestion(
    "distractors", "Is there something that a hasty reader would take for the answer?", _YES_NO, "distractors"
)


def _rubric(first: RubricQuestion, reading: str, distractors: str) -> tuple[RubricQuestion, ...]:
    return (
        first,
        RubricQuestion(
            "reading",
            reading,
            _READING,
            "difficulty",
        ),
        RubricQuestion("creative", "How creative do you think it is?", FIGURE_2[2].options, "creativity"),
        RubricQuestion("distractors", distractors, _YES_NO, "distractors"),
    )
