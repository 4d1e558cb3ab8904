"""What somebody wrote, as pages show it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from quintain.core.task import Task
from quintain.data.images import PREFIX
from quintain.tasks.contract import FormField, kind_of
from quintain.web.forms import word_among
from quintain.web.visit import Visit


def shown_input(field: FormField, inputs: Mapping[str, Any]) -> str:
    """Write an input on one line, for people: words as a sentence, a position as the word that stands there."""
    value = inputs.get(field.name)
    words = inputs.get(field.of or "")
    if field.widget == "token" and isinstance(value, int) and isinstance(words, list) and 0 <= value < len(words):
        return word_among(words, value)
    if isinstance(value, list | tuple):
        return (" " if field.widget == "tokens" else " / ").join(str(one) for one in value)
    if field.widget == "image":
        return image_name(str(value or ""))
    return "" if value is None else str(value)


def image_name(value: str) -> str:
    """Name an image in a line of text: by its address, or by the beginning of what names its content.

    >>> image_name("blob:" + "3f2a91c0" * 8)
    'image 3f2a91c0'
    """
    return f"image {value.removeprefix(PREFIX)[:8]}" if value.startswith(PREFIX) else value


def own_text(task: Task, inputs: Mapping[str, Any]) -> str:
    """Return what was written as one text, without what a prompt gave."""
    form = kind_of(task).form(task)
    own = [field for field in form.inputs if field.editable and inputs.get(field.name) is not None]
    return " · ".join(shown_input(field, inputs) for field in own)


@dataclass(frozen=True, slots=True)
class WrittenPart:
    """A field of an item as its writer saw it, *given* or written; *rows* are options, and whether each is right.

    *image* names one, where the field is one.
    """

    title: str
    text: str
    given: bool = False
    image: str = ""
    rows: tuple[tuple[str, bool], ...] = ()


def written_parts(task: Task, inputs: Mapping[str, Any], answer: Any) -> list[WrittenPart]:
    """Lay an item out as on the page on which it was written: under its titles, the right option marked."""
    form = kind_of(task).form(task)
    offered = form.answer.of if form.answer.widget in {"options", "checkboxes"} else None
    parts = []
    for field in form.inputs:
        value = inputs.get(field.name)
        if field.name == offered and isinstance(value, list | tuple):
            right = {str(each) for each in answer} if isinstance(answer, list) else {str(answer)}
            rows = tuple((str(option), str(place) in right) for place, option in enumerate(value))
            parts.append(WrittenPart(field.title, "", rows=rows))
        elif value is not None:
            image = str(value) if field.widget == "image" else ""
            parts.append(WrittenPart(field.title, shown_input(field, inputs), given=not field.editable, image=image))
    return parts


def marks_answer(task: Task, inputs: Mapping[str, Any]) -> bool:
    """Whether an item shows its answer by a mark at one of its options."""
    form = kind_of(task).form(task)
    return form.answer.widget in {"options", "checkboxes"} and isinstance(
        inputs.get(form.answer.of or ""), list | tuple
    )


def context_names(visit: Visit, task: Task) -> str:
    """Name what writers of a task are given and may not change, such as its passage; nothing where there is none."""
    kind = kind_of(task)
    return " + ".join(
        visit.tongue.gettext(field.title) for field in kind.fields(task) if field.name in kind.context(task)
    )
