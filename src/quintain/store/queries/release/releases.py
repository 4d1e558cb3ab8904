"""Queries on releases: the items that they are made of, and what became of them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from sqlalchemy import exists, func, select
from sqlalchemy.orm import Session

from quintain.store.tables import (
    Attempt,
    AttemptNote,
    Dataset,
    DatasetVersion,
    Judgement,
    Offer,
    Prompt,
    ReleaseRow,
    ReleaseVersion,
    TaskRow,
    Validation,
    ValidationItem,
)

RATING = "rating:"  # what the tags of harvested prompts say, where the column is not there
WINDOW = 2000  # ids within which somebody may still commit what they began earlier


class JudgedRow(NamedTuple):
    """An item that is judged, with what the attempt knows of it."""

    id: int
    inputs: dict[str, Any]
    author_id: int | None
    predictions: list[dict[str, Any]]
    source: dict[str, Any]
    attempt_id: int | None
    condition: str | None
    prompt_id: int | None
    prompt: dict[str, Any] | None
    prompt_tags: list[str] | None
    prompt_about: dict[str, Any] | None
    prompt_corpus: str | None
    prompt_part: str | None
    prompt_row: str | None

    @property
    def origin(self) -> dict[str, Any]:
        """Where the item is from; of what was written from a prompt, where the prompt is from."""
        places: dict[str, Any] = {"corpus": self.prompt_corpus, "part": self.prompt_part, "row": self.prompt_row}
        rated = [tag.removeprefix(RATING) for tag in self.prompt_tags or () if tag.startswith(RATING)]
        if rated and rated[0].replace(".", "", 1).isdecimal():
            places |= {"rating": float(rated[0])}
        return {name: value for name, value in places.items() if value} | (self.prompt_about or {}) | self.source


def judged(db: Session, validation_id: int) -> list[JudgedRow]:
    """List the items of a validation that stand, in order; gold items are none."""
    query = (
        select(
            ValidationItem.id,
            ValidationItem.inputs,
            ValidationItem.author_id,
            ValidationItem.predictions,
            ValidationItem.source,
            ValidationItem.attempt_id,
            Attempt.condition,
            Attempt.prompt_id,
            Prompt.inputs,
            Prompt.tags,
            Prompt.about,
            Prompt.corpus,
            Prompt.part,
            Prompt.row,
        )
        .outerjoin(Attempt, Attempt.id == ValidationItem.attempt_id)
        .outerjoin(Prompt, Prompt.id == Attempt.prompt_id)
        .where(
            ValidationItem.validation_id == validation_id,
            ValidationItem.gold.is_(None),
            ValidationItem.retired_at.is_(None),
        )
        .order_by(ValidationItem.id)
    )
    return [JudgedRow(*row) for row in db.execute(query)]


def writers_tags(db: Session, validation_id: int) -> dict[int, list[str]]:
    """Return the tags that writers gave their attempts, by the attempts' ids; the newest count."""
    newest = (
        select(func.max(AttemptNote.id))
        .join(ValidationItem, ValidationItem.attempt_id == AttemptNote.attempt_id)
        .where(ValidationItem.validation_id == validation_id, AttemptNote.kind == "tags")
        .group_by(AttemptNote.attempt_id)
    )
    rows = db.execute(select(AttemptNote.attempt_id, AttemptNote.tags).where(AttemptNote.id.in_(newest)))
    return {int(attempt): list(tags) for attempt, tags in rows}


class NewestTags(NamedTuple):
    """The newest note on any attempt, and the tags among the last notes that writers gave a validation's attempts."""

    note: int
    tags: str


def newest_tags(db: Session, validation_id: int, note: int | None = None) -> NewestTags:
    """Return which tags attempts have got lately, as seen from *note*, by default the newest of all.

    What gets an id first may be committed last, so the last few before it are looked at, too.
    """
    newest = (db.scalar(select(func.max(AttemptNote.id))) or 0) if note is None else note
    judged = exists().where(
        ValidationItem.attempt_id == AttemptNote.attempt_id, ValidationItem.validation_id == validation_id
    )
    query = select(func.max(AttemptNote.id), func.count())
    last, number = db.execute(query.where(AttemptNote.id > newest - WINDOW, AttemptNote.kind == "tags", judged)).one()
    return NewestTags(newest, f"{last or 0}.{number}")


