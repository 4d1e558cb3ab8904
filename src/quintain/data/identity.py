"""What names examples and versions: hashes of content, computed a table at a time.

An example's id is that of `core.example.Example`: SHA-256 over the canonical JSON of its inputs. polars writes JSON in
exactly that form when the fields are in the order of their names, so only the hashing itself goes row by row.

In a contrast set the same input may be a member of several sets: those after the first have names of their own,
`repeated_digest`.

A version's hash covers ids, answers, tags and groups in order, and nothing of the file that they came from. Anybody can
compute it, so where answers are hidden it would be a way to try answers until one fits: such a version is named by its
content and a secret salt, `salted`.
"""

from __future__ import annotations

import hashlib
import hmac
import io
import time
from collections.abc import Callable, Sequence

import polars as pl

from quintain.core.hashing import ID_LENGTH
from quintain.core.look_alikes import OTHER_SCRIPTS
from quintain.core.text_form import IGNORABLE, letters_form

_FORM = b"quintain data set, form 1\n"
_SALTED = b"quintain data set with hidden answers, form 1\n"
_TURN = 1000  # rows hashed between two offers of Python's lock to other threads


def example_ids(table: pl.DataFrame, inputs: Sequence[str]) -> pl.Series:
    """Return the ids of the examples in *table*, whose *inputs* are these columns.

    >>> example_ids(pl.DataFrame({"text": ["Hello"]}), ["text"]).to_list()
    ['ef73ae6a8b47cd3601ab3fad1fb8099e']
    """
    return hex_ids(example_digests(table, inputs))


def form_ids(table: pl.DataFrame, inputs: Sequence[str]) -> pl.Series:
    """Return ids by which examples are compared: those that they would have with every text in its form.

    >>> table = pl.DataFrame({"text": ["Hello", "Hel\u200blo  "]})
    >>> form_ids(table, ["text"]).n_unique()
    1
    """
    return example_ids(_each_text(table, inputs, _text_form), inputs)


def spelling_ids(table: pl.DataFrame, inputs: Sequence[str]) -> list[pl.Series]:
    """Return columns of the ids under which the same inputs may be stored, as `core.text_form.spelling_ids` does."""
    spellings = [table, _each_text(table, inputs, _text_form)]
    changes: list[Callable[[pl.Expr], pl.Expr]] = [
        lambda texts: texts.str.normalize("NFC"),
        lambda texts: texts.str.normalize("NFD"),
    ]
    spellings += [_each_text(spelling, inputs, change) for spelling in spellings[:2] for change in changes]
    return [example_ids(spelling, inputs) for spelling in spellings]


def _each_text(table: pl.DataFrame, names: Sequence[str], change: Callable[[pl.Expr], pl.Expr]) -> pl.DataFrame:
    """Return the table with what *change* makes of every text in the columns *names*, also within lists."""
    exprs = []
    for name in names:
        if table.schema[name] == pl.String():
            exprs.append(change(pl.col(name)))
        elif table.schema[name] == pl.List(pl.String()):
            exprs.append(pl.col(name).list.eval(change(pl.element())))
    return table.with_columns(exprs)


def _text_form(texts: pl.Expr) -> pl.Expr:
    """Return what `core.text_form.text_form` does for a column."""
    visible = texts.str.normalize("NFC").str.replace_all(f"[{IGNORABLE}]+", "")
    return visible.map_batches(letters_forms, pl.String()).str.replace_all(r"\s+", " ").str.strip_chars()


def letters_forms(texts: pl.Series) -> pl.Series:
    """Return what `core.text_form.letters_form` does for a column; rows without Greek or Cyrillic cost next to nothing.

    >>> letters_forms(pl.Series(["а grеаt film", "это кот", None])).to_list()
    ['a great film', 'это кот', None]
    """
    other = texts.str.contains(OTHER_SCRIPTS).fill_null(value=False)
    if not other.any():
        return texts
    changed = pl.Series([letters_form(text) for text in texts.filter(other).to_list()], dtype=pl.String())
    return texts.scatter(other.arg_true(), changed)


