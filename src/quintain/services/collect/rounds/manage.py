"""Rounds: put, open, close, clone, look at. A round is called `task/number`, such as `sentiment/2`."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from datetime import datetime
from functools import lru_cache

from sqlalchemy.orm import Session

from quintain.core.editing import ANYHOW, EditOrigin, revision_of_spec, settled
from quintain.core.errors import BadInput, Conflict, Fault, NotFound
from quintain.core.people import OPERATOR, Actor, RoleName
from quintain.core.records import collect as records
from quintain.core.records.collect import RoundChange
from quintain.core.rounds import RoundKind, RoundSpec, RoundState, Targets
from quintain.core.spec import plain
from quintain.core.spec_changes import review
from quintain.core.task import Task
from quintain.core.texts import Text, Word
from quintain.core.toml import parse_toml
from quintain.services.access import audit
from quintain.services.access.notify import notify_all
from quintain.services.access.permissions import require_owner
from quintain.services.collect.rounds.definition import dump_round, parse_round, round_of
from quintain.services.collect.rounds.hidden_rounds import is_hidden
from quintain.services.collect.rounds.targets import pin_targets
from quintain.services.models.registry import get_model
from quintain.services.pay import earnings
from quintain.services.tasks.definitions import find_row, get_task
from quintain.store.base import now
from quintain.store.database import lock, transaction
from quintain.store.queries.collect import prompts
from quintain.store.queries.collect import rounds as queries
from quintain.store.queries.work import qualify
from quintain.store.search_index import Findable, keep_entry
from quintain.store.tables import Round, RoundVersion
from quintain.tasks.contract import kind_of

# What may still change while people are writing; the rest was promised to them, or decides what their work means.
SEED_BITS = 62
WHO = ("qualifications", "entry")  # what says who may write
LOOSE = ("title", "instructions", "ends", "caps", "helps", "minutes", "content_warning", "qualifications", "entry")


@dataclass(frozen=True, slots=True)
class RoundInfo:
    """A round: what it asks and where it stands."""

    id: int
    task: str
    task_id: int
    number: int
    kind: RoundKind
    state: RoundState
    spec: RoundSpec
    version: int
    entry_key: str
    created_at: datetime
    opened_at: datetime | None
    closed_at: datetime | None

    @property
    def ref(self) -> str:
        """The name that means this round."""
        return f"{self.task}/{self.number}"

    def closed_because(self, moment: datetime) -> str:
        """Return why nobody can write in this round at *moment*; empty where they can."""
        if self.kind is RoundKind.HARVEST:
            return Text("Round {ref} is a harvest: nothing is written in it.", ref=self.ref)
        if self.state is RoundState.DRAFT:
            return Text("Round {ref} has not been opened yet.", ref=self.ref)
        if self.state is RoundState.CLOSED:
            return Text("Round {ref} is closed.", ref=self.ref)
        if self.spec.starts is not None and moment < self.spec.starts:
            return Text("Round {ref} begins on {time} UTC.", ref=self.ref, time=_moment(self.spec.starts))
        if self.spec.ends is not None and moment >= self.spec.ends:
            return Text("Round {ref} ended on {time} UTC.", ref=self.ref, time=_moment(self.spec.ends))
        return ""

    def record(self, entry_url: str | None = None) -> records.Round:
        """Return the round as programs see it."""
        return records.Round(
            ref=self.ref,
            task=self.task,
            number=self.number,
            title=self.spec.title,
            state=self.state.value,
            version=self.version,
            created_at=self.created_at,
            opened_at=self.opened_at,
            closed_at=self.closed_at,
            toml=dump_round(self.spec),
            entry_url=entry_url,
            kind=self.kind.value,
            revision=revision_of_spec(self.spec),
        )


def check_round(toml_text: str, *, file: str | None = None) -> RoundSpec:
    """Return the round that *toml_text* defines, or raise BadInput with everything wrong; needs no workspace."""
    return parse_round(toml_text, file=file)


def put_round(
    db: Session,
    actor: Actor,
    toml_text: str,
    *,
    task: str | None = None,
    file: str | None = None,
    edit: EditOrigin = ANYHOW,
) -> RoundInfo:
    """Add the round that *toml_text* defines as a draft, or change the one of that number.

    Without a number it becomes the task's next round. An open round changes only in what writers were not promised.
    Where a *task* is named, it has to be the one that the text names.
    """
    spec = parse_round(toml_text, file=file)
    if task is not None and spec.task != task:
        raise Conflict("This defines a round of '{named}', not of '{task}'.", named=spec.task, task=task)
    return put_spec(db, actor, spec, toml_text=toml_text, file=file, edit=edit)


def put_spec(
    db: Session,
    actor: Actor,
    spec: RoundSpec,
    *,
    toml_text: str | None = None,
    file: str | None = None,
    edit: EditOrigin = ANYHOW,
) -> RoundInfo:
    """Add or change a round from a spec, as `put_round` does from a file; *edit* says what it was made from."""
    with transaction(db):
        task_row = find_row(db, spec.task)
        require_owner(actor, spec.task)
        lock(db, f"rounds of {spec.task}")
        number = spec.number or queries.newest_number(db, task_row.id) + 1
        stored = queries.find(db, spec.task, number)
        if stored is not None:
            chosen = settled(edit, parse_round(stored[1].toml), replace(spec, number=number), round_of)
            spec, toml_text = (spec, toml_text) if chosen == replace(spec, number=number) else (chosen, None)
        _check_surroundings(db, spec, file)
        text = toml_text if toml_text is not None and spec.number else dump_round(replace(spec, number=number))
        holds = None if stored is None else plain(parse_round(stored[1].toml), whole=True)
        typed = None if toml_text is None else {**parse_toml(toml_text), "number": number}
        review(edit, holds, plain(replace(spec, number=number), whole=True), typed, file)
        if stored is None:
            row = Round(
                task_id=task_row.id,
                number=number,
                entry_key=secrets.token_urlsafe(18),
                seed=secrets.randbits(SEED_BITS),
                created_by=actor.user_id,
            )
            db.add(row)
            db.flush()
            version = 1
        else:
            row, newest = stored
            before, after = parse_round(newest.toml), replace(spec, number=number)
            _refuse_change(row, before, after)
            _refuse_other_people(db, row, before, after)
            if newest.toml == text:
                return get_round(db, actor, f"{spec.task}/{number}")
            version = newest.number + 1
        db.add(RoundVersion(round_id=row.id, number=version, toml=text, created_by=actor.user_id))
        db.flush()
        keep_entry(db, Findable.ROUND, row.id, task_id=task_row.id, title=spec.title, text=spec.instructions)
        action = "round.add" if version == 1 else "round.change"
        audit.record(db, actor, action, f"{spec.task}/{number}", version=version)
    return get_round(db, actor, f"{spec.task}/{number}")


def get_round(db: Session, actor: Actor, ref: str) -> RoundInfo:
    """Return the round that *ref* means; NotFound also for drafts of others, and trials of others."""
    task, number = split_ref(ref)
    stored = queries.find(db, task, number)
    info = info_of(stored[0], stored[1], task) if stored is not None else None
    if stored is None or info is None or _is_unknown(db, actor, stored[0], info):
        raise NotFound(
            "There is no round '{ref}'.",
            ref=ref,
            remedy="`quintain round status` lists those there are.",
            page="The page of the task's rounds lists those there are.",
        )
    return info


def _is_unknown(db: Session, actor: Actor, row: Round, info: RoundInfo) -> bool:
    if info.state is RoundState.DRAFT and not actor.has(RoleName.OWNER, info.task):
        return True
    return is_hidden(db, actor, row, info.spec)


def list_rounds(db: Session, actor: Actor, task: str | None = None) -> list[RoundInfo]:
    """List the rounds of *task*, or of all tasks; drafts, and what is not listed, to the tasks' owners only."""
    if task is not None:
        find_row(db, task)
    infos = [info_of(row, version, name) for row, version, name in queries.all_of(db, task)]
    return [info for info in infos if is_listed(actor, info)]


