"""Which words moved a model, as pages show it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from quintain.core.records.collect import WordEffect
from quintain.core.task import Task
from quintain.tasks.contract import kind_of
from quintain.web.visit import Visit

SMALLEST_EFFECT = 0.01  # of a probability; below, a word is not worth a mark


def moved_pieces(
    visit: Visit, task: Task, inputs: Mapping[str, Any], effects: Sequence[WordEffect]
) -> list[tuple[str, list[tuple[str, str, str]]]]:
    """Cut each field into pieces: text, a class that says how far and which way a word moved the model, and a title."""
    most = max((abs(word.effect) for word in effects), default=0.0)
    titles = {item.name: visit.tongue.gettext(item.title) for item in kind_of(task).form(task).inputs}
    by_field = []
    for field in dict.fromkeys(word.field for word in effects):
        text, at = str(inputs[field]), 0
        pieces: list[tuple[str, str, str]] = []
        for word in (effect for effect in effects if effect.field == field):
            pieces.append((text[at : word.start], "", ""))
            pieces.append((text[word.start : word.end], _strength(word.effect, most), f"{word.effect:+.2f}"))
            at = word.end
        by_field.append((titles.get(field, field), [*pieces, (text[at:], "", "")]))
    return by_field


def _strength(effect: float, most: float) -> str:
    if abs(effect) < SMALLEST_EFFECT or not most:
        return ""
    level = min(3, 1 + int(3 * abs(effect) / most))
    return f"for-{level}" if effect > 0 else f"against-{level}"
