"""Contrast projects: begin one over a test set, change it, close it, look at it. One is called `task/name`.

The examples to edit are drawn once, when the project is made, from one version of the data set: what is written later
has an original that is surely in it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import lru_cache, partial
from typing import Any

import polars as pl
from sqlalchemy.orm import Session

from quintain.core.contrast import ContrastSpec, ProjectState
from quintain.core.editing import ANYHOW, EditOrigin, revision_of_spec, settled
from quintain.core.errors import BadInput, Conflict, Fault, NotFound
from quintain.core.example import Role
from quintain.core.people import Actor, RoleName
from quintain.core.records import contrasting as records
from quintain.core.spec import plain, read
from quintain.core.spec_changes import review
from quintain.core.texts import Text
from quintain.core.toml import parse_toml
from quintain.services.access import audit
from quintain.services.access.permissions import require_owner, require_role, require_user
from quintain.services.contrast.sampling import USUAL_PIVOTS, draw_pivots
from quintain.services.data.content import scan
from quintain.services.data.datasets import VersionInfo, get_version
from quintain.services.tasks.definitions import find_row, get_task
from quintain.store.base import now
from quintain.store.blobs import Blobs
from quintain.store.database import lock, transaction
from quintain.store.queries.contrast import projects as queries
from quintain.store.tables import ContrastProject
from quintain.tasks.contract import kind_of
from quintain.tasks.writing import dump_toml

# What decides which examples are edited, or what what was written means, stays as it was.
LOOSE = (
    "title",
    "instructions",
    "phenomena",
    "extend",
    "variants",
    "limit",
    "writers",
    "minutes",
    "drafts",
    "scouting",
    "checks",
)
EDITED = (Role.TEST, Role.DEV)


@dataclass(frozen=True, slots=True)
class ProjectInfo:
    """A project: what it asks and where it stands. *dataset* is the version whose examples are edited."""

    id: int
    task: str
    name: str
    dataset: str
    dataset_version_id: int
    state: ProjectState
    spec: ContrastSpec
    created_at: datetime
    closed_at: datetime | None

    @property
    def ref(self) -> str:
        """The name that means this project."""
        return f"{self.task}/{self.name}"


def parse_contrast(text: str, *, file: str | None = None) -> ContrastSpec:
    r"""Make a project's specification of the TOML *text*, or raise BadInput with every fault in it.

    >>> parse_contrast('task = "mood"\nname = "near"\ntitle = "Near misses"\ndataset = "mood/test"').variants
    5
    """
    return read(ContrastSpec, parse_toml(text, file=file), file=file)


def dump_contrast(spec: ContrastSpec) -> str:
    """Write *spec* as TOML; reading it again gives the same."""
    return dump_toml(plain(spec))


def put_project(
    db: Session,
    blobs: Blobs,
    actor: Actor,
    toml_text: str,
    *,
    task: str | None = None,
    file: str | None = None,
    edit: EditOrigin = ANYHOW,
) -> ProjectInfo:
    """Make the project that *toml_text* defines and draw its examples, or change the one of that name.

    Where a *task* is named, it has to be the one that the text names.
    """
    spec = parse_contrast(toml_text, file=file)
    if task is not None and spec.task != task:
        raise Conflict("This defines a contrast project of '{named}', not of '{task}'.", named=spec.task, task=task)
    return put_spec(db, blobs, actor, spec, file=file, edit=edit, typed=parse_toml(toml_text))


def put_spec(
    db: Session,
    blobs: Blobs,
    actor: Actor,
    spec: ContrastSpec,
    *,
    file: str | None = None,
    new: bool = False,
    edit: EditOrigin = ANYHOW,
    typed: Mapping[str, Any] | None = None,
) -> ProjectInfo:
    """Make or change a project from a specification, as `put_project` does; a *new* one may not be there.

    *edit* says what the specification was made from.
    """
    task_id = find_row(db, spec.task).id
    require_owner(actor, spec.task)
    ref = f"{spec.task}/{spec.name}"
    stored = queries.find(db, spec.task, spec.name)
    known = None if stored is None else info_of(stored)
    asked = plain(spec if known is None else _as_drawn(known, spec), whole=True)
    review(edit, None if known is None else plain(known.spec, whole=True), asked, typed, file)
    drawn: list[dict[str, Any]] = []
    version = None
    if stored is not None:
        _refuse_giving_away(spec, get_version(db, actor, info_of(stored).dataset), file)
    else:
        version = _edited_version(db, actor, spec, file)
        _refuse_giving_away(spec, version, file)
        drawn = _draw(db, blobs, actor, spec, version, file)
        db.rollback()  # hold nothing while others write
    with transaction(db):
        lock(db, f"contrast {ref}")
        stored = queries.find(db, spec.task, spec.name)
        if stored is not None and new:
            raise Conflict("Task '{task}' has a contrast project '{name}' already.", task=spec.task, name=spec.name)
        if stored is not None:
            _change(db, actor, stored, spec, edit)
        elif version is not None:
            row = ContrastProject(
                task_id=task_id,
                dataset_version_id=version.id,
                name=spec.name,
                toml=dump_contrast(replace(spec, dataset=version.ref, pivots=len(drawn))),
                created_by=actor.user_id,
            )
            db.add(row)
            db.flush()
            queries.add_pivots(db, [{**one, "project_id": row.id} for one in drawn])
            audit.record(db, actor, "contrast.open", ref, pivots=len(drawn), toml=row.toml)
    return find_project(db, ref)


def find_project(db: Session, ref: str) -> ProjectInfo:
    """Return the project called *ref*, whoever asks; for other services."""
    task, _, name = ref.rpartition("/")
    stored = queries.find(db, task, name) if task else None
    if stored is None:
        raise NotFound(
            "There is no contrast project '{ref}'.",
            ref=ref,
            remedy="Name it as task/name; `quintain contrast status TASK` lists those there are.",
            page="The page of the task's contrast sets lists those there are.",
        )
    return info_of(stored)


def get_project(db: Session, actor: Actor, ref: str) -> records.ContrastProject:
    """Return a project with its progress, for those who may write or check in it."""
    info = find_project(db, ref)
    require_part(actor, info)
    return record_of(db, info)


def list_projects(db: Session, actor: Actor, task: str) -> records.ContrastProjects:
    """List the projects of *task* in which *actor* may write or check, the newest first."""
    find_row(db, task)
    projects = [info_of(row) for row in queries.all_of(db, task)]
    return records.ContrastProjects([record_of(db, project) for project in projects if may_take_part(actor, project)])


def set_state(db: Session, actor: Actor, ref: str, state: ProjectState) -> records.ContrastProject:
    """Close a project, so that nobody takes an example any more, or open it again. What was written stays."""
    with transaction(db):
        info = find_project(db, ref)
        require_owner(actor, info.task)
        if info.state is not state:
            row = db.get_one(ContrastProject, info.id)
            row.state, row.closed_at = state.value, now() if state is ProjectState.CLOSED else None
            audit.record(db, actor, f"contrast.{state.value}", ref)
            db.flush()
    return record_of(db, find_project(db, ref))


def add_phenomenon(db: Session, actor: Actor, ref: str, name: str) -> tuple[str, ...]:
    """Add a phenomenon to the list of a project; who writes may, where its owner lets them."""
    with transaction(db):
        info = find_project(db, ref)
        require_part(actor, info)
        if not info.spec.extend:
            require_owner(actor, info.task)
        lock(db, f"contrast {ref}")
        info = find_project(db, ref)
        tag = " ".join(name.split())
        if tag in info.spec.phenomena:
            return info.spec.phenomena
        data = {**plain(info.spec), "phenomena": [*info.spec.phenomena, tag]}
        spec = read(ContrastSpec, data)
        db.get_one(ContrastProject, info.id).toml = dump_contrast(spec)
        audit.record(db, actor, "contrast.phenomenon", ref, name=tag)
        db.flush()
    return spec.phenomena


def may_take_part(actor: Actor, info: ProjectInfo) -> bool:
    """Whether somebody may write and check in a project."""
    if info.spec.writers == "workers":
        return actor.user_id is not None or actor.operator
    return actor.has(RoleName.EXPERT, info.task) or actor.has(RoleName.OWNER, info.task)


def require_part(actor: Actor, info: ProjectInfo) -> None:
    """Refuse those who may not write in a project; examples with their answers are none of their business."""
    if info.spec.writers == "workers":
        if not actor.operator:
            require_user(actor)
        return
    require_role(actor, RoleName.EXPERT, RoleName.OWNER, task=info.task)


def require_open(info: ProjectInfo) -> None:
    """Refuse to go on in a project that is closed."""
    if info.state is not ProjectState.OPEN:
        raise Conflict("The contrast project {ref} is closed.", ref=info.ref, code="contrast_closed")


def record_of(db: Session, info: ProjectInfo) -> records.ContrastProject:
    """Return a project as programs see it."""
    pivots, variants = queries.pivot_states(db, info.id, now()), queries.variant_states(db, info.id)
    counts = {**variants, **pivots}
    names = records.ContrastProgress.__dataclass_fields__
    return records.ContrastProject(
        ref=info.ref,
        task=info.task,
        name=info.name,
        title=info.spec.title,
        state=info.state.value,
        dataset=info.dataset,
        phenomena=info.spec.phenomena,
        created_at=info.created_at,
        closed_at=info.closed_at,
        toml=dump_contrast(info.spec),
        progress=records.ContrastProgress(**{name: counts[name] for name in names}),
        revision=revision_of_spec(info.spec),
    )


def _edited_version(db: Session, actor: Actor, spec: ContrastSpec, file: str | None) -> VersionInfo:
    try:
        version = get_version(db, actor, spec.dataset)
    except (NotFound, BadInput) as error:
        raise BadInput(faults=[Fault("{error}", error=error, file=file, field="dataset")]) from error
    if version.task != spec.task:
        reason = Text("'{ref}' is a data set of task '{task}'", ref=version.ref, task=version.task)
        raise BadInput(faults=[Fault(reason, file=file, field="dataset")])
    if version.role not in EDITED:
        reason = Text(
            "'{ref}' has role {role}; contrast sets are made of test or dev", ref=version.ref, role=version.role
        )
        raise BadInput(faults=[Fault(reason, file=file, field="dataset")])
    return version


def _refuse_giving_away(spec: ContrastSpec, version: VersionInfo, file: str | None) -> None:
    """Let nobody but experts see the answers of a set whose labels are hidden."""
    if spec.writers == "workers" and version.hidden:
        reason = Text("the labels of {ref} are hidden, and who edits its examples sees them", ref=version.ref)
        raise BadInput(
            faults=[Fault(reason, file=file, field="writers")],
            remedy='Let experts write (writers = "experts"), or edit a set whose labels are open.',
        )


def _draw(
    db: Session, blobs: Blobs, actor: Actor, spec: ContrastSpec, version: VersionInfo, file: str | None
) -> list[dict[str, Any]]:
    task = get_task(db, spec.task)
    table = scan(db, blobs, actor, version.ref, answers=True).filter(pl.col("answer").is_not_null()).collect()
    pivots, faults = draw_pivots(spec, task, table)
    if faults:
        raise BadInput(faults=[fault.at(file=file) for fault in faults])
    inputs = [item.name for item in kind_of(task).fields(task)]
    return [_pivot(row, inputs, place) for place, row in enumerate(pivots.iter_rows(named=True))]


def _pivot(row: Mapping[str, Any], inputs: Sequence[str], position: int) -> dict[str, Any]:
    return {
        "example": row["id"],
        "inputs": {name: row[name] for name in inputs if row[name] is not None},
        "answer": row["answer"],
        "tags": list(row["tags"] or ()),
        "draw": position,
        "state": "free",
        "generation": 0,
    }


def _change(db: Session, actor: Actor, stored: queries.ProjectRow, spec: ContrastSpec, edit: EditOrigin) -> None:
    db.refresh(stored.project)  # as it is now that nobody else can change it, not as it was read before
    info = info_of(stored)
    asked = settled(edit, info.spec, _as_drawn(info, spec), partial(read, ContrastSpec))
    before, after = plain(info.spec, whole=True), plain(asked, whole=True)
    changed = [name for name in after if name not in LOOSE and before.get(name) != after.get(name)]
    if changed:
        raise Conflict(
            "The examples of {ref} have been drawn, and '{changed}' cannot change any more.",
            ref=info.ref,
            changed=changed[0],
            loose=", ".join(LOOSE),
            remedy="Make another project. These may change: {loose}.",
        )
    text = dump_contrast(asked)
    if text != stored.project.toml:
        stored.project.toml = text
        audit.record(db, actor, "contrast.change", info.ref, toml=text)
        db.flush()


def _as_drawn(info: ProjectInfo, spec: ContrastSpec) -> ContrastSpec:
    """Return *spec* with the version that was drawn from, where it means that, and with the number that was drawn."""
    dataset = info.spec.dataset if spec.dataset in _names_of(info) else spec.dataset
    return replace(spec, dataset=dataset, pivots=spec.pivots or info.spec.pivots)


def _names_of(info: ProjectInfo) -> tuple[str, str]:
    """Return the names under which the edited version may be called again: with its number, and without."""
    return info.dataset, info.dataset.partition("@")[0]


@lru_cache(maxsize=256)
def _parsed(text: str) -> ContrastSpec:
    """Read a stored file once: every edit asks for it. One that does not say how many were drawn is from before."""
    spec = parse_contrast(text)
    return replace(spec, pivots=spec.pivots or USUAL_PIVOTS)


def info_of(row: queries.ProjectRow) -> ProjectInfo:
    """Return a stored project."""
    project = row.project
    return ProjectInfo(
        id=project.id,
        task=row.task,
        name=project.name,
        dataset=row.dataset,
        dataset_version_id=project.dataset_version_id,
        state=ProjectState(project.state),
        spec=_parsed(project.toml),
        created_at=project.created_at,
        closed_at=project.closed_at,
    )