def is_listed(actor: Actor, info: RoundInfo) -> bool:
    """Return whether *actor* is shown a round in lists: drafts, and what is not listed, are for the task's owners."""
    return (info.state is not RoundState.DRAFT and info.spec.listed) or actor.has(RoleName.OWNER, info.task)


def open_rounds(db: Session, actor: Actor, task: str | None = None) -> list[RoundInfo]:
    """List the rounds that take texts at this moment."""
    moment = now()
    return [info for info in list_rounds(db, actor, task) if not info.closed_because(moment)]


def round_history(db: Session, actor: Actor, ref: str) -> list[RoundChange]:
    """List every state of a round's file, the newest first."""
    info = get_round(db, actor, ref)
    require_owner(actor, info.task)
    return [
        RoundChange(version.number, version.toml, name, version.created_at)
        for version, name in queries.versions(db, info.id)
    ]


def open_round(db: Session, actor: Actor, ref: str) -> RoundInfo:
    """Let people write. The target models are fixed now (with mode `best`, anew each day)."""
    with transaction(db):
        info = get_round(db, actor, ref)
        require_owner(actor, info.task)
        lock(db, f"rounds of {info.task}")
        row = db.get_one(Round, info.id, populate_existing=True)
        if row.state != RoundState.DRAFT:
            raise Conflict(
                "Round {ref} is {state} already.", ref=ref, state=Word(row.state), remedy="Clone it to collect again."
            )
        _check_surroundings(db, info.spec, None)
        if any(condition.prompt for condition in info.spec.conditions) and not prompts.count(db, row.id):
            raise Conflict(
                "Round {ref} gives writers a prompt to edit, and it has no prompts.",
                ref=ref,
                remedy="Import some with `quintain round prompts {ref} FILE`, or add a condition without.",
                page="Add some below, or edit the round so that people write on a blank page.",
                code="no_prompts",
            )
        pin_targets(db, row.id, info.spec)
        row.state, row.opened_at = RoundState.OPEN.value, now()
        audit.record(db, actor, "round.open", ref)
        db.flush()
        if info.spec.listed:
            _tell_writers(db, actor, info)
    return get_round(db, actor, ref)


