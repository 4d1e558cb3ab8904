"""Queries on how models stand against people: what there is, what is missing, and who is to be told."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any, NamedTuple

from sqlalchemy import Select, func, or_, select
from sqlalchemy.orm import Session, aliased

from quintain.core.cells import PLAIN, CellState
from quintain.store.tables import (
    Cell,
    Dataset,
    DatasetVersion,
    Model,
    ModelVersion,
    ParityMargin,
    ReleaseRow,
    ReleaseVersion,
    Round,
    RoundStandingRow,
    TaskRow,
    Validation,
)

TEST = "test"


class ReleasedTest(NamedTuple):
    """The test of a validation's first release. *releases* counts it and those that have not this very test.

    Those may show in train what it hides; a release of the same data with more in its datasheet does not.
    """

    release_id: int
    validation_id: int
    task: str
    name: str
    round: int | None
    created_at: datetime
    version_id: int
    dataset: str
    number: int
    hidden: bool
    blob: str
    releases: int

    @property
    def ref(self) -> str:
        """The name of the validation."""
        return f"{self.task}/{self.name}"

    @property
    def test(self) -> str:
        """The name of the data set version."""
        return f"{self.task}/{self.dataset}@{self.number}"


class StandingRow(NamedTuple):
    """A stored comparison with the model that it is of."""

    row: RoundStandingRow
    model: str
    version: int


class Due(NamedTuple):
    """A model's run on a released test that no figures rest on yet."""

    release_id: int
    model_version_id: int
    cell_id: int
    predictions: str


def released_tests(db: Session, task: str | None = None, name: str | None = None) -> list[ReleasedTest]:
    """List the tests of all first releases, or of those of a *task*, or of its validation *name*; the oldest first."""
    other, theirs = aliased(ReleaseRow), aliased(ReleaseVersion)
    has_it = select(theirs.id).where(theirs.release_id == other.id, theirs.version_id == DatasetVersion.id)
    count = (
        select(1 + func.count(other.id))
        .where(other.validation_id == Validation.id, ~has_it.correlate(other, DatasetVersion).exists())
        .correlate(Validation, DatasetVersion)
    )
    query = (
        select(
            ReleaseRow.id,
            Validation.id,
            TaskRow.name,
            Validation.name,
            Round.number,
            Validation.created_at,
            DatasetVersion.id,
            Dataset.name,
            DatasetVersion.number,
            DatasetVersion.hidden,
            DatasetVersion.blob,
            count.scalar_subquery(),
        )
        .join(Validation, Validation.id == ReleaseRow.validation_id)
        .join(TaskRow, TaskRow.id == Validation.task_id)
        .outerjoin(Round, Round.id == Validation.round_id)
        .join(ReleaseVersion, ReleaseVersion.release_id == ReleaseRow.id)
        .join(DatasetVersion, DatasetVersion.id == ReleaseVersion.version_id)
        .join(Dataset, Dataset.id == DatasetVersion.dataset_id)
        .where(ReleaseRow.number == 1, ReleaseVersion.split == TEST)
        .order_by(ReleaseRow.id)
    )
    if task is not None:
        query = query.where(TaskRow.name == task)
    if name is not None:
        query = query.where(Validation.name == name)
    return [ReleasedTest._make(row) for row in db.execute(query)]


def due(db: Session) -> list[Due]:
    """List the finished runs on released tests whose figures are missing, or rest on other predictions."""
    query = (
        select(ReleaseRow.id, Cell.model_version_id, Cell.id, Cell.predictions)
        .join(ReleaseVersion, ReleaseVersion.release_id == ReleaseRow.id)
        .join(Cell, Cell.dataset_version_id == ReleaseVersion.version_id)
        .join(ModelVersion, ModelVersion.id == Cell.model_version_id)
        .outerjoin(
            RoundStandingRow,
            (RoundStandingRow.release_id == ReleaseRow.id)
            & (RoundStandingRow.model_version_id == Cell.model_version_id),
        )
        .where(
            ReleaseRow.number == 1,
            ReleaseVersion.split == TEST,
            Cell.variant == PLAIN,
            Cell.state == CellState.DONE,
            Cell.predictions.is_not(None),
            ModelVersion.withdrawn_at.is_(None),
            or_(RoundStandingRow.id.is_(None), RoundStandingRow.predictions != Cell.predictions),
        )
        .order_by(Cell.id)
    )
    return [Due(release, version, cell, str(blob)) for release, version, cell, blob in db.execute(query)]


def waiting(db: Session, version_id: int) -> int:
    """Count the plain runs on a data set version that are still to come."""
    query = (
        select(func.count())
        .select_from(Cell)
        .join(ModelVersion, ModelVersion.id == Cell.model_version_id)
        .where(
            Cell.dataset_version_id == version_id,
            Cell.variant == PLAIN,
            Cell.state.in_([CellState.QUEUED, CellState.RUNNING]),
            ModelVersion.withdrawn_at.is_(None),
        )
    )
    return int(db.scalar(query) or 0)


def _standings() -> Select[RoundStandingRow, str, int]:
    return (
        select(RoundStandingRow, Model.name, ModelVersion.number)
        .join(ModelVersion, ModelVersion.id == RoundStandingRow.model_version_id)
        .join(Model, Model.id == ModelVersion.model_id)
        .where(ModelVersion.withdrawn_at.is_(None))
        .order_by(RoundStandingRow.id)
    )


def of_releases(db: Session, release_ids: Sequence[int]) -> dict[int, list[StandingRow]]:
    """Return what is stored of these releases, by release; withdrawn versions do not count."""
    by_release: dict[int, list[StandingRow]] = {}
    for row in db.execute(_standings().where(RoundStandingRow.release_id.in_(list(release_ids)))):
        by_release.setdefault(row[0].release_id, []).append(StandingRow(*row))
    return by_release


def unsignalled(db: Session, low: float, items: int) -> dict[int, list[StandingRow]]:
    """Return what nobody was told about, by release: lower bounds above *low* on at least so many *items*."""
    by_release: dict[int, list[StandingRow]] = {}
    news = _standings().where(
        RoundStandingRow.signalled_at.is_(None), RoundStandingRow.low > low, RoundStandingRow.items >= items
    )
    for row in db.execute(news):
        by_release.setdefault(row[0].release_id, []).append(StandingRow(*row))
    return by_release


def put(db: Session, due: Due, items: int, figures: dict[str, Any], moment: datetime) -> None:
    """Store the figures of a run, in place of those that rest on other predictions."""
    query = select(RoundStandingRow).where(
        RoundStandingRow.release_id == due.release_id, RoundStandingRow.model_version_id == due.model_version_id
    )
    row = db.scalar(query.with_for_update())
    if row is None:
        row = RoundStandingRow(release_id=due.release_id, model_version_id=due.model_version_id)
        db.add(row)
    row.predictions, row.items, row.figures, row.computed_at = due.predictions, items, figures, moment
    row.low = figures["difference"]["low"]
    db.flush()


def margin(db: Session, task: str) -> float | None:
    """Return the margin that the owners of a task have set last."""
    query = select(ParityMargin.margin).join(TaskRow, TaskRow.id == ParityMargin.task_id).where(TaskRow.name == task)
    return db.scalar(query.order_by(ParityMargin.id.desc()).limit(1))


def widest_margin(db: Session) -> float | None:
    """Return the largest margin that was ever set anywhere."""
    return db.scalar(select(func.max(ParityMargin.margin)))
