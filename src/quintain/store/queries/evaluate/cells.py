"""Questions about cells, and the few writes that must be one statement or one lock."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple

from sqlalchemy import ColumnElement, Row, Select, and_, case, func, or_, select, update
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.orm import Session, aliased

from quintain.core.cells import MEASURE, PLAIN, WAITING, CellState
from quintain.core.example import Role
from quintain.store.queries.models.tried import untried
from quintain.store.tables import (
    Cell,
    CellEvent,
    Dataset,
    DatasetVersion,
    Model,
    ModelVersion,
    TaskRow,
    Variant,
)


class CellRow(NamedTuple):
    """A cell with what it stands between."""

    cell: Cell
    model_version: ModelVersion
    model: Model
    dataset_version: DatasetVersion
    dataset: Dataset
    task: TaskRow


def joined() -> Select[Cell, ModelVersion, Model, DatasetVersion, Dataset, TaskRow]:
    """Select cells with what they stand between."""
    return (
        select(Cell, ModelVersion, Model, DatasetVersion, Dataset, TaskRow)
        .join(ModelVersion, ModelVersion.id == Cell.model_version_id)
        .join(Model, Model.id == ModelVersion.model_id)
        .join(DatasetVersion, DatasetVersion.id == Cell.dataset_version_id)
        .join(Dataset, Dataset.id == DatasetVersion.dataset_id)
        .join(TaskRow, TaskRow.id == Model.task_id)
    )


def live_model_versions(db: Session, task_id: int) -> Sequence[ModelVersion]:
    """List the versions of a task's models that are to be run: not withdrawn, and not still to be tried."""
    query = select(ModelVersion).join(Model, Model.id == ModelVersion.model_id)
    return db.scalars(query.where(Model.task_id == task_id, ModelVersion.withdrawn_at.is_(None), ~untried())).all()


def newest_dataset_versions(db: Session, task_id: int, roles: Sequence[str]) -> Sequence[DatasetVersion]:
    """List the newest version of each data set of a task that has one of *roles*."""
    newest = (
        select(func.max(DatasetVersion.number))
        .where(DatasetVersion.dataset_id == Dataset.id)
        .correlate(Dataset)
        .scalar_subquery()
    )
    query = (
        select(DatasetVersion)
        .join(Dataset, Dataset.id == DatasetVersion.dataset_id)
        .where(Dataset.task_id == task_id, DatasetVersion.number == newest, DatasetVersion.role.in_(roles))
        .order_by(DatasetVersion.id)
    )
    return db.scalars(query).all()


def existing_keys(db: Session, dataset_version_ids: Sequence[int]) -> set[tuple[int, int, str]]:
    """List model version, data set version and variant of the cells that there are."""
    query = select(Cell.model_version_id, Cell.dataset_version_id, Cell.variant)
    keys = db.execute(query.where(Cell.dataset_version_id.in_(dataset_version_ids)))
    return {(model, dataset, variant) for model, dataset, variant in keys}


def failed_plain(db: Session, dataset_version_ids: Sequence[int]) -> list[tuple[int, int, str]]:
    """List model version, data set version and reason of the plain runs that failed."""
    query = select(Cell.model_version_id, Cell.dataset_version_id, Cell.reason)
    failed = Cell.variant == PLAIN, Cell.state == CellState.FAILED.value
    rows = db.execute(query.where(Cell.dataset_version_id.in_(dataset_version_ids), *failed))
    return [(model, dataset, reason) for model, dataset, reason in rows]


def add(db: Session, cells: Sequence[Mapping[str, Any]]) -> int:
    """Add those of *cells* that are not there, and count them. What somebody else adds at this moment is theirs.

    In one order for everybody: two who wait for each other's cells would wait for ever.
    """
    if not cells:
        return 0
    dialect = postgresql if db.get_bind().dialect.name == "postgresql" else sqlite
    ordered = sorted(cells, key=lambda cell: (cell["dataset_version_id"], cell["model_version_id"], cell["variant"]))
    return len(db.scalars(dialect.insert(Cell).on_conflict_do_nothing().returning(Cell.id), ordered).all())


class LastCell(NamedTuple):
    """What a worker's last cell stood between: the next one of these costs it less."""

    model_version_id: int
    dataset_version_id: int