def _tell_writers(db: Session, actor: Actor, info: RoundInfo) -> None:
    """Tell those who wrote for the task before that they can again; whoever opens the round knows."""
    writers = [writer for writer in queries.writers_of_task(db, info.task_id) if writer != actor.user_id]
    text = Text("A round is open: {title}.", title=info.spec.title)
    notify_all(db, writers, "round.opened", text, f"/tasks/{info.task}/rounds/{info.number}/write")


def close_round(db: Session, actor: Actor, ref: str) -> RoundInfo:
    """End a round. Sessions that were under way are paid in full if anything was written; drafts are kept."""
    with transaction(db):
        info = get_round(db, actor, ref)
        require_owner(actor, info.task)
        lock(db, f"rounds of {info.task}")
        row = db.get_one(Round, info.id, with_for_update=True, populate_existing=True)
        if row.state != RoundState.OPEN:
            raise Conflict("Round {ref} is {state}, not open.", ref=ref, state=Word(row.state), code="round_not_open")
        row.state, row.closed_at = RoundState.CLOSED.value, now()
        for session in queries.open_sessions(db, row.id):
            session.ended_at, session.outcome = row.closed_at, "closed"
            earnings.earn_session(db, info.spec, info.task_id, session, full=True)
        prompts.release_all(db, row.id)
        audit.record(db, actor, "round.close", ref)
        db.flush()
    return get_round(db, actor, ref)


def clone_round(
    db: Session, actor: Actor, ref: str, *, title: str | None = None, targets: Targets | None = None
) -> RoundInfo:
    """Add a draft that asks the same as *ref*, as the task's next round, without its prompts and dates.

    It may have another *title*, and be aimed at other *targets*.
    """
    info = get_round(db, actor, ref)
    if info.kind is RoundKind.HARVEST:
        raise Conflict(
            "Round {ref} is a harvest: nothing is written in it.",
            ref=ref,
            remedy="Harvest again with `quintain harvest … --round`, or add a round to write in.",
            page="Add a round to write in, or another harvest.",
        )
    asked = replace(info.spec, targets=targets or info.spec.targets, title=title or info.spec.title)
    spec = replace(asked, number=None, starts=None, ends=None)
    with transaction(db):
        clone = put_spec(db, actor, spec)
        db.get_one(Round, clone.id).cloned_from = info.id
    return clone


def split_ref(ref: str) -> tuple[str, int]:
    """Split `task/number`.

    >>> split_ref("sentiment/2")
    ('sentiment', 2)
    """
    task, _, number = ref.rpartition("/")
    if not task or not number.isdecimal() or len(number) > 7:
        raise BadInput("'{ref}' is not a round.", ref=ref, remedy="Name it as task/number, such as sentiment/2.")
    return task, int(number)


@lru_cache(maxsize=256)
def _parsed(text: str) -> RoundSpec:
    """Read a stored file once: a spec never changes, and every attempt asks for it."""
    return parse_round(text)


