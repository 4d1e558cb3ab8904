"""Trials: put, open, close, look at. A trial is called `task/name`; each arm owns a round for each stage of writing."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from sqlalchemy.orm import Session

from quintain.core.editing import ANYHOW, EditOrigin, revision_of
from quintain.core.errors import BadInput, Conflict, Fault, NotFound
from quintain.core.pay import PaySpec
from quintain.core.people import Actor, RoleName
from quintain.core.records import trial as records
from quintain.core.spec import plain
from quintain.core.spec_changes import review
from quintain.core.spec_kinds import name as name_kind
from quintain.core.texts import Word
from quintain.core.toml import parse_toml
from quintain.data.trials import TrialArm, trial_bytes
from quintain.protocols.reading import parse_protocol
from quintain.protocols.spec import Protocol
from quintain.services.access import audit
from quintain.services.access.permissions import require_owner
from quintain.services.collect.rounds.manage import SEED_BITS, close_round
from quintain.services.pay.policy import policy_of
from quintain.services.tasks.definitions import find_row
from quintain.services.trial.contexts import DEFAULT_GENRE, ContextSource
from quintain.services.trial.earnings import pay_unfinished
from quintain.services.trial.pool import judging_of
from quintain.services.trial.progress import sync
from quintain.services.trial.rounds import make_rounds
from quintain.services.trial.status import arm_status
from quintain.services.work.qualify import STATED
from quintain.services.work.rules import rule_faults
from quintain.store.base import now
from quintain.store.blobs import Blobs
from quintain.store.database import lock, transaction
from quintain.store.queries.trial import trials as queries
from quintain.store.tables import CrowdArm, CrowdTrial

MOST_ARMS = 12


@dataclass(frozen=True, slots=True)
class OpenTrial:
    """What a trial is opened with: contexts, and the models that are to be fooled.

    Contexts are those of the data set *source* or of a *file*, at most *most* of them where that is not 0. Every arm
    gets as much of each *genre* as the others: that is the tag, such as `genre:fiction`, of a text.
    """

    source: str = ""
    models: tuple[str, ...] = ()
    genre: str = DEFAULT_GENRE
    file: Path | None = None
    most: int = 0


def put_trial(
    db: Session,
    actor: Actor,
    task: str,
    name: str,
    tomls: Sequence[str],
    *,
    title: str = "",
    edit: EditOrigin = ANYHOW,
) -> records.CrowdTrial:
    """Add a trial with an arm for each protocol, or change one that is not open yet.

    *edit* says what the change was made from.
    """
    require_owner(actor, task)
    if not name_kind().fits(name):
        raise BadInput(faults=[Fault("is not {wanted}", wanted=name_kind().wanted, field="name")])
    protocols = [parse_protocol(text) for text in tomls]
    _check(protocols)
    with transaction(db):
        task_id = find_row(db, task).id
        lock(db, f"trials of {task}")
        row = queries.find(db, task, name)
        _review(edit, row, [arm.toml for arm in queries.arms(db, row.id)] if row is not None else [], tomls, title)
        if row is None:
            row = CrowdTrial(task_id=task_id, name=name, seed=secrets.randbits(SEED_BITS), created_by=actor.user_id)
            db.add(row)
        elif row.state != "draft":
            raise Conflict(
                "Trial {task}/{name} is {state}, and its protocols cannot change any more.",
                task=task,
                name=name,
                state=Word(row.state),
                remedy="Begin another trial with what you want to change.",
            )
        else:
            db.refresh(row)
            asked = {"title": title, **{one.name: text for one, text in zip(protocols, tomls, strict=True)}}
            chosen = dict(edit.settled(_stored(db, row), asked))
            title = str(chosen.pop("title", ""))
            tomls = [str(text) for text in chosen.values()]
            protocols = [parse_protocol(text) for text in tomls]
            _check(protocols)
        row.title = title
        db.flush()
        for arm in queries.arms(db, row.id):
            db.delete(arm)
        db.flush()
        for protocol, text in zip(protocols, tomls, strict=True):
            db.add(CrowdArm(trial_id=row.id, name=protocol.name, toml=text))
        audit.record(db, actor, "trial.put", f"{task}/{name}", arms=[protocol.name for protocol in protocols])
    return get_trial(db, actor, task, name)


def _stored(db: Session, row: CrowdTrial) -> dict[str, str]:
    """Return what a trial is made of: its title, and each arm's protocol as it was written."""
    return {"title": row.title, **{arm.name: arm.toml for arm in queries.arms(db, row.id)}}


