"""Parts of a file: rows from one to another, and samples."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from quintain.core.errors import BadInput, Fault
from quintain.data.identity import example_ids
from quintain.data.importing import check_file, write_examples
from quintain.data.plan import ImportPlan, parse_plan
from quintain.data.readers.contract import RowBatch
from quintain.data.selecting import RowRange, parse_range, rows_in, sampled
from tests.properties import examples
from tests.unit.data.data_samples import task

Write = Callable[[str, str | bytes], Path]


def _reviews(count: int) -> str:
    labels = ("negative", "neutral", "positive")
    return "".join(json.dumps({"text": f"t{n}", "label": labels[n % 3]}) + "\n" for n in range(1, count + 1))


def _texts(path: Path, plan: ImportPlan) -> list[str]:
    target = path.with_suffix(".out.parquet")
    write_examples(path, task("sentiment"), plan, target)
    return pl.read_parquet(target)["text"].to_list()


@pytest.mark.parametrize(
    ("text", "wanted"), [("2:4", RowRange(2, 4)), ("2:", RowRange(2)), (":4", RowRange(1, 4)), ("7:7", RowRange(7, 7))]
)
def test_a_range_of_rows_is_read(text: str, wanted: RowRange) -> None:
    """Either end may be left out, and both belong to it."""
    assert parse_range(text) == wanted


@pytest.mark.parametrize("text", [":", "4", "0:3", "5:4", "-1:3", "a:b", "1:2:3", "1 : 2"])
def test_what_is_no_range_is_refused(text: str) -> None:
    """The fault says what a range looks like, and counts from 1."""
    with pytest.raises(BadInput) as caught:
        parse_plan(f'rows = "{text}"')
    assert "1:5000" in str(caught.value)


def test_two_halves_are_the_whole(write: Write) -> None:
    """Rows 1 to 5 and 6 to the end are all rows, each once."""
    path = write("a.jsonl", _reviews(9))
    first, second = _texts(path, ImportPlan(rows=":5")), _texts(path, ImportPlan(rows="6:"))
    assert (first, second) == ([f"t{n}" for n in range(1, 6)], [f"t{n}" for n in range(6, 10)])


def test_rows_are_counted_without_the_header_and_before_any_is_left_out(write: Write) -> None:
    """Row 2 of a CSV is the second below the header; bad and dropped rows count, and those outside are not judged."""
    path = write("a.csv", "text,label\nbad,nonsense\na,positive\nb,-\nc,negative\nalso bad,nonsense\n")
    plan = ImportPlan(rows="2:4", drop=("-",))
    assert _texts(path, plan) == ["a", "c"]
    report = check_file(path, task("sentiment"), plan)
    assert (report.rows_read, report.total, report.dropped["dropped by their answer"]) == (3, 0, 1)
    assert check_file(path, task("sentiment"), ImportPlan(rows="1:2")).total == 1


def test_lines_that_cannot_be_read_count_as_rows(write: Write) -> None:
    """A line that is no JSON is row 2, whether it is in the range or before it; an empty line is none."""
    path = write("a.jsonl", '{"text": "a", "label": "neutral"}\nnonsense\n\n{"text": "c", "label": "neutral"}\n')
    assert _texts(path, ImportPlan(rows="3:3")) == ["c"]
    report = check_file(path, task("sentiment"), ImportPlan(rows="1:2"))
    assert (report.rows, [fault.row for fault in report.faults]) == (1, [2])


def test_a_row_that_is_several_examples_stays_whole(write: Write) -> None:
    """A tree's phrases are one row."""
    path = write("a.txt", "(3 (2 It) (4 works))\n(1 (2 It) (0 broke))\n")
    plan = ImportPlan(format="sst-trees", rows="2:2", labels={"0": "negative", "1": "negative", "2": "neutral"})
    assert _texts(path, plan) == ["It", "broke", "It broke"]


def test_rows_that_are_not_there_are_refused(write: Write) -> None:
    """A range past the end says how many rows there are, and how to take all to the end."""
    path = write("a.jsonl", _reviews(9))
    with pytest.raises(BadInput) as caught:
        _texts(path, ImportPlan(rows="5:10"))
    assert "the rows 5:10 are not there: it has 9" in str(caught.value)
    assert "5: takes all" in str(caught.value.remedy)
    with pytest.raises(BadInput, match="the rows 10: are not there"):
        _texts(path, ImportPlan(rows="10:"))


def test_a_folder_counts_on_over_its_files(write: Write) -> None:
    """The rows of the second file follow those of the first."""
    write("set/train-1.jsonl", _reviews(3))
    path = write("set/train-2.jsonl", '{"text": "x", "label": "neutral"}\n{"text": "y", "label": "neutral"}\n').parent
    assert _texts(path, ImportPlan(role="train", rows="3:4")) == ["t3", "x"]


