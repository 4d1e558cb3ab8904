"""From a file to a data set: read, map, check, name by content, write. Batch by batch, never all in memory."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

import polars as pl
from polars.io.plugins import register_io_source

from quintain.core.errors import BadInput, Fault, Unavailable
from quintain.core.task import Task
from quintain.data.identity import ContentHash, example_digests, hex_ids
from quintain.data.mapping import EXTRA, Mapped, Mapper
from quintain.data.plan import DEFAULT_LIMIT, ImportPlan
from quintain.data.readers.contract import READERS, guess_format
from quintain.tasks.contract import kind_of

Key = TypeVar("Key", bytes, str)
Progress = Callable[[int, int], None]
DUPLICATES = "the same input as an earlier row"
BAD = "bad"


@dataclass(slots=True)
class Report:
    """What came of reading a file. *faults* holds the first ones up to a limit, *total* counts all of them."""

    file: str = ""
    rows_read: int = 0
    rows: int = 0
    hash: str = ""
    dropped: Counter[str] = field(default_factory=Counter)
    faults: list[Fault] = field(default_factory=list)
    total: int = 0
    limit: int = DEFAULT_LIMIT
    duplicates: int = 0

    def add(self, faults: list[Fault]) -> None:
        """Count *faults* and keep those that the limit allows."""
        self.total += len(faults)
        self.faults += faults[: max(0, self.limit - len(self.faults))]

    def error(self) -> BadInput:
        """Give the error that says all this."""
        remedy = "Mend the file, or leave bad rows out with --skip-bad."
        if self.duplicates == self.total:
            remedy = "Keep the first of each with --duplicates first."
        count = f"{self.total} fault{'s' if self.total != 1 else ''}"
        return BadInput(
            f"{self.file} has {count}; nothing was imported.", faults=self.faults, total=self.total, remedy=remedy
        )


def stored_schema(task: Task) -> dict[str, pl.DataType]:
    """Give the columns of a version's Parquet file."""
    return {"id": pl.String(), **kind_of(task).schema(task), **EXTRA}


def check_file(path: Path, task: Task, plan: ImportPlan, *, progress: Progress | None = None) -> Report:
    """Read *path* as an import would and give the report; nothing is written and bad rows do not raise."""
    report = Report(limit=plan.limit)
    content = ContentHash()
    for table in _examples(path, task, plan, report, progress):
        content.update(table)
    report.hash = content.hexdigest()
    return report


def write_examples(
    path: Path, task: Task, plan: ImportPlan, target: Path, *, progress: Progress | None = None
) -> Report:
    """Read *path* and write its examples to the Parquet file *target*; raise BadInput where rows are bad.

    Bad rows are left out where the plan says so, and are in the report.
    """
    report = Report(limit=plan.limit)
    tables = _examples(path, task, plan, report, progress)
    report.hash = write_version(tables, stored_schema(task), target)
    if report.total and not plan.skip_bad:
        raise report.error()
    if report.rows == 0:
        raise BadInput(
            faults=[Fault("no row is left to import", file=report.file)],
            remedy=f"Rows read: {report.rows_read}. Left out: {describe(report.dropped) or 'none'}.",
        )
    return report


def describe(dropped: Counter[str]) -> str:
    """Say in words how many rows were left out, and why."""
    return ", ".join(f"{count} {reason}" for reason, count in dropped.items() if count)


def write_version(tables: Iterator[pl.DataFrame], schema: dict[str, pl.DataType], target: Path) -> str:
    """Write *tables* one after the other to the Parquet file *target* and give the hash of their content."""
    content = ContentHash()
    failed: list[BaseException] = []

    def supply(*_: object) -> Iterator[pl.DataFrame]:
        # polars would wrap what is raised here into an error of its own.
        try:
            for table in tables:
                content.update(table)
                yield table
        except BaseException as error:
            failed.append(error)

    try:
        register_io_source(supply, schema=schema).sink_parquet(target)
    except (pl.exceptions.PolarsError, OSError) as error:
        if not failed:
            raise _write_error(error, target) from error
    if failed:
        raise failed[0]
    return content.hexdigest()