def _review(edit: EditOrigin, row: CrowdTrial | None, before: Sequence[str], after: Sequence[str], title: str) -> None:
    """Compare the title and the protocols of a trial with what they are to be."""

    def whole(tomls: Sequence[str]) -> dict[str, Any]:
        protocols = [parse_protocol(text) for text in tomls]
        return {"arms": {protocol.name: plain(protocol, whole=True) for protocol in protocols}}

    named = {parse_protocol(text).name: parse_toml(text) for text in after}
    asked = {"arms": named, **({"title": title} if title else {})}
    holds = None if row is None or row.state != "draft" else {"title": row.title, **whole(before)}
    review(edit, holds, {"title": title, **whole(after)}, asked)


def _check(protocols: Sequence[Protocol]) -> None:
    """Refuse arms that cannot stand side by side."""
    names = [protocol.name for protocol in protocols]
    faults = []
    if not 1 <= len(protocols) <= MOST_ARMS:
        faults.append(Fault("a trial has 1 to {most} arms", most=MOST_ARMS, field="arms"))
    if len(set(names)) < len(names):
        faults.append(Fault("two protocols have the same name", field="arms"))
    if len({protocol.currency for protocol in protocols}) > 1:
        faults.append(Fault("the protocols pay in different currencies", field="currency"))
    if len({protocol.strata for protocol in protocols}) > 1:
        faults.append(Fault("people are drawn among all arms, so their 'strata' must be the same", field="strata"))
    if len({protocol.validation for protocol in protocols}) > 1:
        faults.append(
            Fault("all arms are judged in one pool, so their [validation] must be the same", field="validation")
        )
    for name in sorted({name for protocol in protocols for name in protocol.strata} - {*STATED}):
        known = ", ".join(STATED)
        faults.append(
            Fault(
                "nothing called '{name}' is known of people; there are {known}", name=name, known=known, field="strata"
            )
        )
    for protocol in protocols:
        for stage in protocol.stages:
            rules = stage.entry.qualifications if stage.entry is not None else ()
            faults += [Fault(reason, field="qualifications") for rule in rules for reason in rule_faults(rule)]
    if faults:
        raise BadInput(faults=faults)


def open_trial(
    db: Session, blobs: Blobs, actor: Actor, task: str, name: str, options: OpenTrial | None = None
) -> records.CrowdTrial:
    """Let people enter; every stage of writing gets its round now. From here on its protocols never change."""
    options = options or OpenTrial()
    with transaction(db):
        row = find_trial(db, task, name)
        require_owner(actor, task)
        lock(db, f"trials of {task}")
        if row.state != "draft":
            raise Conflict("Trial {task}/{name} is {state} already.", task=task, name=name, state=Word(row.state))
        _check_currency(policy_of(db, row.task_id), queries.arms(db, row.id))
        genre = options.genre.strip() or DEFAULT_GENRE
        contexts = ContextSource(blobs, task, options.source, row.seed, genre, options.file, options.most)
        if options.source and options.file is not None:
            raise BadInput(faults=[Fault("is given beside a file; contexts come from one of them", field="source")])
        make_rounds(db, actor, row, queries.arms(db, row.id), contexts, options.models)
        row.state, row.opened_at = "open", now()
        audit.record(db, actor, "trial.open", f"{task}/{name}", source=contexts.name, genre=contexts.genre)
    return get_trial(db, actor, task, name)


def currency_of(db: Session, trial: CrowdTrial) -> str:
    """Return the currency in which a trial pays, which all of its protocols have; nothing where it has no arm."""
    return _currency(queries.arms(db, trial.id))


def _currency(arms: Sequence[CrowdArm]) -> str:
    return parse_protocol(arms[0].toml).currency if arms else ""


def _check_currency(spec: PaySpec, arms: Sequence[CrowdArm]) -> None:
    """Refuse to pay in a currency in which nothing is capped or promised, where something is."""
    paid = _currency(arms)
    limits = (spec.hourly, spec.worker_day_cap, spec.worker_cap, spec.day_cap, spec.trial_cap, spec.project_cap)
    if any(limits) and paid != spec.currency:
        raise Conflict(
            "The protocols pay in {paid}, and what is promised and capped for the task is in {currency}.",
            paid=paid,
            currency=spec.currency,
            remedy="Set one of them in the currency of the other.",
            code="currency_mismatch",
        )


def keep_simulated(
    db: Session, blobs: Blobs, actor: Actor, ref: tuple[str, str], arms: Sequence[tuple[str, TrialArm]], *, title: str
) -> records.CrowdTrial:
    """Keep a trial that simulated people went through: its protocols and its items; it is closed from the start."""
    task, name = ref
    draft = put_trial(db, actor, task, name, [toml for toml, _ in arms], title=title)
    with transaction(db):
        row = find_trial(db, task, name)
        row.data = blobs.put(trial_bytes([arm for _, arm in arms]))
        row.state, row.opened_at, row.closed_at = "closed", draft.created_at, now()
    return get_trial(db, actor, task, name)


