"""An item as its writer saw it, in a text: what they wrote, options line by line with the right one marked.

What they were given, such as a passage, is named by how it begins.
"""

from __future__ import annotations

from typing import Any

from quintain.core.example import Inputs
from quintain.core.task import Task
from quintain.core.texts import Text, Word, joined
from quintain.services.collect.writing.checks import as_text
from quintain.services.validate.console.manage import aim_text
from quintain.tasks.contract import kind_of

BEGINNING = 60  # characters of a context

RIGHT, OTHER = "●", "○"  # as the form shows which option is marked
OFFERING = ("options", "checkboxes")  # controls that choose among what the writer wrote


def quoted(task: Task, inputs: Inputs, answer: Any) -> Text:
    """Quote an item; each line is one field, one option, or the answer."""
    kind = kind_of(task)
    control = kind.answer_control(task)
    offered = control.of if control.widget in OFFERING else None
    lines: list[str] = []
    for field in kind.fields(task):
        value = inputs.get(field.name)
        if value is None:
            continue
        if field.name in kind.context(task):
            lines.append(Text("{field}: “{text}”", field=Word(field.title), text=_beginning(as_text(value))))
        elif field.name == offered and isinstance(value, list | tuple):
            lines += [f"{RIGHT if _is_right(answer, at) else OTHER} {option}" for at, option in enumerate(value)]
        else:
            lines.append(as_text(value))
    if answer is not None and offered is None:
        lines.append(Text("{field}: {answer}", field=Word(control.title), answer=_answer(task, inputs, answer)))
    return joined(lines, "\n")


def _answer(task: Task, inputs: Inputs, answer: Any) -> str:
    """Return an answer in words: a label, what was marked in a text, the word at a place."""
    kind = kind_of(task)
    words = inputs.get(kind.answer_control(task).of or "")
    if isinstance(answer, int) and isinstance(words, list | tuple) and 0 <= answer < len(words):
        return str(words[answer])
    return " / ".join(kind.answers.texts(answer)) if kind.answers.is_text else aim_text(answer)


def _is_right(answer: Any, index: int) -> bool:
    return index in answer if isinstance(answer, list) else answer == index


def _beginning(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= BEGINNING else f"{line[: BEGINNING - 1].rsplit(' ', 1)[0]} …"
