"""Answers that are places in their example are compared as places: an edit before them changes nothing."""

from __future__ import annotations

from typing import Any

import pytest

from quintain.core.example import Example
from quintain.core.task import Task
from quintain.tasks.contract import kind_of
from quintain.tasks.definition import parse_task
from quintain.tasks.spans import SpanKind


def task_of(kind: str) -> Task:
    """Give a task of a kind."""
    return parse_task(f'name = "t"\nkind = "{kind}"\ntitle = "T"\n')


@pytest.mark.parametrize(
    ("kind", "before", "after", "same"),
    [
        ("attachment", (["He", "ate", "pizza"], 1), (["So", "he", "ate", "pizza"], 2), True),
        ("attachment", (["He", "ate", "pizza"], 1), (["So", "he", "ate", "pizza"], 1), False),
        ("attachment", (["He", "ate", "pizza"], 1), (["He", "had", "pizza"], 1), False),
        ("multiple-choice", (["tea", "milk"], 0), (["rum", "tea", "milk"], 1), True),
        ("multiple-choice", (["tea", "milk"], 0), (["rum", "tea", "milk"], 0), False),
        ("several-answers", (["tea", "milk"], [0, 1]), (["rum", "tea", "milk"], [1, 2]), True),
        ("several-answers", (["tea", "milk"], [0]), (["tea"], [0]), True),
        ("extractive-qa", ("Ada had tea.", "tea"), ("Then Ada had tea.", "tea"), True),
        ("extractive-qa", ("Ada had tea.", "tea"), ("Ada had milk.", "milk"), False),
    ],
)
def test_the_same_answer_of_an_edit(kind: str, before: tuple[Any, Any], after: tuple[Any, Any], same: bool) -> None:
    """Numbers move with what they count; texts are compared as texts; what was exchanged is another answer."""
    field = {"attachment": "tokens", "multiple-choice": "options", "several-answers": "candidates"}.get(kind, "passage")
    examples = [Example({field: value}, answer) for value, answer in (before, after)]
    assert kind_of(task_of(kind)).same_answer(task_of(kind), *examples) is same


@pytest.mark.parametrize(
    ("kind", "source", "text", "places"),
    [
        ("extractive-qa", "The steam rose, so the tea was hot.", "tea", [23]),
        ("extractive-qa", "Ada had tea, and Tom had tea with milk.", "tea", [8, 25]),
        ("extractive-qa", "Teapots and steam.", "tea", [13]),
        ("extractive-qa", "Whose? “Ada’s”, they said.", "“Ada’s”", [7]),
        ("extractive-qa", "我喝茶，他也喝茶。", "茶", [2, 7]),
        ("qa-srl", "In the spring , He left the town .", "he", [16]),
        ("qa-srl", "Nobody saw the HENHOUSE .", "he", [12]),
        ("extractive-qa", "Nothing of the sort.", "tea", []),
    ],
)
def test_a_piece_of_another_word_is_no_second_place(kind: str, source: str, text: str, places: list[int]) -> None:
    """Where a text stands as words of its own it stands; within other words it only counts where it is nowhere else."""
    found = kind_of(task_of(kind))
    assert isinstance(found, SpanKind)
    assert found.places({found.source: source}, text) == places


def test_a_perturbed_or_misshapen_input_breaks_nothing() -> None:
    """What is no list of words is left to the checks of the kind."""
    task = task_of("attachment")
    kind = kind_of(task)
    for tokens in (None, 5, "He ate", []):
        inputs, answer, faults = kind.resolved(
            task, {"tokens": tokens, "preposition": "with"}, "ate", {"tokens": ["He"]}
        )
        assert (dict(inputs), answer, faults) == ({"tokens": tokens, "preposition": "with"}, "ate", [])
        assert kind.check(task, inputs, answer)
