"""Versions taken out as a folder that other tools know: Hugging Face, Croissant.

Hidden answers are left out of such a folder even for owners, who get them by asking; and `meta`, which may say who
wrote or judged something, does not go into it: of a release whose votes are published, these are columns of their own,
empty where answers are left out. The inputs in it are those that whoever takes it out may read, and its card says which
of them are not open to all. A folder that is to be passed on is made *public*: inputs that are not open to all are left
out with the answers, and such a split has the ids of its examples.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import polars as pl
from sqlalchemy.orm import Session

from quintain.core.errors import BadInput
from quintain.core.people import Actor
from quintain.core.task import Task
from quintain.data.importing import stored_schema
from quintain.data.publish.collection import Collection, PublishedSplit, split_names
from quintain.data.publish.folder import FOLDERS, write_folder
from quintain.data.publish.votes import ORIGIN, PROMPT, votes_schema, with_votes
from quintain.services.access.audit import record
from quintain.services.data.content import scan
from quintain.services.data.datasets import VersionInfo, get_version
from quintain.services.data.image_files import with_image_paths
from quintain.services.data.inputs import is_open
from quintain.services.tasks.definitions import get_task
from quintain.store.blobs import Blobs
from quintain.store.database import transaction
from quintain.tasks.contract import kind_of


def export_folder(
    db: Session,
    blobs: Blobs,
    actor: Actor,
    refs: Sequence[str],
    form: str,
    path: Path,
    *,
    archive: bool = False,
    hidden_answers: bool = False,
    public: bool = False,
) -> list[VersionInfo]:
    """Write the versions *refs* of one task, each a split, to the folder *path* (with *archive*, to a ZIP file).

    *form* is `hf` or `croissant`. With *hidden_answers* the owner has the answers of hidden versions in it, too. A
    *public* one has no inputs that are not open to all.
    """
    check_public(public=public, hidden_answers=hidden_answers)
    if form not in FOLDERS:
        raise BadInput("'{form}' is not a folder to export to.", form=form, remedy="Choose hf or croissant.")
    versions = [get_version(db, actor, ref) for ref in refs]
    _check(versions)
    task = get_task(db, versions[0].task)
    names = split_names([(version.role, version.dataset, version.number) for version in versions])
    votes = any(version.votes for version in versions)
    splits = []
    images: dict[str, Path] = {}
    for name, version in zip(names, versions, strict=True):
        answers = hidden_answers or not version.hidden
        whole = scan(db, blobs, actor, version.ref, answers=answers)
        shared = whole if answers and version.votes else whole.drop("meta", strict=False)
        table = _public(with_votes(shared, task) if votes else shared, task, votes=votes)
        is_closed = not is_open(db, version.id)
        table = without_inputs(table, task) if public and is_closed else table
        table, named = with_image_paths(blobs, task, table)
        images |= named
        splits.append(
            _split(name, version, table, answers=answers, inputs=not (public and is_closed), closed=is_closed)
        )
    write_folder(replace(_collection(task, versions, splits), images=images), form, path, archive=archive)
    with transaction(db):
        for version in versions:
            if version.hidden and hidden_answers:
                record(db, actor, "data.export", version.ref, answers=True)
    return versions


def check_public(*, public: bool, hidden_answers: bool) -> None:
    """Refuse hidden answers in what is to be passed on."""
    if public and hidden_answers:
        raise BadInput(
            "What is public has no hidden answers.",
            remedy="Leave out one of the two.",
        )


def _check(versions: Sequence[VersionInfo]) -> None:
    if not versions:
        raise BadInput("No version is named.", remedy="Name one or more, such as sentiment/reviews@1.")
    for version in versions[1:]:
        if version.task != versions[0].task:
            raise BadInput(
                "{ref} and {other} are of different tasks.",
                ref=versions[0].ref,
                other=version.ref,
                remedy="Export them apart: the columns of a folder are those of one task.",
            )
    twice = [one.ref for at, one in enumerate(versions) if one.id in {other.id for other in versions[:at]}]
    if twice:
        raise BadInput("{ref} is named twice.", ref=twice[0], remedy="Name each version once.")


def without_inputs(table: pl.LazyFrame, task: Task) -> pl.LazyFrame:
    """Empty the columns of the inputs, and of what they were written from, and keep the ids of the examples."""
    dtypes = table.collect_schema()
    names = [*(item.name for item in kind_of(task).fields(task)), PROMPT, ORIGIN]
    return table.with_columns(pl.lit(None, dtype=dtypes[name]).alias(name) for name in names if name in dtypes)


def _public(table: pl.LazyFrame, task: Task, *, votes: bool) -> pl.LazyFrame:
    """Return the columns that are passed on; answers that are withheld are an empty column, as in the other splits."""
    schema = {name: dtype for name, dtype in stored_schema(task).items() if name != "meta"}
    schema |= votes_schema(task) if votes else {}
    present = table.collect_schema()
    return table.select(
        pl.col(name) if name in present else pl.lit(None, dtype=dtype).alias(name) for name, dtype in schema.items()
    )


def _split(
    name: str, version: VersionInfo, table: pl.LazyFrame, *, answers: bool, inputs: bool, closed: bool
) -> PublishedSplit:
    return PublishedSplit(
        name=name,
        table=table,
        ref=version.ref,
        hash=version.hash,
        rows=version.rows,
        language=version.language,
        description=version.description,
        license=str(version.meta.get("license", "")),
        citation=str(version.meta.get("citation", "")),
        answers=answers,
        inputs=inputs,
        closed=closed,
    )


def _collection(task: Task, versions: Sequence[VersionInfo], splits: Sequence[PublishedSplit]) -> Collection:
    datasets = {version.dataset for version in versions}
    name = f"{task.name}-{datasets.pop()}" if len(datasets) == 1 else task.name
    number = f"{versions[0].number}.0.0" if len(versions) == 1 else ""
    date = max(version.created_at for version in versions).date().isoformat()
    return Collection(task, name, tuple(splits), date, number)
