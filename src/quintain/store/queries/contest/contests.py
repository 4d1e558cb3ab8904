"""Queries on contests: their definitions, teams, members, systems and answers."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import NamedTuple

from sqlalchemy import func, select, update
from sqlalchemy.orm import Session

from quintain.core.cells import PLAIN
from quintain.store.tables import (
    Cell,
    ContestAnswers,
    ContestMember,
    ContestPair,
    ContestRow,
    ContestSystem,
    ContestTeam,
    ContestVersion,
    DatasetVersion,
    TaskRow,
    User,
)


class StoredContest(NamedTuple):
    """A contest with the newest of its definitions."""

    row: ContestRow
    task: str
    version: ContestVersion


class TeamRow(NamedTuple):
    """A team with how many people are in it and how many pairs it has."""

    row: ContestTeam
    people: int
    pairs: int


class MemberRow(NamedTuple):
    """Somebody in a team."""

    team_id: int
    user_id: int
    name: str


def find(db: Session, task: str, name: str) -> StoredContest | None:
    """Find the contest *name* of *task*."""
    contests = _rows(db, task, name=name)
    return contests[0] if contests else None


def of_task(db: Session, task: str) -> list[StoredContest]:
    """List the contests of a task, the newest first."""
    return _rows(db, task)


def unfrozen_refs(db: Session) -> list[str]:
    """Name the contests of all tasks whose pairs are not a data set yet, the oldest first."""
    query = select(TaskRow.name, ContestRow.name).join(TaskRow, TaskRow.id == ContestRow.task_id)
    names = db.execute(query.where(ContestRow.frozen_at.is_(None)).order_by(ContestRow.id))
    return [f"{task}/{name}" for task, name in names]


def refs_with_pairs(db: Session) -> list[str]:
    """Name the contests of all tasks whose pairs are a data set, the oldest first."""
    query = select(TaskRow.name, ContestRow.name).join(TaskRow, TaskRow.id == ContestRow.task_id)
    names = db.execute(query.where(ContestRow.frozen_at.is_not(None)).order_by(ContestRow.id))
    return [f"{task}/{name}" for task, name in names]


def refs_with_hidden_pairs(db: Session) -> list[str]:
    """Name the contests of all tasks whose set of pairs has hidden labels."""
    query = select(TaskRow.name, ContestRow.name).join(TaskRow, TaskRow.id == ContestRow.task_id)
    query = query.join(DatasetVersion, DatasetVersion.id == ContestRow.pairs_version_id)
    return [f"{task}/{name}" for task, name in db.execute(query.where(DatasetVersion.hidden).order_by(ContestRow.id))]


def open_labels(db: Session, version_id: int) -> bool:
    """Let everybody see the labels of a set of pairs; say whether they were hidden."""
    hidden = DatasetVersion.id == version_id, DatasetVersion.hidden
    return bool(db.execute(update(DatasetVersion).where(*hidden).values(hidden=False)).rowcount)  # type: ignore[attr-defined]


def newest(db: Session, limit: int) -> list[StoredContest]:
    """List the newest contests of all tasks, at most *limit*."""
    return _rows(db, None, limit=limit)


def _rows(
    db: Session, task: str | None, *, name: str | None = None, frozen: bool | None = None, limit: int | None = None
) -> list[StoredContest]:
    newest = (
        select(func.max(ContestVersion.number))
        .where(ContestVersion.contest_id == ContestRow.id)
        .correlate(ContestRow)
        .scalar_subquery()
    )
    query = (
        select(ContestRow, TaskRow.name, ContestVersion)
        .join(TaskRow, TaskRow.id == ContestRow.task_id)
        .join(ContestVersion, ContestVersion.contest_id == ContestRow.id)
        .where(ContestVersion.number == newest)
        .order_by(ContestRow.id.desc())
    )
    if task is not None:
        query = query.where(TaskRow.name == task)
    if name is not None:
        query = query.where(ContestRow.name == name)
    if frozen is False:
        query = query.where(ContestRow.frozen_at.is_(None))
    return [StoredContest(*row) for row in db.execute(query.limit(limit))]


def versions(db: Session, contest_id: int) -> list[tuple[ContestVersion, str | None]]:
    """List the definitions of a contest, the newest first, with who put them."""
    query = (
        select(ContestVersion, User.name)
        .outerjoin(User, User.id == ContestVersion.created_by)
        .where(ContestVersion.contest_id == contest_id)
        .order_by(ContestVersion.number.desc())
    )
    return [(version, name) for version, name in db.execute(query)]


def teams(db: Session, contest_id: int) -> list[TeamRow]:
    """List the teams of a contest by their names."""
    people = (
        select(func.count()).where(ContestMember.team_id == ContestTeam.id).correlate(ContestTeam).scalar_subquery()
    )
    pairs = select(func.count()).where(ContestPair.team_id == ContestTeam.id).correlate(ContestTeam).scalar_subquery()
    query = select(ContestTeam, people, pairs).where(ContestTeam.contest_id == contest_id).order_by(ContestTeam.name)
    return [TeamRow(*row) for row in db.execute(query)]


def team(db: Session, contest_id: int, name: str) -> ContestTeam | None:
    """Find the team called *name*."""
    return db.scalar(select(ContestTeam).where(ContestTeam.contest_id == contest_id, ContestTeam.name == name))


def team_of(db: Session, contest_id: int, user_id: int) -> ContestTeam | None:
    """Find the team that somebody is in."""
    query = select(ContestTeam).join(ContestMember, ContestMember.team_id == ContestTeam.id)
    return db.scalar(query.where(ContestMember.contest_id == contest_id, ContestMember.user_id == user_id))


def membership(db: Session, contest_id: int, user_id: int) -> ContestMember | None:
    """Find somebody's place in a contest."""
    query = select(ContestMember).where(ContestMember.contest_id == contest_id, ContestMember.user_id == user_id)
    return db.scalar(query)


