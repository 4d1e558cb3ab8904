"""Contests: put, list, look at. A contest is called `task/name`; its phases end by the clock, and by nobody."""

from __future__ import annotations

import secrets
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields, replace
from datetime import datetime
from typing import Any

from sqlalchemy.orm import Session

from quintain.core.cells import PLAIN
from quintain.core.contests import MOMENTS, ContestSpec, Phase
from quintain.core.editing import ANYHOW, EditOrigin, revision_of_spec, settled
from quintain.core.errors import BadInput, Conflict, Fault, NotFound, QuintainError
from quintain.core.people import OPERATOR, Actor, RoleName
from quintain.core.records import contests as records
from quintain.core.spec import plain
from quintain.core.spec_changes import review
from quintain.core.task import Task
from quintain.core.texts import Text, Word
from quintain.core.toml import parse_toml
from quintain.services.access import audit
from quintain.services.access.permissions import require_owner
from quintain.services.contest.definition import (
    ENDS,
    ContestSchedule,
    contest_of,
    dump_contest,
    parse_contest,
    schedule_of,
)
from quintain.services.contest.grading import require_gradable
from quintain.services.data.datasets import get_version
from quintain.services.models.registry import get_model
from quintain.services.plain.files.contest import is_reserved
from quintain.services.tasks.definitions import find_row, get_task
from quintain.store.base import now
from quintain.store.database import lock, transaction
from quintain.store.queries.contest import contests as queries
from quintain.store.queries.evaluate.cells import add as add_cells
from quintain.store.tables import ContestRow, ContestSystem, ContestVersion

DATA = ("dev", "starter", "train")
# What may still change once a contest has begun; the rest was promised to the teams.
LOOSE = (
    "title",
    "description",
    *MOMENTS,
    "joining",
    "team_size",
    "systems",
    "submissions",
    "searches",
    "pairs",
    "tags",
    "judges",
    "judge_pay",
    "disputes",
)


@dataclass(frozen=True, slots=True)
class ContestInfo:
    """A contest: what it asks and when."""

    id: int
    task: str
    name: str
    spec: ContestSpec
    version: int
    created_at: datetime
    pairs_version_id: int | None
    frozen: bool

    @property
    def ref(self) -> str:
        """The name that means this contest."""
        return f"{self.task}/{self.name}"

    @property
    def schedule(self) -> ContestSchedule:
        """When its phases end."""
        return schedule_of(self.spec)

    @property
    def phase(self) -> Phase:
        """Where it stands now."""
        return self.schedule.at(now())

    def record(self) -> records.Contest:
        """Return the contest as programs see it."""
        schedule, phase = self.schedule, self.phase
        return records.Contest(
            ref=self.ref,
            task=self.task,
            name=self.name,
            title=self.spec.title,
            phase=phase.value,
            phase_ends=schedule.ends.get(phase, schedule.starts if phase is Phase.COMING else None),
            version=self.version,
            created_at=self.created_at,
            toml=dump_contest(self.spec),
            revision=revision_of_spec(self.spec),
        )


def put_contest(
    db: Session,
    actor: Actor,
    toml_text: str,
    *,
    task: str | None = None,
    file: str | None = None,
    edit: EditOrigin = ANYHOW,
) -> ContestInfo:
    """Add the contest that *toml_text* defines, or change the one of that name (owners).

    Where a *task* is named, it has to be the one that the text names.
    """
    spec = parse_contest(toml_text, file=file)
    if task is not None and spec.task != task:
        raise Conflict("This defines a contest of '{named}', not of '{task}'.", named=spec.task, task=task)
    return put_spec(db, actor, spec, file=file, edit=edit, typed=parse_toml(toml_text))


def put_spec(
    db: Session,
    actor: Actor,
    spec: ContestSpec,
    *,
    file: str | None = None,
    new: bool = False,
    edit: EditOrigin = ANYHOW,
    typed: Mapping[str, Any] | None = None,
) -> ContestInfo:
    """Add or change a contest from a spec, as `put_contest` does from a file; a *new* one may not be there.

    *edit* says what the spec was made from; what a file, which was *typed*, leaves out is not reset in silence.
    """
    spec = contest_of(dict(_set_fields(spec)), file=file)
    with transaction(db):
        task_row = find_row(db, spec.task)
        require_owner(actor, spec.task)
        lock(db, f"contest {spec.task}/{spec.name}")
        _check_surroundings(db, spec, file)
        spec = _pinned(db, spec)
        stored = queries.find(db, spec.task, spec.name)
        if stored is not None and not new:
            spec = settled(edit, parse_contest(stored.version.toml), spec, contest_of)
        text = dump_contest(spec)
        before = plain(parse_contest(stored.version.toml), whole=True) if stored is not None else None
        review(edit, before, plain(spec, whole=True), typed, file)
        if stored is None:
            row = ContestRow(task_id=task_row.id, name=spec.name, created_by=actor.user_id)
            db.add(row)
            db.flush()
            number = 1
        elif new:
            raise Conflict("Task '{task}' has a contest '{name}' already.", task=spec.task, name=spec.name)
        else:
            row, number = stored.row, stored.version.number + 1
            _refuse_change(parse_contest(stored.version.toml), spec)
        if stored is None or stored.version.toml != text:
            db.add(ContestVersion(contest_id=row.id, number=number, toml=text, created_by=actor.user_id))
            audit.record(db, actor, "contest.put", f"{spec.task}/{spec.name}", version=number)
        db.flush()
        _sync_models(db, row.id, spec)
    return find_contest(db, f"{spec.task}/{spec.name}")


