"""What waits for somebody, each with the page on which it is done: work, decisions, what failed, pay.

Workers are offered what they may do now. Owners are told the next step of their rounds, and no more than their newest
ones are looked at, so that the front page costs the same however long a task has lived.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from datetime import timedelta
from itertools import chain, islice

from sqlalchemy.orm import Session

from quintain.core.ledger import KINDS
from quintain.core.people import Actor, Grant, RoleName
from quintain.core.records.house import Errand, WaitingKind
from quintain.core.records.stations import StationStep
from quintain.core.rounds import Money
from quintain.services.access.permissions import require_user
from quintain.services.collect.rounds.manage import RoundInfo, list_rounds
from quintain.services.collect.writing.readiness import readiness_in
from quintain.services.collect.writing.session_under_way import session_under_way
from quintain.services.contest.offers import ContestStep, contest_offers
from quintain.services.contrast.offers import contrast_offers
from quintain.services.release.stations import stations_of
from quintain.services.study.coding_work import coding_offers
from quintain.services.tasks.definitions import list_tasks
from quintain.services.trial.offers import trial_offers
from quintain.services.validate.console.manage import find_validation, list_validations
from quintain.services.validate.judging.adjudicate import adjudication_queue
from quintain.services.validate.judging.offers import open_offers
from quintain.store.base import now
from quintain.store.queries.data import inputs
from quintain.store.queries.house import waiting as queries
from quintain.store.queries.pay import held, ledger
from quintain.store.queries.validate import slots
from quintain.store.queries.validate import validation as validations

MOST = 12
ROUNDS = 8  # of those that an owner may have to move on, the newest are looked at
RECENT = timedelta(days=7)
WORKS = (RoleName.WORKER, RoleName.EXPERT)
STEPS = {
    StationStep.OPEN: WaitingKind.OPEN,
    StationStep.VALIDATE: WaitingKind.VALIDATE,
    StationStep.ADJUDICATE: WaitingKind.ADJUDICATE,
    StationStep.RELEASE: WaitingKind.RELEASE,
    StationStep.TRAIN: WaitingKind.TRAIN,
    StationStep.NEXT_ROUND: WaitingKind.NEXT_ROUND,
}
CONTESTS = {
    ContestStep.JOIN: (WaitingKind.CONTEST, ""),
    ContestStep.BUILD: (WaitingKind.BUILD, "/build"),
    ContestStep.ANSWER: (WaitingKind.ANSWER_PAIRS, "/build"),
    ContestStep.BREAK: (WaitingKind.BREAK, "/break"),
    ContestStep.JUDGE: (WaitingKind.JUDGE_PAIRS, "/judge"),
    ContestStep.RULE: (WaitingKind.RULE, "/decide"),
}


def waiting_for(db: Session, actor: Actor, *, limit: int = MOST) -> list[Errand]:
    """List what waits for *actor*: what they have begun, then decisions and work, then what they should know."""
    user_id = require_user(actor)
    tasks = {item.task.name for item in list_tasks(db)}
    rounds = [info for info in list_rounds(db, actor) if info.task in tasks]
    owned = sorted(task for task in tasks if actor.has(RoleName.OWNER, task))
    contrast = list(_contrast(db, actor, tasks))
    work = [*_writing(db, actor, rounds), *_judging(db, actor, tasks)]
    work += [one for one in contrast if one.kind is not WaitingKind.SETTLE]
    trials = list(_trials(db, actor, tasks))
    work += [trial for trial in trials if trial.kind is not WaitingKind.CLOSE_STAGE]
    work += _coding(db, actor, tasks)
    contests = list(_contests(db, actor, tasks))
    work += [contest for contest in contests if contest.kind is not WaitingKind.RULE]
    errands = chain(
        (one for one in work if one.begun),
        _steps(db, actor, rounds, owned),
        _contested(db, actor, tasks, owned),
        _input_requests(db, owned),
        (one for one in contrast if one.kind is WaitingKind.SETTLE),
        (trial for trial in trials if trial.kind is WaitingKind.CLOSE_STAGE),
        (contest for contest in contests if contest.kind is WaitingKind.RULE),
        (one for one in work if not one.begun),
        _pay_to_approve(db, owned),
        _failed(db, user_id),
        _paid(db, user_id),
    )
    return list(islice(errands, limit))


def _works(actor: Actor, task: str, *more: RoleName) -> bool:
    """Whether somebody is there to write and judge; admins and owners may, and are not asked to."""
    return any(Grant(role, where) in actor.grants for role in (*WORKS, *more) for where in (None, task))


def _writing(db: Session, actor: Actor, rounds: list[RoundInfo]) -> Iterator[Errand]:
    moment = now()
    for info in rounds:
        if info.closed_because(moment) or not _works(actor, info.task):
            continue
        key = session_under_way(db, actor, info)
        if key is not None:
            yield Errand(WaitingKind.WRITE, info.task, info.spec.title, f"/write/{key}", begun=True)
            continue
        ready = readiness_in(db, actor, info)
        # A quiz, a consent or a warning is part of the work; a rule that is not met keeps somebody out.
        kept_out = any(not reason.ok for reason in ready.reasons) and not ready.quizzes
        if not (ready.opted_out or kept_out):
            address = f"/tasks/{info.task}/rounds/{info.number}/write"
            yield Errand(WaitingKind.WRITE, info.task, info.spec.title, address)


def _judging(db: Session, actor: Actor, tasks: set[str]) -> Iterator[Errand]:
    if not any(grant.role in WORKS for grant in actor.grants):
        return
    for offer in open_offers(db, actor):
        validation = offer.validation
        task = validation.task.name
        if task not in tasks or not _works(actor, task) or (offer.trouble is not None and not offer.quiz):
            continue
        if offer.held is not None:
            yield Errand(WaitingKind.JUDGE, task, offer.title, f"/judge/{offer.held}", begun=True)
        else:
            yield Errand(WaitingKind.JUDGE, task, offer.title, f"/tasks/{task}/judge/{validation.name}")


def _contrast(db: Session, actor: Actor, tasks: set[str]) -> Iterator[Errand]:
    """Yield what contrast projects have for somebody who is there to work, and what is theirs to decide."""
    for offer in contrast_offers(db, actor, tasks):
        task, title = offer.project.task, offer.project.spec.title
        address = f"/tasks/{task}/contrast/{offer.project.name}"
        if offer.contested:
            yield Errand(WaitingKind.SETTLE, task, title, f"{address}/contested", count=offer.contested)
        if not _works(actor, task):
            continue
        if offer.held is not None:
            yield Errand(WaitingKind.CONTRAST, task, title, f"{address}/write/{offer.held}", begun=True)
        elif offer.free:
            yield Errand(WaitingKind.CONTRAST, task, title, f"{address}/write")
        if offer.to_check:
            yield Errand(WaitingKind.CHECK, task, title, f"{address}/check", count=offer.to_check)


def _trials(db: Session, actor: Actor, tasks: set[str]) -> Iterator[Errand]:
    """Yield what trials have for somebody: their own next step, items to grade, people who wait for the owner."""
    for offer in trial_offers(db, actor, tasks):
        address = f"/tasks/{offer.task}/trials/{offer.name}"
        if offer.to_close:
            yield Errand(WaitingKind.CLOSE_STAGE, offer.task, offer.title, address, count=offer.to_close)
        if offer.begun or offer.enter:
            yield Errand(WaitingKind.TRIAL, offer.task, offer.title, address, begun=offer.begun)
        if offer.to_grade:
            yield Errand(WaitingKind.GRADE, offer.task, offer.title, f"{address}/grade", count=offer.to_grade)


def _coding(db: Session, actor: Actor, tasks: set[str]) -> Iterator[Errand]:
    for info in coding_offers(db, actor):
        if info.task in tasks and _works(actor, info.task):
            address = f"/tasks/{info.task}/codings/{info.name}/code"
            yield Errand(WaitingKind.CODE, info.task, info.spec.title, address)


def _contests(db: Session, actor: Actor, tasks: set[str]) -> Iterator[Errand]:
    """Yield what contests have for somebody; whose team has something to hand in is in the middle of it."""
    for offer in contest_offers(db, actor, tasks):
        task = offer.contest.task
        kind, page = CONTESTS[offer.step]
        builds = (RoleName.BUILDER,) if kind is WaitingKind.CONTEST else ()
        if kind in {WaitingKind.JUDGE_PAIRS, WaitingKind.CONTEST} and not _works(actor, task, *builds):
            continue
        begun = offer.begun or kind in {WaitingKind.BUILD, WaitingKind.ANSWER_PAIRS, WaitingKind.BREAK}
        address = f"/tasks/{task}/contests/{offer.contest.name}{page}"
        yield Errand(kind, task, offer.contest.spec.title, address, begun=begun, count=offer.count)


def _steps(db: Session, actor: Actor, rounds: list[RoundInfo], owned: list[str]) -> Iterator[Errand]:
    mine = sorted((one for one in rounds if one.task in owned), key=lambda info: info.id, reverse=True)
    for info in mine[:ROUNDS]:
        stations = stations_of(db, actor, info.ref)
        for kind in (STEPS.get(step) for step in (stations.step, stations.also) if step is not None):
            if kind is None or (kind is WaitingKind.VALIDATE and not stations.stations[0].count):
                continue  # people write or judge, or nothing was written that could be judged
            contested = (
                adjudication_queue(db, actor, info.ref, limit=0).total if kind is WaitingKind.ADJUDICATE else None
            )
            yield Errand(kind, info.task, info.spec.title, _address(info, kind), count=contested)


def _contested(db: Session, actor: Actor, tasks: set[str], owned: list[str]) -> Iterator[Errand]:
    """Yield validations with items that experts are asked about; of an owner's rounds the stations tell."""
    if actor.came_by_door:
        return
    for task in sorted(task for task in tasks if actor.has(RoleName.EXPERT, task) or task in owned):
        for ref in list_validations(db, task)[-ROUNDS:]:
            name = ref.rpartition("/")[2]
            if (task in owned and name.isdecimal()) or not _waits_for_decisions(db, ref):
                continue
            count = adjudication_queue(db, actor, ref, limit=0).total
            if count:
                address = f"/tasks/{task}/validation/{name}/adjudicate"
                yield Errand(WaitingKind.ADJUDICATE, task, name, address, count=count)


