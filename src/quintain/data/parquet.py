"""Parquet from outside: read once by a process of its own before it is read here.

A damaged page makes the library panic, and some make it end the whole process it runs in. So that this is never the
server or a worker, another process reads the file first, with a bound on memory and time, and says what happened. It is
started here and not by the engine, which is above: whoever reads data needs it, also where no model is ever run.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import polars as pl

from quintain.core.errors import BadInput
from quintain.data.text import too_large, too_many_rows

SECONDS = 60.0
BYTES_PER_SECOND = 4 << 20
ANY = 1 << 62
TOO_LARGE, TOO_MANY = 2, 3  # how the other process ends
DAMAGE = (pl.exceptions.PolarsError, pl.exceptions.PanicException, OverflowError)
_PROBE = """
import os, resource, sys
os.environ["RUST_BACKTRACE"] = "0"
total = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") * 3 // 4
resource.setrlimit(resource.RLIMIT_AS, (total, total))
resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
import polars as pl
try:
    table = pl.scan_parquet(sys.argv[1], glob=False)
    start, step, held = 0, 50_000, 0
    most, rows = int(sys.argv[2]), int(sys.argv[3])
    if table.select(pl.len()).collect().item() > rows:
        sys.exit(3)
    while (part := table.slice(start, step).collect()).height:
        start += step
        held += part.estimated_size()
        if held > most:
            sys.exit(2)
except SystemExit:
    raise
except BaseException as error:
    print((str(error).strip().splitlines() or [type(error).__name__])[0][:200])
    sys.exit(1)
"""


def check_parquet(path: Path, name: str = "", *, size: int = ANY, rows: int = ANY, at_once: bool = False) -> None:
    """Refuse the file at *path* where it cannot be read to its end; *name* is what a person calls it.

    It is also refused where it holds more than *size* bytes once it is unpacked, or more *rows*; *at_once* says why.
    """
    name = name or path.name
    if path.stat().st_size == 0:
        raise BadInput("{name}: the file is empty.", name=name)
    if fault := _fault_of(path, size, rows, at_once=at_once):
        raise _unreadable(name, fault)


def _fault_of(path: Path, size: int, rows: int, *, at_once: bool) -> str:
    """Let another process read the file to its end, and return what is wrong with it; "" where nothing is.

    What is too large raises BadInput.
    """
    try:
        probe = subprocess.run(  # noqa: S603 - our own program, and a path
            [sys.executable, "-I", "-c", _PROBE, str(path), str(size), str(rows)],
            capture_output=True,
            text=True,
            errors="replace",
            timeout=SECONDS + path.stat().st_size / BYTES_PER_SECOND,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return "it takes too long to read"
    if probe.returncode == TOO_LARGE:
        raise too_large(path.name, size, at_once=at_once)
    if probe.returncode == TOO_MANY:
        raise too_many_rows(path.name, rows, at_once=at_once)
    return "" if probe.returncode == 0 else probe.stdout.strip() or "a page of it is damaged"


@contextmanager
def reading_parquet(name: str) -> Iterator[None]:
    """Turn damage that reading shows after all into BadInput, which names the file *name*."""
    try:
        yield
    except DAMAGE as error:
        raise _unreadable(name, str(error).strip().split("\n")[0]) from error


def _unreadable(name: str, reason: str) -> BadInput:
    return BadInput(
        "{name} is not a readable Parquet file: {reason}.",
        name=name,
        reason=reason.rstrip("."),
        remedy="Write it again, or send it as JSONL.",
    )
