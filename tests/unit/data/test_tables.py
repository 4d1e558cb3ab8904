"""Tables that analysts bring."""

from __future__ import annotations

import gzip
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from quintain.core.errors import BadInput, NotFound
from quintain.data.tables import parse_columns, read_table, write_table

VOTES = pl.DataFrame({"item": ["a", "b"], "worker": ["1", "2"], "label": ["0", "1"]})
NAMES = ["item", "worker", "label"]


@pytest.mark.parametrize("name", ["v.csv", "v.tsv", "v.jsonl", "v.parquet", "v.csv.gz", "v.jsonl.gz", "v.parquet.gz"])
def test_every_format_reads_back_what_was_written(tmp_path: Path, name: str) -> None:
    """A table is the same whatever format it went through."""
    write_table(VOTES, tmp_path / name)
    assert read_table(tmp_path / name, required=NAMES).equals(VOTES)


@given(st.lists(st.tuples(st.text(), st.text(min_size=1)), min_size=1, max_size=20))
def test_odd_text_survives_csv_and_jsonl(tmp_path_factory: pytest.TempPathFactory, rows: list[tuple[str, str]]) -> None:
    """Separators, quotes, line ends and odd unicode in cells come back unchanged."""
    frame = pl.DataFrame(rows, schema={"a": pl.String(), "b": pl.String()}, orient="row")
    for name in ("t.csv", "t.jsonl"):
        path = tmp_path_factory.mktemp("t") / name
        write_table(frame, path)
        assert read_table(path, required=["a", "b"]).rows() == rows


def test_columns_are_mapped_and_the_others_kept(tmp_path: Path) -> None:
    """Our names come first, in order; further columns follow."""
    path = tmp_path / "v.csv"
    path.write_bytes(b"\xef\xbb\xbfslice,example_id,who,label\nx,a,1,yes\n")
    table = read_table(path, required=NAMES, optional=["time"], columns={"item": "example_id", "worker": "who"})
    assert table.columns == ["item", "worker", "label", "slice"]
    assert table.rows() == [("a", "1", "yes", "x")]


def test_numbers_become_text_in_every_format_unless_asked_for(tmp_path: Path) -> None:
    """A label 1 is '1' from JSONL too; *types* asks for numbers, and true counts as 1."""
    path = tmp_path / "r.jsonl"
    path.write_text('{"item": 1, "correct": true}\n{"item": 2, "correct": false}\n')
    table = read_table(path, required=["item", "correct"], types={"correct": pl.Float64()})
    assert table.rows() == [("1", 1.0), ("2", 0.0)]


def test_mixed_types_in_one_column_are_read_as_text(tmp_path: Path) -> None:
    """A JSONL column with numbers, texts and booleans is text."""
    path = tmp_path / "r.jsonl"
    path.write_text('{"a": 1}\n{"a": "x"}\n\n{"a": true}\n{"a": 2.5}\n')
    assert read_table(path, required=["a"])["a"].to_list() == ["1", "x", "true", "2.5"]


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("v.csv", b"", "v.csv: the file is empty"),
        ("v.csv", b"item,worker,label\n", "v.csv: the file has no rows"),
        ("v.csv", b"item,worker,label\na,1,x\nb,2\n", "v.csv, row 3: 2 columns where the header has 3"),
        ("v.csv", b"item,worker,label\na,1,x,y\n", "v.csv, row 2: 4 columns where the header has 3"),
        ("v.csv", b'item,worker,label\na,1,"x\n', "v.csv, row 2: broken quoting"),
        ("v.csv", b"item,worker,label\na,1,caf\x81\n", "v.csv, row 2: not UTF-8: byte 0x81 at position 8"),
        ("v.csv", b"item,who,label\na,1,x\n", "there is no column 'worker'"),
        ("v.csv", b"item,item,label\na,1,x\n", "the column 'item' is there twice"),
        ("v.jsonl", b'{"item": "a"}\n{"item"\n', "v.jsonl, row 2: not JSON"),
        ("v.jsonl", b'{"item": "a"}\n[1]\n', "v.jsonl, row 2: not a JSON object"),
        ("v.parquet", b"PAR1 no", "v.parquet is not a readable Parquet file"),
        ("v.csv.gz", b"plain", "v.csv.gz is not a complete gzip file"),
        ("v.csv.gz", gzip.compress(b"item,worker\n" * 99, mtime=0)[:-9], "v.csv.gz is not a complete gzip file"),
        ("v.xlsx", b"x", "format of v.xlsx cannot be told"),
    ],
)
def test_bad_files_are_explained(tmp_path: Path, name: str, content: bytes, message: str) -> None:
    """What is wrong with a file is said with its name and, where there is one, its row."""
    (tmp_path / name).write_bytes(content)
    with pytest.raises(BadInput) as caught:
        read_table(tmp_path / name, required=NAMES)
    assert message in str(caught.value)


def test_missing_columns_list_what_there_is(tmp_path: Path) -> None:
    """The remedy names the file's own columns and how to map them."""
    (tmp_path / "v.csv").write_text("example,who\n1,2\n")
    with pytest.raises(BadInput) as caught:
        read_table(tmp_path / "v.csv", required=["item"])
    assert "The file has: example, who." in str(caught.value)


def test_a_wrong_number_is_named_with_its_row(tmp_path: Path) -> None:
    """A value that is not a number is a fault with row, field and value."""
    (tmp_path / "v.csv").write_text("item,correct\na,1\nb,maybe\n")
    with pytest.raises(BadInput) as caught:
        read_table(tmp_path / "v.csv", required=["item", "correct"], types={"correct": pl.Float64()})
    assert str(caught.value) == "v.csv, row 3, field 'correct': 'maybe' is not a number"


def test_a_missing_file_is_not_found(tmp_path: Path) -> None:
    """A file that is not there is said to be missing."""
    with pytest.raises(NotFound, match="no file"):
        read_table(tmp_path / "none.csv", required=["item"])


def test_column_options_are_parsed() -> None:
    """`--column` takes our name and the file's name."""
    assert parse_columns(["item=example id", " label = gold "]) == {"item": "example id", "label": "gold"}
    for wrong in (["item"], ["=x"], ["a=b", "a=c"]):
        with pytest.raises(BadInput):
            parse_columns(wrong)


def test_a_mapping_to_an_unknown_name_is_refused(tmp_path: Path) -> None:
    """Mapping a name that the command does not know is a mistake, and is said to be one."""
    (tmp_path / "v.csv").write_text("item\na\n")
    with pytest.raises(BadInput, match="no column called 'itme'"):
        read_table(tmp_path / "v.csv", required=["item"], columns={"itme": "item"})
