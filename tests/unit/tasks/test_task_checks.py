"""Faults of examples, by what they are told."""

from __future__ import annotations

import time
from typing import Any

import polars as pl
import pytest

from quintain.core.errors import BadInput
from quintain.core.task import Label, Task
from quintain.tasks.contract import KINDS, kind_of

LABELLED = {"text-classification": ("bad", "{good}"), "pair-classification": ("yes", "no")}


def faults(kind: str, answer: Any = None, **changed: Any) -> list[tuple[str | None, str]]:
    """Check the kind's own example with some inputs changed; its own answer where none is given."""
    member = KINDS.get(kind)()
    labels = member.fixed_labels or LABELLED.get(kind, ())
    task = Task("t", kind, {"en": "T"}, tuple(Label(name) for name in labels), (Label("mixed"),))
    inputs = {**member.example.inputs, **changed}
    return [(fault.field, fault.reason) for fault in member.check(task, inputs, answer)]


@pytest.mark.parametrize(
    ("kind", "changed", "answer", "fault"),
    [
        ("text-classification", {"text": ""}, None, ("text", "is empty")),
        ("text-classification", {"text": " \n"}, None, ("text", "is empty")),
        ("text-classification", {"text": None}, None, ("text", "is empty")),
        ("text-classification", {"text": "a\x00b"}, None, ("text", "has a control character")),
        ("text-classification", {"text": 7}, None, ("text", "is a number, not a text")),
        ("text-classification", {"text": ["a"]}, None, ("text", "is a list, not a text")),
        ("text-classification", {"text": "\ud800"}, None, ("text", "is not valid Unicode")),
        (
            "text-classification",
            {"text": "é" * 20_001},
            None,
            ("text", "has 20001 characters; at most 20000 are allowed"),
        ),
        ("text-classification", {}, "god", ("answer", "label 'god' is not one of bad, {good}")),
        (
            "text-classification",
            {},
            "mixed",
            ("answer", "label 'mixed' is for validation only; the labels that score are bad, {good}"),
        ),
        ("text-classification", {}, 1, ("answer", "is a number, not a label")),
        ("text-classification", {"txet": "x"}, None, ("txet", "there is no such field; did you mean 'text'?")),
        ("extractive-qa", {}, "1912", ("answer", "'1912' is not in 'passage'")),
        (
            "extractive-qa",
            {},
            {"text": "1911", "start": 3},
            ("answer", "'1911' does not start at character 3 of 'passage'"),
        ),
        (
            "extractive-qa",
            {},
            {"text": "1911", "start": -5},
            ("answer", "'1911' does not start at character -5 of 'passage'"),
        ),
        ("extractive-qa", {}, [{"text": " "}], ("answer", "has an empty span")),
        ("extractive-qa", {}, {"start": 3}, ("answer", "is a table, not a span (text and start) or a list of spans")),
        ("multiple-choice", {}, 3, ("answer", "3 is out of range: 'options' has 3 entries, counted from 0")),
        ("multiple-choice", {"options": ["a", "b", "a "]}, None, ("options", "has the same entry twice")),
        ("multiple-choice", {"options": ["a"]}, None, ("options", "has only one entry")),
        ("multiple-choice", {"options": ["a", " "]}, None, ("options", "has an empty entry")),
        ("multiple-choice", {"options": []}, None, ("options", "is empty")),
        ("multiple-choice", {}, True, ("answer", "is true or false, not an option's number, counted from 0")),
        ("multiple-choice", {}, 2**70, ("answer", "is a number, not an option's number, counted from 0")),
        ("several-answers", {}, [0, 0], ("answer", "names a candidate twice")),
        ("several-answers", {}, [9], ("answer", "9 is out of range: 'candidates' has 4 entries, counted from 0")),
        ("qa-srl", {"predicate": "bought"}, None, ("predicate", "'bought' is not in 'sentence'")),
        ("qa-srl", {}, "the butcher", ("answer", "'the butcher' is not in 'sentence'")),
        (
            "attachment",
            {"preposition": 9},
            None,
            ("preposition", "9 is out of range: 'tokens' has 6 entries, counted from 0"),
        ),
        ("attachment", {}, 6, ("answer", "6 is out of range: 'tokens' has 6 entries, counted from 0")),
        ("attachment", {}, 3, ("answer", "is the preposition itself")),
        (
            "image-pair",
            {"left_image": "../secret.png"},
            None,
            ("left_image", "'../secret.png' is not an http(s) address, a relative path or blob:<sha256>"),
        ),
        ("free-text", {}, [], ("answer", "has no reference")),
        ("free-text", {}, ["fine", ""], ("answer", "has an empty reference")),
    ],
)
def test_fault_is_named(kind: str, changed: dict[str, Any], answer: Any, fault: tuple[str, str]) -> None:
    """One thing wrong with a good example gives one fault, by field and reason."""
    assert faults(kind, answer, **changed) == [fault]


@pytest.mark.parametrize("image", ["a.png", "dir/a b.png", "https://x.org/a?b=c", "http://x", f"blob:{'0' * 64}"])
def test_good_images(image: str) -> None:
    """Web addresses, relative paths and stored files are images."""
    assert faults("image-pair", right_image=image) == []


def test_spans_count_characters_not_bytes() -> None:
    """The start of a span counts code points, as Python does, before and after emoji and accents."""
    passage = "Ünïcode 🎉 party é"
    assert faults("extractive-qa", {"text": "party", "start": passage.index("party")}, passage=passage) == []


def test_answers_of_roles_may_differ_in_case() -> None:
    """Annotators of semantic roles capitalise their answers; with a start it must be exact."""
    assert faults("qa-srl", "Two loaves") == []
    assert faults("qa-srl", {"text": "Two loaves", "start": 18}) != []


def test_every_bad_row_of_a_table_is_found() -> None:
    """In a large table exactly the bad rows are named, each with all of its faults."""
    task = Task("t", "text-classification", {"en": "T"}, (Label("a"), Label("b")))
    table = pl.DataFrame({"text": ["fine"] * 5000, "answer": ["a"] * 5000, "id": range(5000)})
    row = pl.int_range(pl.len())
    table = table.with_columns(
        text=pl.when(row.is_in([7, 4999])).then(pl.lit("")).otherwise("text"),
        answer=pl.when(row == 4999).then(pl.lit("c")).otherwise("answer"),
    )
    found = [(fault.row, fault.field) for fault in kind_of(task).check_table(task, table)]
    assert found == [(7, "text"), (4999, "text"), (4999, "answer")]


def test_table_of_another_type_is_refused() -> None:
    """A column that cannot be what the kind needs is explained, not half read."""
    task = Task("t", "multiple-choice", {"en": "T"})
    table = pl.DataFrame({"passage": ["p"], "question": ["q"], "options": [["a", "b"]], "answer": ["first"]})
    with pytest.raises(BadInput, match="does not have the columns of kind 'multiple-choice'"):
        kind_of(task).check_table(task, table)


def test_long_parts_are_looked_up_quickly() -> None:
    """A part of 20,000 characters is found, or missed, in its text without making anybody wait."""
    began = time.process_time()
    assert faults("extractive-qa", "ab" * 9_000, passage="ab" * 10_000) == []
    assert faults("extractive-qa", "ab" * 9_000 + "c", passage="ab" * 10_000) != []
    assert time.process_time() - began < 1