def extend(db: Session, actor: Actor, ref: str, phase: Phase, until: datetime) -> ContestInfo:
    """Let a phase end at another moment, which is by the contest's clocks where it has no time zone (owners)."""
    info = find_contest(db, ref)
    if phase not in ENDS:
        known = ", ".join(ENDS)
        raise BadInput("'{phase}' is no phase that ends.", phase=phase.value, known=known, remedy="There are {known}.")
    values = {**dict(_set_fields(info.spec)), ENDS[phase]: until}
    return put_spec(db, actor, contest_of(values))


def list_contests(db: Session, task: str) -> list[ContestInfo]:
    """List the contests of a task, the newest first."""
    find_row(db, task)
    return [_info(one) for one in queries.of_task(db, task)]


def find_contest(db: Session, ref: str) -> ContestInfo:
    """Return the contest *ref*, `task/name`; NotFound without one."""
    task, slash, name = ref.partition("/")
    if not slash or not name:
        raise BadInput("'{ref}' is not a contest.", ref=ref, remedy="Name it as task/name, such as sentiment/spring.")
    find_row(db, task)
    stored = queries.find(db, task, name)
    if stored is None:
        raise NotFound("Task '{task}' has no contest '{name}'.", task=task, name=name)
    return _info(stored)


def newest_running(db: Session, limit: int) -> list[ContestInfo]:
    """List those of the *limit* newest contests of all tasks that are not over, or may wait for their organisers."""
    newest = [_info(row) for row in queries.newest(db, limit)]
    return [info for info in newest if info.phase is not Phase.OVER or info.spec.undecided == "wait"]


def history(db: Session, actor: Actor, ref: str) -> list[records.ContestChange]:
    """List every state of a contest's file, the newest first (owners)."""
    info = find_contest(db, ref)
    require_owner(actor, info.task)
    return [
        records.ContestChange(one.number, one.created_at, who, one.toml) for one, who in queries.versions(db, info.id)
    ]


def organises(actor: Actor, info: ContestInfo) -> bool:
    """Whether *actor* organises the contest."""
    return actor.has(RoleName.OWNER, info.task)


def require_phase(info: ContestInfo, *phases: Phase) -> Phase:
    """Refuse what is too early or too late, to the second and by the contest's clocks."""
    phase, schedule, order = info.phase, info.schedule, list(Phase)
    if phase in phases:
        return phase
    required = phases[-1]
    if order.index(phase) < order.index(required):
        raise Conflict(
            "This is for the phase '{wanted}' of {ref}, which begins after {time}.",
            wanted=Word(required),
            ref=info.ref,
            time=schedule.local(schedule.begins(required)),
            code="too_early",
        )
    raise Conflict(
        "This is too late: the phase '{wanted}' of {ref} ended on {time}.",
        wanted=Word(required),
        ref=info.ref,
        time=schedule.local(schedule.ends.get(required, schedule.starts)),
        remedy="The organisers can extend a phase while it lasts.",
        code="too_late",
    )


def _info(stored: queries.StoredContest) -> ContestInfo:
    row, task, version = stored
    return ContestInfo(
        row.id,
        task,
        row.name,
        parse_contest(version.toml),
        version.number,
        row.created_at,
        row.pairs_version_id,
        row.frozen_at is not None,
    )


def _set_fields(spec: ContestSpec) -> Iterator[tuple[str, object]]:
    for item in fields(spec):
        value = getattr(spec, item.name)
        if value is not None:
            yield item.name, list(value) if isinstance(value, tuple) else value


def _check_surroundings(db: Session, spec: ContestSpec, file: str | None) -> None:
    """Look up what the specification names."""
    task = get_task(db, spec.task)
    require_gradable(task)
    faults = [*_data_faults(db, task, spec), *_model_faults(db, spec)]
    if faults:
        raise BadInput(faults=[fault.at(file=file) for fault in faults])


