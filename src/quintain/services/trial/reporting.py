"""The report of a trial: from its rounds and the pool in which they are judged, or from what it was made of."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path

from sqlalchemy.orm import Session

from quintain.core.errors import BadInput
from quintain.core.people import Actor
from quintain.core.records.report import Report
from quintain.core.records.trial import ArmCosts
from quintain.core.records.validate import ItemsAdded
from quintain.data.trials import ArmFacts, TrialArm, TrialItem, read_trial
from quintain.protocols.engine import Course
from quintain.protocols.pool import pool
from quintain.protocols.reading import parse_protocol
from quintain.services.access.permissions import require_owner
from quintain.services.access.pseudonyms import pseudonyms
from quintain.services.plain.trial_report import ReportOptions, make_report
from quintain.services.trial.costs import costs_of
from quintain.services.trial.courses import course_of
from quintain.services.trial.progress import sync
from quintain.services.trial.trials import find
from quintain.services.validate.validations import open_validation, take_rows
from quintain.store.blobs import Blobs
from quintain.store.queries.collect.notes import texts_of
from quintain.store.queries.trial import trials as queries
from quintain.store.tables import Attempt, CrowdArm, CrowdTrial

INVALID = "invalid"


def pool_names(name: str) -> tuple[str, str]:
    """Name the validations in which a trial is judged: most items, and those that are judged often."""
    return f"trial-{name}", f"trial-{name}-often"


def open_pool(db: Session, actor: Actor, task: str, name: str) -> list[ItemsAdded]:
    """Put the final items of all arms into one pool, shuffled, some of each arm to be judged more often."""
    require_owner(actor, task)
    trial = find(db, task, name)
    arms = queries.arms(db, trial.id)
    plan = parse_protocol(arms[0].toml).validation
    found = {}
    for arm in arms:
        sync(db, trial, arm)
        found[arm.name] = {str(one.id): one for one in _final(db, arm)}
    items = {one: attempt for each in found.values() for one, attempt in each.items()}
    if not items:
        raise BadInput("Nothing has been written in a final round yet.", remedy="Wait for the arms to get there.")
    order = pool({arm: [*each] for arm, each in found.items()}, plan, trial.seed)
    added = []
    for pool_name, votes in zip(pool_names(name), (plan.votes, plan.many), strict=True):
        chosen = [items[one.item] for one in order if one.votes == votes]
        if chosen:
            policy = f"judgements = {votes}\nminimum = {votes // 2 + 1}\n"
            open_validation(db, actor, f"{task}/{pool_name}", policy, seed=trial.seed % 2**31)
            rows = [
                {"inputs": one.inputs, "answer": one.target, "predictions": one.predictions, "author_id": one.user_id}
                for one in chosen
            ]
            added.append(take_rows(db, actor, f"{task}/{pool_name}", rows))
    return added


def report(
    db: Session, blobs: Blobs, actor: Actor, task: str, name: str, options: ReportOptions | None = None
) -> Report:
    """Report on a trial. For owners; that of a simulated trial is for everybody."""
    trial = find(db, task, name)
    command = [f"quintain trial report-of {task}/{name} --out DIR"]
    if trial.data:
        return make_report(trial.title or name, _stored(blobs, trial), options, commands=command)
    require_owner(actor, task)
    judged = queries.judgements(db, trial.task_id, pool_names(name))
    arms = [_arm(db, trial, arm, judged, task) for arm in queries.arms(db, trial.id)]
    return make_report(trial.title or name, arms, options, commands=command)


def _stored(blobs: Blobs, trial: CrowdTrial) -> list[TrialArm]:
    with tempfile.TemporaryDirectory(prefix="quintain-trial-") as folder:
        path = Path(folder) / "trial.json"
        path.write_bytes(blobs.path(trial.data).read_bytes())
        return read_trial([path])


def _final(db: Session, arm: CrowdArm) -> list[Attempt]:
    stage = parse_protocol(arm.toml).final.name
    return [*queries.final_attempts(db, queries.rounds(db, arm.id)[stage][0])]


def _arm(
    db: Session, trial: CrowdTrial, arm: CrowdArm, judged: dict[str, list[tuple[int, object]]], task: str
) -> TrialArm:
    written = _final(db, arm)
    texts = texts_of(db, [one.id for one in written], "justified")
    genres = queries.prompts_of(db, [one.prompt_id for one in written if one.prompt_id is not None])
    people = {one.user_id for one in written if one.user_id is not None}
    people |= {user_id for one in written for user_id, _ in judged.get(one.hash, ())}
    alias = pseudonyms(db, people, task)
    items = [
        TrialItem(
            str(one.id),
            alias.get(one.user_id or 0, "–"),
            None if one.target is None else _label(one.target),
            tuple((alias[user_id], _label(label)) for user_id, label in judged.get(one.hash, ())),
            {said["model"]: _label(said["answer"]) for said in one.predictions},
            texts.get(one.id),
            genres.get(one.prompt_id or 0, ""),
        )
        for one in written
    ]
    costs = costs_of(db, trial, arm)
    with course_of(db, trial, arm) as course:
        return TrialArm(arm.name, items, _facts(course, costs), INVALID, course.protocol.validation.writer)


def _facts(course: Course, costs: ArmCosts) -> ArmFacts:
    """Give what is known of an arm beside its items: what the ledger says was earned, and who came where."""
    came: dict[str, int] = {}
    for person in course.arm.people.values():
        for name in dict.fromkeys(person.been):
            came[name] = came.get(name, 0) + 1
    groups = costs.costs.groups
    paid = {one.name: one.base.amount + one.bonus.amount for one in groups if one.base.amount or one.bonus.amount}
    priced = sum(one.expert.amount for one in groups)
    ordered = {one.name: came[one.name] for one in course.protocol.stages if one.name in came}
    final = course.protocol.final.name
    return ArmFacts(course.protocol.currency, paid, final, costs.expert_hours, float(priced), ordered)


def _label(answer: object) -> str:
    return answer if isinstance(answer, str) else json.dumps(answer, ensure_ascii=False, sort_keys=True)
