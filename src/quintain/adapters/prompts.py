"""Prompts: a text with a place for every field of an example. Standard library only: it also runs in the sandbox."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from quintain.core.errors import Fault
from quintain.core.texts import as_text

PLACEHOLDER = re.compile(r"\{(\w+)\}")
LABELS = "labels"  # stands for the labels of the task, one after the other


def fill_prompt(template: str, inputs: Mapping[str, Any], labels: str) -> str:
    """Put the fields of an example, and the *labels*, where *template* names them.

    >>> fill_prompt("Is {text} {labels}?", {"text": "this"}, "good, bad")
    'Is this good, bad?'
    """
    values = {**inputs, LABELS: labels}
    return PLACEHOLDER.sub(lambda match: _written(values.get(match[1])), template)


def prompt_faults(fields: Sequence[str], prompt: str) -> list[Fault]:
    """Find placeholders that name nothing, and a prompt that would ask the same of every example."""
    named = dict.fromkeys(PLACEHOLDER.findall(prompt))
    known = ", ".join(sorted([*fields, LABELS]))
    faults = [
        _fault("names {{{name}}}; there are {known}", name=name, known=known)
        for name in named
        if name not in fields and name != LABELS
    ]
    if prompt and not faults and not any(name in named for name in fields):
        shown = ", ".join(f"{{{name}}}" for name in fields)
        faults.append(_fault("would ask the same of every example; it names one of {fields}", fields=shown))
    return faults


def _fault(reason: str, /, **values: object) -> Fault:
    return Fault(as_text(reason, values), file="quintain.toml", field="options.prompt")


def _written(value: Any) -> str:
    if isinstance(value, list):
        return "\n".join(f"{number}. {entry}" for number, entry in enumerate(value))
    return "" if value is None else str(value)
