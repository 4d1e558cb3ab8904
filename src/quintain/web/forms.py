"""From what a person typed to the inputs of an example, and from a model's answer to what a person reads."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from quintain.core.errors import QuintainError
from quintain.core.example import Prediction
from quintain.core.task import Task
from quintain.tasks.contract import Form, FormField, kind_of
from quintain.tasks.positions import bare_number, named_word
from quintain.web.rendering import shown

PREFIX = "in-"  # before the name of every input, so that none clashes with a control of the page
MOST_BARS = 12


@dataclass(frozen=True, slots=True)
class Spoken:
    """What one model said, ready to be shown: its answer, a bar per probability, its span within the passage.

    *moved* has, by field, pieces of the text with a class that says how far and which way each moved the model; *note*
    is what people should know of the model when they read its answer.
    """

    name: str
    version: int
    text: str = ""
    bars: tuple[tuple[str, float, bool], ...] = ()
    passage: tuple[str, str, str] | None = None
    error: QuintainError | None = None
    busy: bool = False
    moved: tuple[tuple[str, list[tuple[str, str, str]]], ...] | None = None
    note: str = ""


def typed(form: Form, text_of: Callable[[str], str]) -> dict[str, str]:
    """Return what was typed into each input, as it stands."""
    return {field.name: text_of(PREFIX + field.name) for field in form.inputs}


def inputs_of(task: Task, values: Mapping[str, str]) -> dict[str, Any]:
    """Turn what was typed into inputs of the shape that the task's fields have; fields left empty are left out."""
    form = kind_of(task).form(task)
    inputs = {field.name: _parse(field, values) for field in form.inputs}
    return {name: value for name, value in inputs.items() if value not in ("", [], None)}


def _parse(field: FormField, values: Mapping[str, str]) -> Any:
    raw = values.get(field.name, "").replace("\r\n", "\n")
    match field.widget:
        case "lines":
            return [line.strip() for line in raw.splitlines() if line.strip()]
        case "tokens":
            return raw.split()
        case "token":
            return _position(raw.strip(), values.get(field.of or "", "").split())
        case _:
            return raw.strip()


def _position(raw: str, tokens: Sequence[str]) -> Any:
    """Return the number of a word that was typed as a number, as itself or as both; unclear ones as they stand."""
    number = named_word(tokens, raw)
    number = bare_number(raw) if number is None else number
    return raw or None if number is None else number


def spoken(task: Task, name: str, version: int, inputs: Mapping[str, Any], prediction: Prediction) -> Spoken:
    """Make a model's prediction readable: numbers of options and words become what they stand for."""
    answer = kind_of(task).form(task).answer
    source = inputs.get(answer.of) if answer.of else None
    names = list(source) if isinstance(source, list) else None
    chosen = _chosen(prediction.answer)
    pairs = sorted((prediction.probabilities or {}).items(), key=lambda pair: -pair[1])
    bars = tuple((_name(key, names), min(1.0, max(0.0, value)), key in chosen) for key, value in pairs[:MOST_BARS])
    text = answer_text(task, inputs, prediction.answer)
    return Spoken(name, version, text, bars, _passage(source, prediction.answer))


def answer_text(task: Task, inputs: Mapping[str, Any], answer: Any) -> str:
    """Write an answer for people: numbers of options and words become what they stand for."""
    of = kind_of(task).form(task).answer.of
    source = inputs.get(of) if of else None
    if isinstance(source, list) and answer is not None:
        if isinstance(answer, int) and kind_of(task).form(task).answer.widget == "token" and 0 <= answer < len(source):
            return word_among(source, answer)
        return " · ".join(_name(key, source) for key in _chosen(answer)) or "–"
    return shown(answer)


def word_among(words: Sequence[Any], number: int) -> str:
    """Write a word for people; one that stands more than once between its neighbours.

    >>> word_among(["of", "tea", "of", "Mira"], 1), word_among(["of", "tea", "of", "Mira"], 2)
    ('tea', '… tea [of] Mira')
    """
    word = str(words[number])
    if sum(str(one) == word for one in words) == 1:
        return word
    left, right = (
        [str(word) for word in words[max(0, number - 1) : number]],
        [str(word) for word in words[number + 1 :][:1]],
    )
    dots = ["…"] if number > 1 else [], ["…"] if number + 2 < len(words) else []
    return " ".join([*dots[0], *left, f"[{word}]", *right, *dots[1]])


def _chosen(answer: Any) -> list[str]:
    several = answer if isinstance(answer, list) else [answer]
    return [str(one) for one in several if isinstance(one, str | int)]


def _name(key: str, names: list[str] | None) -> str:
    if names is not None and key.isdecimal() and int(key) < len(names):
        return names[int(key)]
    return key


def _passage(source: Any, answer: Any) -> tuple[str, str, str] | None:
    """Cut a passage into what stands before, in and after the span that was answered."""
    span = answer[0] if isinstance(answer, list) and answer else answer
    if not isinstance(source, str) or not isinstance(span, dict) or not span.get("text"):
        return None
    text = span["text"]
    start = span.get("start")
    if start is None or source[start : start + len(text)] != text:
        start = source.find(text)
    if start < 0:
        return None
    return source[:start], text, source[start + len(text) :]