def claim(  # noqa: PLR0913 - whose turn it is depends on what a worker can run
    db: Session,
    *,
    worker: str,
    now: datetime,
    until: datetime,
    alone: bool,
    task: str | None,
    counted: Collection[str],
    without: Collection[str] = (),
    slow: Collection[str] = (),
    last: LastCell | None = None,
    machine: str | None = None,
    variant: str | None = None,
) -> Cell | None:
    """Lease the cell whose turn it is, or give None. Inside a writing transaction.

    The builder with the fewest running cells comes first; of each, models of the adapters *slow* come last; then what
    `_turn` puts first, *counted* being the variants that boards count; then cells of the model and data set *last*,
    which are few; then the oldest. A lease that has lapsed counts as queued: it was lost, which is no attempt. Without
    *alone*, measurements are left to others, and so are models of the adapters *without*; cells that wait for a class
    of machine other than *machine* always are, and measurements while the scored run, on which they rest, is not over.
    With *variant*, only that one is computed.
    """
    running = (
        select(Model.owner_id, func.count().label("running"))
        .join(ModelVersion, ModelVersion.model_id == Model.id)
        .join(Cell, Cell.model_version_id == ModelVersion.id)
        .where(Cell.state == CellState.RUNNING, Cell.lease_until >= now)
        .group_by(Model.owner_id)
        .subquery()
    )
    query = (
        select(Cell)
        .join(ModelVersion, ModelVersion.id == Cell.model_version_id)
        .join(Model, Model.id == ModelVersion.model_id)
        .join(DatasetVersion, DatasetVersion.id == Cell.dataset_version_id)
        .outerjoin(running, running.c.owner_id.is_not_distinct_from(Model.owner_id))
        .where(_free(now), ModelVersion.withdrawn_at.is_(None))
        .where(_of_class(machine))
        .order_by(
            func.coalesce(running.c.running, 0),
            *([ModelVersion.adapter.in_(slow)] if slow else []),
            _turn(counted),
            *_last_first(last),
            Cell.id,
        )
        .limit(1)
        .with_for_update(of=Cell, skip_locked=True)
    )
    if not alone:
        query = query.where(Cell.variant != MEASURE)
    if without:
        query = query.where(ModelVersion.adapter.not_in(without))
    query = query.where(_after_scored() if variant is None else Cell.variant == variant)
    if task is not None:
        query = query.where(Model.task_id == select(TaskRow.id).where(TaskRow.name == task).scalar_subquery())
    cell = db.scalar(query)
    if cell is not None:
        _lease(cell, worker, now, until)
        db.flush()
    return cell


def _lease(cell: Cell, worker: str, now: datetime, until: datetime) -> None:
    if cell.state == CellState.RUNNING:
        cell.lost += 1
    else:
        cell.attempts += 1
    cell.state = CellState.RUNNING.value
    cell.worker = worker
    cell.lease_until = until
    cell.generation += 1
    cell.started_at = now
    cell.reason = ""
    cell.waits_for = ""


def hold_back(db: Session, adapters: Collection[str], *, waits_for: str, reason: str) -> int:
    """Note on every queued cell of *adapters* what it waits for, where nobody has yet; give how many there were."""
    versions = select(ModelVersion.id).where(ModelVersion.adapter.in_(adapters))
    waiting = and_(Cell.state == CellState.QUEUED, Cell.waits_for == "", Cell.model_version_id.in_(versions))
    if db.scalar(select(Cell.id).where(waiting).limit(1)) is None:
        return 0
    values = {"waits_for": waits_for, "reason": reason}
    result = db.execute(update(Cell).where(waiting).values(**values).execution_options(synchronize_session=False))
    return int(result.rowcount)  # type: ignore[attr-defined]  # an UPDATE gives a CursorResult


def let_go(db: Session, waits_for: str) -> int:
    """Take the note of `hold_back` from every cell, and any delay with it: what they waited for is there."""
    held = and_(Cell.state == CellState.QUEUED, Cell.waits_for == waits_for)
    values = {"waits_for": "", "reason": "", "lease_until": None}
    result = db.execute(update(Cell).where(held).values(**values).execution_options(synchronize_session=False))
    return int(result.rowcount)  # type: ignore[attr-defined]  # an UPDATE gives a CursorResult


def _last_first(last: LastCell | None) -> list[ColumnElement[int]]:
    if last is None:
        return []
    same = and_(Cell.model_version_id == last.model_version_id, Cell.dataset_version_id == last.dataset_version_id)
    return [case((same, 0), else_=1)]


def _after_scored() -> ColumnElement[bool]:
    """Whether a cell is no measurement, or one of a model whose scored run on the same data is over."""
    plain = aliased(Cell)
    waiting = select(plain.id).where(
        plain.model_version_id == Cell.model_version_id,
        plain.dataset_version_id == Cell.dataset_version_id,
        plain.variant == PLAIN,
        plain.state.in_(WAITING),
    )
    return or_(Cell.variant != MEASURE, ~waiting.exists())


