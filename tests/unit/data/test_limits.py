"""A file that unpacks to more than it may is refused before it is read, whatever it is packed in."""

from __future__ import annotations

import gzip
import re
import time
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest

import quintain.web
from quintain.core.errors import BadInput
from quintain.data.limits import MIB, FileLimits, check_limits, holds_more, read_at_once

SMALL = FileLimits(size=4 * MIB, rows=1000)


def _packed(path: Path, data: bytes) -> None:
    path.write_bytes(gzip.compress(data, 1))


def _rows(count: int, end: bytes = b"\n") -> bytes:
    return end.join([b"text,answer", *[b"x,y"] * count]) + end


def _parquet(path: Path, rows: int, text: str) -> None:
    pl.DataFrame({"text": [text]}).select(pl.col("text").repeat_by(rows).explode()).write_parquet(path)


TOO_MUCH: dict[str, Callable[[Path], None]] = {
    "rows.csv.gz": lambda path: _packed(path, _rows(1001)),
    "mac.csv.gz": lambda path: _packed(path, _rows(1001, b"\r")),
    "dos.tsv.gz": lambda path: _packed(path, _rows(1001, b"\r\n")),
    "lines.jsonl.gz": lambda path: _packed(path, b'{"text": "x"}\n' * 1002),
    "bytes.csv.gz": lambda path: _packed(path, b"x" * (4 * MIB + 1)),
    "document.json.gz": lambda path: _packed(path, b" " * (MIB // 2 + 1)),
    "tree.conllu.gz": lambda path: _packed(path, b"1\tx\n" * (MIB + 1)),
    "table.parquet.gz": lambda path: _packed(path, bytes(4 * MIB + 1)),
    "plain.csv": lambda path: path.write_bytes(_rows(1001)) and None,
    "plain.json": lambda path: path.write_bytes(b" " * (MIB // 2 + 1)) and None,
    "rows.parquet": lambda path: _parquet(path, 1001, "x"),
    "bytes.parquet": lambda path: _parquet(path, 900, "x" * 8000),
}


@pytest.mark.parametrize("name", TOO_MUCH)
def test_what_unpacks_to_too_much_is_refused(tmp_path: Path, name: str) -> None:
    """Rows are counted where each has a line, bytes everywhere, and the message names the limit and its setting."""
    path = tmp_path / name
    TOO_MUCH[name](path)
    with pytest.raises(BadInput, match=f"{name} holds more than (1,000 rows|\\d+ MiB)") as caught:
        check_limits(path, SMALL)
    assert "QUINTAIN_IMPORT_" in str(caught.value.remedy)


@pytest.mark.parametrize(
    ("name", "make"),
    [
        ("rows.csv.gz", lambda path: _packed(path, _rows(1000))),
        ("dos.csv", lambda path: path.write_bytes(_rows(1000, b"\r\n"))),
        ("rows.parquet", lambda path: _parquet(path, 1000, "x")),
        ("long.conllu", lambda path: path.write_bytes(b"1\tx\n" * 2000)),
    ],
)
def test_what_is_within_the_limits_is_left_to_its_reader(
    tmp_path: Path, name: str, make: Callable[[Path], object]
) -> None:
    """The limit itself is allowed, and a header is no row."""
    make(tmp_path / name)
    check_limits(tmp_path / name, SMALL)


@pytest.mark.parametrize("name", TOO_MUCH)
def test_whether_a_file_holds_more(tmp_path: Path, name: str) -> None:
    """What `check_limits` would refuse holds more, and what is read at once names no setting that would not help."""
    path = tmp_path / name
    TOO_MUCH[name](path)
    assert holds_more(path, SMALL)
    assert not holds_more(path, FileLimits())
    with pytest.raises(BadInput) as caught:
        check_limits(path, read_at_once(FileLimits(), SMALL))
    assert "QUINTAIN_IMPORT_" not in str(caught.value.remedy)


def test_a_bomb_costs_little(tmp_path: Path) -> None:
    """A file of two megabytes that unpacks to tens of millions of rows is refused within a second of processor."""
    path = tmp_path / "bomb.csv.gz"
    with gzip.open(path, "wb", compresslevel=6) as stream:
        for _ in range(35):
            stream.write(b"x,y\n" * 1_000_000)
    began = time.process_time()
    with pytest.raises(BadInput, match="2,000,000 rows"):
        check_limits(path, FileLimits())
    assert time.process_time() - began < 1


def test_damage_is_said_as_such(tmp_path: Path) -> None:
    """A file that is cut off is refused for that."""
    path = tmp_path / "cut.csv.gz"
    path.write_bytes(gzip.compress(_rows(500))[:-9])
    with pytest.raises(BadInput, match="not a complete gzip file"):
        check_limits(path, SMALL)


def test_every_door_has_limits() -> None:
    """Whatever is sent to a page or the API is held to the limits, but for archives of models, which have their own."""
    web = Path(quintain.web.__file__).parent
    free = {path.name for path in web.rglob("*.py") if re.search(r"on_disk\([^)]*\bNone\b", path.read_text())}
    assert free == {"files.py", "submit.py"}
    by_job = {path.name for path in web.rglob("*.py") if "workspace.file_limits" in path.read_text()}
    assert by_job == {"datasets.py", "imports.py", "harvests.py"}  # there a worker reads what is large
    direct = {
        path.name for path in web.rglob("*.py") if re.search(r"\bupload\.file\b|\.file\.read\(", path.read_text())
    }
    assert direct == {"files.py", "write.py"}  # a picture, which is kept as it is and has a limit of its own
