"""A model to start from: a handler that works, a manifest, a card to fill in, and a test."""

from __future__ import annotations

import json
from pathlib import Path

from quintain.core.errors import Conflict, Unavailable
from quintain.core.task import Task
from quintain.models.card import write_card
from quintain.tasks.contract import TaskKind, kind_of
from quintain.tasks.writing import toml

# True of what is written here, so that the folder can be submitted as it is; whoever teaches it says something better.
_CARD = {
    "Intended use": "A model to start from: it answers every example alike. Teach it something, then say for what.",
    "Training data": "None: it has learned nothing yet.",
    "Evaluation": "None but that of the platform it is submitted to.",
    "Limitations": "It does not look at what it is asked.",
    "Ethical considerations": "None beyond those of the task.",
    "Licence": "Not chosen yet.",
}


def write_model(folder: Path, task: Task, *, name: str, named: bool = True) -> list[str]:
    """Write a model for *task* into the new folder *folder* and give the names of its files.

    *named* says that *task* is a task somewhere; else it is only an example of its kind, and the manifest names none.
    """
    files = {
        "handler.py": handler(task),
        "quintain.toml": _manifest(task, name, named),
        "card.md": write_card(name, _CARD),
        "requirements.txt": "# Packages that handler.py imports, one to a line: scikit-learn==1.7.2\n",
        "test_handler.py": _test(task),
    }
    there = [file for file in files if (folder / file).exists()]
    if there:
        raise Conflict("{path} is there already.", path=folder / there[0], remedy="Name another folder.")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for file, text in files.items():
            (folder / file).write_text(text, encoding="utf-8")
    except OSError as error:
        raise Unavailable(
            "{path} cannot be written: {strerror}.",
            path=folder,
            strerror=error.strerror,
            remedy="Name another folder.",
        ) from error
    return list(files)


def handler(task: Task) -> str:
    """Write a handler for *task* of ten lines at most; it answers, if not well."""
    kind = kind_of(task)
    return _labelled(task, kind) if kind.needs_labels else _other(task, kind)


def _labelled(task: Task, kind: TaskKind) -> str:
    field = kind.fields(task)[-1].name
    labels = json.dumps(list(task.label_names), ensure_ascii=False)
    return f'''"""Answers with a probability for each label; teach it something better."""

LABELS = {labels}

def predict(batch):
    answers = []
    for item in batch:
        text = item[{field!r}]  # look at it, and give each label what it deserves
        answers.append({{label: 1 / len(LABELS) for label in LABELS}})
    return answers
'''


def _other(task: Task, kind: TaskKind) -> str:
    fields = kind.fields(task)
    answer = kind.answers.in_python(kind.source or fields[0].name)
    listed = ", ".join(field.name for field in fields)
    return f'''"""Answers an example with the fields {listed}; teach it something better."""


def predict(batch):
    return [answer(item) for item in batch]


def answer(item):
    return {answer}
'''


def _manifest(task: Task, name: str, named: bool) -> str:
    line = f"task = {toml(task.name)}" if named else '# task = "…"  # what it is for; or name it with --task'
    return f"""# How the model is run. `quintain model check .` says whether it can be.
adapter = "handler"
{line}
name = {toml(name)}
batch_size = 1  # how many examples predict() likes to get at once
"""


def _test(task: Task) -> str:
    kind = kind_of(task)
    example = {field.name: kind.example.inputs.get(field.name, "An example.") for field in kind.fields(task)}
    return f'''"""Run with: python -m unittest test_handler.py"""

import unittest

import handler

EXAMPLE = {example!r}


class Handler(unittest.TestCase):
    def test_there_is_one_answer_for_each_example(self):
        self.assertEqual(len(handler.predict([EXAMPLE, EXAMPLE])), 2)

    def test_the_answer_does_not_depend_on_the_batch(self):
        self.assertEqual(handler.predict([EXAMPLE, EXAMPLE])[0], handler.predict([EXAMPLE])[0])
'''
