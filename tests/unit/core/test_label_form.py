"""Labels have one form in which they are compared, and a warning says where they may be a slip."""

from __future__ import annotations

import polars as pl
import pytest

from quintain.core.label_form import LabelNames, label_form
from quintain.stats.label_columns import in_names
from quintain.stats.label_hints import label_warnings


@pytest.mark.parametrize(
    ("label", "others"),
    [
        ("1", ["1.0", 1, 1.0, " 1", "1 ", "+1", "1.00", "1."]),
        ("0", [0, 0.0, "-0", "-0.0", "0.0"]),
        ("-1.5", [-1.5, "-1.50"]),
        ("true", [True, "True", "TRUE", " true"]),
        ("yes", ["yes ", "\tyes", "yes\u00a0", "\ufeffyes", "yes\u200b"]),
        ("n\u00e9gatif", ["ne\u0301gatif"]),
    ],
)
def test_spellings_of_one_label_have_one_form(label: str, others: list[object]) -> None:
    """Numbers, truth values, spaces and forms of Unicode: what only a writer of files tells apart is one label."""
    assert {label_form(other) for other in others} == {label_form(label)}


@pytest.mark.parametrize(
    ("one", "other"), [("Yes", "yes"), ("01", "1"), ("1e5", "100000"), ("a  b", "a b"), ("1,0", "1"), ("inf", "Inf")]
)
def test_different_labels_stay_apart(one: str, other: str) -> None:
    """Case counts, and what only looks like a number is a name."""
    assert label_form(one) != label_form(other)


def test_truth_values_stand_for_numbers_only_where_there_is_nothing_else() -> None:
    """Among 0 and 1, true is 1; among five stars it is a stranger."""
    assert LabelNames(["0", "1"]).find(True) == "1"
    assert LabelNames(["True", "False"]).find("1.0") == "True"
    assert LabelNames(["1", "2", "3"]).find(True) is None


def test_a_column_keeps_its_spelling_whatever_the_order_of_its_rows() -> None:
    """One spelling stays as it is; of several, the form is taken."""
    assert in_names(pl.Series(["True", "False"])).to_list() == ["True", "False"]
    for values in (["1.0", "1", "2.0"], ["1", "1.0", "2.0"]):
        assert set(in_names(pl.Series(values)).to_list()) == {"1", "2.0"}
    assert in_names(pl.Series([1.0, None, 2.0])).to_list() == ["1", None, "2"]


def test_labels_of_another_coding_are_said_aloud() -> None:
    """Other case and other codes are named with examples; labels that fit, and a few strangers, are no matter."""
    assert "in case only" in label_warnings(["yes", "no"], ["Yes", "no", "no"])[0]
    assert "coded in another way" in label_warnings(["pos", "neg"], ["1", "0", None])[0]
    assert not label_warnings(["yes", "no"], ["yes"] * 9 + ["maybe"])
    assert not label_warnings(["yes", "no"], [None, None])
