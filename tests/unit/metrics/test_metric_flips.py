"""The share of answers that a perturbation leaves unchanged."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from quintain.core.errors import BadInput
from quintain.core.task import AnswerType
from quintain.metrics.flips import kept_answers, same_answers, unchanged_share


def test_answers_are_compared_after_normalisation() -> None:
    """Spans differ only where their words do, sets of choices in no order; two silences are the same."""
    assert same_answers("span", ["The Tower", "Rome", None], ["tower.", "Paris", None]).tolist() == [True, False, True]
    assert same_answers("choices", [[0, 2], [1]], [[2, 0], [1, 2]]).tolist() == [True, False]
    assert same_answers("label", ["a", "b"], ["a", None]).tolist() == [True, False]
    assert same_answers("choice", [1, 2], [1, 3]).tolist() == [True, False]


@pytest.mark.parametrize(
    ("answer_type", "answer"),
    [("label", "a"), ("choice", 1), ("choices", [1]), ("span", "Rome"), ("text", ""), ("token", 2)],
)
def test_an_answer_that_was_not_given_has_changed(answer_type: AnswerType, answer: Any) -> None:
    """Failing before, after or both times counts as a changed answer, for every type of answer."""
    kept = kept_answers(answer_type, [answer, None, answer, None], [answer, answer, None, None])
    assert kept.tolist() == [True, False, False, False]


def test_different_lengths_are_refused() -> None:
    """Both sides are of the same rows."""
    with pytest.raises(BadInput, match="1 answers before and 2 after"):
        same_answers("label", ["a"], ["a", "b"])


def test_families_count_alike_and_unchanged_rows_do_not() -> None:
    """The canonical share averages families over changed rows; beside it stand all rows, families and groups."""
    same = np.array([True, True, True, False, False, True])
    families = ["typos", "typos", "typos", "typos", "ocr", "ocr"]
    changed = np.array([True, True, True, True, True, False])
    found = unchanged_share(same, families, changed=changed, groups=["f", "m", "f", "m", "f", None])
    assert found.share.value == pytest.approx((3 / 4 + 0) / 2)
    assert found.all_rows.value == pytest.approx(4 / 6)
    assert {name: part.value for name, part in found.families.items()} == {"ocr": 0.0, "typos": 0.75}
    assert {name: part.value for name, part in found.groups.items()} == pytest.approx({"f": 2 / 3, "m": 0.5})
    assert found.flipped.tolist() == [False, False, False, True, True, False]
    assert found.as_dict()["flips"] == 2


def test_what_stands_beside_the_figure_is_no_part_of_it() -> None:
    """A family beside the figure has a share of its own, and the shares over several do not know it."""
    same = np.array([True, False, False, False])
    found = unchanged_share(same, ["typos", "typos", "neutral", "neutral"], beside=["neutral", "absent"])
    assert found.share.value == found.all_rows.value == 0.5
    assert {name: part.value for name, part in found.families.items()} == {"neutral": 0.0, "typos": 0.5}
    assert found.as_dict()["beside"] == ["neutral"]
    shape = found.as_dict()
    assert (shape["flips"], shape["rows"], shape["examples"], shape["kinds"]) == (3, 2, 2, 1)
    assert shape["families"]["neutral"]["rows"] == 2


def test_an_examples_variants_are_drawn_together() -> None:
    """Clusters make the interval wider where the variants of one example flip together."""
    same = np.repeat(np.arange(40) % 2 == 0, 5)
    families = ["a", "b", "c", "d", "e"] * 40
    loose = unchanged_share(same, families).share
    tight = unchanged_share(same, families, clusters=np.repeat(np.arange(40), 5)).share
    assert loose.low is not None
    assert tight.low is not None
    assert tight.low < loose.low - 0.03


def test_nothing_changed_is_undefined() -> None:
    """Where a perturbation changed no row there is no share, and the result says so."""
    found = unchanged_share(np.array([True]), ["typos"], changed=np.array([False]))
    assert found.share.value is None
    assert found.share.reason == "the perturbation changed no row"
