"""Data sets: importing a version, deriving one, finding one.

A reference to a version is `task/name` (its newest version), `task/name@3` (version 3), or the first characters of its
hash. Versions never change: the same content under the same name is the same version, whoever brings it and in
whatever format. What is in a version is read through `services.dataset_content`.

The hash of a version whose answers are hidden is made with a salt of its own: from the bare hash of its content, which
is nowhere kept, anybody could compute the answers of a small set by trying. Only owners can bring a file and so learn
whether it is the same content.
"""

from __future__ import annotations

import hmac
import re
import secrets
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from difflib import get_close_matches
from pathlib import Path
from typing import Any

import polars as pl
from sqlalchemy.orm import Session

from quintain.core.errors import BadInput, Conflict, Fault, NotFound
from quintain.core.example import Role
from quintain.core.people import Actor, RoleName, Scope
from quintain.core.records import tasks as records
from quintain.core.records.tasks import Step
from quintain.core.task import Task
from quintain.core.texts import either
from quintain.data.identity import example_digests, example_ids, salted
from quintain.data.images import ImageFolder
from quintain.data.importing import ImportReport, Progress, stored_schema, write_examples, write_version
from quintain.data.plan import ImportPlan
from quintain.data.publish.votes import PUBLISHED
from quintain.data.repeats import member_ids
from quintain.services.access.audit import record
from quintain.services.access.concealing import Conceal
from quintain.services.access.permissions import require_owner
from quintain.services.data.bundles import data_file, has_images
from quintain.services.data.inputs import may_read_inputs
from quintain.services.tasks.board_settings import board_spec, let_score
from quintain.services.tasks.board_spec import BoardSpec
from quintain.services.tasks.definitions import find_row, get_task
from quintain.store.blobs import Blobs
from quintain.store.database import lock, transaction
from quintain.store.queries.data import datasets as queries
from quintain.store.search_index import Findable, keep_entry
from quintain.store.tables import DatasetVersion
from quintain.tasks.contract import kind_of

MIN_PREFIX = 6
_NAME = re.compile(r"[a-z0-9]([a-z0-9._-]{0,118}[a-z0-9])?")


@dataclass(frozen=True, slots=True)
class VersionInfo:
    """One version of a data set. *new* is false where an import found that it was there already.

    *scores* says whether its data set scores on the board, *readable* whether who asks may read its inputs.
    """

    id: int
    task: str
    dataset: str
    number: int
    hash: str
    blob: str
    role: str
    hidden: bool
    rows: int
    language: str
    description: str
    meta: Mapping[str, Any]
    created_by: str | None
    created_at: datetime
    parents: tuple[Step, ...] = ()
    children: tuple[Step, ...] = ()
    new: bool = True
    scores: bool = False
    readable: bool = True
    report: ImportReport | None = field(default=None, compare=False)

    @property
    def ref(self) -> str:
        """The reference that means exactly this version."""
        return f"{self.task}/{self.dataset}@{self.number}"

    @property
    def votes(self) -> bool:
        """Whether the votes on its examples are for everybody who may see their answers."""
        return bool(self.meta.get(PUBLISHED))

    def record(self) -> records.DatasetVersion:
        """Return the version as programs see it."""
        return records.DatasetVersion(
            ref=self.ref,
            task=self.task,
            dataset=self.dataset,
            number=self.number,
            hash=self.hash,
            role=self.role,
            hidden=self.hidden,
            rows=self.rows,
            scores=self.scores,
            readable=self.readable,
            language=self.language,
            description=self.description,
            meta=self.meta,
            created_at=self.created_at,
            parents=self.parents,
            children=self.children,
            new=self.new,
        )


@dataclass(frozen=True, slots=True)
class Facts:
    """What is said of a version besides its content."""

    role: Role
    hidden: bool = False
    language: str = "en"
    description: str = ""
    meta: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class WrittenTable:
    """The content of a version, in a file that no version has yet."""

    hash: str
    blob: str
    rows: int