def _pinned(db: Session, spec: ContestSpec) -> ContestSpec:
    """Name exact versions: what is imported or submitted later is no part of the contest."""
    data: dict[str, Any] = {name: get_version(db, OPERATOR, ref).ref for name in DATA if (ref := getattr(spec, name))}
    return replace(spec, **data, models=tuple(get_model(db, OPERATOR, ref).version.ref for ref in spec.models))


def _sync_models(db: Session, contest_id: int, spec: ContestSpec) -> None:
    """Let the models that take part as they are be systems; those that are named no more are taken out."""
    versions = {get_model(db, OPERATOR, ref).version.id: ref for ref in spec.models}
    existing = [system for system in queries.systems(db, contest_id) if system.team_id is None and not system.reference]
    for system in existing:
        if system.model_version_id not in versions:
            db.delete(system)
    db.flush()
    known = {one.model_version_id for one in existing}
    for version, ref in versions.items():
        if version not in known:
            name = free_system_name(db, contest_id, ref.partition("/")[2].partition("@")[0])
            add_system(db, ContestSystem(contest_id=contest_id, name=name, model_version_id=version))
    dev = get_version(db, OPERATOR, spec.dev)
    cells = [
        {"model_version_id": version, "dataset_version_id": dev.id, "variant": PLAIN, "total": dev.rows}
        for version in versions
    ]
    add_cells(db, cells)


def free_system_name(db: Session, contest_id: int, name: str) -> str:
    """Return *name*, or one like it that no system of the contest has and that no column of its table needs."""
    taken = {system.name for system in queries.systems(db, contest_id, withdrawn=True)}
    candidate = f"{name}-system" if is_reserved(name) else name
    number = 2
    while candidate in taken:
        candidate = f"{name}-{number}"
        number += 1
    return candidate


def add_system(db: Session, system: ContestSystem) -> ContestSystem:
    """Keep a system under a number by which nobody knows it."""
    taken = {one.alias for one in queries.systems(db, system.contest_id, withdrawn=True)}
    free = [number for number in range(10, 100 + len(taken)) if number not in taken]
    # A secret like a token: drawn from a seed, it could be drawn again by whoever wants to know.
    system.alias = free[int.from_bytes(secrets.token_bytes(8), "big") % len(free)]
    db.add(system)
    db.flush()
    return system


def _data_faults(db: Session, task: Task, spec: ContestSpec) -> Iterator[Fault]:
    for name in DATA:
        ref = getattr(spec, name)
        if not ref:
            continue
        try:
            version = get_version(db, OPERATOR, ref)
        except QuintainError as error:
            yield Fault(error.message, field=name)
            continue
        if version.task != task.name:
            yield Fault("is of the task '{other}'", other=version.task, field=name)
        elif name == "dev" and not version.hidden:
            yield Fault(
                "the labels of {ref} are open, and this set has to be blind; import it with hidden labels",
                ref=version.ref,
                field=name,
            )
        elif name == "starter" and version.hidden:
            yield Fault("the labels of {ref} are hidden, and breakers have to see them", ref=version.ref, field=name)


def _model_faults(db: Session, spec: ContestSpec) -> Iterator[Fault]:
    for ref in spec.models:
        try:
            model = get_model(db, OPERATOR, ref)
        except QuintainError as error:
            yield Fault(error.message, field="models")
            continue
        if model.task != spec.task:
            yield Fault("'{ref}' is a model of another task", ref=ref, field="models")
        elif model.visibility == "private":
            yield Fault("'{ref}' is private", ref=ref, field="models")


def _refuse_change(old: ContestSpec, new: ContestSpec) -> None:
    """Refuse to change what has been promised, or to move a moment that has passed or into the past."""
    moment = now()
    before, after = schedule_of(old), schedule_of(new)
    begun = before.at(moment) is not Phase.COMING
    strict = [item.name for item in fields(old) if item.name not in LOOSE]
    changed = [name for name in strict if getattr(old, name) != getattr(new, name)]
    if begun and changed:
        raise Conflict(
            "The contest has begun, and {names} cannot change any more: the teams were promised it.",
            names=", ".join(changed),
        )
    faults = [
        Fault(reason, field=name)
        for name, first, second in _moved(before, after)
        if (reason := _misplaced(first, second, moment))
    ]
    if begun and faults:
        raise BadInput(faults=faults)


def _moved(before: ContestSchedule, after: ContestSchedule) -> Iterator[tuple[str, datetime | None, datetime | None]]:
    yield "starts", before.starts, after.starts
    for phase, name in ENDS.items():
        yield name, before.ends.get(phase), after.ends.get(phase)


def _misplaced(first: datetime | None, second: datetime | None, moment: datetime) -> Text | None:
    if first == second:
        return None
    if first is not None and first <= moment:
        return Text("has passed and cannot be moved")
    if second is not None and second <= moment:
        return Text("lies in the past")
    return None