def _input_requests(db: Session, owned: list[str]) -> Iterator[Errand]:
    """Yield data sets whose inputs somebody asks to read."""
    asked = Counter((row.task, row.dataset) for row in inputs.waiting(db, owned))
    for (task, dataset), count in asked.items():
        address = f"/tasks/{task}/data/{dataset}#readers"
        yield Errand(WaitingKind.INPUTS, task, dataset, address, count=count)


def _waits_for_decisions(db: Session, ref: str) -> bool:
    """Whether all is judged and nothing released yet: until then decisions change what is released."""
    validation_id = find_validation(db, ref).id
    judged = slots.has_any(db, validation_id) and not slots.anything_wanted(db, validation_id)
    return judged and not validations.is_released(db, validation_id)


def _address(info: RoundInfo, kind: WaitingKind) -> str:
    judging = f"/tasks/{info.task}/validation/{info.number}"
    places = {
        WaitingKind.ADJUDICATE: f"{judging}/adjudicate",
        WaitingKind.RELEASE: f"{judging}/release",
        WaitingKind.TRAIN: f"/tasks/{info.task}/train",
    }
    return places.get(kind, f"/tasks/{info.task}/rounds/{info.number}")


def _pay_to_approve(db: Session, owned: list[str]) -> Iterator[Errand]:
    """Yield the rounds whose pay waits, by what their accounts owe: earnings may be many, and are not read."""
    pending = [f"{kind}.pending" for kind in KINDS]
    for task, number, round_id, currency, amount in ledger.owed_by_rounds(db, owned, pending, MOST) if owned else []:
        address, money = f"/tasks/{task}/rounds/{number}/pay", str(Money(amount, currency))
        count = queries.pending_earnings(db, round_id)
        yield Errand(WaitingKind.APPROVE_PAY, task, str(number), address, count=count, money=money)


def _failed(db: Session, user_id: int) -> Iterator[Errand]:
    for task, model, dataset, count, cell in queries.failed_runs(db, user_id, MOST):
        yield Errand(WaitingKind.FAILED_RUN, task, f"{model} · {dataset}", f"/runs/{cell}", count=count)


def _paid(db: Session, user_id: int) -> Iterator[Errand]:
    """Return what was approved of late; what a task holds waits for somebody else, and is told where pay is listed."""
    holding = {task for task, *_ in held.held_tasks(db, user_id)}
    for task, currency, count, amount in queries.approved_pay(db, user_id, now() - RECENT):
        if task not in holding:
            money = str(Money(amount, currency))
            yield Errand(WaitingKind.PAID, task, "", "/work/earnings", count=count, money=money)
