"""The report of a trial: from its rounds and the pool in which they are judged, or from what it was made of."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from sqlalchemy.orm import Session

from quintain.core.people import Actor
from quintain.core.records.report import Report
from quintain.core.records.trial import ArmCosts
from quintain.core.records.validate import ItemsAdded
from quintain.core.task import Task
from quintain.data.trials import ArmFacts, GradeRow, TrialArm, TrialItem, read_trial
from quintain.protocols.engine import Course
from quintain.protocols.reading import parse_protocol
from quintain.protocols.state import Item
from quintain.services.access import audit
from quintain.services.access.permissions import require_owner
from quintain.services.access.pseudonyms import pseudonyms
from quintain.services.collect.rounds.question_types import TYPE
from quintain.services.collect.writing.justifications import JUSTIFIED
from quintain.services.plain.reports.trial_measures import ReportOptions
from quintain.services.plain.reports.trial_report import make_report
from quintain.services.tasks.definitions import get_task
from quintain.services.trial.costs import costs_of, judging_costs
from quintain.services.trial.courses import course_of
from quintain.services.trial.judged_items import (
    INVALID,
    Votes,
    find_pool,
    label_of_model,
    label_of_writer,
    labels_when_asked,
    votes_of,
)
from quintain.services.trial.model_answers import ModelAnswers, model_answers
from quintain.services.trial.pool import fill_pool, final_items, final_round
from quintain.services.trial.progress import sync
from quintain.services.trial.trials import find_trial
from quintain.store.blobs import Blobs
from quintain.store.database import transaction
from quintain.store.queries.collect.notes import texts_of
from quintain.store.queries.trial import trials as queries
from quintain.store.tables import Attempt, CrowdArm, CrowdTrial


def open_pool(db: Session, actor: Actor, task: str, name: str) -> ItemsAdded:
    """Put the final items of all arms into one pool, shuffled, a sample of each arm to be judged more often."""
    require_owner(actor, task)
    trial = find_trial(db, task, name)
    arms = queries.arms(db, trial.id)
    for arm in arms:
        sync(db, trial, arm)
    return fill_pool(db, actor, task, trial, arms)


def report(db: Session, blobs: Blobs, actor: Actor, task: str, name: str, *, seed: int = 0) -> Report:
    """Report on a trial. For owners; that of a simulated trial is for everybody."""
    trial = find_trial(db, task, name)
    command = [f"quintain trial report-of {task}/{name} --out DIR"]
    if trial.data:
        return make_report(trial.title or name, stored_arms(blobs, trial), ReportOptions(seed=seed), commands=command)
    require_owner(actor, task)
    rows = queries.arms(db, trial.id)
    options = ReportOptions(sample=parse_protocol(rows[0].toml).validation.setting, seed=seed)
    read = read_trial_here(db, blobs, task, trial)
    spent = judging_costs(db, task, trial, rows)
    return make_report(
        trial.title or name, read.arms, options, commands=command, judging=spent, missing=read.answers.missing
    )


def arms_of(db: Session, blobs: Blobs, actor: Actor, task: str, name: str) -> list[TrialArm]:
    """Return the arms of a trial with their items, as a file has them; people have pseudonyms there (owners)."""
    trial = find_trial(db, task, name)
    require_owner(actor, task)
    if trial.data:
        return stored_arms(blobs, trial)
    arms = read_trial_here(db, blobs, task, trial).arms
    with transaction(db):
        audit.record(db, actor, "trial.export", f"{task}/{name}")
    return arms


@dataclass(frozen=True, slots=True)
class TrialHere:
    """A trial that ran here: its arms with their items, and what models said of those."""

    arms: list[TrialArm]
    answers: ModelAnswers


def read_trial_here(db: Session, blobs: Blobs, task: str, trial: CrowdTrial) -> TrialHere:
    """Read the final items of all arms, how they were judged, and what models whose runs are done said of them."""
    definition = get_task(db, task)
    rows = queries.arms(db, trial.id)
    votes = votes_of(db, find_pool(db, task, trial.name))
    written = {arm.id: final_items(db, arm) for arm in rows}
    judged = {item.hash for items in written.values() for item in items} & votes.keys()
    answers = model_answers(db, blobs, task, trial.name, judged)
    return TrialHere(
        [_arm(db, trial, arm, _Read(definition, written[arm.id], votes, answers)) for arm in rows], answers
    )


def stored_arms(blobs: Blobs, trial: CrowdTrial) -> list[TrialArm]:
    """Return the arms of a trial that came from elsewhere, with their items."""
    with tempfile.TemporaryDirectory(prefix="quintain-trial-") as folder:
        path = Path(folder) / "trial.json"
        path.write_bytes(blobs.path(trial.data).read_bytes())
        return read_trial([path])


def final_rounds(db: Session, trial: CrowdTrial) -> dict[str, int]:
    """Return the id of the round in which the final items of each arm are written, by the arm's name."""
    return {arm.name: round_id for arm in queries.arms(db, trial.id) if (round_id := final_round(db, arm))}


