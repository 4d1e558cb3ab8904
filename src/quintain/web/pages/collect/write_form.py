"""The write page's controls: what a prompt gives, what is typed, which answer is aimed at; and how they are read back.

Names of controls are those of `quintain.web.forms`; the answer's are `answer` and, for a span, `answer-start`.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from quintain.core.example import Answer
from quintain.core.task import Task
from quintain.tasks.contract import Form, FormField, kind_of
from quintain.tasks.positions import bare_number, word_name, words_of
from quintain.web.forms import PREFIX, inputs_of, word_among
from quintain.web.pages.written import shown_input
from quintain.web.visit import Post

PLACE = "place-"  # before the name of a control: which of several places of a word is meant
FEWEST_ROWS = 4
MOST_ROWS = 10
MOST_PLACES = 20
AROUND = 40  # characters that are shown on either side of a place


@dataclass(frozen=True, slots=True)
class Box:
    """One input: given by the prompt, or to be written; *before* is the prompt's text, where it may be edited.

    *rows* are separate lines, where the answer is chosen among them; *word* is what stands at a position.
    """

    field: FormField
    value: str
    before: str | None = None
    given: bool = False
    rows: tuple[str, ...] = ()
    word: str = ""


@dataclass(frozen=True, slots=True)
class TargetBox:
    """The answer that is aimed at: what is chosen or typed, and whether it can be selected in a given text."""

    field: FormField
    chosen: tuple[str, ...] = ()
    text: str = ""
    start: str = ""
    passage: str | None = None
    assigned: bool = False


@dataclass(frozen=True, slots=True)
class SpanPlace:
    """One of several places where a typed span stands, with some of the text around it."""

    start: int
    before: str
    text: str
    after: str


@dataclass(frozen=True, slots=True)
class WordPlace:
    """One of several places of a word: how the form names it, and the word between its neighbours."""

    value: str
    shown: str


@dataclass(frozen=True, slots=True)
class Typed:
    """What a form brought: inputs and target in the shape of the task's kind."""

    inputs: Mapping[str, Any]
    target: Answer


def given_fields(form: Form, prompt: Mapping[str, Any] | None) -> set[str]:
    """Name the inputs that a prompt fixes."""
    return {field.name for field in form.inputs if not field.editable and (prompt or {}).get(field.name) is not None}


def boxes_of(
    task: Task,
    prompt: Mapping[str, Any] | None,
    draft: Mapping[str, Any],
    *,
    started: bool,
    fixed: Collection[str] | None = None,
    beside: bool = False,
) -> tuple[Box, ...]:
    """Lay the inputs out; what was typed last comes before the prompt's own text once anything was *started*.

    What a prompt fixes is the kind's to say, unless *fixed* names it. With *beside*, a prompt that may be edited
    is shown beside its box, which is empty until somebody writes or puts it there.
    """
    form = kind_of(task).form(task)
    fixed_names = given_fields(form, prompt) if fixed is None else set(fixed)
    boxes = []
    for field in form.inputs:
        original = _text(field, (prompt or {}).get(field.name))
        typed = _text(field, draft.get(field.name)) if started else ""
        both = {**(prompt or {}), **draft}
        word = shown_input(field, both) if field.widget == "token" else ""
        if field.name in fixed_names:
            boxes.append(Box(field, original, given=True, word=word))
            continue
        value = typed if started and field.name in draft else original
        if field.widget == "token":
            value = _named(field, both if started else prompt or {}, value)
        given_text = (prompt or {}).get(field.name) is not None and field.widget != "token"
        before = original if given_text else None
        rows = _rows(form.answer, field, value)
        if beside and before and not rows and not (started and field.name in draft):
            value = ""
        boxes.append(Box(field, value, before, rows=rows, word=word))
    return tuple(boxes)


def target_of(task: Task, boxes: Sequence[Box], answer: Answer, assigned: Answer) -> TargetBox:
    """Lay the answer out."""
    field = kind_of(task).form(task).answer
    source = next((box for box in boxes if box.field.name == field.of), None)
    passage = source.value if source is not None and source.given and field.widget == "span" else None
    aim = assigned if assigned is not None else answer
    if field.widget == "span":
        span = aim[0] if isinstance(aim, list) and aim else aim
        span = span if isinstance(span, Mapping) else {"text": span or ""}
        start = "" if span.get("start") is None else str(span["start"])
        return TargetBox(field, text=str(span.get("text") or ""), start=start, passage=passage)
    if isinstance(aim, list) and aim and all(isinstance(one, list) for one in aim):
        aim = aim[0]  # the first of several right answers, as whoever types one would
    if isinstance(aim, list):
        return TargetBox(field, tuple(str(one) for one in aim), "\n".join(str(one) for one in aim))
    text = "" if aim is None else str(aim)
    if field.widget == "token" and isinstance(aim, int) and source is not None:
        text = _word_name(source.value.split(), aim)
    return TargetBox(field, (text,) if text else (), text, assigned=assigned is not None)


def read(
    task: Task, post: Post, prompt: Mapping[str, Any] | None = None, *, fixed: Collection[str] | None = None
) -> Typed:
    """Read the form. What a prompt gives is not in it: *prompt* fills it in here, or the service that knows it does."""
    form = kind_of(task).form(task)
    names = given_fields(form, prompt) if fixed is None else set(fixed)
    fixed_values = {name: value for name, value in (prompt or {}).items() if name in names}
    values, filled = {}, list[int]()
    for field in form.inputs:
        lines = [str(line) for line in post.form.getlist(PREFIX + field.name) if isinstance(line, str)]
        if _in_rows(form.answer, field):
            filled = [place for place, line in enumerate(lines) if line.strip()]
        values[field.name] = "\n".join(lines)
    inputs = inputs_of(task, values) | fixed_values
    for field in form.inputs:
        raw = values[field.name].strip()
        if field.widget == "token" and field.name not in fixed_values and raw:
            inputs[field.name] = _pointed(field, raw, prompt or {}, post)
    return Typed(inputs, _read_target(task, inputs, filled, post))