def newest_versions(db: Session, task: str) -> str:
    """Return a text that changes with the data set versions and releases of a task."""
    versions = (
        select(func.max(DatasetVersion.id), func.count())
        .join(Dataset, Dataset.id == DatasetVersion.dataset_id)
        .join(TaskRow, TaskRow.id == Dataset.task_id)
    )
    releases = (
        select(func.max(ReleaseRow.id), func.count())
        .join(Validation, Validation.id == ReleaseRow.validation_id)
        .join(TaskRow, TaskRow.id == Validation.task_id)
    )
    newest_rows = [db.execute(one.where(TaskRow.name == task)).one() for one in (versions, releases)]
    return "/".join(f"{newest or 0}.{number}" for newest, number in newest_rows)


def pages_of(db: Session, validation_id: int) -> tuple[list[int], list[int]]:
    """Return for every judgement of a validation that was made on a page its id, and the page's."""
    query = (
        select(Judgement.id, Offer.page_id)
        .join(Offer, Offer.id == Judgement.offer_id)
        .where(Judgement.validation_id == validation_id)
        .order_by(Judgement.id)
    )
    rows = [tuple(row) for row in db.execute(query)]
    return [row[0] for row in rows], [row[1] for row in rows]


def of_validation(db: Session, validation_id: int) -> list[ReleaseRow]:
    """List the releases of a validation, the newest first."""
    query = select(ReleaseRow).where(ReleaseRow.validation_id == validation_id)
    return list(db.scalars(query.order_by(ReleaseRow.number.desc())))


def before(db: Session, validation_id: int, number: int) -> ReleaseRow | None:
    """Return the release before *number* of a validation; where that is its first, the last of the task before it."""
    same = select(ReleaseRow).where(ReleaseRow.validation_id == validation_id, ReleaseRow.number < number)
    previous = db.scalar(same.order_by(ReleaseRow.number.desc()).limit(1))
    if previous is not None:
        return previous
    this = select(ReleaseRow.id).where(ReleaseRow.validation_id == validation_id, ReleaseRow.number == number)
    task = select(Validation.task_id).where(Validation.id == validation_id).scalar_subquery()
    others = (
        select(ReleaseRow)
        .join(Validation, Validation.id == ReleaseRow.validation_id)
        .where(Validation.task_id == task, ReleaseRow.id < this.scalar_subquery())
    )
    return db.scalar(others.order_by(ReleaseRow.id.desc()).limit(1))


def version_refs(db: Session, release_id: int) -> dict[str, str]:
    """Return the references of a release's versions, by split."""
    query = (
        select(ReleaseVersion.split, TaskRow.name, Dataset.name, DatasetVersion.number)
        .join(DatasetVersion, DatasetVersion.id == ReleaseVersion.version_id)
        .join(Dataset, Dataset.id == DatasetVersion.dataset_id)
        .join(TaskRow, TaskRow.id == Dataset.task_id)
        .where(ReleaseVersion.release_id == release_id)
        .order_by(ReleaseVersion.id)
    )
    return {split: f"{task}/{name}@{number}" for split, task, name, number in db.execute(query)}


def version_ids(db: Session, release_id: int) -> dict[str, int]:
    """Return the ids of a release's versions, by split."""
    query = select(ReleaseVersion.split, ReleaseVersion.version_id).where(ReleaseVersion.release_id == release_id)
    return {row.split: row.version_id for row in db.execute(query)}


def add(db: Session, release: ReleaseRow, versions: Mapping[str, int]) -> ReleaseRow:
    """Add a release with its versions by split, numbered after the newest."""
    newest = db.scalar(select(func.max(ReleaseRow.number)).where(ReleaseRow.validation_id == release.validation_id))
    release.number = (newest or 0) + 1
    db.add(release)
    db.flush()
    db.add_all(ReleaseVersion(release_id=release.id, split=split, version_id=one) for split, one in versions.items())
    db.flush()
    return release
