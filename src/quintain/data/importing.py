"""From a file to a data set: read, map, check, name by content, write. Batch by batch, never all in memory."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

import polars as pl
from polars.io.plugins import register_io_source

from quintain.core.errors import BadInput, Fault, Unavailable
from quintain.core.task import Task
from quintain.core.texts import Text
from quintain.data.identity import ContentHash
from quintain.data.images import ImageFolder, is_relative
from quintain.data.mapping import EXTRA, Mapped, Mapper
from quintain.data.plan import DEFAULT_LIMIT, ImportPlan
from quintain.data.readers.contract import READERS, guess_format
from quintain.data.repeats import Counted, Hopeful, Recorded, Seen
from quintain.data.selecting import rows_in, sampled
from quintain.data.writing_systems import LanguageCheck
from quintain.tasks.contract import kind_of

Item = TypeVar("Item")
Progress = Callable[[int, int], None]
BAD = "bad"
UNSAMPLED = "not in the sample"


@dataclass(slots=True)
class ImportReport:
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
    hints: list[str] = field(default_factory=list)

    def add(self, faults: list[Fault]) -> None:
        """Count *faults* and keep those that the limit allows."""
        self.total += len(faults)
        self.faults += faults[: max(0, self.limit - len(self.faults))]

    def error(self) -> BadInput:
        """Return the error that lists the faults, with a remedy that fits them."""
        message = Text.plural(
            "{file} has {n} fault; nothing was imported.",
            "{file} has {n} faults; nothing was imported.",
            n=self.total,
            file=self.file,
        )
        remedy = Text("Mend the file, or leave bad rows out with --skip-bad.")
        page = Text("Mend the file, or tick the box that leaves out rows that are wrong.")
        if self.duplicates == self.total:
            remedy = Text(
                "Keep the first of each with --duplicates first; a contrast set keeps all with --duplicates keep."
            )
            page = Text(
                "Mend the file, or tick the box that keeps the first of each. A contrast set keeps all: write "
                'duplicates = "keep" into the plan below.'
            )
        elif all(fault.reason.startswith("not UTF-8") for fault in self.faults):
            remedy = Text("Save the file as UTF-8, or name its encoding with --encoding, such as latin-1.")
            page = Text('Save the file as UTF-8, or name its encoding in the plan below: encoding = "latin-1".')
        return BadInput(message, faults=self.faults, total=self.total, remedy=remedy, page=page)


def stored_schema(task: Task) -> dict[str, pl.DataType]:
    """Return the columns of a version's Parquet file, with their types."""
    return {"id": pl.String(), **kind_of(task).schema(task), **EXTRA}


def check_file(path: Path, task: Task, plan: ImportPlan, *, progress: Progress | None = None) -> ImportReport:
    """Read *path* as an import would and give the report; nothing is written and bad rows do not raise.

    Images are looked for beside it.
    """
    images = ImageFolder(path if path.is_dir() else path.parent)

    def run(report: ImportReport, seen: Seen) -> None:
        content = ContentHash()
        for table in _selected(path, task, plan, report, seen, progress, images):
            content.update(table)
        report.hash = content.hexdigest()

    return _twice_if_repeated(plan, run)


def write_examples(
    path: Path,
    task: Task,
    plan: ImportPlan,
    target: Path,
    *,
    progress: Progress | None = None,
    images: ImageFolder | None = None,
) -> ImportReport:
    """Read *path* and write its examples to the Parquet file *target*; raise BadInput where rows are bad.

    Bad rows are left out where the plan says so, and are in the report. *images* keeps those that are named by a path;
    without it paths stay as they are.
    """

    def run(report: ImportReport, seen: Seen) -> None:
        tables = _selected(path, task, plan, report, seen, progress, images)
        report.hash = write_version(tables, stored_schema(task), target)

    report = _twice_if_repeated(plan, run)
    if report.total and not plan.skip_bad:
        raise report.error()
    if report.rows == 0:
        raise BadInput(
            faults=[Fault("no row is left to import", file=report.file)],
            rows_read=report.rows_read,
            dropped=describe(report.dropped) or Text("none"),
            remedy="Rows read: {rows_read}. Left out: {dropped}.",
        )
    return report


def describe(dropped: Counter[str]) -> str:
    """Return in words how many rows were left out, and why."""
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
        # Level 1 of zstd makes files of the same size here in half of the time: ids are noise at any level.
        register_io_source(supply, schema=schema).sink_parquet(target, compression="zstd", compression_level=1)
    except (pl.exceptions.PolarsError, OSError) as error:
        if not failed:
            raise _write_error(error, target) from error
    if failed:
        raise failed[0]
    return content.hexdigest()


def _write_error(error: Exception, target: Path) -> Exception:
    if "No space left" in str(error) or "File too large" in str(error) or "quota" in str(error).lower():
        return Unavailable(
            "The disk that holds {parent} is full; nothing was imported.",
            parent=target.parent,
            remedy="Free some space and retry.",
        )
    return error