def import_dataset(  # noqa: PLR0917 - what goes where, from what, how: the order of the command line
    db: Session,
    blobs: Blobs,
    actor: Actor,
    task: str,
    name: str,
    source: Path,
    plan: ImportPlan,
    *,
    score: bool = False,
    progress: Progress | None = None,
    held: Callable[[Session], None] | None = None,
) -> VersionInfo:
    """Import the file or folder *source* as a version of data set *name*, as *plan* says; all of it or nothing.

    A .zip file holds a data file beside its images. An image that is named by a path is looked for beside the data file
    and stored; where it is not there, its row is refused.

    With *score* it scores on the board at once; else a new data set waits until `let_score`. *held* is asked in the
    transaction that keeps it, and undoes that by raising.
    """
    require_import(db, actor, task, name, plan, score=score)
    definition = get_task(db, task)
    with data_file(source) as path, blobs.scratch(suffix=".parquet") as target:
        images = ImageFolder(path if path.is_dir() else path.parent) if has_images(definition) else None
        report = write_examples(path, definition, plan, target, progress=progress, images=images)
        if images is not None:
            images.keep_all(blobs.put_file)
        # Content that is there already needs no second file.
        same = _same_content(db, (task, name), report.hash)
        blob = same.blob if same else blobs.put_file(target)
    meta = {
        "source": report.file,
        "rows_read": report.rows_read,
        "dropped": {reason: count for reason, count in report.dropped.items() if count},
        **plan.selection,
        **{name: value for name, value in (("license", plan.license), ("citation", plan.citation)) if value},
    }
    facts = Facts(Role(plan.role), plan.hidden, plan.language or definition.language, plan.description, meta)
    with transaction(db):
        if held is not None:
            held(db)
        version = _keep(db, actor, (task, name), WrittenTable(report.hash, blob, report.rows), facts)
        if score:
            let_score(db, actor, f"{task}/{name}")
    return replace(version, report=report, scores=version.scores or score)


def require_import(db: Session, actor: Actor, task: str, name: str, plan: ImportPlan, *, score: bool) -> None:
    """Refuse what can be refused of an import before its file is read: who asks, the name, what it is for."""
    find_row(db, task)
    require_owner(actor, task)
    _check_name(name)
    if not plan.role:
        fault = Fault("is not chosen; say what the data is for: train, dev, test or contrast", field="role")
        raise BadInput("The import has no role.", faults=[fault])
    if score and plan.role == Role.TRAIN:
        raise BadInput("What is for training never scores.", remedy="Give it another role, or leave `score` out.")


def derive(
    db: Session,
    blobs: Blobs,
    actor: Actor,
    parents: Sequence[str],
    frame: pl.DataFrame,
    *,
    how: str,
    settings: Mapping[str, Any],
    name: str,
    facts: Facts,
) -> VersionInfo:
    """Keep *frame* as a version made from the versions *parents*, and write down how and with which settings.

    The frame has the task's inputs and `answer`, and may have `tags`, `group` and `meta`; ids are computed here.
    """
    sources = [get_version(db, actor, ref) for ref in parents]
    tasks = {source.task for source in sources}
    if len(tasks) != 1:
        raise BadInput(
            "A version is derived from versions of one task.", parents=", ".join(parents), remedy="Given: {parents}."
        )
    task = tasks.pop()
    require_owner(actor, task)
    _check_name(name)
    content = _written(db, blobs, (task, name), frame, facts.role)
    return _keep(db, actor, (task, name), content, facts, lineage=([source.id for source in sources], how, settings))


def keep_made(
    db: Session, blobs: Blobs, actor: Actor, task: str, frame: pl.DataFrame, *, name: str, facts: Facts
) -> VersionInfo:
    """Keep *frame*, which was made of what people wrote and judged, as a version; the frame is as in `derive`."""
    return keep_written(db, actor, task, write_made(db, blobs, actor, task, frame, name=name), name=name, facts=facts)


def write_made(db: Session, blobs: Blobs, actor: Actor, task: str, frame: pl.DataFrame, *, name: str) -> WrittenTable:
    """Write *frame* to a file, for `keep_written`: that takes a while, and belongs outside of a transaction."""
    require_owner(actor, task)
    _check_name(name)
    return _written(db, blobs, (task, name), frame)


def keep_written(
    db: Session, actor: Actor, task: str, written: WrittenTable, *, name: str, facts: Facts
) -> VersionInfo:
    """Keep what `write_made` has written as a version, or give the one that has the same content."""
    require_owner(actor, task)
    return _keep(db, actor, (task, name), written, facts)


