"""Questions over passages: what an answer may look like, and when a model is fooled."""

from __future__ import annotations

from typing import Any

import pytest

from quintain.core.errors import BadInput
from quintain.core.task import Task
from quintain.tasks.answer_kinds.contract import answers_of
from quintain.tasks.contract import kind_of
from quintain.tasks.definition import parse_task

TASK = Task("reading", "discrete-qa", {"en": "Reading"})
INPUTS = {"passage": "The Rams scored twice.", "question": "Who scored?"}


@pytest.mark.parametrize(
    ("given", "stored"),
    [
        ("Rams", [["Rams"]]),
        (3, [["3"]]),
        (2.5, [["2.5"]]),
        (["Rams", "Bears"], [["Rams", "Bears"]]),
        ([["Rams"], ["the Rams"]], [["Rams"], ["the Rams"]]),
        ([{"number": "3", "spans": [], "date": {"day": "", "month": "", "year": ""}}, "three"], [["3"], ["three"]]),
        ({"number": "", "spans": ["a", "b"]}, [["a", "b"]]),
        ({"number": "", "spans": [], "date": {"day": "8", "month": "March", "year": "1976"}}, [["8 March 1976"]]),
    ],
)
def test_golds(given: Any, stored: list[list[str]]) -> None:
    """A text, a number, spans, DROP's own objects: each is stored as the list of right answers."""
    answers = answers_of("discrete")

    assert answers.fault(given) is None
    assert answers.stored(given) == stored
    assert kind_of(TASK).check(TASK, INPUTS, given) == []


@pytest.mark.parametrize(
    "given", [True, {"no": 1}, [[["deep"]]], {"date": {"day": "", "month": "", "year": ""}}, [None]]
)
def test_what_is_no_answer(given: Any) -> None:
    """Anything else is said to be none."""
    assert "answer" in {fault.field for fault in kind_of(TASK).check(TASK, INPUTS, given)}
    with pytest.raises(BadInput):
        kind_of(TASK).parse_answer(TASK, INPUTS, given)


@pytest.mark.parametrize(
    ("given", "reason"), [([], "has no text"), ([[]], "has no text"), (["a", " "], "an empty text")]
)
def test_empty_golds(given: Any, reason: str) -> None:
    """A gold answer has a text, and something in each."""
    (fault,) = kind_of(TASK).check(TASK, INPUTS, given)

    assert reason in fault.reason


def test_fooled_by_drops_f1() -> None:
    """The model is fooled below the threshold, against the nearest right answer."""
    kind = kind_of(TASK)

    assert not kind.fooled(TASK, [["Rams", "Bears"]], ["Rams"])
    assert kind.fooled(TASK, [["Rams", "Bears", "Lions"]], ["Rams"])
    assert kind.fooled(TASK, "3", ["4"])
    assert not kind.fooled(TASK, ["x"], kind.parse_answer(TASK, INPUTS, {"text": "x", "start": 1}).answer)


def test_a_task_names_its_passages() -> None:
    """ROPES has two; each is an input of its own."""
    task = parse_task('name = "r"\nkind = "discrete-qa"\n[options]\npassages = ["background", "situation"]')

    assert [field.name for field in kind_of(task).fields(task)] == ["background", "situation", "question"]
    assert {fault.field for fault in kind_of(task).check(task, INPUTS)} == {"passage", "background", "situation"}


@pytest.mark.parametrize("passages", ["[]", '["question"]', '["a", "a"]', '"passage"', '["Bad Name"]', '["meta"]'])
def test_passages_that_cannot_be(passages: str) -> None:
    """Names that are taken, twice there or no names are refused."""
    with pytest.raises(BadInput, match="passages"):
        parse_task(f'name = "r"\nkind = "discrete-qa"\n[options]\npassages = {passages}')


def test_what_is_typed_has_one_span_to_a_line() -> None:
    """Empty lines are no spans, and nothing typed is no answer."""
    answers = answers_of("discrete")

    assert answers.typed("Rams\n\n Bears ") == ["Rams", "Bears"]
    assert answers.typed("") is None
    assert answers.texts([["Rams", "Bears"], ["3"]]) == ["Rams Bears", "3"]
