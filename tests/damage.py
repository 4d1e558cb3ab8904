"""Files that are whole, and everything that can happen to them."""

from __future__ import annotations

import gzip
import io
import json
import random
from collections.abc import Callable, Iterator

import polars as pl

ROWS = [
    {
        "id": f"r{n}",
        "item": f"i{n % 5}",
        "worker": f"w{n % 3}",
        "label": "ab"[n % 2],
        "text": f"Text number {n}.",
        "answer": "ab"[n % 2],
        "prediction": "ab"[n % 3 // 2],
        "perf": 0.5 + n / 100,
        "speed": 10.0 * n,
    }
    for n in range(15)
]
DEEP = "[" * 20_000 + "]" * 20_000
MIDDLING = "[" * 700 + "]" * 700
DIGITS = "9" * 5_000
# What may stand where a value of a row stands.
VALUES = {
    "deep nesting": DEEP,
    "nesting that is not closed": "[" * 20_000,
    "middling nesting": MIDDLING,
    "deep objects": '{"a":' * 5_000 + "1" + "}" * 5_000,
    "many digits": DIGITS,
    "many digits after a point": f"0.{DIGITS}",
    "a huge exponent": "1e999999",
    "no number": "NaN",
    "half a surrogate pair": '"\\ud800"',
    "a null character": '"\\u0000"',
    "an object": '{"a": {"b": [1, "x", null]}}',
    "a list": '[1, "x", [null]]',
    "a long text": '"' + "x" * 300_000 + '"',
}


def jsonl(value: str | None = None) -> bytes:
    """Write the rows as JSON lines; *value* stands in the third, in each of its columns."""
    lines = [json.dumps(row) for row in ROWS]
    if value is not None:
        lines[2] = "{" + ", ".join(f'"{key}": {value}' for key in ROWS[2]) + "}"
    return ("\n".join(lines) + "\n").encode()


def csv() -> bytes:
    """Write the rows as CSV."""
    return pl.DataFrame(ROWS).write_csv().encode()


def parquet() -> bytes:
    """Write the rows as Parquet."""
    buffer = io.BytesIO()
    pl.DataFrame(ROWS).write_parquet(buffer)
    return buffer.getvalue()


def named(form: str) -> Iterator[tuple[str, bytes]]:
    """Give files of *form* that no command can use, each with what is wrong."""
    whole = {"jsonl": jsonl, "csv": csv, "parquet": parquet}[form]()
    yield "nothing", b""
    yield "blanks", b" \n \n"
    yield "bytes of no encoding", b"\xff\xfe\xfa" * 50
    yield "UTF-16", whole[:200].decode("latin-1").encode("utf-16")
    if form == "jsonl":
        for name in ("deep nesting", "nesting that is not closed", "middling nesting", "deep objects", "many digits"):
            yield name, jsonl(VALUES[name])
        yield "half a line", whole[:-9]
        yield "a list of lines", b"[" + whole.replace(b"\n", b",") + b"]"
    if form == "csv":
        yield "a quotation mark that is not closed", whole.replace(b"Text number 2.", b'"Text')
        yield "too many columns", whole.replace(b"Text number 2.", b"a,b,c,d,e")
    if form == "parquet":
        yield "half a file", whole[: len(whole) // 2]
        yield "a page of nothing", whole[:4] + bytes(len(whole) // 2) + whole[4 + len(whole) // 2 :]


def at_random(form: str, number: int, seed: int = 1) -> Iterator[bytes]:
    """Give *number* files of *form* with bytes turned around, cut out, doubled, or values put in their place."""
    chance = random.Random(f"{form}{seed}")  # noqa: S311 - the same damage every time
    makers: dict[str, Callable[[], bytes]] = {"jsonl": jsonl, "csv": csv, "parquet": parquet}
    for _ in range(number):
        data = bytearray(makers[form]())
        if form == "jsonl" and chance.random() < 0.5:
            data = bytearray(jsonl(chance.choice(list(VALUES.values()))))
        for _ in range(chance.choice((0, 1, 1, 4))):
            place = chance.randrange(len(data))
            match chance.randrange(4):
                case 0 | 1:
                    data[place] ^= 1 << chance.randrange(8)
                case 2:
                    del data[place : place + chance.randrange(1, 40)]
                case _:
                    data[place:place] = data[: chance.randrange(1, 60)]
        yield bytes(data)


def half(data: bytes) -> bytes:
    """Compress *data*, and lose the end of it."""
    return gzip.compress(data)[:-12]