def _may_be_measured() -> ColumnElement[bool]:
    """Whether a cell is no measurement, or one whose scored run waits for nothing that the machine at hand lacks."""
    plain = aliased(Cell)
    blocked = select(plain.id).where(
        plain.model_version_id == Cell.model_version_id,
        plain.dataset_version_id == Cell.dataset_version_id,
        plain.variant == PLAIN,
        plain.state.in_(WAITING),
        plain.waits_for != "",
    )
    return or_(Cell.variant != MEASURE, ~blocked.exists())


def _of_class(machine: str | None) -> ColumnElement[bool]:
    return or_(Cell.machine.is_(None), Cell.machine == machine)


def unfinished(
    db: Session, task: str | None = None, *, machine: str | None = None, variant: str | None = None
) -> Sequence[Row[int, str, str | None, int, datetime | None]]:
    """Return id, state, worker, generation and lease of the cells that are queued or running, of *task* or of all.

    With *variant*, only cells of that one. Those that wait for something which the machine at hand, of class *machine*,
    does not have are not among them.
    """
    query = (
        select(Cell.id, Cell.state, Cell.worker, Cell.generation, Cell.lease_until)
        .join(ModelVersion, ModelVersion.id == Cell.model_version_id)
        .join(Model, Model.id == ModelVersion.model_id)
        .where(Cell.state.in_(WAITING), Cell.waits_for == "", ModelVersion.withdrawn_at.is_(None))
        .where(_of_class(machine), _may_be_measured())
    )
    if task is not None:
        query = query.where(Model.task_id == select(TaskRow.id).where(TaskRow.name == task).scalar_subquery())
    if variant is not None:
        query = query.where(Cell.variant == variant)
    return db.execute(query).all()


def _free(now: datetime) -> ColumnElement[bool]:
    queued = and_(Cell.state == CellState.QUEUED, or_(Cell.lease_until.is_(None), Cell.lease_until <= now))
    return or_(queued, and_(Cell.state == CellState.RUNNING, Cell.lease_until < now))


def update_held(db: Session, cell_id: int, generation: int, **values: Any) -> bool:
    """Change a cell for the holder of its newest lease; False where it is not ours any more."""
    held = and_(Cell.id == cell_id, Cell.generation == generation, Cell.state == CellState.RUNNING)
    result = db.execute(update(Cell).where(held).values(**values).execution_options(synchronize_session=False))
    return bool(result.rowcount)  # type: ignore[attr-defined]  # an UPDATE gives a CursorResult


def cancel_all(db: Session, model_version_id: int, reason: str, at: datetime) -> None:
    """Cancel every cell of a model version that is queued or running; a worker that has one finds it gone."""
    waiting = rows(db, model_version_id=model_version_id, states=WAITING)
    for cell in (row.cell for row in waiting):
        cell.state, cell.reason, cell.lease_until, cell.finished_at = CellState.CANCELLED.value, reason, None, at
        cell.generation += 1
        note(db, cell.id, "cancelled", reason)


def revive_all(db: Session, model_version_id: int, reason: str) -> None:
    """Queue again what was cancelled for this *reason* of a model version."""
    cancelled = rows(db, model_version_id=model_version_id, states=(CellState.CANCELLED,))
    for cell in (row.cell for row in cancelled if row.cell.reason == reason):
        cell.state, cell.reason, cell.finished_at = CellState.QUEUED.value, "", None
        cell.attempts = cell.lost = cell.done = 0
        note(db, cell.id, "queued", "the model is back")


def send_measurements(db: Session, task_id: int, machine: str | None) -> None:
    """Let the measurements of a task that are queued wait for another class of machine, or for any."""
    versions = select(ModelVersion.id).join(Model, Model.id == ModelVersion.model_id).where(Model.task_id == task_id)
    waiting = and_(Cell.variant == MEASURE, Cell.state == CellState.QUEUED, Cell.model_version_id.in_(versions))
    db.execute(update(Cell).where(waiting).values(machine=machine).execution_options(synchronize_session=False))


def note(db: Session, cell_id: int, kind: str, text: str = "") -> None:
    """Add an event to a cell's log."""
    db.add(CellEvent(cell_id=cell_id, kind=kind, text=text))


def events(db: Session, cell_id: int) -> Sequence[CellEvent]:
    """List a cell's events in order."""
    return db.scalars(select(CellEvent).where(CellEvent.cell_id == cell_id).order_by(CellEvent.id)).all()


def row(db: Session, cell_id: int) -> CellRow | None:
    """Return a cell with what it stands between."""
    cell_row = db.execute(joined().where(Cell.id == cell_id)).first()
    return CellRow(*cell_row) if cell_row else None


