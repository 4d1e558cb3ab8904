"""What the library says when something is wrong: in the words of a notebook."""

from __future__ import annotations

import inspect
import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import quintain as qt

ITEMS = pl.DataFrame(
    {
        "text": [f"Day {at * 7919}." for at in range(60)],
        "label": ["no" if at % 3 else "yes" for at in range(60)],
        "stars": range(60),
    }
)


def test_a_remedy_names_the_argument() -> None:
    """A table without a needed column: the sentence ends, and the remedy is an argument, not an option."""
    with pytest.raises(qt.BadInput) as caught:
        qt.release(ITEMS.rename({"text": "sentence"}), dev=6, test=6)
    assert str(caught.value) == (
        "the items: there is no column 'text'. It has: sentence, label, stars. "
        'Map names with columns={"NAME": "COLUMN"}.'
    )
    assert qt.release(ITEMS.rename({"text": "sentence"}), dev=6, test=6, columns={"text": "sentence"}).table.height


@pytest.mark.parametrize(
    ("verb", "argument"),
    [
        (lambda: qt.score(GOLD, {"1": "a"}), "allow_missing=True"),
        (lambda: qt.aggregate([("i", "w", "a"), ("i", "w", "b")]), 'repeats="first"'),
        (lambda: qt.artefacts(GOLD, ()), "fields"),
        (lambda: qt.perturb({"a": ["One."], "b": ["Two."]}, "typos"), "fields"),
        (lambda: qt.perturb(["One."], ""), "kinds"),
        (lambda: qt.rank({"model": ["a"], "perf": ["high"]}), "skip"),
    ],
)
def test_no_remedy_names_an_option(verb: object, argument: str) -> None:
    """Whatever is wrong, somebody in a notebook can do what is said."""
    assert callable(verb)
    with pytest.raises(qt.QuintainError) as caught:
        verb()
    assert argument in str(caught.value)
    assert "--" not in str(caught.value)


def test_a_function_keeps_its_name_and_arguments() -> None:
    """`help(qt.release)` shows what one can give."""
    assert list(inspect.signature(qt.release).parameters)[:2] == ["items", "judgements"]
    assert qt.release.__name__ == "release"


def test_columns_that_are_not_read_keep_their_type() -> None:
    """A number that came with the items is one in the splits, too."""
    assert qt.release(ITEMS, dev=6, test=6).table["stars"].to_list() == ITEMS["stars"].to_list()


def test_a_parent_is_the_place_in_the_frame() -> None:
    """Without ids, `parent` is the index that `frame[…]` takes."""
    texts = ["She sings.", "Stones.", "He likes his boat."]
    found = qt.perturb(texts, "gender_words").table
    assert [texts[int(parent)] for parent in found["parent"]] == ["She sings.", "He likes his boat."]


GOLD = [{"id": "1", "text": "One.", "gold": "a", "label": "a"}, {"id": "2", "text": "Two.", "gold": "b", "label": "b"}]


def test_what_does_not_exist_is_bad_input(tmp_path: Path) -> None:
    """A missing file, an unknown method and an unknown metric raise what the documentation promises."""
    votes = [("a", "ann", "yes")]
    for call in (
        lambda: qt.aggregate(tmp_path / "missing.csv"),
        lambda: qt.aggregate(votes, "nonsense"),
        lambda: qt.score({"a": "x"}, {"a": "x"}, ["nonsense"]),
    ):
        with pytest.raises(qt.BadInput):
            call()


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"minimum": "3"}, "'minimum' is a whole number, and '3' was given"),
        ({"minimum": True}, "'minimum' is a whole number"),
        ({"seed": "1"}, "'seed' is a whole number"),
        ({"method": 3}, "'method' is a text"),
        ({"method": "mace", "even": "much"}, "'even' is a number"),
    ],
)
def test_an_argument_of_another_type_is_named(options: dict[str, Any], said: str) -> None:
    """A slip in an argument or in an option of a method is bad input with its name, not a TypeError from within."""
    with pytest.raises(qt.BadInput, match=said):
        qt.aggregate([("a", "ann", "yes")], **options)


def test_a_chart_is_saved_as_what_its_name_says(tmp_path: Path) -> None:
    """A page or a specification is written; another ending is refused, and leaves no file."""
    chart = qt.aggregate([("a", "ann", "yes")]).plot()
    assert chart.save(tmp_path / "chart.html").read_text("utf-8").lstrip().startswith("<!")
    assert json.loads(chart.save(tmp_path / "chart.JSON").read_text("utf-8"))
    with pytest.raises(qt.BadInput, match=r"cannot be saved as p\.gif"):
        chart.save(tmp_path / "p.gif")
    assert not (tmp_path / "p.gif").exists()


def test_all_votes_tied_leave_nothing_to_divide() -> None:
    """Where no item has a majority, dividing is refused with what to do."""
    items = [{"id": f"e{at}", "text": f"number {at * 7919}"} for at in range(30)]
    votes = [(f"e{at}", who, label) for at in range(30) for who, label in (("a", "yes"), ("b", "no"))]
    with pytest.raises(qt.BadInput, match="No item has a label"):
        qt.release(items, judgements=votes, dev=4, test=4)
