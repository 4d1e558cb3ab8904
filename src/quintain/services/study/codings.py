"""Codings: draw a sample, change what is asked, close, look at. One is called `task/name`.

The sample is drawn once, when the coding is made; what its writer takes back later, or an owner withholds, leaves it.
Where an item is from is told to nobody until the coding is closed, which is for good: who has seen the arms could not
code blind any more.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from functools import lru_cache, partial
from typing import Any

from sqlalchemy.orm import Session

from quintain.core.coding import CodingSpec, CodingState
from quintain.core.editing import ANYHOW, EditOrigin, revision_of_spec, settled
from quintain.core.errors import BadInput, Conflict, Fault, NotFound
from quintain.core.people import Actor, RoleName
from quintain.core.records import coding as records
from quintain.core.spec import plain, read
from quintain.core.spec_changes import review
from quintain.core.toml import parse_toml
from quintain.services.access import audit
from quintain.services.access.permissions import require_owner, require_role, require_user
from quintain.services.study.coding_sources import Candidate, draw_items, pinned
from quintain.services.tasks.definitions import find_row, get_task
from quintain.store.blobs import Blobs
from quintain.store.database import lock, transaction
from quintain.store.queries.study import coding as queries
from quintain.store.tables import CodingRow
from quintain.tasks.writing import dump_toml

# What decides which items are coded, or what a code means, stays as it was.
LOOSE = ("title", "instructions", "people", "minutes")


@dataclass(frozen=True, slots=True)
class CodingInfo:
    """A coding: what it asks and where it stands."""

    id: int
    task: str
    name: str
    state: CodingState
    spec: CodingSpec
    created_at: datetime
    closed_at: datetime | None

    @property
    def ref(self) -> str:
        """The name that means this coding."""
        return f"{self.task}/{self.name}"


def parse_coding(text: str, *, file: str | None = None) -> CodingSpec:
    r"""Make a coding's specification of the TOML *text*, or raise BadInput with every fault in it.

    >>> parse_coding('task = "mood"\nname = "look"\ntitle = "A look"\nsources = ["data/test"]').categories[0]
    'duplicate'
    """
    return read(CodingSpec, parse_toml(text, file=file), file=file)


def dump_coding(spec: CodingSpec) -> str:
    """Write *spec* as TOML; reading it again gives the same."""
    return dump_toml(plain(spec))


def put_coding(
    db: Session,
    blobs: Blobs,
    actor: Actor,
    toml_text: str,
    *,
    task: str | None = None,
    file: str | None = None,
    edit: EditOrigin = ANYHOW,
) -> records.Coding:
    """Make the coding that *toml_text* defines and draw its sample, or change the one of that name (owners).

    Where a *task* is named, it has to be the one that the text names.
    """
    spec = parse_coding(toml_text, file=file)
    if task is not None and spec.task != task:
        raise Conflict("This defines a coding of '{named}', not of '{task}'.", named=spec.task, task=task)
    return put_spec(db, blobs, actor, spec, file=file, edit=edit, settings=parse_toml(toml_text))


def put_spec(
    db: Session,
    blobs: Blobs,
    actor: Actor,
    spec: CodingSpec,
    *,
    file: str | None = None,
    new: bool = False,
    edit: EditOrigin = ANYHOW,
    settings: Mapping[str, Any] | None = None,
) -> records.Coding:
    """Make or change a coding from a specification, as `put_coding` does from a file; a *new* one may not be there.

    *edit* says what the specification was made from.
    """
    task_id = find_row(db, spec.task).id
    require_owner(actor, spec.task)
    ref = f"{spec.task}/{spec.name}"
    drawn: Sequence[Candidate] = ()
    existing = queries.find(db, spec.task, spec.name)
    known = None if existing is None else info_of(*existing)
    proposed = plain(spec if known is None else _as_drawn(known, spec), whole=True)
    review(edit, None if known is None else plain(known.spec, whole=True), proposed, settings, file)
    if known is None:
        try:
            spec = pinned(db, actor, spec)
            drawn = draw_items(db, blobs, actor, get_task(db, spec.task), spec)
        except NotFound as error:
            raise BadInput(faults=[Fault("{error}", error=error, file=file, field="sources")]) from error
        except BadInput as error:
            raise BadInput(faults=[fault.at(file=file) for fault in error.faults]) from error
        db.rollback()  # hold nothing while others write
    with transaction(db):
        lock(db, f"coding {ref}")
        row_and_task = queries.find(db, spec.task, spec.name)
        if row_and_task is not None and new:
            raise Conflict("Task '{task}' has a coding '{name}' already.", task=spec.task, name=spec.name)
        if row_and_task is not None:
            _change(db, actor, row_and_task[0], spec, edit)
        elif drawn:
            row = CodingRow(task_id=task_id, name=spec.name, toml=dump_coding(spec), created_by=actor.user_id)
            db.add(row)
            db.flush()
            lists = [{"alike": list(one.alike), "alike_attempts": list(one.alike_attempts)} for one in drawn]
            rows = [{**asdict(one), **lists[at], "draw": at} for at, one in enumerate(drawn)]
            queries.add_items(db, row.id, rows, spec.coders)
            audit.record(db, actor, "coding.open", ref, items=len(drawn), toml=row.toml)
    return get_coding(db, actor, ref)


def find_coding(db: Session, ref: str) -> CodingInfo:
    """Return the coding called *ref*, whoever asks; for other services."""
    task, _, name = ref.rpartition("/")
    row_and_task = queries.find(db, task, name) if task else None
    if row_and_task is None:
        raise NotFound(
            "There is no coding '{ref}'.",
            ref=ref,
            remedy="Name it as task/name; `quintain study code status TASK` lists those there are.",
            page="The page of the task's codings lists those there are.",
        )
    return info_of(*row_and_task)


def get_coding(db: Session, actor: Actor, ref: str) -> records.Coding:
    """Return a coding with its progress, for those who may code in it."""
    info = find_coding(db, ref)
    require_part(actor, info)
    return records_of(db, [info])[0]


def list_codings(db: Session, actor: Actor, task: str, *, offset: int = 0, limit: int = 100) -> records.Codings:
    """List the codings of *task* in which *actor* may code, the newest first."""
    find_row(db, task)
    listed, total = queries.all_of(db, task, limit=limit, offset=offset)
    mine = [info for info in (info_of(*row) for row in listed) if may_take_part(actor, info)]
    return records.Codings(records_of(db, mine), total)


def may_take_part(actor: Actor, info: CodingInfo) -> bool:
    """Whether somebody may code."""
    if info.spec.people == "workers":
        return actor.user_id is not None or actor.operator
    return actor.has(RoleName.EXPERT, info.task) or actor.has(RoleName.OWNER, info.task)


def require_part(actor: Actor, info: CodingInfo) -> None:
    """Refuse those who may not code."""
    if info.spec.people == "workers":
        if not actor.operator:
            require_user(actor)
        return
    require_role(actor, RoleName.EXPERT, RoleName.OWNER, task=info.task)


def require_open(info: CodingInfo) -> None:
    """Refuse to go on in a coding that is closed."""
    if info.state is not CodingState.OPEN:
        raise Conflict("The coding {ref} is closed.", ref=info.ref, code="coding_closed")


def records_of(db: Session, infos: Sequence[CodingInfo]) -> list[records.Coding]:
    """Return codings as programs see them."""
    counts = queries.counts(db, [info.id for info in infos])
    return [
        records.Coding(
            ref=info.ref,
            task=info.task,
            name=info.name,
            title=info.spec.title,
            state=info.state.value,
            categories=info.spec.categories,
            several=info.spec.several,
            coders=info.spec.coders,
            created_at=info.created_at,
            closed_at=info.closed_at,
            toml=dump_coding(info.spec),
            progress=records.CodingProgress(wanted // info.spec.coders, wanted, done, people),
            revision=revision_of_spec(info.spec),
        )
        for info in infos
        for wanted, done, people in [counts.get(info.id, (0, 0, 0))]
    ]


def info_of(row: CodingRow, task: str) -> CodingInfo:
    """Return a stored coding."""
    state = CodingState(row.state)
    return CodingInfo(row.id, task, row.name, state, _parsed(row.toml), row.created_at, row.closed_at)


def _as_drawn(info: CodingInfo, spec: CodingSpec) -> CodingSpec:
    """Return *spec* with the versions that were drawn from, where it means those."""
    names = {source.partition("@")[0]: source for source in info.spec.sources}
    return replace(spec, sources=tuple(names.get(source, source) for source in spec.sources))


def _change(db: Session, actor: Actor, row: CodingRow, spec: CodingSpec, edit: EditOrigin) -> None:
    db.refresh(row)  # as it is now that nobody else can change it, not as it was read before
    info = info_of(row, spec.task)
    asked = _as_drawn(info, spec)
    asked = settled(edit, info.spec, asked, partial(read, CodingSpec))
    before, after = plain(info.spec, whole=True), plain(asked, whole=True)
    changed = [name for name in after if name not in LOOSE and before.get(name) != after.get(name)]
    if changed:
        raise Conflict(
            "The items of {ref} have been drawn, and '{changed}' cannot change any more.",
            ref=info.ref,
            changed=changed[0],
            loose=", ".join(LOOSE),
            remedy="Make another coding. These may change: {loose}.",
        )
    text = dump_coding(asked)
    if text != row.toml:
        row.toml = text
        audit.record(db, actor, "coding.change", info.ref, toml=text)
        db.flush()


@lru_cache(maxsize=256)
def _parsed(text: str) -> CodingSpec:
    """Read a stored file once: every code asks for it."""
    return parse_coding(text)