def rows(
    db: Session,
    *,
    task: str | None = None,
    model_version_id: int | None = None,
    dataset_version_id: int | None = None,
    states: Sequence[str] = (),
    variant: str | None = None,
) -> list[CellRow]:
    """List the cells that fit every filter that is given, in the order in which they were made."""
    query = joined().order_by(Cell.id)
    if task is not None:
        query = query.where(TaskRow.name == task)
    if model_version_id is not None:
        query = query.where(Cell.model_version_id == model_version_id)
    if dataset_version_id is not None:
        query = query.where(Cell.dataset_version_id == dataset_version_id)
    if states:
        query = query.where(Cell.state.in_(states))
    if variant is not None:
        query = query.where(Cell.variant == variant)
    return [CellRow(*found) for found in db.execute(query)]


def measured_since(db: Session, at: datetime, *, task: str | None, note: str, most: int) -> list[CellRow]:
    """List measurements since then, of models not withdrawn, that have fewer than *most* events with this *note*."""
    noted = (
        select(func.count())
        .select_from(CellEvent)
        .where(CellEvent.cell_id == Cell.id, CellEvent.text == note)
        .scalar_subquery()
    )
    query = joined().where(
        Cell.variant == MEASURE,
        Cell.state == CellState.DONE,
        Cell.finished_at >= at,
        ModelVersion.withdrawn_at.is_(None),
        noted < most,
    )
    if task is not None:
        query = query.where(TaskRow.name == task)
    return [CellRow(*columns) for columns in db.execute(query.order_by(Cell.id))]


class ScoredPair(NamedTuple):
    """A model version and a data set version that it was run on."""

    model_version_id: int
    dataset_version_id: int


def scored_pairs(db: Session, *, role: str | None = None) -> list[ScoredPair]:
    """List the model versions and data set versions, all or those of a *role*, that there are predictions of."""
    query = select(Cell.model_version_id, Cell.dataset_version_id).where(
        Cell.variant == PLAIN, Cell.predictions.is_not(None)
    )
    if role is not None:
        query = query.join(DatasetVersion, DatasetVersion.id == Cell.dataset_version_id)
        query = query.where(DatasetVersion.role == role)
    return [ScoredPair(*row) for row in db.execute(query.order_by(Cell.model_version_id, Cell.dataset_version_id))]


def failures(db: Session, model_version_id: int, dataset_version_id: int) -> int:
    """Count the failed cells of a model version on a data set version."""
    same = and_(Cell.model_version_id == model_version_id, Cell.dataset_version_id == dataset_version_id)
    return db.scalar(select(func.count()).select_from(Cell).where(same, Cell.state == CellState.FAILED)) or 0


def is_unfinished(db: Session, model_version_id: int) -> bool:
    """Whether a cell of a model version is still to be run, or running."""
    left = Cell.state.in_([CellState.QUEUED, CellState.RUNNING])
    return db.scalar(select(Cell.id).where(Cell.model_version_id == model_version_id, left).limit(1)) is not None


def recent_durations(db: Session, limit: int = 50) -> list[float]:
    """Return how many seconds the latest finished cells took, for estimates."""
    query = (
        select(Cell.started_at, Cell.finished_at)
        .where(Cell.state == CellState.DONE, Cell.started_at.is_not(None), Cell.finished_at.is_not(None))
        .order_by(Cell.finished_at.desc())
        .limit(limit)
    )
    return [(end - start).total_seconds() for start, end in db.execute(query) if start and end]


def ahead(db: Session, cell: Cell, counted: Collection[str]) -> int:
    """Count the cells that are queued before *cell*, in the order in which they are leased."""
    turn = _turn(counted)
    every = select(Cell.id).join(DatasetVersion, DatasetVersion.id == Cell.dataset_version_id)
    own = db.scalar(every.with_only_columns(turn).where(Cell.id == cell.id))
    before = or_(turn < own, and_(turn == own, Cell.id < cell.id))
    return db.scalar(every.with_only_columns(func.count()).where(Cell.state == CellState.QUEUED, before)) or 0


def _turn(counted: Collection[str]) -> ColumnElement[int]:
    """Put first what boards rank by: answers, measurements and *counted* perturbations of data that may score.

    Answers on data to look at are as quickly had, and all else that is known of a model begins with them.
    """
    scores = DatasetVersion.role != Role.DEV
    return case(
        (and_(Cell.variant == PLAIN, scores), 0),
        (Cell.variant == PLAIN, 1),
        (and_(Cell.variant == MEASURE, scores), 2),
        (and_(Cell.variant.in_(counted), scores), 3),
        (Cell.variant == MEASURE, 4),
        else_=5,
    )


def variant(db: Session, dataset_version_id: int, name: str) -> Variant | None:
    """Return the variant *name* of a data set version; None where it was not made yet."""
    query = select(Variant).where(Variant.dataset_version_id == dataset_version_id, Variant.name == name)
    return db.scalar(query)
