"""A task may name perturbations that make its robustness and fairness beside those of the canonical figure."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest

import quintain
from quintain.core.errors import BadInput
from quintain.services.evaluate.results import axis_gaps
from quintain.services.evaluate.results.unchanged import unchanged_figures
from quintain.services.evaluate.results.variants import variants_for
from quintain.tasks.definition import parse_task, read_task
from quintain.tasks.writing import dump_task

HATE = Path(quintain.__file__).parent / "demo_data" / "hate" / "task.toml"


def test_hate_speech_counts_other_groups() -> None:
    """Of the starter task fairness needs the run with other groups, and so do models that cost money by the call."""
    task = read_task(HATE)
    plain = replace(task, counted_perturbations=())
    also = {*axis_gaps.counted_variants(task)["fairness"]} - {*axis_gaps.counted_variants(plain)["fairness"]}
    assert [name.partition(".")[0] for name in also] == ["identity_terms"]
    assert {*variants_for(task, "chat")} - {*variants_for(plain, "chat")} == also
    assert axis_gaps.counted_variants(task)["robustness"] == axis_gaps.counted_variants(plain)["robustness"]
    assert parse_task(dump_task(task)) == task


def test_the_figure_is_of_what_counts() -> None:
    """An answer that turns with the group lowers the fairness of a task that counts it, and stands beside otherwise."""
    task = read_task(HATE)
    table = pl.DataFrame(
        {
            "parent": ["a", "b", "a", "b"],
            "family": ["gender_words", "gender_words", "identity_terms", "identity_terms"],
            "group": [None] * 4,
            "before": ["hateful"] * 4,
            "after": ["hateful", "hateful", "hateful", "not-hateful"],
        },
        schema_overrides={"group": pl.String},
    )
    with_groups = unchanged_figures(task, table, pl.Series(["a", "b"]))
    without = unchanged_figures(replace(task, counted_perturbations=()), table, pl.Series(["a", "b"]))
    assert with_groups["share"]["value"] < without["share"]["value"] == 1.0
    assert (with_groups["beside"], without["beside"]) == ([], ["identity_terms"])


@pytest.mark.parametrize(("named", "reason"), [('["identity_term"]', "did you mean 'identity_terms'"), ('"x"', "list")])
def test_what_is_no_perturbation_is_refused(named: str, reason: str) -> None:
    """A name that is none is said with the one that is meant."""
    with pytest.raises(BadInput, match=reason):
        parse_task(f'name = "m"\nkind = "text-classification"\nlabels = ["a", "b"]\ncounted_perturbations = {named}\n')