def members(db: Session, contest_id: int) -> list[MemberRow]:
    """List who is in which team, by names."""
    query = (
        select(ContestMember.team_id, ContestMember.user_id, User.name)
        .join(User, User.id == ContestMember.user_id)
        .where(ContestMember.contest_id == contest_id)
        .order_by(User.name)
    )
    return [MemberRow(*row) for row in db.execute(query)]


def systems(db: Session, contest_id: int, *, withdrawn: bool = False) -> Sequence[ContestSystem]:
    """List the systems of a contest, references last, by their names; with *withdrawn*, those taken out again, too."""
    query = select(ContestSystem).where(ContestSystem.contest_id == contest_id)
    if not withdrawn:
        query = query.where(ContestSystem.withdrawn_at.is_(None))
    return db.scalars(query.order_by(ContestSystem.reference, ContestSystem.name)).all()


def newest_answers(db: Session, contest_id: int) -> dict[tuple[int, str], ContestAnswers]:
    """Return the newest answers that were handed in, by system and part."""
    newest = (
        select(func.max(ContestAnswers.id))
        .join(ContestSystem, ContestSystem.id == ContestAnswers.system_id)
        .where(ContestSystem.contest_id == contest_id)
        .group_by(ContestAnswers.system_id, ContestAnswers.part)
    )
    rows = db.scalars(select(ContestAnswers).where(ContestAnswers.id.in_(newest)))
    return {(row.system_id, row.part): row for row in rows}


def times_handed_in(db: Session, system_id: int, part: str) -> int:
    """Count how often answers were handed in for a part."""
    query = select(func.count()).where(ContestAnswers.system_id == system_id, ContestAnswers.part == part)
    return db.scalar(query) or 0


def times_of_team(db: Session, team_id: int, parts: Sequence[str]) -> int:
    """Count how often a team handed in answers to *parts*, of all of its systems, those taken out again included."""
    query = select(func.count()).select_from(ContestAnswers).join(ContestSystem)
    return db.scalar(query.where(ContestSystem.team_id == team_id, ContestAnswers.part.in_(parts))) or 0


def runs(db: Session, model_version_ids: Collection[int], dataset_version_id: int) -> dict[int, Cell]:
    """Return the plain runs of models on a data set version, by model version."""
    query = select(Cell).where(
        Cell.dataset_version_id == dataset_version_id,
        Cell.model_version_id.in_(model_version_ids),
        Cell.variant == PLAIN,
    )
    return {one.model_version_id: one for one in db.scalars(query)}
