"""What is in a version: looking at it, counting, comparing, exporting. Hidden answers stay with the task's owners."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl
from sqlalchemy.orm import Session

from quintain.core.errors import BadInput, Forbidden
from quintain.core.people import Actor, RoleName
from quintain.core.records import tasks as records
from quintain.data.exporting import require_format, write_export
from quintain.data.label_view import in_view
from quintain.data.publish.dynasent import DYNASENT, write_dynasent
from quintain.data.publish.folder import pack
from quintain.data.publish.votes import with_votes
from quintain.services.access.audit import record
from quintain.services.access.concealing import Conceal
from quintain.services.data.datasets import VersionInfo, get_version, may_see_answers
from quintain.services.data.image_files import copy_images, with_image_paths
from quintain.services.data.inputs import closed
from quintain.services.jobs.memory import WarmValues
from quintain.services.tasks.definitions import get_task
from quintain.store.blobs import Blobs
from quintain.store.database import transaction

MAX_PAGE = 500


class ContentCounts(WarmValues[Mapping[str, int]]):
    """Labels and tags by the file that they were counted in, which never changes; while the workspace is open."""

    def __init__(self) -> None:
        super().__init__(1000)


@dataclass(frozen=True, slots=True)
class ExamplePage:
    """Some examples of a version, and how many there are that fit the filters."""

    version: VersionInfo
    total: int
    offset: int
    examples: tuple[Mapping[str, Any], ...]
    answers: bool

    def record(self) -> records.Preview:
        """Return the page as programs see it."""
        return records.Preview(self.version.record(), self.total, self.offset, self.examples)


@dataclass(frozen=True, slots=True)
class VersionDifference:
    """How version *b* differs from version *a*: ids that came, ids that went, and answers that changed."""

    a: VersionInfo
    b: VersionInfo
    added: pl.DataFrame
    removed: pl.DataFrame
    changed: pl.DataFrame

    def record(self, limit: int = 20) -> records.DatasetDifference:
        """Return the difference as programs see it: counts, and the first examples of each."""
        parts = (self.added, self.removed, self.changed)
        return records.DatasetDifference(
            self.a.ref, self.b.ref, *(records.Changes(part.height, part.head(limit).to_dicts()) for part in parts)
        )


def scan(db: Session, blobs: Blobs, actor: Actor, ref: str, *, answers: bool) -> pl.LazyFrame:
    """Return the examples of a version as a table that is read when it is needed; nothing is loaded yet.

    Its inputs must be open to who asks. With *answers* the gold answers are in it, which for a hidden version only the
    task's owners may ask for. The column `meta` is for owners; where votes are published, it goes with open answers,
    without the names of models that are private.
    """
    version = get_version(db, actor, ref)
    if answers and not may_see_answers(actor, version):
        raise Forbidden(
            "The answers of {ref} are hidden.",
            ref=version.ref,
            remedy="Only owners of the task may see them.",
            code="labels_hidden",
        )
    if not version.readable:
        raise closed(f"{version.task}/{version.dataset}")
    table = scan_for_scoring(blobs, version)
    # What is kept beside an example may say who wrote it, or how people voted on it.
    shared = answers and version.votes and not version.hidden
    owns = actor.has(RoleName.OWNER, version.task) and may_see_answers(actor, version)  # votes tell what is hidden
    private = [] if shared or owns else ["meta"]
    if not private and "meta" in table.collect_schema():
        table = table.with_columns(Conceal(db, actor, version.task).column("meta"))
    return table.drop(*private, *([] if answers else ["answer"]))


def scan_for_scoring(blobs: Blobs, version: VersionInfo) -> pl.LazyFrame:
    """Return all of a version, answers too, for the platform's own scoring.

    Nothing of it may reach a person as it is.
    """
    return pl.scan_parquet(blobs.path(version.blob), glob=False)


def preview(
    db: Session,
    blobs: Blobs,
    actor: Actor,
    ref: str,
    *,
    text: str | None = None,
    label: str | None = None,
    tag: str | None = None,
    offset: int = 0,
    limit: int = 20,
) -> ExamplePage:
    """Return a page of a version's examples: those whose inputs contain *text*, with this *label* and this *tag*."""
    if offset < 0 or not 1 <= limit <= MAX_PAGE:
        raise BadInput("A page begins at 0 or later and has 1 to {most} examples.", most=MAX_PAGE)
    version = get_version(db, actor, ref)
    if not version.readable:
        raise closed(f"{version.task}/{version.dataset}")
    visible = may_see_answers(actor, version)
    if label and not visible:
        raise Forbidden(
            "The answers of {ref} are hidden, so they cannot be filtered by.", ref=version.ref, code="labels_hidden"
        )
    table = scan(db, blobs, actor, ref, answers=visible)
    conditions = _conditions(table, text, label, tag)
    for condition in conditions:
        table = table.filter(condition)
    total = int(table.select(pl.len()).collect().item()) if conditions else version.rows
    rows = table.slice(offset, limit).collect().to_dicts()
    return ExamplePage(version, total, offset, tuple(rows), visible)


