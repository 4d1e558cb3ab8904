"""The report of a trial: from its rounds and the pool in which they are judged, or from what it was made of."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path

from sqlalchemy.orm import Session

from quintain.core.people import Actor
from quintain.core.records.report import Report
from quintain.core.records.validate import ItemsAdded
from quintain.data.trials import ArmFacts, TrialArm, TrialItem, read_trial
from quintain.protocols.due import due
from quintain.protocols.engine import Course
from quintain.protocols.grading import rule_of
from quintain.services.access.permissions import require_owner
from quintain.services.access.pseudonyms import pseudonyms
from quintain.services.plain.trial_report import ReportOptions, make_report
from quintain.services.trial.courses import course_of
from quintain.services.trial.pool import fill_pool, final_items, final_round, pool_name
from quintain.services.trial.progress import sync
from quintain.services.trial.trials import find
from quintain.store.blobs import Blobs
from quintain.store.database import transaction
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
    with transaction(db):
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
    judged = queries.judgements(db, trial.task_id, pool_name(name))
    arms = [_arm(db, trial, arm, judged, task) for arm in queries.arms(db, trial.id)]
    return make_report(trial.title or name, arms, options, commands=command)


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
    with course_of(db, trial, arm) as course:
        return TrialArm(arm.name, items, _facts(course), INVALID, course.protocol.validation.writer)


def _facts(course: Course) -> ArmFacts:
    paid: dict[str, int] = {}
    for one in due(course):
        paid[one.stage] = paid.get(one.stage, 0) + one.amount
    came: dict[str, int] = {}
    for person in course.arm.people.values():
        for name in dict.fromkeys(person.been):
            came[name] = came.get(name, 0) + 1
    hours = cost = 0.0
    for stage in course.protocol.stages:
        if stage.grading is not None and stage.grading.by == "experts" and stage.name in came:
            spent = sum(len(course.arm.items[one].grades) for one in course.sample(stage).names)
            hours += spent * rule_of(stage).minutes / 60
            cost += spent * rule_of(stage).minutes / 60 * rule_of(stage).hourly
    ordered = {one.name: came[one.name] for one in course.protocol.stages if one.name in came}
    return ArmFacts(course.protocol.currency, paid, course.protocol.final.name, hours, cost, ordered)


def _label(answer: object) -> str:
    return answer if isinstance(answer, str) else json.dumps(answer, ensure_ascii=False, sort_keys=True)