@dataclass(frozen=True, slots=True)
class _Read:
    """What was read of an arm: what was *written*, and of all arms how it was judged and what models said."""

    task: Task
    written: Sequence[Attempt]
    votes: Votes
    answers: ModelAnswers


def _arm(db: Session, trial: CrowdTrial, arm: CrowdArm, read: _Read) -> TrialArm:
    costs = costs_of(db, trial, arm)
    with course_of(db, trial, arm) as course:
        final = course.protocol.final.name
        written = [(final, one) for one in read.written]
        written += [(stage, one) for stage, one in _earlier(db, arm, final)]
        items = _items(db, course, read, written)
        return TrialArm(
            arm.name,
            items[: len(read.written)],
            _facts(course, costs),
            INVALID,
            course.protocol.validation.writer,
            items[len(read.written) :],
        )


def _earlier(db: Session, arm: CrowdArm, final: str) -> list[tuple[str, Attempt]]:
    """List what was written in an arm before its data, and stands, each with its stage."""
    rounds = queries.rounds(db, arm.id)
    return [
        (stage, attempt)
        for stage, (round_id, _) in rounds.items()
        if stage != final
        for attempt in queries.final_attempts(db, round_id, fooling=False)
    ]


def _items(db: Session, course: Course, read: _Read, written: Sequence[tuple[str, Attempt]]) -> list[TrialItem]:
    """Return items with their texts, grades and judgements; people under other names."""
    attempts = [one for _, one in written]
    ids = [attempt.id for attempt in attempts]
    texts, types = texts_of(db, ids, JUSTIFIED), texts_of(db, ids, TYPE)
    tags = queries.prompt_tags(db, [attempt.prompt_id for attempt in attempts if attempt.prompt_id is not None])
    graded = {attempt.id: course.arm.items.get(str(attempt.id)) for attempt in attempts}
    people = {attempt.user_id for attempt in attempts if attempt.user_id is not None}
    people |= {user_id for attempt in attempts for user_id, _ in read.votes.get(attempt.hash, ())}
    people |= {int(name) for item in graded.values() if item for name in (*item.grades, *item.checks)}
    alias = pseudonyms(db, people, read.task.name)
    return [
        TrialItem(
            str(one.id),
            alias.get(one.user_id or 0, "–"),
            label_of_writer(read.task, one.target),
            tuple((alias[user_id], label) for user_id, label in read.votes.get(one.hash, ())),
            _predictions(read, one),
            texts.get(one.id),
            next((tag.partition(":")[2] for tag in tags.get(one.prompt_id or 0, ())), ""),
            types.get(one.id, ""),
            dict(one.inputs),
            stage,
            _grades(course, graded[one.id], alias),
        )
        for stage, one in written
    ]


def _grades(course: Course, item: Item | None, alias: Mapping[int, str]) -> list[GradeRow]:
    """Return the grades of an item, those of experts where promoted workers grade among them."""
    if item is None:
        return []
    people = course.arm.people
    grades = [*item.grades.items(), *item.checks.items()]
    return [GradeRow(alias[int(name)], dict(answers), name not in people) for name, answers in grades]


def _predictions(read: _Read, attempt: Attempt) -> dict[str, str]:
    """Return what models said of an item: those that its writer was to fool and, over them, those that were run."""
    answers = read.answers.of(attempt.hash)
    return labels_when_asked(read.task, attempt.predictions, attempt.target) | {
        model: label_of_model(read.task, answer, attempt.target) for model, answer in answers.items()
    }


def _facts(course: Course, costs: ArmCosts) -> ArmFacts:
    """Return what is known of an arm beside its items: what the ledger says was earned, and who came where."""
    came: dict[str, int] = {}
    for person in course.arm.people.values():
        for name in dict.fromkeys(person.been):
            came[name] = came.get(name, 0) + 1
    groups = costs.costs.groups
    paid = {
        group.name: group.base.amount + group.bonus.amount
        for group in groups
        if group.base.amount or group.bonus.amount
    }
    priced = sum(group.expert.amount for group in groups)
    ordered = {stage.name: came[stage.name] for stage in course.protocol.stages if stage.name in came}
    final = course.protocol.final.name
    return ArmFacts(course.protocol.currency, paid, final, costs.expert_hours, float(priced), ordered)
