"""How much a file from outside may unpack to: a small one may be very large once it is uncompressed.

It is looked at before any reader is: unpacked and thrown away block by block, which takes a second for some hundred
megabytes and holds no more than a block, and stopped at the limit.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from zipfile import ZipFile, is_zipfile

from quintain.core.errors import BadInput
from quintain.data.parquet import check_parquet
from quintain.data.text import gzip_faults, open_bytes, suffix_of, too_large, too_many_rows

BLOCK = 1 << 20
MIB = 1 << 20
BY_LINE = frozenset({".csv", ".tsv", ".tab", ".jsonl", ".ndjson"})  # each row has a line of its own at least
WHOLE = frozenset({".json"})  # held in memory whole, where it takes several times its size
WHOLE_PART = 8


@dataclass(frozen=True, slots=True)
class FileLimits:
    """The most that a file may hold once it is unpacked, in bytes and in rows.

    *at_once* says that it is read while somebody waits, where no setting raises the limits.
    """

    size: int = 2048 * MIB
    rows: int = 2_000_000
    at_once: bool = False


AT_ONCE = FileLimits(64 * MIB, 100_000, at_once=True)  # where no worker reads a file, but a request


def read_at_once(limits: FileLimits, most: FileLimits) -> FileLimits:
    """Return the lower of two limits, for a file that is read while whoever sent it waits."""
    return FileLimits(min(limits.size, most.size), min(limits.rows, most.rows), at_once=True)


def holds_more(path: Path, limits: FileLimits) -> bool:
    """Whether the file at *path* holds more than *limits* once it is unpacked; no more than that is unpacked."""
    if path.suffix.lower() == ".zip" and is_zipfile(path):
        with ZipFile(path) as archive:
            return sum(entry.file_size for entry in archive.infolist()) > limits.size
    try:
        check_limits(path, limits)
    except BadInput:
        return True
    return False


def check_limits(path: Path, limits: FileLimits) -> None:
    """Refuse the file at *path* where it holds more than *limits* allow; what is damaged is left to its reader."""
    suffix = suffix_of(path)
    size = limits.size // WHOLE_PART if suffix in WHOLE else limits.size
    packed = path.suffix == ".gz"
    if suffix == ".parquet" and not packed:
        check_parquet(path, size=size, rows=limits.rows, at_once=limits.at_once)
    elif packed or path.stat().st_size > min(size, limits.rows if suffix in BY_LINE else size):
        _count(path, size, limits.rows if suffix in BY_LINE else None, at_once=limits.at_once)


def _count(path: Path, size: int, rows: int | None, *, at_once: bool) -> None:
    held = feeds = returns = 0
    with gzip_faults(path.name), open_bytes(path) as stream:
        while block := stream.read(BLOCK):
            held += len(block)
            if held > size:
                raise too_large(path.name, size, at_once=at_once)
            feeds += block.count(b"\n")
            returns += block.count(b"\r")  # the line ends of old Macs
            if rows is not None and max(feeds, returns) > rows + 1:  # a header is no row
                raise too_many_rows(path.name, rows, at_once=at_once)