def info_of(row: Round, version: RoundVersion, task: str) -> RoundInfo:
    """Return a stored round of *task* with one of its versions."""
    return RoundInfo(
        id=row.id,
        task=task,
        task_id=row.task_id,
        number=row.number,
        kind=RoundKind(row.kind),
        state=RoundState(row.state),
        spec=_parsed(version.toml),
        version=version.number,
        entry_key=row.entry_key,
        created_at=row.created_at,
        opened_at=row.opened_at,
        closed_at=row.closed_at,
    )


def _refuse_change(row: Round, before: RoundSpec, after: RoundSpec) -> None:
    if row.kind == RoundKind.HARVEST:
        raise Conflict(
            "Round {task}/{number} is a harvest: nothing is written in it.", task=before.task, number=row.number
        )
    if row.state == RoundState.CLOSED:
        raise Conflict(
            "Round {task}/{number} is closed.", task=before.task, number=row.number, remedy="Clone it to collect again."
        )
    if row.state == RoundState.OPEN:
        changed = [
            item.name
            for item in fields(RoundSpec)
            if item.name not in LOOSE and getattr(before, item.name) != getattr(after, item.name)
        ]
        if changed and changed != ["number"]:
            raise Conflict(
                "Round {task}/{number} is open, and '{changed}' was promised to its writers.",
                task=before.task,
                number=row.number,
                changed=changed[0],
                loose=", ".join(LOOSE),
                remedy="Close and clone it. While it is open these may change: {loose}.",
            )


def _refuse_other_people(db: Session, row: Round, before: RoundSpec, after: RoundSpec) -> None:
    """Refuse to let others into a round of a trial: people of one arm would write in another."""
    if any(getattr(before, name) != getattr(after, name) for name in WHO) and queries.is_of_trial(db, row.id):
        raise Conflict(
            "Round {task}/{number} is one of a trial, which says who writes in it.",
            task=before.task,
            number=row.number,
            remedy="Leave its qualifications and its entry as they are, or begin another trial.",
            code="round_of_trial",
        )


def _check_surroundings(db: Session, spec: RoundSpec, file: str | None) -> None:
    """Find what does not fit the task and what is there."""
    task = get_task(db, spec.task)
    faults = [*_model_faults(db, spec), *_kind_faults(task, spec)]
    known = qualify.quiz_names(db, spec.task)
    quizzes = [*spec.quizzes, *(str(rule["name"]) for rule in spec.qualifications if rule["rule"] == "quiz")]
    faults += [
        ("quizzes", Text("task '{task}' has no quiz '{name}'", task=spec.task, name=name))
        for name in quizzes
        if name not in known
    ]
    if faults:
        raise BadInput(faults=[Fault(reason, file=file, field=field) for field, reason in faults])


def _model_faults(db: Session, spec: RoundSpec) -> list[tuple[str, Text]]:
    faults = []
    for ref in spec.targets.models:
        try:
            version = get_model(db, OPERATOR, ref).version
        except (NotFound, Conflict) as error:
            faults.append(("targets.models", error.text))
            continue
        if version.task != spec.task:
            faults.append(("targets.models", Text("'{ref}' is a model of task '{task}'", ref=ref, task=version.task)))
        elif version.withdrawn_at is not None:
            faults.append(("targets.models", Text("'{ref}' was withdrawn", ref=ref)))
    return faults


def _kind_faults(task: Task, spec: RoundSpec) -> Sequence[tuple[str, str]]:
    kind = kind_of(task)
    faults = []
    if spec.aiming == "assign" and not kind.needs_labels:
        faults.append(("aiming", Text("'assign' hands out labels, and kind '{name}' has none", name=kind.name)))
    if spec.fooled.rule == "token_f1" and not kind.answers.is_text:
        faults.append(
            ("fooled.rule", Text("'token_f1' compares texts, and answers of kind '{name}' are none", name=kind.name))
        )
    if spec.fooled.rule == "worker" and not kind.answers.is_text:
        faults.append(("fooled.rule", Text("the worker decides on free texts, not on kind '{name}'", name=kind.name)))
    return faults


def _moment(at: datetime) -> str:
    return f"{at:%d %B %Y at %H:%M}"


def trial_of_round(db: Session, round_id: int) -> str | None:
    """Return the name of the trial that a round belongs to, if it does."""
    trial = queries.trial_of_round(db, round_id)
    return None if trial is None else trial.name
