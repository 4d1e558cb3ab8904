"""Files as the world writes them: encodings and separators are found out, and digits of every script are numbers."""

from __future__ import annotations

import gzip
from pathlib import Path

import polars as pl
import pytest

from quintain.core.errors import BadInput
from quintain.data.encodings import encoding_of
from quintain.data.first_look import Content, look_at_file
from quintain.data.readers.contract import READERS, Options
from quintain.data.tables import read_table

TEXTS = {
    "utf-8": "Schöne Straße – 好看。",
    "utf-8-sig": "Schöne Straße",
    "utf-16": "花了两百元，味道很好。",
    "utf-16-le": "A plain film, nothing more.",
    "cp1252": "Schöne Grüße aus Köln – für „alle“, naïve façade, mañana.",
    "gb18030": "花了两百元，味道很好，服务也非常热情，我们下次还会再来。",
    "cp932": "とても楽しい映画でした。音楽もすばらしく、もう一度見たいです。",
}


@pytest.mark.parametrize("encoding", TEXTS)
@pytest.mark.parametrize("packed", [False, True])
def test_what_a_file_is_written_in_is_found_out(encoding: str, packed: bool, tmp_path: Path) -> None:
    """Tables of commands and files of imports read the same letters, packed or not."""
    data = f"text,label\n{TEXTS[encoding]!r},good\n".replace("'", '"').encode(encoding)
    path = tmp_path / ("file.csv.gz" if packed else "file.csv")
    path.write_bytes(gzip.compress(data) if packed else data)
    assert read_table(path, required=["text"])["text"].to_list() == [TEXTS[encoding]]
    assert look_at_file(path).first == ((TEXTS[encoding], "good"),)


@pytest.mark.parametrize("encoding", ["utf-16", "gb18030"])
def test_lines_of_json_are_found_out_too(encoding: str, tmp_path: Path) -> None:
    """JSONL in UTF-16 or GB18030 is read line by line."""
    path = tmp_path / "file.jsonl"
    path.write_bytes(f'{{"text": "{TEXTS[encoding]}"}}\n'.encode(encoding))
    assert look_at_file(path).first == ((TEXTS[encoding],),)
    assert read_table(path, required=["text"])["text"].to_list() == [TEXTS[encoding]]


@pytest.mark.parametrize(("separator", "encoding"), [(";", "cp1252"), ("\t", "utf-16"), (";", "utf-8")])
def test_a_separator_is_found_out(separator: str, encoding: str, tmp_path: Path) -> None:
    """What German Excel writes as CSV has semicolons; a comma within quotation marks of the header parts nothing."""
    path = tmp_path / "file.csv"
    path.write_bytes(f'text{separator}"label, gold"\nfür alle, ja{separator}gut\n'.encode(encoding))
    assert look_at_file(path).first == (("für alle, ja", "gut"),)
    assert read_table(path, required=[]).rows() == [("für alle, ja", "gut")]


def test_what_cannot_be_told_is_named_by_its_row(tmp_path: Path) -> None:
    """Bytes of no encoding are faults of their row; a name of an encoding reads them."""
    path = tmp_path / "file.csv"
    path.write_bytes(b"text,label\nplain,good\n" + b"\x81\x8d\x81,good\n")
    source = READERS.get("csv")(path, Options())
    faults = [fault for batch in source.batches({"text": False, "label": False}) for fault in batch.faults]
    assert [fault.row for fault in faults] == [3]
    named = READERS.get("csv")(path, Options(encoding="latin-1"))
    assert sum(len(batch.rows) for batch in named.batches({"text": False, "label": False})) == 2


def test_half_a_pair_in_utf16_is_refused(tmp_path: Path) -> None:
    """A lone surrogate is no character: the file is refused, and nothing is cut or replaced."""
    path = tmp_path / "file.csv"
    path.write_bytes(b"\xff\xfe" + "text\nab".encode("utf-16-le") + b"\x3d\xd8" + "c\n".encode("utf-16-le"))
    with pytest.raises(BadInput, match="not UTF-16-LE"):
        read_table(path, required=["text"])
    with pytest.raises(BadInput, match="not UTF-16-LE"):
        look_at_file(path)


def test_digits_of_every_script_are_numbers(tmp_path: Path) -> None:
    """Full-width, Arabic and Devanagari digits are read as numbers, and so are decimal commas of a column."""
    path = tmp_path / "file.csv"
    path.write_text("item;correct;share\na;１;3,5\nb;٠;1.234,25\nc;१;2\n", encoding="utf-8")
    types = {"correct": pl.Int64(), "share": pl.Float64()}
    table = read_table(path, required=["correct", "share"], types=types)
    assert table.rows() == [(1, 3.5, "a"), (0, 1234.25, "b"), (1, 2.0, "c")]
    contents = {column.name: column.content for column in look_at_file(path).columns}
    assert contents["share"] is Content.NUMBER
    path.write_text('item,share\na,"1,234"\n', encoding="utf-8")
    with pytest.raises(BadInput, match="'1,234' is not a number"):  # a thousand, or a decimal: nobody can tell
        read_table(path, required=["share"], types=types)


def test_a_file_that_is_cut_within_a_character_keeps_its_encoding() -> None:
    """The first bytes that are looked at may end within a character."""
    for encoding in ("utf-8", "gb18030", "cp932"):
        whole = (TEXTS[encoding] * 40).encode(encoding)
        assert encoding_of(whole[:-1]) == encoding
