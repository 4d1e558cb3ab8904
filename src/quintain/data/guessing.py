"""What a file is probably meant to be: which column is which input, which kind of task, which value which label.

Nothing here is decided: whoever imports sees each guess and may change it. What cannot be told is left open.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from quintain.core.task import Task, normalise_label
from quintain.data.first_look import ColumnLook, Content, FileLook
from quintain.tasks.contract import KINDS, kind_of

# What others call our inputs and answers, in the order in which they are tried.
SYNONYMS: Mapping[str, tuple[str, ...]] = {
    "text": ("review", "sentence", "comment", "content", "body", "message", "tweet", "post", "reviewtext", "utterance"),
    "premise": ("sentence1", "text1", "text_a", "context"),
    "hypothesis": ("sentence2", "text2", "text_b", "statement"),
    "passage": ("context", "paragraph", "article", "document", "text"),
    "question": ("query",),
    "options": ("choices", "candidates", "endings"),
    "candidates": ("options", "choices"),
    "source": ("document", "article", "text", "input", "question", "prompt"),
    "answer": (
        *("label", "gold_label", "answers", "gold", "target", "class", "category", "sentiment", "polarity"),
        *("stars", "rating", "overall", "score", "output", "reference", "summary", "translation"),
    ),
    "tags": ("tag",),
}
PAIRS = (("premise", "hypothesis"), ("sentence1", "sentence2"), ("text1", "text2"), ("text_a", "text_b"))
OF_STARS = {1: "negative", 2: "negative", 3: "neutral", 4: "positive", 5: "positive"}


@dataclass(frozen=True, slots=True)
class TaskGuess:
    """A kind of task that fits a file, and the labels of its answers by their value there."""

    kind: str
    labels: Mapping[str, str]


def guess_columns(file: FileLook, task: Task) -> dict[str, str]:
    """Return which column of a file holds which input of *task*, its answer and its tags, where that can be told."""
    kind = kind_of(task)
    by_name = {_plain(column.name): column.name for column in reversed(file.columns)}
    chosen: dict[str, str] = {}
    names = [*(field.name for field in kind.fields(task)), "answer", "tags"]
    for names_of in (lambda name: (name,), lambda name: SYNONYMS.get(name, ())):  # exact names go first
        for name in names:
            known = next((by_name[each] for each in names_of(name) if each in by_name), None)
            if name not in chosen and known is not None and known not in chosen.values():
                chosen[name] = known
    _by_content(file, kind.needs_labels, [name for name in names if name != "tags"], chosen)
    return chosen


def guess_task(file: FileLook) -> TaskGuess:
    """Return the kind of task that a file is probably for."""
    kind = _guess_kind(file)
    task = Task("guess", kind, {})
    if KINDS.get(kind).fixed_labels or not KINDS.get(kind).needs_labels:
        return TaskGuess(kind, {})
    answer = file.column(guess_columns(file, task).get("answer", ""))
    return TaskGuess(kind, propose_labels([value for value, _ in answer.values]) if answer else {})


def guess_labels(values: Sequence[str], labels: Sequence[str]) -> dict[str, str]:
    """Return which of a task's *labels* each value of a file means; values that cannot be told are left out.

    >>> guess_labels(["Positive", "so-so"], ["negative", "neutral", "positive"])
    {'Positive': 'positive'}
    >>> guess_labels(["1", "4"], ["negative", "neutral", "positive"])
    {'1': 'negative', '4': 'positive'}
    """
    by_form = {_folded(label): label for label in labels}
    known = {value: by_form[_folded(value)] for value in values if _folded(value) in by_form}
    rest = [value for value in values if value not in known]
    stars = {value: OF_STARS.get(_whole(value), "") for value in rest}
    if {_folded(label) for label in labels} & {"positive", "negative"} and all(stars.values()):
        known |= {value: by_form[label] for value, label in stars.items() if label in by_form}
    return known


def propose_labels(values: Sequence[str]) -> dict[str, str]:
    """Return the label that each value of a file could be called in a new task: stars by what they say of a text.

    >>> propose_labels(["1", "3", "5", "4", "2"])
    {'1': 'negative', '3': 'neutral', '5': 'positive', '4': 'positive', '2': 'negative'}
    >>> propose_labels(["Praise", "praise"])
    {'Praise': 'Praise', 'praise': 'Praise'}
    """
    numbers = {_whole(value) for value in values}
    if len(numbers) >= 4 and numbers <= set(OF_STARS):
        return {value: OF_STARS[_whole(value)] for value in values}
    names: dict[str, str] = {}  # by how they are read: the spelling that comes first is the most frequent
    for value in values:
        names.setdefault(_folded(_whole_text(value)), _whole_text(value))
    return {value: names[_folded(_whole_text(value))] for value in values}


def _guess_kind(file: FileLook) -> str:
    names = {_plain(column.name): column for column in file.columns}
    answer = next((names[name] for name in ("answer", *SYNONYMS["answer"]) if name in names), None)
    passage = names.keys() & {"passage", "context", "paragraph", "article", "document"}
    if passage and "question" in names:
        if names.keys() & {"options", "choices", "endings"}:
            return "multiple-choice"
        return "yes-no" if answer and _is_yes_no(answer) else "extractive-qa"
    if any(first in names and second in names for first, second in PAIRS):
        return "pair-classification"
    texts = [column for column in file.columns if column.content is Content.TEXT]
    classes = [column for column in file.columns if column.content is Content.VALUE and column.distinct > 1]
    if len(texts) > 1 and not classes:
        return "free-text"
    return "text-classification"


def _by_content(file: FileLook, labelled: bool, names: Iterable[str], chosen: dict[str, str]) -> None:
    """Fill what no name tells: the one text that is left with the longest texts, the answer with the fewest values."""
    missing = [name for name in names if name not in chosen]
    if "answer" in missing and labelled:
        columns = [column for column in _free(file, chosen) if column.content is Content.VALUE and column.distinct > 1]
        if columns:
            chosen["answer"] = min(columns, key=lambda column: column.distinct).name
    inputs = [name for name in missing if name != "answer"]
    if len(inputs) == 1:
        texts = [column for column in _free(file, chosen) if column.content is Content.TEXT]
        if texts:
            chosen[inputs[0]] = max(texts, key=lambda column: column.length).name


def _free(file: FileLook, chosen: Mapping[str, str]) -> list[ColumnLook]:
    return [column for column in file.columns if column.name not in chosen.values()]


def _is_yes_no(column: ColumnLook) -> bool:
    return 0 < len(column.values) <= 2 and {_folded(value) for value, _ in column.values} <= {
        *("yes", "no", "true", "false"),
        *("0", "1"),
    }


def _plain(name: str) -> str:
    return name.strip().lower().replace(" ", "_").replace("-", "_")


def _folded(value: str) -> str:
    return normalise_label(value.strip()).casefold()


def _whole(value: str) -> int:
    """Return the star that a value is, `4` or `4.0`; 0 where it is none."""
    text = _whole_text(value)
    return int(text) if text.isascii() and text.isdecimal() and len(text) < 3 else 0


def _whole_text(value: str) -> str:
    text = value.strip()
    head, point, tail = text.partition(".")
    return head if point and head.isdecimal() and tail and not tail.strip("0") else text