def _conditions(table: pl.LazyFrame, text: str | None, label: str | None, tag: str | None) -> list[pl.Expr]:
    schema = table.collect_schema()
    conditions = []
    if text:
        inputs = [name for name in schema if name not in {"id", "answer", "tags", "group", "meta"}]
        conditions.append(contains_text({name: schema[name] for name in inputs}, text))
    if label:
        conditions.append(has_answer("answer", schema["answer"], label))
    if tag:
        conditions.append(pl.col("tags").list.contains(tag))
    return conditions


def contains_text(inputs: Mapping[str, pl.DataType], text: str) -> pl.Expr:
    """Return, for each example, whether one of its *inputs* contains *text*, in letters of any size."""
    return pl.any_horizontal(_contains(name, kind, text.lower()) for name, kind in inputs.items() if kind != pl.Int64())


def _contains(name: str, dtype: pl.DataType, text: str) -> pl.Expr:
    value = pl.col(name).list.join(" ", ignore_nulls=True) if isinstance(dtype, pl.List) else pl.col(name)
    return value.str.to_lowercase().str.contains(text, literal=True).fill_null(False)


def has_answer(column: str, dtype: pl.DataType, label: str) -> pl.Expr:
    """Return, for each example, whether *label* is the answer in *column*, or one of those there."""
    answer = pl.col(column)
    if dtype == pl.String():
        return answer == label
    if dtype == pl.Int64():
        return answer.cast(pl.String()) == label
    if dtype == pl.List(pl.Int64()):
        return answer.list.contains(int(label)) if label.isdecimal() else pl.lit(False)
    if dtype == pl.List(pl.String()):
        return answer.list.contains(label)
    if dtype == pl.List(pl.List(pl.String())):
        return answer.list.eval(pl.element().list.contains(label)).list.any()
    return answer.list.eval(pl.element().struct.field("text")).list.contains(label)


def label_counts(db: Session, blobs: Blobs, actor: Actor, ref: str) -> dict[str, int]:
    """Count the answers of a version by label, choice or number; empty where answers are texts, or hidden from you."""
    version = get_version(db, actor, ref)
    if not may_see_answers(actor, version):
        return {}
    return dict(
        blobs.state.part(ContentCounts).get(
            ("labels", version.blob), lambda: _count_labels(scan_for_scoring(blobs, version))
        )
    )


def _count_labels(version: pl.LazyFrame) -> dict[str, int]:
    table = version.select("answer")
    dtype = table.collect_schema()["answer"]
    if dtype == pl.List(pl.Int64()):
        table = table.explode("answer")
    elif dtype.is_nested():
        return {}
    counts = table.drop_nulls().group_by("answer").len().sort("answer").collect()
    return {str(answer): count for answer, count in counts.iter_rows()}


def tag_counts(db: Session, blobs: Blobs, actor: Actor, ref: str) -> dict[str, int]:
    """Count the examples of a version by tag."""
    version = get_version(db, actor, ref)
    return dict(
        blobs.state.part(ContentCounts).get(
            ("tags", version.blob), lambda: _count_tags(scan_for_scoring(blobs, version))
        )
    )


