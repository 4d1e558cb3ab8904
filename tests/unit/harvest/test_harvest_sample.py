"""Sampling in flat memory: the smallest hashes of each cell, quotas, and what makes up for strata that are short."""

from __future__ import annotations

import itertools

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from quintain.data.harvest_rules import Rules, parse_rules
from quintain.services.harvest.choice import choose, wanted_by_stratum
from quintain.services.harvest.sample import Reservoir, normal_forms, priorities
from quintain.stats.distinct import keep_distinct
from quintain.stats.near_duplicates import find_pairs
from quintain.stats.quotas import apportion


def rows(texts: list[str], cell: str = "0", first: int = 1, seed: int = 0) -> pl.DataFrame:
    """Make a table as the reservoir wants it."""
    forms = normal_forms(pl.Series(texts, dtype=pl.String()))
    return pl.DataFrame(
        {
            "text": pl.Series(texts, dtype=pl.String()),
            "cell": pl.Series([cell] * len(texts), dtype=pl.String()),
            "priority": pl.Series(priorities(forms.to_list(), seed), dtype=pl.UInt64()),
            "file": pl.Series([0] * len(texts), dtype=pl.UInt16()),
            "row": pl.Series(range(first, first + len(texts)), dtype=pl.UInt32()),
            "sentence": pl.Series([1] * len(texts), dtype=pl.UInt32()),
        }
    )


def filled(table: pl.DataFrame, cuts: list[int], size: int) -> Reservoir:
    """Put a table into a reservoir in pieces."""
    reservoir = Reservoir(size)
    edges = [0, *sorted(cuts), table.height]
    for start, end in itertools.pairwise(edges):
        part = table.slice(start, end - start)
        reservoir.add(reservoir.possible(part))
        reservoir._compact()
    return reservoir


def test_priorities_are_the_same_for_ever() -> None:
    """They come from the words and the seed by a fixed function, so a sample can be made again anywhere."""
    assert priorities(["good food"], 0).tolist() == [priorities(["bad", "good food"], 0)[1]]
    assert priorities(["good food"], 0)[0] == 8826652388293758705
    assert priorities(["good food"], 1)[0] != priorities(["good food"], 0)[0]
    assert normal_forms(pl.Series(["Good — FOOD!!", "good food"])).n_unique() == 1


@given(st.lists(st.integers(0, 300), max_size=400), st.lists(st.integers(0, 400), max_size=5))
def test_a_sample_does_not_depend_on_how_the_stream_is_cut(numbers: list[int], cuts: list[int]) -> None:
    """However it is cut, the same sentences are kept, with the same first places and the same counts."""
    texts = [f"sentence {number}" for number in numbers]
    table = rows(texts)
    whole = filled(table, [], 10)
    cut = filled(table, [min(one, table.height) for one in cuts], 10)
    assert whole.rows().equals(cut.rows())
    kept = whole.rows()
    if not kept.is_empty():
        assert kept["priority"].to_list() == sorted(set(table["priority"].to_list()))[: whole.size]
        assert kept["occurrences"].to_list() == [texts.count(text) for text in kept["text"]]
        assert kept["row"].to_list() == [texts.index(text) + 1 for text in kept["text"]]


def test_the_number_of_different_sentences_is_counted_or_estimated() -> None:
    """Few are counted; many are estimated from the largest hash that was kept, within a few percent."""
    few = filled(rows([f"sentence {number % 50}" for number in range(500)]), [], 10)
    assert few.distinct() == {"0": (50, True)}
    many = filled(rows([f"sentence {number % 20_000}" for number in range(40_000)]), [10_000], 2000)
    value, counted = many.distinct()["0"]
    assert not counted
    assert value == pytest.approx(20_000, rel=0.06)
    assert Reservoir(5).distinct() == {}


@given(st.integers(0, 500), st.lists(st.floats(0.01, 1), min_size=1, max_size=12))
def test_quotas_add_up(total: int, weights: list[float]) -> None:
    """Whole numbers, no further than one from the exact share, that add up to the total."""
    parts = apportion(total, weights)
    assert sum(parts) == total
    exact = [total * weight / sum(weights) for weight in weights]
    assert all(abs(part - share) < 1 + 1e-6 for part, share in zip(parts, exact, strict=True))


def test_near_duplicates_are_found_within_a_list() -> None:
    """Of two that are alike the first stays; what another list has goes; empty texts are like nothing."""
    texts = ["The food was great and cheap.", "The food was great and so cheap!", "Nobody came.", "", "..."]
    assert keep_distinct(texts).tolist() == [True, False, True, True, True]
    assert keep_distinct(texts, ["nobody came"]).tolist() == [True, False, False, True, True]
    assert [part.tolist() for part in find_pairs(["a b c", "A, b c"])] == [[1], [0]]
    assert [len(part) for part in find_pairs([])] == [0, 0]