def _read_target(task: Task, inputs: Mapping[str, Any], filled: Sequence[int], post: Post) -> Answer:
    kind = kind_of(task)
    field = kind.form(task).answer
    text = post.text("answer").replace("\r\n", "\n").strip()
    target: Answer = kind.answers.typed(text)
    match field.widget:
        case "options":
            target = _option_number(text, filled)
        case "checkboxes":
            target = sorted(at for chosen in post.texts("answer") if (at := _option_number(chosen, filled)) is not None)
        case "span" if text:
            target = _span(text, post)
        case "span" if post.flag("no-answer") and not field.required:
            target = []
        case "token":
            target = _chosen_word(text, post.text(f"{PLACE}answer")) or None
            target = target if bare_number(target) is None else bare_number(target)
    return target


def _pointed(field: FormField, raw: str, prompt: Mapping[str, Any], post: Post) -> Any:
    """Return what was said of a word: its number, its name, or that of the prompt, where nobody said another."""
    original = prompt.get(field.name)
    if isinstance(original, int) and raw == _word_name(words_of(prompt.get(field.of or "")), original):
        return original
    chosen = _chosen_word(raw, post.text(PLACE + field.name))
    number = bare_number(chosen)
    return chosen if number is None else number


def _chosen_word(text: str, numbered: str) -> str:
    """Return the one of several places of a word that was chosen (`3:with`), where it is that word's."""
    word = numbered.partition(":")[2]
    return numbered if word and word in {text, text.partition(":")[2]} else text


def _word_name(words: Sequence[str], number: int) -> str:
    return word_name(words, number) if 0 <= number < len(words) else str(number)


def _named(field: FormField, inputs: Mapping[str, Any], value: str) -> str:
    """Name the word that a number stands for; what is no number, or no word's, stays as it is."""
    number = inputs.get(field.name)
    return _word_name(words_of(inputs.get(field.of or "")), number) if isinstance(number, int) else value


def _option_number(text: str, filled: Sequence[int]) -> int | None:
    """Return the number of an option once empty rows are left out; one that was marked and left empty has none."""
    row = int(text) if text.isdecimal() and len(text) < 6 else -1
    return filled.index(row) if row in filled else None


def _span(text: str, post: Post) -> dict[str, Any]:
    """Return a span with its start as selected, or as chosen among several places; one that is alone is found later."""
    start = post.text("answer-start")
    if start.removeprefix("-").isdecimal() and len(start) < 10:
        return {"text": text, "start": int(start)}
    chosen_start, _, chosen = post.text("answer-place").partition(":")
    if chosen_start.isdecimal() and len(chosen_start) < 10 and chosen.lower() == text.lower():
        return {"text": chosen, "start": int(chosen_start)}
    return {"text": text, "start": None}


def word_places(task: Task, typed: Typed) -> dict[str, list[WordPlace]]:
    """List, by control, the places of words that were named and stand more than once, to ask which one is meant."""
    form = kind_of(task).form(task)
    raws = [(field, typed.inputs.get(field.name)) for field in form.inputs] + [(form.answer, typed.target)]
    by_control = {}
    for field, raw in raws:
        words = words_of(typed.inputs.get(field.of or ""))
        numbers = [at for at, word in enumerate(words) if field.widget == "token" and word == raw]
        if len(numbers) > 1:
            by_control[field.name] = [WordPlace(f"{at}:{raw}", word_among(words, at)) for at in numbers[:MOST_PLACES]]
    return by_control


def places_of(task: Task, inputs: Mapping[str, Any], target: Answer) -> list[SpanPlace]:
    """List the places where a span that was typed without one stands, to ask which one is meant."""
    field = kind_of(task).form(task).answer
    source = inputs.get(field.of or "")
    if field.widget != "span" or not isinstance(source, str) or not isinstance(target, Mapping):
        return []
    text = str(target.get("text") or "")
    if target.get("start") is not None or not text:
        return []
    places = []
    for start in kind_of(task).places(inputs, text)[:MOST_PLACES]:
        end = start + len(text)
        before, after = source[max(0, start - AROUND) : start], source[end : end + AROUND]
        more = ("…" if start > AROUND else "", "…" if end + AROUND < len(source) else "")
        places.append(SpanPlace(start, more[0] + before, source[start:end], after + more[1]))
    return places


def _text(field: FormField, value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, list | tuple):
        return (" " if field.widget == "tokens" else "\n").join(str(one) for one in value)
    return str(value)


def _in_rows(answer: FormField, field: FormField) -> bool:
    return answer.of == field.name and answer.widget in {"options", "checkboxes"}


def _rows(answer: FormField, field: FormField, value: str) -> tuple[str, ...]:
    if not _in_rows(answer, field):
        return ()
    lines = value.splitlines()
    least = min(MOST_ROWS, max(FEWEST_ROWS, len(lines) + 1 if len(lines) >= FEWEST_ROWS else 0))
    return tuple(lines + [""] * (max(least, len(lines)) - len(lines)))