def _written(
    db: Session, blobs: Blobs, where: tuple[str, str], frame: pl.DataFrame, role: Role | None = None
) -> WrittenTable:
    """Write a frame to a blob, unless the data set has a version of the same content."""
    table = _complete(get_task(db, where[0]), frame, role)
    with blobs.scratch(suffix=".parquet") as target:
        full_hash = write_version(iter([table]), dict(table.schema), target)
        same = _same_content(db, where, full_hash)
        blob = same.blob if same else blobs.put_file(target)
    return WrittenTable(full_hash, blob, table.height)


def list_versions(db: Session, actor: Actor, task: str | None = None) -> list[VersionInfo]:
    """List the versions of all data sets, or of those of *task*; that they exist is no secret."""
    if task is not None:
        find_row(db, task)
    rows = queries.versions(db, task)
    specs = {name: board_spec(db, name) for name in {row.task for row in rows}}
    conceal = {name: Conceal(db, actor, name) for name in specs}
    return [
        replace(
            _shown(conceal[row.task], _info(row, spec=specs[row.task])),
            readable=may_read_inputs(db, actor, row.task, row.version),
        )
        for row in rows
    ]


def get_version(db: Session, actor: Actor, ref: str) -> VersionInfo:
    """Find the version that *ref* means, with its lineage; see the module's docstring."""
    row = _find(db, ref)
    parents, children = queries.parents(db, row.version.id), queries.children(db, row.version.id)
    shown = _shown(
        Conceal(db, actor, row.task), _info(row, parents=parents, children=children, spec=board_spec(db, row.task))
    )
    return replace(shown, readable=may_read_inputs(db, actor, row.task, row.version))


def _shown(conceal: Conceal, info: VersionInfo) -> VersionInfo:
    """Take the names of models out of what is said of a version that whoever asks may not see."""
    return replace(
        info,
        meta=conceal(info.meta),
        description=conceal(info.description),
        parents=conceal(info.parents),
        children=conceal(info.children),
    )


def may_see_answers(actor: Actor, version: VersionInfo) -> bool:
    """Whether *actor* may see the gold answers of *version*: hidden ones take an owner who came with the scope to own.

    A token that only reads shows what everybody may see, whoever made it.
    """
    return not version.hidden or (actor.has(RoleName.OWNER, version.task) and actor.may(Scope.OWN))


def _keep(
    db: Session,
    actor: Actor,
    where: tuple[str, str],
    content: WrittenTable,
    facts: Facts,
    *,
    lineage: tuple[Sequence[int], str, Mapping[str, Any]] | None = None,
) -> VersionInfo:
    task, name = where
    with transaction(db):
        lock(db, f"data set {task}/{name}")
        dataset = queries.dataset_of(db, find_row(db, task).id, name)
        version = _same_content(db, where, content.hash)
        new = version is None
        if version is None:
            salt = secrets.token_hex(32) if facts.hidden else None
            version = queries.add_version(
                db,
                DatasetVersion(
                    dataset_id=dataset.id,
                    hash=salted(content.hash, salt) if salt else content.hash,
                    salt=salt,
                    blob=content.blob,
                    role=facts.role.value,
                    hidden=facts.hidden,
                    rows=content.rows,
                    language=facts.language,
                    description=facts.description,
                    meta=dict(facts.meta),
                    created_by=actor.user_id,
                ),
            )
            keep_entry(db, Findable.DATASET, dataset.id, task_id=dataset.task_id, title=name, text=facts.description)
            if lineage:
                queries.add_lineage(db, version.id, *lineage)
            subject = f"{task}/{name}@{version.number}"
            record(
                db, actor, "data.derive" if lineage else "data.import", subject, hash=version.hash, rows=content.rows
            )
        else:
            _refuse_other_facts(version, f"{task}/{name}@{version.number}", facts)
    row = queries.VersionRow(version, task, name, actor.name if actor.user_id is not None else None)
    return _info(row, parents=queries.parents(db, version.id), new=new, spec=board_spec(db, task))


