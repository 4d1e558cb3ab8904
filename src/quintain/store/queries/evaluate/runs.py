"""A task's runs, as lists page through them: counted and sorted by index, whatever there are."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from sqlalchemy import ColumnElement, Select, func, or_, select, true
from sqlalchemy.orm import Session

from quintain.core.cells import CellState
from quintain.store.queries.evaluate.cells import CellRow, joined
from quintain.store.tables import Cell, Dataset, DatasetVersion, Model, ModelVersion, TaskRow

_ORDER = (CellState.RUNNING, CellState.QUEUED, CellState.FAILED, CellState.CANCELLED)


def page(
    db: Session,
    *,
    task: str,
    viewer_id: int | None,
    private: bool,
    states: Sequence[str] = (),
    model: str = "",
    dataset: str = "",
    variant: str = "",
    offset: int = 0,
    limit: int = 50,
) -> tuple[list[CellRow], int]:
    """List some of a task's cells, newest first, and count all that fit.

    Cells of private models are among them where *private* says so, and those of the viewer's own.
    """
    conditions: list[ColumnElement[bool]] = [Cell.dataset_version_id.in_(_data_of(task, dataset))]
    if not private:
        conditions.append(Cell.model_version_id.not_in(_hidden_from(viewer_id)))
    if states:
        conditions.append(Cell.state.in_(states))
    if model:
        conditions.append(Cell.model_version_id.in_(_versions().where(Model.name == model)))
    if variant:
        conditions.append(or_(Cell.variant == variant, Cell.variant.startswith(f"{variant}.v", autoescape=True)))
    counts = _counts(db, *conditions)
    ids = _window(db, conditions, counts, offset, limit)
    cells = {row[0].id: CellRow(*row) for row in db.execute(joined().where(Cell.id.in_(ids)))}
    return [cells[one] for one in ids], sum(counts.values())


def _window(
    db: Session, conditions: Sequence[ColumnElement[bool]], counts: Mapping[str, int], offset: int, limit: int
) -> list[int]:
    """Return the ids of a page: what runs first, then what waits, then what failed: what somebody may want to see to.

    Each state is an index's range by itself, so that nothing is sorted but ids.
    """
    ids: list[int] = []
    for state in sorted(counts, key=lambda name: (_ORDER.index(name) if name in _ORDER else len(_ORDER), name)):
        if len(ids) < limit and offset < counts[state]:
            query = select(Cell.id).where(*conditions, Cell.state == state).order_by(Cell.id.desc())
            ids += db.scalars(query.offset(offset).limit(limit - len(ids)))
        offset = max(offset - counts[state], 0)
    return ids


def _versions() -> Select[int]:
    return select(ModelVersion.id).join(Model, Model.id == ModelVersion.model_id)


def _hidden_from(viewer_id: int | None) -> Select[int]:
    """Select the versions of private models that are not the viewer's own."""
    others = Model.owner_id.is_distinct_from(viewer_id) if viewer_id is not None else true()
    return _versions().where(Model.visibility == "private", others)


def _data_of(task: str, dataset: str = "") -> Select[int]:
    """Select the versions of a task's data sets, or of one: cells are between models and data of the same task."""
    query = (
        select(DatasetVersion.id)
        .join(Dataset, Dataset.id == DatasetVersion.dataset_id)
        .join(TaskRow, TaskRow.id == Dataset.task_id)
        .where(TaskRow.name == task)
    )
    return query.where(Dataset.name == dataset) if dataset else query


def count_by_state(db: Session, task: str | None = None) -> dict[str, int]:
    """Count the cells of a task, or of all, by state."""
    return _counts(db) if task is None else _counts(db, Cell.dataset_version_id.in_(_data_of(task)))


def _counts(db: Session, *conditions: ColumnElement[bool]) -> dict[str, int]:
    """Count cells by state, in the order of the index."""
    query = select(Cell.dataset_version_id, Cell.state, func.count()).where(*conditions)
    by_state: Counter[str] = Counter()
    for _, state, number in db.execute(query.group_by(Cell.dataset_version_id, Cell.state)):
        by_state[str(state)] += int(number)
    return dict(by_state)
