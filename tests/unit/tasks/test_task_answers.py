"""What models return, kind by kind: what is accepted, what is refused and why, and when a model is fooled."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from quintain.core.errors import BadInput
from quintain.core.task import Label, Task
from quintain.tasks.contract import kind_of
from quintain.tasks.pair_classification import read_marks

LABELS = ("negative", "neutral", "positive")
NAN = float("nan")


def make(kind: str, labels: tuple[str, ...] = (), **options: Any) -> Task:
    return Task("t", kind, {"en": "T"}, tuple(Label(name) for name in labels), (Label("mixed"),), options=options)


def parse(
    kind: str, raw: Any, inputs: dict[str, Any] | None = None, labels: tuple[str, ...] = (), **options: Any
) -> Any:
    task = make(kind, labels, **options)
    return kind_of(task).parse_answer(task, inputs or kind_of(task).example.inputs, raw)


@pytest.mark.parametrize(
    "raw",
    [
        "neutral",
        np.str_("neutral"),
        {"negative": 0.2, "neutral": 0.7, "positive": 0.1},
        {"negative": np.float32(0.2), "neutral": np.float32(0.8)},
        {"label": "neutral"},
        {"label": "neutral", "probabilities": {"positive": 0.9, "neutral": 0.1}},
        {"label": "neutral", "score": 0.9},
        [{"label": "negative", "score": 0.3}, {"label": "neutral", "score": 0.7}],
    ],
)
def test_labels_are_read(raw: Any) -> None:
    """A label comes alone, with probabilities, or as the most probable one."""
    assert parse("text-classification", raw, labels=LABELS).answer == "neutral"


def test_probabilities_are_completed_and_scaled() -> None:
    """Labels that are left out have probability 0, and rounding is mended."""
    prediction = parse("text-classification", {"negative": 0.33, "positive": 0.66}, labels=LABELS)
    assert prediction.probabilities == pytest.approx({"negative": 1 / 3, "neutral": 0, "positive": 2 / 3})


@pytest.mark.parametrize(
    ("raw", "reason"),
    [
        ("postive", "Did you mean 'positive'"),
        ("mixed", "not one of the labels"),
        (None, "neither a label nor probabilities"),
        (3, "neither a label nor probabilities"),
        ([], "neither a label nor probabilities"),
        ([{"label": ["positive"], "score": 1.0}], "neither a label nor probabilities"),
        ({}, "sum to 0"),
        ({"positive": NAN}, "not a finite number"),
        ({"positive": float("inf")}, "not a finite number"),
        ({"positive": -0.5, "negative": 1.5}, "not between 0 and 1"),
        ({"positive": 0.5, "negative": 0.2}, "sum to 0.7"),
        ({"positive": "high"}, "not a number"),
        ({"positive": True}, "not a number"),
        ({"good": 1.0}, "probability for 'good'"),
        ({"label": "neutral", "probs": {}}, "unknown key 'probs'"),
    ],
)
def test_bad_labels_are_refused(raw: Any, reason: str) -> None:
    """Each wrong answer of a classifier is refused by what is wrong with it."""
    with pytest.raises(BadInput, match=reason):
        parse("text-classification", raw, labels=LABELS)


def test_truth_values_are_labels_of_two_valued_kinds() -> None:
    """Models may say true and false for yes/no questions and for statements about images."""
    assert parse("yes-no", True, labels=("yes", "no")).answer == "yes"
    assert parse("image-pair", False, labels=("true", "false")).answer == "false"


PASSAGE = {"passage": "The mill was built in 1802.", "question": "When?"}


@pytest.mark.parametrize(
    ("raw", "answer"),
    [
        ("1802", {"text": "1802", "start": None}),
        ({"text": "1802", "start": 22}, {"text": "1802", "start": 22}),
        ({"start": 22, "end": 26}, {"text": "1802", "start": 22}),
        ({"answer": "1802", "start": 22, "end": 26, "score": 0.9}, {"text": "1802", "start": 22}),
        ("", {"text": "", "start": None}),
        (None, {"text": "", "start": None}),
        ({"text": ""}, {"text": "", "start": None}),
        ("in the year 1802", {"text": "in the year 1802", "start": None}),
    ],
)
def test_spans_are_read(raw: Any, answer: dict[str, Any]) -> None:
    """A span comes as a text, with its start, or as two offsets; nothing means no answer."""
    assert parse("extractive-qa", raw, PASSAGE).answer == answer


@pytest.mark.parametrize(
    ("raw", "reason"),
    [
        ({"text": "1802", "start": 3}, "does not start at character 3"),
        ({"text": "1802", "start": -4}, "does not start at character -4"),
        ({"start": 5, "end": 99}, "out of range"),
        ({"text": "1802", "start": 2.5}, "not a whole number"),
        ({"start": 5}, "has no text"),
        (["1802"], "is not a span"),
        ({"text": "1802", "begin": 1}, "unknown key 'begin'"),
    ],
)
def test_bad_spans_are_refused(raw: Any, reason: str) -> None:
    """A span that contradicts its passage is refused."""
    with pytest.raises(BadInput, match=reason):
        parse("extractive-qa", raw, PASSAGE)


def test_token_f1_decides_for_spans() -> None:
    """A model is fooled below the threshold against every right answer, and not at it."""
    task = make("extractive-qa")
    kind = kind_of(task)
    gold = [{"text": "old stone mill", "start": 0}, {"text": "mill", "start": 10}]
    assert not kind.fooled(task, gold, {"text": "the mill", "start": None})
    assert kind.fooled(task, gold, {"text": "bakery", "start": None})
    at = [{"text": "one two three four", "start": 0}]
    assert not kind.fooled(task, at, {"text": "one", "start": None})  # F1 is 0.4
    strict = make("extractive-qa", f1_threshold=0.41)
    assert kind.fooled(strict, at, {"text": "one", "start": None})


def test_unanswerable_questions() -> None:
    """Where it is allowed, no span is the answer, and only no answer meets it."""
    open_task, task = make("extractive-qa"), make("extractive-qa", unanswerable=True)
    kind = kind_of(task)
    assert kind.check(task, PASSAGE, []) == []
    assert [fault.reason for fault in kind.check(open_task, PASSAGE, [])] == ["has no span"]
    assert not kind.fooled(task, [], {"text": "", "start": None})
    assert kind.fooled(task, [], {"text": "1802", "start": None})


OPTIONS = {"passage": "p", "question": "q", "options": ["red", "7", "blue"]}


@pytest.mark.parametrize(
    ("raw", "answer"),
    [
        (2, 2),
        (np.int64(2), 2),
        ("blue", 2),
        ("2", 2),
        ("7", 1),
        ("C", 2),
        ({"choice": "blue"}, 2),
        ({"choice": 2, "probabilities": [0.5, 0.25, 0.25]}, 2),
        ([0.1, 0.2, 0.7], 2),
        ({"0": 0.1, "2": 0.9}, 2),
        ({0: 0.1, 2: 0.9}, 2),
        ({"red": 0.1, "blue": 0.9}, 2),
    ],
)
def test_choices_are_read(raw: Any, answer: int) -> None:
    """An option is named by number, text or letter, or is the most probable one."""
    assert parse("multiple-choice", raw, OPTIONS).answer == answer


@pytest.mark.parametrize(
    ("raw", "reason"),
    [
        (3, "out of range"),
        (-1, "out of range"),
        (True, "neither a number nor an entry"),
        (1.0, "neither a number nor an entry"),
        ("green", "neither a number nor an entry"),
        ("Z", "neither a number nor an entry"),
        ([0.5, 0.5], "not a probability for each"),
        ([0.5, 0.5, 0.5], "sum to 1.5"),
    ],
)
def test_bad_choices_are_refused(raw: Any, reason: str) -> None:
    """A choice that is none is refused."""
    with pytest.raises(BadInput, match=reason):
        parse("multiple-choice", raw, OPTIONS)


CANDIDATES = {"passage": "p", "question": "q", "candidates": ["a day", "a year", "an hour"]}


@pytest.mark.parametrize(
    ("raw", "answer"),
    [
        ([2, 0], [0, 2]),
        (["an hour", "a day"], [0, 2]),
        ([True, False, True], [0, 2]),
        ({"choices": [2, "a day"]}, [0, 2]),
        ({"0": 0.5, "1": 0.49, "2": 0.9}, [0, 2]),
        ({"a day": 1.0, "an hour": 0.8}, [0, 2]),
        ([], []),
    ],
)
def test_several_choices_are_read(raw: Any, answer: list[int]) -> None:
    """Candidates are named by number or text, ticked one by one, or given probabilities; order does not matter."""
    assert parse("several-answers", raw, CANDIDATES).answer == answer


@pytest.mark.parametrize(
    ("raw", "reason"),
    [
        ([0, 0], "twice"),
        ([3], "out of range"),
        ("a day", "not a list"),
        ({"0": 1.5}, "not between 0 and 1"),
    ],
)
def test_bad_several_choices_are_refused(raw: Any, reason: str) -> None:
    """A set of candidates that is none is refused."""
    with pytest.raises(BadInput, match=reason):
        parse("several-answers", raw, CANDIDATES)


def test_sets_are_compared_as_sets() -> None:
    """One candidate too many or too few fools, another order does not."""
    task = make("several-answers")
    kind = kind_of(task)
    assert not kind.fooled(task, [0, 2], [2, 0])
    assert kind.fooled(task, [0, 2], [0])


TOKENS = {"tokens": ["the", "man", "saw", "the", "dog", "with", "glasses"], "preposition": 5}


def test_tokens_are_read() -> None:
    """A token is named by its number or by a word that occurs once."""
    assert parse("attachment", 2, TOKENS).answer == 2
    assert parse("attachment", "saw", TOKENS).answer == 2
    assert parse("attachment", {"token": 2, "probabilities": {"2": 0.6, "4": 0.4}}, TOKENS).answer == 2
    assert parse("attachment", {"2": 0.6, "4": 0.4}, TOKENS).answer == 2
    with pytest.raises(BadInput, match="more than once"):
        parse("attachment", "the", TOKENS)
    with pytest.raises(BadInput, match="out of range"):
        parse("attachment", 7, TOKENS)


def test_free_text_is_judged_by_the_chosen_metric() -> None:
    """Near the reference is not fooled and far from it is, by each metric; else the worker decides."""
    right, wrong = "the train is late again today", "a fish swims"
    for metric in ("bleu", "chrf", "rouge_l"):
        task = make("free-text", fooled_by=metric, threshold=0.5)
        kind = kind_of(task)
        assert not kind.asks_worker(task)
        assert not kind.fooled(task, ["nothing like it", right], right)
        assert kind.fooled(task, [right], wrong)
    task = make("free-text")
    assert kind_of(task).asks_worker(task)
    assert kind_of(task).fooled(task, right, wrong)
    assert not kind_of(task).fooled(task, right, "The train is late again today.")


def test_marks_are_taken_out() -> None:
    """The two events are found where they stand in the text without marks, in either order."""
    marked = read_marks("He <e2>slept</e2> after she <e1>left</e1>.")
    assert marked.text == "He slept after she left."
    assert marked.text[slice(*marked.e1)] == "left"
    assert marked.text[slice(*marked.e2)] == "slept"
    with pytest.raises(BadInput, match="does not mark two events"):
        read_marks("He <e1>slept</e1>.")


@pytest.mark.parametrize(
    "text",
    [
        "He <e1>left</e1>.",
        "He <e1>left</e1> and <e2></e2>.",
        "He <e1>left and <e2>slept</e2></e1>.",
        "He <e1>left</e1>, <e1>ran</e1> and <e2>slept</e2>.",
        "He </e1>left<e1> and <e2>slept</e2>.",
    ],
)
def test_bad_marks_are_faults(text: str) -> None:
    """Marks that are missing, empty, nested, doubled or turned round are faults of the text."""
    task = make("pair-classification", ("before", "after"), marked=True)
    faults = kind_of(task).check(task, {"text": text}, "before")
    assert {fault.field for fault in faults} == {"text"}
    assert all("does not mark one event" in fault.reason for fault in faults)