@given(st.lists(st.text(alphabet="ab ", max_size=12), max_size=12))
def test_what_is_kept_has_no_pair_and_what_goes_has_one(texts: list[str]) -> None:
    """The kept ones are apart, and each that went is like an earlier one that was kept."""
    keep = keep_distinct(texts, threshold=0.6)
    later, earlier = find_pairs(texts, threshold=0.6)
    pairs = set(zip(later.tolist(), earlier.tolist(), strict=True))
    kept = np.flatnonzero(keep).tolist()
    assert not [pair for pair in pairs if pair[0] in kept and pair[1] in kept]
    assert all(any((gone, one) in pairs for one in kept) for gone in np.flatnonzero(~keep).tolist())


def rules(near: float = 1, per_text: int = 0) -> Rules:
    """Three strata: two of a group, and one over two values."""
    return parse_rules(
        f"""
        limits = {{ near_duplicates = {near}, per_text = {per_text} }}
        strata = [
          {{ name = "low", share = 0.25, group = "contradiction" }},
          {{ name = "high", share = 0.25, group = "contradiction" }},
          {{ name = "rest", share = 0.5, across = ["predicted"] }},
        ]
        """
    )


def candidates(counts: dict[str, int]) -> tuple[pl.DataFrame, dict[str, tuple[int, tuple[str, ...]]]]:
    """Make so many candidates for each cell, all different."""
    parts = [rows([f"{cell} number {n}" for n in range(count)], cell) for cell, count in counts.items()]
    cells = {cell: (int(cell[0]), tuple(cell[1:].split())) for cell in counts}
    return pl.concat(parts).sort("cell", "priority"), cells


def taken(
    counts: dict[str, int], size: int, using: Rules | None = None
) -> tuple[dict[str, int], list[tuple[int, str]]]:
    """Say how many were taken of each cell, and which stood in for which stratum."""
    table, cells = candidates(counts)
    choice = choose(table, cells, using or rules(), size)
    assert len(set(choice.rows)) == len(choice.rows)
    return {cell.key: cell.taken for cell in choice.cells}, [(one.stratum, one.cell.key) for one in choice.fills]


def test_quotas_are_met_where_there_is_enough() -> None:
    """A quarter, a quarter, and a half that is spread evenly."""
    counts = {"0": 50, "1": 50, "2 neg": 50, "2 pos": 50}
    assert taken(counts, 40) == ({"0": 10, "1": 10, "2 neg": 10, "2 pos": 10}, [])


def test_what_is_short_comes_from_the_nearest() -> None:
    """First from other cells of the stratum, then from its group, then from all others; then it is short."""
    assert taken({"0": 50, "1": 50, "2 neg": 3, "2 pos": 50}, 40) == (
        {"0": 10, "1": 10, "2 neg": 3, "2 pos": 17},
        [(2, "2 pos")],
    )
    assert taken({"0": 4, "1": 50, "2 neg": 50, "2 pos": 50}, 40) == (
        {"0": 4, "1": 16, "2 neg": 10, "2 pos": 10},
        [(0, "1")],
    )
    assert taken({"2 neg": 50, "2 pos": 50}, 40)[0] == {"2 neg": 20, "2 pos": 20}
    assert taken({"0": 4, "2 pos": 5}, 40)[0] == {"0": 4, "2 pos": 5}


def test_a_sentence_is_taken_once_over_all_strata() -> None:
    """The same words in two strata count for the first of them."""
    table = pl.concat([rows(["same words"], "0"), rows(["Same words!"], "1"), rows(["other words"], "1")])
    choice = choose(table.sort("cell", "priority"), {"0": (0, ()), "1": (1, ())}, rules(), 4)
    assert sorted(table.sort("cell", "priority")["text"][choice.rows].to_list()) == ["other words", "same words"]
    assert choice.passed["in another stratum too"] == 1


def test_near_duplicates_are_replaced_by_the_next() -> None:
    """A near duplicate is passed over, and the next in line comes in."""
    near = [f"The food was really great and cheap here, all {n} of it" for n in range(5)]
    table = rows([*near, "Nobody came to our table", "We waited for two hours"], "0").sort("priority")
    choice = choose(table, {"0": (0, ())}, rules(near=0.7), 3)
    assert len(choice.rows) == 3
    assert choice.passed["near duplicates"] >= 1


def test_one_text_gives_no_more_than_it_may() -> None:
    """With a limit of one per text, a second sentence of it is passed over."""
    table = rows([f"words number {n}" for n in range(6)], "0").with_columns(
        row=pl.Series([1, 1, 1, 2, 2, 2], dtype=pl.UInt32())
    )
    choice = choose(table.sort("priority"), {"0": (0, ())}, rules(per_text=1), 6)
    assert len(choice.rows) == 2
    assert choice.passed["enough from the same text"] == 4


def test_counts_stand_for_shares() -> None:
    """Strata with counts give those, whatever the size is called."""
    counted = parse_rules('strata = [{ name = "a", count = 3 }, { name = "b", count = 5 }]')
    assert wanted_by_stratum(counted.strata, 99) == [3, 5]