def example_digests(table: pl.DataFrame, inputs: Sequence[str]) -> list[bytes]:
    """Return the SHA-256 of every row's inputs; an input that is null is left out, as in a mapping without it."""
    names = sorted(inputs)
    gaps = [name for name in names if table[name].null_count()]
    if not gaps:
        return _digests(table, names)
    digests: list[bytes] = [b""] * table.height
    patterns = table.select(pl.col(name).is_null() for name in gaps).with_row_index("__at")
    for pattern, rows in patterns.group_by(gaps):
        missing = {name for name, null in zip(gaps, pattern, strict=True) if null}
        places = rows["__at"].to_list()
        some = _digests(table[places], [name for name in names if name not in missing])
        for at, digest in zip(places, some, strict=True):
            digests[at] = digest
    return digests


def hex_ids(digests: Sequence[bytes]) -> pl.Series:
    """Write digests as ids."""
    return pl.Series("id", digests, dtype=pl.Binary()).bin.encode("hex").str.head(ID_LENGTH)


def repeated_digest(digest: bytes, turn: int) -> bytes:
    """Return what names an input that stands in a version again, for the *turn*-th time: 2 is the second.

    The first has the name that the input has anywhere; so predictions, metrics and tags tell members of sets apart.
    """
    return hashlib.sha256(digest + f"/{turn}".encode()).digest() if turn > 1 else digest


def _digests(table: pl.DataFrame, names: Sequence[str]) -> list[bytes]:
    if not names:
        return [hashlib.sha256(b"{}").digest()] * table.height
    encoded = table.select(pl.struct(names).struct.json_encode().cast(pl.Binary()).alias("line"))["line"]
    lines, sha256 = encoded.to_list(), hashlib.sha256
    digests: list[bytes] = []
    for start in range(0, len(lines), _TURN):
        digests += [sha256(line).digest() for line in lines[start : start + _TURN]]
        # Let the thread that reads ahead have Python's lock: each of its short steps would wait 5 ms for it.
        time.sleep(0)
    return digests


class ContentHash:
    """The hash of a version, fed with its tables in order; how it is cut into tables makes no difference."""

    def __init__(self) -> None:
        self.rows = 0
        self._ids = hashlib.sha256()
        self._answers = hashlib.sha256()
        self._marks = hashlib.sha256()

    def update(self, table: pl.DataFrame) -> None:
        """Add the next rows: columns id, answer, tags and group."""
        if table.is_empty():
            return
        self._ids.update(table["id"].str.join("").item().encode())
        self._answers.update(_lines(table.select("answer")))
        marks = table.lazy().select("tags", "group").with_row_index("row", offset=self.rows)
        marked = marks.filter((pl.col("tags").list.len() > 0) | pl.col("group").is_not_null()).collect()
        if marked.height:
            self._marks.update(_lines(marked))
        self.rows += table.height

    def hexdigest(self) -> str:
        """Return the hash of all that was added, in hexadecimal."""
        parts = b"\n".join(part.hexdigest().encode() for part in (self._ids, self._answers, self._marks))
        return hashlib.sha256(_FORM + parts).hexdigest()


def salted(content: str, salt: str) -> str:
    """Return the public name of the content whose hash is *content*: without the *salt* nothing follows from it.

    >>> salted("ab" * 32, "01" * 32)[:8], salted("ab" * 32, "02" * 32)[:8]
    ('e477848e', '4b3fd4c2')
    """
    return hmac.new(bytes.fromhex(salt), _SALTED + content.encode(), hashlib.sha256).hexdigest()


def _lines(table: pl.DataFrame) -> bytes:
    with io.BytesIO() as buffer:
        table.write_ndjson(buffer)
        return buffer.getvalue()
