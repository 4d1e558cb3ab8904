"""Mixing: votes as labels, copies, weights, samples that do not depend on the order, and filters."""

from __future__ import annotations

import hashlib
import json
from typing import Any

import numpy as np
import polars as pl
import pytest

from quintain.core.errors import BadInput
from quintain.core.recipe import RecipeSpec, SourceSpec
from quintain.core.spec import read
from quintain.data.mixing import Mix, MixSource, mix_of

LABELS = ("negative", "neutral", "positive")
ROWS: list[dict[str, Any]] = [
    {"text": "a", "answer": "negative", "meta": {"rating": 1, "label_distribution": {"negative": 4, "mixed": 1}}},
    {"text": "b", "answer": "neutral", "meta": {"rating": 3, "label_distribution": {"neutral": ["w1", "w2"]}}},
    {"text": "c", "answer": "positive", "meta": {"rating": 5.0}},
    {"text": "d", "answer": None, "meta": {"rating": 2, "distribution": '{"mixed": 5}'}},
]


def mixed(rows: list[dict[str, Any]], recipe: dict[str, Any] | None = None, **spec: Any) -> Mix:
    """Mix one source of *rows*."""
    table = pl.DataFrame(
        [
            {
                "id": hashlib.sha256(row["text"].encode()).hexdigest(),
                "text": row["text"],
                "answer": row["answer"],
                "tags": row.get("tags", []),
                "meta": json.dumps(row.get("meta", {})),
            }
            for row in rows
        ],
        schema={"id": pl.String, "text": pl.String, "answer": pl.String, "tags": pl.List(pl.String), "meta": pl.String},
    )
    whole = read(RecipeSpec, {"task": "mood", "name": "m", "mix": [{"data": "mood/x"}], **(recipe or {})})
    return mix_of([MixSource("mood/x@1", "hash", table, SourceSpec(data="mood/x", **spec))], LABELS, ["text"], whole)


def test_every_vote_is_an_example_and_a_mixed_one_is_two() -> None:
    """Numbers, lists of people and JSON within a text are votes; where there are none, the answer counts once."""
    mix = mixed(ROWS, {"labels": "distributional"}, copies=2)
    assert mix.says.tolist() == [[5, 0, 1], [0, 2, 0], [0, 0, 1], [5, 0, 5]]
    assert mix.examples == 2 * (6 + 2 + 1 + 10)
    units = mix.units()
    assert len(units.rows) == mix.examples
    assert np.array_equal(units.targets.sum(axis=0), mix.mass().sum(axis=0))


def test_soft_labels_are_shares_and_every_example_is_one() -> None:
    """Shares add up to one; copies repeat them."""
    mix = mixed(ROWS, {"labels": "soft"}, copies=3)
    assert mix.says.sum(axis=1) == pytest.approx([1, 1, 1, 1])
    assert mix.says[3].tolist() == [0.5, 0.0, 0.5]
    assert len(mix.units().rows) == 12


def test_majority_labels_leave_out_what_has_no_answer() -> None:
    """Undecided examples are not learned from, and weights go into the mass."""
    mix = mixed(ROWS, weight=0.5)
    assert mix.table["text"].to_list() == ["a", "b", "c"]
    assert mix.mass().sum() == pytest.approx(1.5)


def test_only_some_values_are_kept_however_they_are_written() -> None:
    """A number in what is kept beside an example, a tag, and the answer itself can be asked for."""
    assert mixed(ROWS, only={"rating": [1, 3, 5]}).table["text"].to_list() == ["a", "b", "c"]
    tagged = [{**row, "tags": ["short"] if row["text"] != "d" else []} for row in ROWS]
    assert mixed(tagged, {"labels": "distributional"}, only={"tags": "short"}).table.height == 3
    with pytest.raises(BadInput, match="Nothing is left"):
        mixed(ROWS, only={"rating": 9})
    with pytest.raises(BadInput, match="has 'stars'"):
        mixed(ROWS, only={"stars": 1})


def test_a_sample_does_not_depend_on_the_order_and_grows_by_adding() -> None:
    """The same texts are drawn from a table and from its reverse; a larger sample holds the smaller one."""
    rows = [{"text": f"text {n}", "answer": LABELS[n % 3]} for n in range(300)]
    small = set(mixed(rows, sample=40).table["text"])
    assert small == set(mixed(rows[::-1], sample=40).table["text"])
    assert small < set(mixed(rows, share=0.5).table["text"])
    assert small != set(mixed(rows, sample=40, seed=1).table["text"])


def test_a_class_without_examples_and_shares_that_cannot_be_repeated_are_refused() -> None:
    """Both are said with what to do instead."""
    with pytest.raises(BadInput, match="mix is 'negative'"):
        mixed(ROWS[1:3])
    shares = [{**ROWS[0], "meta": {"label_distribution": {"negative": 0.5, "positive": 0.5}}}, *ROWS[1:]]
    with pytest.raises(BadInput, match='Use labels = "soft"'):
        mixed(shares, {"labels": "distributional"})
