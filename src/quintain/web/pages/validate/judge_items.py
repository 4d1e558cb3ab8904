"""An item as judges and experts read it: its parts in order, and the labels as cards with numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from quintain.core.task import Label, Task
from quintain.services.validate.labels import shows_answer
from quintain.tasks.contract import FormField, kind_of
from quintain.web.forms import answer_text
from quintain.web.pages.written import image_name
from quintain.web.rendering import shown


@dataclass(frozen=True, slots=True)
class ItemPart:
    """One input of an item: its title (empty where there is only one), and its text, lines or image."""

    title: str
    text: str
    lines: tuple[str, ...] = ()
    image: str = ""


@dataclass(frozen=True, slots=True)
class Card:
    """A label to choose: the key that chooses it, what is stored, what is read, and what it means."""

    key: str
    value: str
    title: str
    gloss: str


def parts_of(task: Task, inputs: Mapping[str, Any]) -> list[ItemPart]:
    """Return what an item consists of; options that are the labels to choose from are left to the cards."""
    kind = kind_of(task)
    chosen_from = None if shows_answer(task) else kind.form(task).answer.of
    fields = [field for field in kind.form(task).inputs if inputs.get(field.name) not in (None, "", [])]
    fields = [field for field in fields if field.name != chosen_from]
    return [_part(field, inputs, alone=len(fields) == 1) for field in fields]


def item_text(task: Task, inputs: Mapping[str, Any]) -> str:
    """Return an item in one line, for lists."""
    return " · ".join(part.text or ", ".join(part.lines) for part in parts_of(task, inputs))


def _part(field: FormField, inputs: Mapping[str, Any], *, alone: bool) -> ItemPart:
    value = inputs[field.name]
    title = "" if alone else field.title
    if field.widget == "image":
        return ItemPart(title, image_name(str(value)), image=str(value))
    if field.widget == "tokens" and isinstance(value, list):
        return ItemPart(title, " ".join(map(str, value)))
    if field.widget == "token" and isinstance(value, int):
        words = inputs.get(field.of or "")
        return ItemPart(title, str(words[value]) if isinstance(words, list) and value < len(words) else str(value))
    if isinstance(value, list):
        return ItemPart(title, "", tuple(shown(one) for one in value))
    return ItemPart(title, shown(value))


def cards_of(labels: Sequence[Label], language: str) -> list[Card]:
    """Return labels with the keys that choose them, and what they mean in *language*.

    An option's number means nothing to people, its text does.
    """
    cards = []
    for number, label in enumerate(labels, 1):
        meaning = label.gloss_in(language)
        is_option = label.name.isdecimal() and bool(meaning)
        title, gloss = (meaning, "") if is_option else (label.name, meaning)
        cards.append(Card(str(number % 10) if number <= 10 else "", label.name, title, gloss))
    return cards


def answer_of(task: Task, inputs: Mapping[str, Any], answer: Any) -> str:
    """Write the answer that is judged; empty where judges give their own."""
    return "" if answer is None else answer_text(task, inputs, answer)