def _count_tags(version: pl.LazyFrame) -> dict[str, int]:
    table = version.select("tags").explode("tags").drop_nulls()
    counts = table.group_by("tags").len().sort("tags").collect()
    return dict(counts.iter_rows())


def export(
    db: Session,
    blobs: Blobs,
    actor: Actor,
    ref: str,
    format: str,  # noqa: A002 - the word that users read
    path: Path,
    *,
    labels: str = "majority",
    archive: bool = False,
) -> VersionInfo:
    """Write a version to *path* as jsonl, csv, tsv, parquet or dynasent; hidden answers go to owners only.

    The votes on released examples are in it, in columns of their own, where their answers are; other `meta` goes to
    owners only. *labels* is the view of them: majority or, where the votes are there, distributional or soft
    (see `quintain.data.label_view`). Stored images are written to a folder `images` beside the file, which names them
    by their paths; with *archive*, *path* becomes a ZIP file of all that.
    """
    version = get_version(db, actor, ref)
    answers = may_see_answers(actor, version)
    task = get_task(db, version.task)
    table = in_view(scan(db, blobs, actor, ref, answers=answers), task, labels)
    if format == DYNASENT and labels != "majority":
        raise BadInput("DynaSent's format has all votes in one row.", remedy="Leave the view of labels out.")
    if format != DYNASENT:
        require_format(format)
    table, images = with_image_paths(blobs, task, table)
    whole = with_votes(table, task) if version.votes and answers and format != DYNASENT else table
    with _packed(path, f"{version.dataset}.{'jsonl' if format == DYNASENT else format}", archive=archive) as file:
        if format == DYNASENT:
            write_dynasent(whole, task, version.meta, file)
        else:
            write_export(whole, format, file)
        copy_images(images, file.parent)
    if version.hidden and answers:
        with transaction(db):
            record(db, actor, "data.export", version.ref, answers=True)
    return version


@contextmanager
def _packed(path: Path, name: str, *, archive: bool) -> Iterator[Path]:
    """Return the file to write: *path*, or one called *name* in a folder that becomes the ZIP file *path*."""
    if not archive:
        yield path
        return
    with tempfile.TemporaryDirectory(dir=path.absolute().parent, prefix=f".{path.name}-") as folder:
        files = Path(folder) / "files"
        files.mkdir()
        yield files / name
        pack(files, Path(folder) / "packed.zip")
        os.replace(Path(folder) / "packed.zip", path)


def diff(db: Session, blobs: Blobs, actor: Actor, a: str, b: str) -> VersionDifference:
    """Compare two versions of one task; changed answers are left out where either one's are hidden from *actor*."""
    first, second = get_version(db, actor, a), get_version(db, actor, b)
    if first.task != second.task:
        raise BadInput("{ref} and {other} are of different tasks.", ref=first.ref, other=second.ref)
    answers = may_see_answers(actor, first) and may_see_answers(actor, second)
    before, after = (_comparable(scan(db, blobs, actor, one.ref, answers=answers)) for one in (first, second))
    changed = pl.DataFrame(schema={"id": pl.String()})
    if answers:
        both = before.join(after, on="id", suffix="_after", how="inner", maintain_order="left")
        different = both.filter(pl.col("answer").ne_missing(pl.col("answer_after")))
        inputs = _inputs(before)
        changed = different.select(
            "id", *inputs, pl.col("answer").alias("before"), pl.col("answer_after").alias("after")
        ).collect()
    return VersionDifference(
        first,
        second,
        after.join(before, on="id", how="anti", maintain_order="left").collect(),
        before.join(after, on="id", how="anti", maintain_order="left").collect(),
        changed,
    )


def _comparable(table: pl.LazyFrame) -> pl.LazyFrame:
    return table.drop("tags", "group", "meta", strict=False)


def _inputs(table: pl.LazyFrame) -> Sequence[str]:
    return [name for name in table.collect_schema() if name not in {"id", "answer"}]