def close_trial(db: Session, actor: Actor, task: str, name: str) -> records.CrowdTrial:
    """End a trial: its rounds close, and what was done is paid, also what is not finished or not on record yet."""
    with transaction(db):
        row = find_trial(db, task, name)
        require_owner(actor, task)
        if row.state != "open":
            raise Conflict("Trial {task}/{name} is {state}.", task=task, name=name, state=Word(row.state))
        for arm in queries.arms(db, row.id):
            for _, number in queries.rounds(db, arm.id).values():
                close_round(db, actor, f"{task}/{number}")
            sync(db, row, arm)  # what was under way ends with its round, and is the last of the record
        row.state, row.closed_at = "closed", now()
        db.flush()
        for arm in queries.arms(db, row.id):
            sync(db, row, arm)
            pay_unfinished(db, row, arm)
        audit.record(db, actor, "trial.close", f"{task}/{name}")
    return get_trial(db, actor, task, name)


def find_trial(db: Session, task: str, name: str) -> CrowdTrial:
    """Find a trial."""
    row = queries.find(db, task, name)
    if row is None:
        raise NotFound("There is no trial '{task}/{name}'.", task=task, name=name)
    return row


def find_trial_id(db: Session, task: str, name: str, user_id: int) -> tuple[CrowdTrial, CrowdArm | None]:
    """Find a trial, with the arm that somebody is in, if they take part."""
    trial_and_arm = queries.place_of(db, task, name, user_id)
    if trial_and_arm is None:
        raise NotFound("There is no trial '{task}/{name}'.", task=task, name=name)
    return trial_and_arm


def title_of(db: Session, task: str, name: str) -> str:
    """Return what a trial is called by those who take part; nothing in it says what is compared."""
    row = find_trial(db, task, name)
    return row.title or row.name


def is_trial(db: Session, task: str, name: str) -> bool:
    """Whether there is a trial of this name."""
    return queries.find(db, task, name) is not None


def find_arm(db: Session, trial: CrowdTrial, name: str) -> CrowdArm:
    """Find an arm of a trial."""
    arm = next((arm for arm in queries.arms(db, trial.id) if arm.name == name), None)
    if arm is None:
        raise NotFound("The trial has no arm '{name}'.", name=name)
    return arm


def stage_kind(db: Session, task: str, name: str, arm: str, stage: str) -> str:
    """Return of which kind a stage of an arm is."""
    protocol = parse_protocol(find_arm(db, find_trial(db, task, name), arm).toml)
    return protocol.stage(stage).kind


def get_trial(db: Session, actor: Actor, task: str, name: str) -> records.CrowdTrial:
    """Return a trial; its arms for owners only, and a draft for nobody else."""
    row = find_trial(db, task, name)
    owner = actor.has(RoleName.OWNER, task)
    if not owner and (row.state == "draft" or (row.data and not may_read(db, actor, row, task))):
        raise NotFound("There is no trial '{task}/{name}'.", task=task, name=name)
    if not owner:
        return _record(row, task, [])
    arms = queries.arms(db, row.id)
    if row.state == "open":
        for arm in arms:
            sync(db, row, arm)
    judging = None if row.data or not arms else judging_of(db, task, row, arms)
    record = _record(row, task, [arm_status(db, row, arm) for arm in arms])
    return replace(record, judging=judging, revision=revision_of(_stored(db, row)))


def list_trials(
    db: Session, actor: Actor, task: str | None = None, *, offset: int = 0, limit: int = 100
) -> list[records.CrowdTrial]:
    """List trials without their arms, the newest first; owners see all of their tasks.

    Everybody else sees those that people can enter or that they take part in; simulated ones while no real one runs.
    """
    if task is not None:
        find_row(db, task)
    if actor.has(RoleName.OWNER, task):
        rows = queries.all_of(db, task, offset, limit)
    else:
        owned = [grant.task for grant in actor.grants if grant.role is RoleName.OWNER and grant.task]
        rows = queries.seen_by(db, actor.user_id, owned, task, offset, limit)
    return [_record(row, name, []) for row, name in rows]


def may_read(db: Session, actor: Actor, trial: CrowdTrial, task: str) -> bool:
    """Whether somebody may read the report of a trial: its owners and, of a simulated one, others.

    Not while real people take part in a trial of the same task: they are to know nothing of its design.
    """
    return actor.has(RoleName.OWNER, task) or (bool(trial.data) and not queries.is_running(db, trial.task_id))


def _record(row: CrowdTrial, task: str, arms: list[records.ArmStatus]) -> records.CrowdTrial:
    return records.CrowdTrial(
        task, row.name, row.title, row.state, row.created_at, row.opened_at, row.closed_at, bool(row.data), arms
    )
