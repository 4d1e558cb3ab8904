"""The two sides of a pair, and their labels, as pages show them and as controls take them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from quintain.core.task import Task
from quintain.stats.diff import word_diff
from quintain.tasks.contract import FormField, kind_of
from quintain.tasks.positions import bare_number, word_name, words_of
from quintain.web.forms import answer_text
from quintain.web.pages.written import shown_input
from quintain.web.rendering import shown


def differences(
    task: Task, original: Mapping[str, Any], modified: Mapping[str, Any]
) -> list[tuple[str, Any, list[str]]]:
    """Return for each input of a pair its title, the pieces of the difference, and its images, where it is one."""
    rows = []
    for field in kind_of(task).form(task).inputs:
        before, after = original.get(field.name), modified.get(field.name)
        images = [str(value) for value in dict.fromkeys((before, after)) if value] if field.widget == "image" else []
        rows.append((field.title, word_diff(shown_input(field, original), shown_input(field, modified)), images))
    return rows


def line_of(task: Task, inputs: Mapping[str, Any]) -> str:
    """Write a side in one line, for lists."""
    fields = kind_of(task).form(task).inputs
    return " · ".join(shown_input(field, inputs) for field in fields if inputs.get(field.name) is not None)


def answer_field(task: Task) -> FormField:
    """Return the control that asks for an answer."""
    return kind_of(task).form(task).answer


def label_name(task: Task, inputs: Mapping[str, Any], label: Any) -> str:
    """Write a label as its control takes it: a word by itself, or with its number where it stands more than once."""
    field = answer_field(task)
    words, number = words_of(inputs.get(field.of or "")), bare_number(label)
    if field.widget == "token" and number is not None and number < len(words):
        return word_name(words, number)
    return shown(label)


def shown_label(task: Task, inputs: Mapping[str, Any], label: Any) -> str:
    """Write a label for people; the number of a word as that word."""
    return answer_text(task, inputs, bare_number(label) if answer_field(task).widget == "token" else label)


def typed_texts(task: Task, inputs: Mapping[str, Any]) -> dict[str, str]:
    """Write the inputs of a side as the controls of the form take them."""
    return {field.name: typed_text(field, inputs) for field in kind_of(task).form(task).inputs if field.name in inputs}


def typed_text(field: FormField, inputs: Mapping[str, Any]) -> str:
    """Write an input as its control takes it."""
    value, words = inputs.get(field.name), words_of(inputs.get(field.of or ""))
    if field.widget == "token" and isinstance(value, int) and 0 <= value < len(words):
        return word_name(words, value)
    if isinstance(value, list | tuple):
        return (" " if field.widget == "tokens" else "\n").join(str(entry) for entry in value)
    return "" if value is None else str(value)