def _write_error(error: Exception, target: Path) -> Exception:
    if "No space left" in str(error) or "File too large" in str(error) or "quota" in str(error).lower():
        return Unavailable(
            f"The disk that holds {target.parent} is full; nothing was imported.", remedy="Free some space and retry."
        )
    return error


def _examples(
    path: Path, task: Task, plan: ImportPlan, report: Report, progress: Progress | None
) -> Iterator[pl.DataFrame]:
    source = READERS.get(plan.format or guess_format(path))(path, plan.reading)
    report.file = source.name
    mapper = Mapper(task, plan, source)
    once = _Once(plan, mapper.inputs)
    order = list(stored_schema(task))
    for batch in source.batches(mapper.wanted()):
        report.rows_read += batch.frame.height + len({fault.row for fault in batch.faults})
        mapped = mapper.apply(batch)
        table, repeated = once.only_new(mapped)
        report.duplicates += len(repeated)
        faults = mapped.faults + repeated
        report.add(sorted(faults, key=lambda fault: fault.row or 0))
        report.dropped.update(mapped.dropped)
        report.dropped[BAD] += len({fault.row for fault in faults})
        report.rows += table.height
        if progress:
            progress(batch.done, source.size)
        if table.height:
            yield table.select(order)
    if report.rows_read == 0 and not report.total:
        raise BadInput(faults=[Fault("the file has no rows", file=source.name)])


class _Once:
    """Sees to it that every input, and every id that the file gives, is there once."""

    def __init__(self, plan: ImportPlan, inputs: tuple[str, ...]) -> None:
        self._first = plan.duplicates == "first"
        self._inputs = inputs
        self._seen: dict[bytes, int] = {}
        self._own: dict[str, int] = {}

    def only_new(self, mapped: Mapped) -> tuple[pl.DataFrame, list[Fault]]:
        """Give the rows that are new, with their ids, and faults for the others unless the plan drops them."""
        if mapped.table.is_empty():
            return mapped.table.with_columns(id=pl.lit(None, dtype=pl.String())), []
        digests = example_digests(mapped.table, self._inputs)
        rows = mapped.rows.to_list()
        faults: list[Fault] = []
        old: list[int] = []
        for at, before in _repeats(self._seen, digests, rows):
            old.append(at)
            if self._first:
                mapped.dropped[DUPLICATES] += 1
            else:
                reason = f"is the same input as row {before}"
                faults.append(Fault(reason, file=mapped.file, row=rows[at], field=self._inputs[0]))
        if mapped.own_ids is not None:
            for at, before in _repeats(self._own, mapped.own_ids.to_list(), rows):
                if at not in old and mapped.own_ids[at] is not None:
                    old.append(at)
                    reason = f"'{mapped.own_ids[at]}' is the id of row {before} already"
                    faults.append(Fault(reason, file=mapped.file, row=rows[at], field="id"))
        table = mapped.table.with_columns(hex_ids(digests))
        if old:
            table = table.filter(~pl.int_range(table.height, eager=True).is_in(old))
        return table, faults


def _repeats(seen: dict[Key, int], keys: list[Key], rows: list[int]) -> list[tuple[int, int]]:
    """Add *keys* to those *seen*; give the places of the ones that are not new, each with its first row."""
    new = dict(zip(keys, rows, strict=True))
    if len(new) == len(keys) and new.keys().isdisjoint(seen):
        seen.update(new)
        return []
    found: list[tuple[int, int]] = []
    for at, (key, row) in enumerate(zip(keys, rows, strict=True)):
        if key in seen:
            found.append((at, seen[key]))
        else:
            seen[key] = row
    return found
