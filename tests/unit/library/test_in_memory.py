"""What may be handed over as a table: every library's frames, mappings, lists; and what is no table."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from quintain.core.errors import BadInput
from quintain.data.in_memory import InMemoryTable, in_memory_table, source_of
from quintain.data.tables import read_table

ROWS = [("a", "ann", 1), ("b", "bob", 2)]
NAMES = ("item", "worker", "label")


def _pandas() -> Any:
    return pytest.importorskip("pandas", reason="pandas is not installed").DataFrame(ROWS, columns=list(NAMES))


def _arrow() -> Any:
    return pytest.importorskip("pyarrow", reason="pyarrow is not installed").table(_columns())


def _columns() -> dict[str, list[Any]]:
    return {name: [row[at] for row in ROWS] for at, name in enumerate(NAMES)}


class BareFrame:
    """A frame as pandas is without pyarrow: it hands nothing over, and its columns have to be read."""

    columns = NAMES

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        raise ImportError("pyarrow is needed")

    def __getitem__(self, name: str) -> Any:
        import numpy as np

        return np.array(_columns()[name])


MAKERS: dict[str, Callable[[], Any]] = {
    "polars": lambda: pl.DataFrame(_columns()),
    "lazy": lambda: pl.LazyFrame(_columns()),
    "pandas": _pandas,
    "arrow": _arrow,
    "bare": BareFrame,
    "mapping": _columns,
    "objects": lambda: [dict(zip(NAMES, row, strict=True)) for row in ROWS],
    "rows": lambda: ROWS,
}


@pytest.mark.parametrize("maker", MAKERS)
def test_every_kind_of_frame_reads_as_its_file(maker: str, tmp_path: Path) -> None:
    """What comes from memory is read as the same table in a CSV file: plain values are texts."""
    file = tmp_path / "votes.csv"
    pl.DataFrame(_columns()).write_csv(file)
    table = read_table(source_of(MAKERS[maker](), NAMES), required=NAMES)
    assert table.equals(read_table(file, required=NAMES))


def test_a_path_stays_a_path_and_a_table_itself() -> None:
    """Names of files are read later; what is a table already is not made again."""
    assert source_of("votes.csv") == Path("votes.csv")
    table = InMemoryTable(pl.DataFrame({"item": ["a"]}))
    assert source_of(table) is table


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (3, "is a int, not a table"),
        (["a", "b"], "is a list, not a table"),
        ({"item": ["a"], "label": []}, "have 0 to 1 values"),
        ([("a", "b"), ("c",)], "have 1 to 2 values"),
    ],
)
def test_what_is_no_table_is_refused(value: Any, said: str) -> None:
    """A number, a list of texts and columns of different lengths are named as what they are."""
    with pytest.raises(BadInput, match=said):
        in_memory_table(value, NAMES)


def test_mixed_values_are_texts() -> None:
    """A column with a number and a word holds texts."""
    assert in_memory_table({"label": [1, "b", None]}).frame["label"].to_list() == ["1", "b", None]


def test_faults_name_rows_as_frames_do() -> None:
    """The first row of a frame is row 0, and the table has a name in the message."""
    with pytest.raises(BadInput) as caught:
        read_table(in_memory_table({"n": ["1", "x"]}, name="the numbers"), required=["n"], types={"n": pl.Float64()})
    assert (caught.value.faults[0].file, caught.value.faults[0].row) == ("the numbers", 1)
