"""Texts of ours: finished English that remembers its template and its values."""

from __future__ import annotations

import copy
import json
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from quintain.core.errors import BadInput, Conflict, Fault, TooMany
from quintain.core.texts import Text, Word, fill, hint, joined


def test_a_text_is_its_english() -> None:
    """It compares, prints and goes into JSON as the finished string, and knows what it was made of."""
    text = Text("{name} has {n:,} rows.", name="train", n=1200)
    assert text == "train has 1,200 rows."
    assert json.dumps(text) == '"train has 1,200 rows."'
    assert (text.template, text.values) == ("{name} has {n:,} rows.", {"name": "train", "n": 1200})


@given(st.text(max_size=60))
def test_values_are_never_filled_again(value: str) -> None:
    """Braces in a value, or in a text without values, are what they are."""
    assert Text("'{value}' is no name", value=value) == f"'{value}' is no name"
    assert Text("outer: {inner}", inner=Text("'{value}'", value=value)) == f"outer: '{value}'"
    assert Text(value) == value


def test_values_are_plain() -> None:
    """Numbers of other libraries become numbers, what is neither text nor number is written out."""
    text = Text("{n:,} of {shape}, {seen}", n=np.int64(1200), shape=[1, 2], seen=True)
    assert text == "1,200 of [1, 2], True"
    assert {type(value) for value in text.values.values()} == {int, str}


@pytest.mark.parametrize("template", ["{name.__class__}", "{name[0]}", "{0}", "{other}"])
def test_a_template_reaches_nothing_but_its_values(template: str) -> None:
    """An attribute, an entry or a value that was not given is refused, also where a translation asks for it."""
    with pytest.raises(KeyError):
        fill(template, {"name": "ada"})


def test_plurals_choose_by_the_number() -> None:
    """One is said in the singular, none and many in the plural."""
    said = [Text.plural("{n} row is bad.", "{n} rows are bad.", n=n) for n in (0, 1, 2)]
    assert said == ["0 rows are bad.", "1 row is bad.", "2 rows are bad."]


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda one: pickle.loads(pickle.dumps(one))])  # noqa: S301
def test_a_text_can_be_sent_elsewhere(copied: type[Text]) -> None:
    """A copy, as another process gets it, still has its template, its plural and the texts within."""
    text = Text.plural("{n} row: {why}", "{n} rows: {why}", n=2, why=Text("is {what}", what="empty"))
    again = copied(text)
    assert (again, again.template, again.many, again.values) == (text, text.template, text.many, text.values)
    assert again.values["why"].template == "is {what}"


def test_joined_texts_keep_their_parts() -> None:
    """Texts that are put one after the other can still be told apart; hints say what was meant, or what there is."""
    both = joined([Text("a {x}.", x="{1}"), Text("b.")])
    assert both == "a {1}. b."
    assert [part.template for part in both.values.values()] == ["a {x}.", "b."]
    assert hint("titel", ["title", "task"]) == "did you mean 'title'?"
    assert hint("x", ["title", "task"]) == "there are title, task"


def test_an_error_fills_message_remedy_and_page() -> None:
    """All three are templates over the same values; names that an error has for itself are not among them."""
    error = Conflict(
        "{name} is {state}.",
        name="s/1",
        state=Word("open"),
        remedy="Close {name}.",
        page="Close it below.",
        code="open",
    )
    assert (error.message, error.remedy, error.page, error.code) == (
        "s/1 is open.",
        "Close s/1.",
        "Close it below.",
        "open",
    )
    assert str(error) == "s/1 is open. Close s/1."
    assert error.as_dict()["code"] == "open"
    assert TooMany("Again in {n} s.", n=3, retry_after=3).code == "too_many"


def test_a_finished_text_stays_as_it_is() -> None:
    """What is raised again, with its braces, is not filled anew."""
    first = BadInput("The reply {reply} has no answer.", reply="{x}")
    again = BadInput(first.message, remedy=first.remedy)
    assert again.message == "The reply {x} has no answer."
    assert again.message.template == "The reply {reply} has no answer."
    assert Fault(first.message, row=3).reason is first.message


def test_a_fault_has_values_and_places() -> None:
    """The reason is filled; file, row, field and line say where it is. A very long one is cut."""
    fault = Fault(
        "label '{label}' is not one of {known}", label="x{}", known="a, b", file="a.csv", row=2, field="answer"
    )
    assert str(fault) == "a.csv, row 2, field 'answer': label 'x{}' is not one of a, b"
    assert str(fault.at(row=3)) == "a.csv, row 3, field 'answer': label 'x{}' is not one of a, b"
    assert fault.at(row=3).reason is fault.reason
    assert len(Fault("{text}", text="x" * 10_000).reason) < 4_100