@settings(max_examples=examples(40), deadline=None)
@given(st.integers(1, 40), st.integers(1, 40), st.integers(1, 50), st.sets(st.integers(1, 80), max_size=10))
def test_how_a_file_is_cut_makes_no_difference(first: int, length: int, piece: int, bad: set[int]) -> None:
    """Whatever the size of a batch and wherever lines are bad, a range has the same rows, good and bad."""
    batches = []
    for start in range(1, 81, piece):
        rows = [row for row in range(start, min(start + piece, 81)) if row not in bad]
        faults = tuple(Fault("bad", row=row) for row in sorted(bad) if start <= row < start + piece)
        batches.append(RowBatch("a", pl.DataFrame({"n": rows}), pl.Series("row", rows, dtype=pl.UInt32()), faults))
    last = min(80, first + length - 1)
    found = list(rows_in(iter(batches), RowRange(first, last), file="a"))
    assert [row for batch in found for row in batch.frame["n"]] == [n for n in range(first, last + 1) if n not in bad]
    assert sorted(fault.row or 0 for batch in found for fault in batch.faults) == sorted(
        n for n in bad if first <= n <= last
    )


def _examples(count: int) -> pl.DataFrame:
    table = pl.DataFrame({"text": [f"t{n}" for n in range(count)]})
    return table.with_columns(example_ids(table, ["text"]))


def _sample(tables: list[pl.DataFrame], size: int, seed: int) -> list[str]:
    parts = sampled(iter(tables), size, seed)
    return [text for part in parts for text in part["text"]]


@pytest.mark.parametrize("piece", [1, 7, 64, 999])
def test_how_examples_are_cut_makes_no_difference_to_a_sample(piece: int) -> None:
    """The same examples in the same order, in one table or in many."""
    table = _examples(200)
    cut = [table.slice(start, piece) for start in range(0, 200, piece)]
    assert _sample(cut, 30, 7) == _sample([table], 30, 7)


def test_a_sample_is_seeded_and_keeps_the_files_order(write: Write) -> None:
    """The same seed gives the same examples in whatever order they come; another seed gives others."""
    path = write("a.jsonl", _reviews(500))
    chosen = _texts(path, ImportPlan(sample=50, seed=3))
    assert len(set(chosen)) == 50
    assert [int(text[1:]) for text in chosen] == sorted(int(text[1:]) for text in chosen)
    assert _texts(path, ImportPlan(sample=50, seed=3)) == chosen
    assert len(set(chosen) & set(_texts(path, ImportPlan(sample=50, seed=4)))) < 20
    backwards = write("b.jsonl", "".join(reversed(_reviews(500).splitlines(keepends=True))))
    assert _texts(backwards, ImportPlan(sample=50, seed=3)) == chosen[::-1]


def test_a_sample_is_uniform() -> None:
    """Over 300 seeds each of 60 examples is in about a third of the samples, and no more often with its neighbour."""
    table, found = _examples(60), np.zeros((300, 60))
    for seed in range(300):
        chosen = set(_sample([table], 20, seed))
        found[seed] = [text in chosen for text in table["text"]]
    assert (found.sum(axis=1) == 20).all()
    assert np.abs(found.mean(axis=0) - 1 / 3).max() < 4 * np.sqrt(2 / 9 / 300)
    together = (found[:, 1:] * found[:, :-1]).mean()
    assert abs(together - 20 / 60 * 19 / 59) < 0.01


def test_a_sample_is_of_the_examples_that_are_left(write: Write) -> None:
    """Of the rows in the range, without those dropped and repeated, exactly so many; the report says what was not."""
    rows = [{"text": f"t{n // 2}", "label": "neutral" if n % 4 else "-"} for n in range(40)]
    path = write("a.jsonl", "".join(json.dumps(row) + "\n" for row in rows))
    plan = ImportPlan(rows="1:20", drop=("-",), duplicates="first", sample=6)
    report = write_examples(path, task("sentiment"), plan, path.with_suffix(".parquet"))
    assert (report.rows_read, report.rows, report.dropped["not in the sample"]) == (20, 6, 4)
    assert pl.read_parquet(path.with_suffix(".parquet")).height == 6


def test_a_sample_larger_than_the_file_is_refused(write: Write) -> None:
    """The fault says how many there are; bad rows are said first."""
    path = write("a.jsonl", _reviews(5))
    with pytest.raises(BadInput) as caught:
        _texts(path, ImportPlan(sample=6))
    assert "a sample of 6 cannot be taken: there are 5 examples" in str(caught.value)
    bad = write("b.jsonl", _reviews(5) + "nonsense\n")
    with pytest.raises(BadInput, match="nothing was imported") as caught:
        _texts(bad, ImportPlan(sample=6))
    assert [fault.row for fault in caught.value.faults] == [6]
    assert len(_texts(path, ImportPlan(sample=5))) == 5


def test_a_seed_needs_a_sample_and_may_be_set_back() -> None:
    """A seed alone is a fault; an option can put 0 in place of the plan's seed."""
    with pytest.raises(BadInput, match="has no meaning without 'sample'"):
        parse_plan("seed = 3")
    plan = parse_plan("seed = 3\nsample = 10")
    assert plan.with_changes(seed=0).selection == {"sample": 10, "seed": 0}
    assert ImportPlan(rows=":7").selection == {"rows": "1:7"}
