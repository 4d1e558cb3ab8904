"""The report of a trial: from its rounds and the pool in which they are judged, or from what it was made of."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path

from sqlalchemy.orm import Session

from quintain.core.people import Actor
from quintain.core.records.report import Report
from quintain.core.records.trial import ArmCosts
from quintain.core.records.validate import ItemsAdded
from quintain.data.trials import ArmFacts, TrialArm, TrialItem, read_trial
from quintain.protocols.engine import Course
from quintain.protocols.reading import parse_protocol
from quintain.services.access.permissions import require_owner
from quintain.services.access.pseudonyms import pseudonyms
from quintain.services.collect.justifying import JUSTIFIED
from quintain.services.collect.question_types import TYPE
from quintain.services.plain.trial_report import ReportOptions, make_report
from quintain.services.trial.costs import costs_of, judging_costs
from quintain.services.trial.courses import course_of
from quintain.services.trial.pool import fill_pool, final_items, final_round, pool_name
from quintain.services.trial.progress import sync
from quintain.services.trial.trials import find
from quintain.store.blobs import Blobs
from quintain.store.queries.collect.notes import texts_of
from quintain.store.queries.trial import trials as queries
from quintain.store.tables import CrowdArm, CrowdTrial

INVALID = "invalid"


def open_pool(db: Session, actor: Actor, task: str, name: str) -> ItemsAdded:
    """Put the final items of all arms into one pool, shuffled, a sample of each arm to be judged more often."""
    require_owner(actor, task)
    trial = find(db, task, name)
    arms = queries.arms(db, trial.id)
    for arm in arms:
        sync(db, trial, arm)
    return fill_pool(db, actor, task, trial, arms)


def report(
    db: Session, blobs: Blobs, actor: Actor, task: str, name: str, options: ReportOptions | None = None
) -> Report:
    """Report on a trial. For owners; that of a simulated trial is for everybody."""
    trial = find(db, task, name)
    command = [f"quintain trial report-of {task}/{name} --out DIR"]
    if trial.data:
        return make_report(trial.title or name, stored_arms(blobs, trial), options, commands=command)
    require_owner(actor, task)
    options = options or ReportOptions(sample=parse_protocol(queries.arms(db, trial.id)[0].toml).validation.setting)
    judged = queries.judgements(db, trial.task_id, pool_name(name))
    rows = queries.arms(db, trial.id)
    arms = [_arm(db, trial, arm, judged, task) for arm in rows]
    spent = judging_costs(db, task, trial, rows)
    return make_report(trial.title or name, arms, options, commands=command, judging=spent)


def stored_arms(blobs: Blobs, trial: CrowdTrial) -> list[TrialArm]:
    """Give the arms of a trial that came from elsewhere, with their items."""
    with tempfile.TemporaryDirectory(prefix="quintain-trial-") as folder:
        path = Path(folder) / "trial.json"
        path.write_bytes(blobs.path(trial.data).read_bytes())
        return read_trial([path])


def final_rounds(db: Session, trial: CrowdTrial) -> dict[str, int]:
    """Give the id of the round in which the final items of each arm are written, by the arm's name."""
    return {arm.name: round_id for arm in queries.arms(db, trial.id) if (round_id := final_round(db, arm))}


def _arm(
    db: Session, trial: CrowdTrial, arm: CrowdArm, judged: dict[str, list[tuple[int, object]]], task: str
) -> TrialArm:
    written = final_items(db, arm)
    ids = [one.id for one in written]
    texts, types = texts_of(db, ids, JUSTIFIED), texts_of(db, ids, TYPE)
    tags = queries.prompt_tags(db, [one.prompt_id for one in written if one.prompt_id is not None])
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
            next((tag.partition(":")[2] for tag in tags.get(one.prompt_id or 0, ())), ""),
            types.get(one.id, ""),
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