def _same_content(db: Session, where: tuple[str, str], content: str) -> DatasetVersion | None:
    """Find the version of a data set that has exactly this content, named openly or with a salt."""
    for version in queries.versions_of(db, *where):
        name = salted(content, version.salt) if version.salt else content
        if hmac.compare_digest(version.hash, name):
            return version
    return None


def _refuse_other_facts(version: DatasetVersion, ref: str, facts: Facts) -> None:
    if (version.role, version.hidden) != (facts.role.value, facts.hidden):
        raise Conflict(
            "The same content is there already as {ref}, with role {role} and hidden labels."
            if version.hidden
            else "The same content is there already as {ref}, with role {role} and open labels.",
            ref=ref,
            role=version.role,
            remedy="A version never changes; import it under another name.",
            code="same_content",
        )


def _complete(task: Task, frame: pl.DataFrame, role: Role | None) -> pl.DataFrame:
    kind = kind_of(task)
    faults = kind.check_table(task, frame)
    if faults:
        raise BadInput(faults=[Fault(fault.reason, row=fault.row + 1, field=fault.field) for fault in faults[:100]])
    inputs = [item.name for item in kind.fields(task)]
    schema = stored_schema(task)
    missing = {name: pl.lit(None, dtype=schema[name]) for name in schema if name not in frame.columns}
    table = frame.with_columns(**missing).with_columns(
        pl.col("tags").fill_null([]).cast(schema["tags"]).list.unique().list.sort(), id=pl.lit("")
    )
    table = table.select(pl.col(name).cast(dtype) for name, dtype in schema.items())
    if role is Role.CONTRAST:
        return table.with_columns(member_ids(example_digests(table, inputs), Counter()))  # it may be in several sets
    table = table.with_columns(example_ids(table, inputs))
    if table["id"].n_unique() != table.height:
        raise BadInput("The derived table has the same input twice.", remedy="Keep one row of each input.")
    return table


def _find(db: Session, ref: str) -> queries.VersionRow:
    task, slash, rest = ref.partition("/")
    if slash:
        name, at, number = rest.partition("@")
        if at and not number.isdecimal():
            raise BadInput("'{ref}' is not a reference.", ref=ref, remedy="Write task/name@3 with a number.")
        row = queries.version_numbered(db, task, name, int(number) if at else None)
        if row:
            return row
    elif len(ref) >= MIN_PREFIX:
        rows = queries.versions_with_hash(db, ref.lower())
        if len({row.version.hash for row in rows}) == 1:
            return rows[0]
        if rows:
            raise NotFound("'{ref}' begins more than one hash.", ref=ref, remedy="Give more of it.")
    close = get_close_matches(ref.partition("@")[0], queries.dataset_names(db), n=3)
    raise NotFound(
        "There is no data set version '{ref}'.",
        ref=ref,
        close=either(close) if close else "",
        remedy="Did you mean {close}?" if close else "`quintain data list` shows those there are.",
        page="Did you mean {close}?" if close else "The page of the task's data lists those there are.",
    )


def _info(
    row: queries.VersionRow,
    *,
    parents: Sequence[queries.LineageRow] = (),
    children: Sequence[queries.LineageRow] = (),
    new: bool = True,
    spec: BoardSpec,
) -> VersionInfo:
    version = row.version
    return VersionInfo(
        id=version.id,
        task=row.task,
        dataset=row.dataset,
        number=version.number,
        hash=version.hash,
        blob=version.blob,
        role=version.role,
        hidden=version.hidden,
        rows=version.rows,
        language=version.language,
        description=version.description,
        meta=version.meta,
        created_by=row.created_by,
        created_at=version.created_at,
        parents=tuple(_steps(parents)),
        children=tuple(_steps(children)),
        new=new,
        scores=version.role != Role.TRAIN and spec.dataset_weight(row.dataset) > 0,
    )


def _steps(rows: Sequence[queries.LineageRow]) -> Iterator[Step]:
    return (Step(f"{row.task}/{row.dataset}@{row.number}", row.how, row.settings) for row in rows)


def _check_name(name: str) -> None:
    if not _NAME.fullmatch(name):
        raise BadInput(
            "'{name}' cannot be the name of a data set.",
            name=name,
            remedy="Use lower-case letters, digits, '-', '_' and '.', beginning and ending with a letter or a digit.",
        )
