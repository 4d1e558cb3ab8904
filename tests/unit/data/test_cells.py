"""CSV and TSV files that leave: nothing in them is run by a spreadsheet, and we read back what was written."""

from __future__ import annotations

import ast
import csv
import io
import re
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from quintain.data.cells import RowWriter, guard, unguard
from quintain.data.exporting import write_export, write_parts
from quintain.data.readers.contract import Options
from quintain.data.readers.separated import open_csv, open_tsv
from quintain.data.tables import read_table, write_table
from tests.conftest import ROOT
from tests.properties import examples

AWKWARD = [
    "=1+1",
    "+49 30",
    "-x",
    "@SUM(A1)",
    "\t=2",
    "\r=3",
    "'=quoted",
    "''=twice",
    "'plain'",
    "-3.5",
    "+7e3",
    "fine",
]
RUNS = ("=", "+", "-", "@", "\t", "\r")
SOURCE = ROOT / "src" / "quintain"


def harmless(cell: str) -> bool:
    """Say whether a spreadsheet takes *cell* for a text or a number."""
    return not cell.startswith(RUNS) or cell in {"-3.5", "+7e3"}


@settings(max_examples=examples(200), deadline=None)
@given(st.text())
def test_whatever_is_guarded_is_read_back(text: str) -> None:
    """No text begins like a formula once it is guarded, unless it is a number, and unguarding gives it back."""
    written = guard(text)
    assert unguard(written) == text
    if written.startswith(RUNS):
        float(written)


INSIDE = ["a;=1+1;b", "a\t=2", "a\n@SUM(A1)", "x;-cmd|' /C calc'!A0;", "a;'=1", ";;+1", "a; b;c", "a\r\n-1"]


@pytest.mark.parametrize("suffix", ["csv", "csv.gz"])
def test_another_separator_finds_no_formula(tmp_path: Path, suffix: str) -> None:
    """A spreadsheet that splits at semicolons, tabs and line ends, whatever is quoted, finds none either."""
    frame = pl.DataFrame({"item": [str(number) for number in range(len(INSIDE))], "head;=1": INSIDE})
    path = tmp_path / f"table.{suffix}"
    write_table(frame, path)
    assert read_table(path, required=["item"]).rows() == frame.rows()
    write_export(frame.lazy(), "csv", tmp_path / "export.csv")
    stream = io.StringIO()
    RowWriter(stream).rows([[cell] for cell in INSIDE])
    for text in (stream.getvalue(), (tmp_path / "export.csv").read_text(encoding="utf-8")):
        assert [piece for piece in re.split(r"[;\t\r\n]", text) if piece.startswith(RUNS)] == []
    [batch] = open_csv(tmp_path / "export.csv", Options()).batches({"head;=1": True})
    assert batch.frame["head;=1"].to_list() == INSIDE


@pytest.mark.parametrize("suffix", ["csv", "tsv", "csv.gz"])
def test_tables_are_guarded_and_read_back(tmp_path: Path, suffix: str) -> None:
    """A table that was written has no cell and no heading that is run, and reads back equal."""
    frame = pl.DataFrame({"=head": AWKWARD, "item": [str(number) for number in range(len(AWKWARD))]})
    path = tmp_path / f"table.{suffix}"
    write_table(frame, path)
    assert read_table(path, required=["=head", "item"]).rows() == frame.rows()
    if suffix == "csv":
        lines = list(csv.reader(io.StringIO(path.read_text(encoding="utf-8"), newline="")))
        assert all(harmless(cell) for line in lines for cell in line)


@pytest.mark.parametrize(("form", "open_"), [("csv", open_csv), ("tsv", open_tsv)])
def test_exports_are_guarded_and_imported_back(tmp_path: Path, form: str, open_: object) -> None:
    """Both ways in which data sets are exported are guarded, and import reads what was exported."""
    frame = pl.DataFrame({"text": AWKWARD})
    write_export(frame.lazy(), form, tmp_path / f"whole.{form}")
    write_parts([frame], frame.schema, form, tmp_path / f"parts.{form}")
    for name in ("whole", "parts"):
        path = tmp_path / f"{name}.{form}"
        [batch] = open_(path, Options()).batches({"text": True})  # type: ignore[operator]
        assert batch.frame["text"].to_list() == AWKWARD
        separator = "," if form == "csv" else "\t"
        lines = csv.reader(io.StringIO(path.read_text(encoding="utf-8"), newline=""), delimiter=separator)
        assert all(harmless(line[0]) for line in lines)


def test_rows_for_people_are_guarded() -> None:
    """Numbers stay numbers, texts that begin like formulas do not run, and overrides of direction are seen."""
    stream = io.StringIO()
    writer = RowWriter(stream)
    writer.row(["=1+1", -3.5, "-3.5", "a\u202eb"])
    writer.rows([["@x", None]])
    assert stream.getvalue() == "'=1+1,-3.5,-3.5,a�b\n'@x,\n"


def test_there_is_one_writer() -> None:
    """No other module writes CSV: neither by Python's module nor by polars."""
    others = []
    for path in SOURCE.rglob("*.py"):
        if path == SOURCE / "data" / "cells.py":
            continue
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Attribute) and node.attr in {"write_csv", "sink_csv", "DictWriter"}:
                others.append((str(path), node.lineno, node.attr))
            if isinstance(node, ast.Attribute) and node.attr == "writer" and getattr(node.value, "id", "") == "csv":
                others.append((str(path), node.lineno, node.attr))
            if isinstance(node, ast.ImportFrom) and node.module == "csv":
                others.append((str(path), node.lineno, "from csv"))
    assert not others
    scripts = (SOURCE / "web" / "static" / "js").glob("*.js")
    assert not [path.name for path in scripts if "text/csv" in path.read_text(encoding="utf-8")]