def _twice_if_repeated(plan: ImportPlan, run: Callable[[ImportReport, Seen], None]) -> ImportReport:
    """Run an import in the hope that no input repeats; where one does, again with a record of every row."""
    if plan.duplicates == "keep":
        report = ImportReport(limit=plan.limit)
        run(report, Counted())
        return report
    if plan.duplicates != "first" and "id" not in plan.columns:
        report, hopeful = ImportReport(limit=plan.limit), Hopeful()
        run(report, hopeful)
        if not hopeful.repeated():
            return report
    report = ImportReport(limit=plan.limit)
    run(report, Recorded(first=plan.duplicates == "first"))
    return report


def _bring_images(task: Task, mapped: Mapped, images: ImageFolder) -> None:
    """Put the names of stored images in place of paths; rows whose images are not there are faults."""
    bad: set[int] = set()
    for item in kind_of(task).fields(task):
        if item.type != "image":
            continue
        values = mapped.table[item.name].to_list()
        for at, value in enumerate(values):
            if not value or not is_relative(value):
                continue
            name = images.name_of(value)
            if isinstance(name, Text):
                bad.add(at)
                mapped.faults.append(Fault(name, file=mapped.file, row=int(mapped.rows[at]), field=item.name))
            else:
                values[at] = name
        mapped.table = mapped.table.with_columns(pl.Series(item.name, values, dtype=pl.String()))
    if bad:
        whole = [at for at in range(mapped.table.height) if at not in bad]
        mapped.table, mapped.rows = mapped.table[whole], mapped.rows[whole]
        mapped.own_ids = None if mapped.own_ids is None else mapped.own_ids[whole]


def _ahead(items: Iterator[Item]) -> Iterator[Item]:
    """Make the next item in a thread while this one is used: polars works there without Python's lock."""
    end = object()
    with ThreadPoolExecutor(1) as pool:
        coming: Future[Any] = pool.submit(next, items, end)
        while (item := coming.result()) is not end:
            coming = pool.submit(next, items, end)
            yield item


def _selected(  # noqa: PLR0917 - as `_examples`
    path: Path,
    task: Task,
    plan: ImportPlan,
    report: ImportReport,
    seen: Seen,
    progress: Progress | None,
    images: ImageFolder | None,
) -> Iterator[pl.DataFrame]:
    """Yield the examples of the file, or the sample of them that the plan asks for."""
    tables = _examples(path, task, plan, report, seen, progress, images)
    if plan.sample is None:
        yield from tables
        return
    yield from sampled(tables, plan.sample, plan.seed)
    # What is wrong with rows is said before there being too few of the others.
    if report.rows < plan.sample and (plan.skip_bad or not report.total):
        raise BadInput(
            faults=[
                Fault(
                    "a sample of {n} cannot be taken: there are {rows} examples",
                    n=plan.sample,
                    rows=report.rows,
                    file=report.file,
                )
            ],
            rows=report.rows,
            remedy="Take {rows} at most, or leave the sample out to import all.",
        )
    report.dropped[UNSAMPLED] = max(0, report.rows - plan.sample)
    report.rows = min(report.rows, plan.sample)


def of_texts(task: Task) -> list[str]:
    """List the inputs that are one text each."""
    return [item.name for item in kind_of(task).fields(task) if item.type in {"text", "long_text"}]


def _examples(  # noqa: PLR0917 - what is read, how, and what is told of it
    path: Path,
    task: Task,
    plan: ImportPlan,
    report: ImportReport,
    seen: Seen,
    progress: Progress | None,
    images: ImageFolder | None,
) -> Iterator[pl.DataFrame]:
    source = READERS.get(plan.format or guess_format(path))(path, plan.reading)
    report.file = source.name
    mapper = Mapper(task, plan, source)
    report.hints = mapper.hints()
    check = LanguageCheck(plan.language or task.language)
    order = list(stored_schema(task))
    batches = source.batches(mapper.requested_columns())
    if plan.row_range is not None:
        batches = rows_in(batches, plan.row_range, file=source.name)
    for batch, mapped in _ahead((batch, mapper.apply(batch)) for batch in batches):
        if images is not None:
            _bring_images(task, mapped, images)
        report.rows_read += batch.frame.height + len({fault.row for fault in batch.faults})
        table, repeated = seen.only_new(mapped, mapper.inputs)
        report.duplicates += len(repeated)
        faults = mapped.faults + repeated
        report.add(sorted(faults, key=lambda fault: fault.row or 0))
        report.dropped.update(mapped.dropped)
        report.dropped[BAD] += len({fault.row for fault in faults})
        report.rows += table.height
        if progress:
            progress(batch.done, source.size)
        if table.height:
            for name in of_texts(task):
                check.add(table[name])
            yield table.select(order)
    if (hint := check.hint()) is not None:
        report.hints.append(hint)
    if report.rows_read == 0 and not report.total:
        raise BadInput(faults=[Fault("the file has no rows", file=source.name)])
