"""What a question costs in each arm of a trial, by the ledger: with training and without, experts' time priced in.

Sessions are booked to the rounds in which they were written, everything else (tutorials, bonuses, grades) to the task
under a name that begins with the arm and the stage. What was set aside is no cost.
"""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy.orm import Session

from quintain.core.ledger import Account
from quintain.core.people import Actor
from quintain.core.records.trial import ArmCosts, JudgingCosts, TrialCosts
from quintain.core.rounds import Money
from quintain.protocols import grading
from quintain.protocols.engine import Course
from quintain.protocols.reading import parse_protocol
from quintain.protocols.stages import Stage
from quintain.services.access.permissions import require_owner
from quintain.services.pay.policy import policy_of
from quintain.services.pay.report import group_cost, summed
from quintain.services.trial.courses import course_of
from quintain.services.trial.pool import pool_name
from quintain.services.trial.trials import find_trial
from quintain.services.validate.console.manage import find_validation, list_validations
from quintain.store.queries.pay import ledger
from quintain.store.queries.trial import trials as queries
from quintain.store.tables import CrowdArm, CrowdTrial


def trial_costs(db: Session, actor: Actor, task: str, name: str) -> TrialCosts:
    """Return what a question has cost in each arm, and what the judging of all has cost (owners)."""
    require_owner(actor, task)
    trial = find_trial(db, task, name)
    arms = queries.arms(db, trial.id)
    return TrialCosts([costs_of(db, trial, arm) for arm in arms], judging_costs(db, task, trial, arms))


def judging_costs(db: Session, task: str, trial: CrowdTrial, arms: Sequence[CrowdArm]) -> JudgingCosts:
    """Add up what judges of a trial's pool have earned: for pages, known items that they judged right, and quizzes."""
    currency, ref = parse_protocol(arms[0].toml).currency, f"{task}/{pool_name(trial.name)}"
    sums = dict.fromkeys(("judging", "gold", "quiz"), 0)
    if ref in list_validations(db, task):
        pool = find_validation(db, ref)
        quiz = pool.policy.quiz.name if pool.policy.quiz is not None else ""
        sums = queries.judging_sums(db, trial.task_id, pool.id, quiz, currency)
    pages, bonuses, quizzes = (Money(sums[kind], currency) for kind in ("judging", "gold", "quiz"))
    return JudgingCosts(pages, bonuses, quizzes, Money(sum(sums.values()), currency))


def costs_of(db: Session, trial: CrowdTrial, arm: CrowdArm) -> ArmCosts:
    """Add up what the stages of an arm have cost; those before the final one are training, and leave no texts."""
    rounds = queries.rounds(db, arm.id)
    besides = queries.arm_sums(db, trial.task_id, arm.id)
    priced = policy_of(db, trial.task_id).expert_hourly
    with course_of(db, trial, arm) as course:
        final, currency = course.protocol.final.name, course.protocol.currency
        seconds = {
            stage.name: expert_seconds(course, stage) for stage in course.protocol.stages if stage.grading is not None
        }
        hourly = {
            stage.name: stage.grading.hourly or priced for stage in course.protocol.stages if stage.grading is not None
        }
        stages = [stage.name for stage in course.protocol.stages]
        fooling = course.protocol.data.target
    # What is divided by is what the arm gave: the items that are judged and reported, of sessions ended early, too.
    written = queries.count_final(db, rounds[final][0], fooling=fooling) if final in rounds else 0
    groups = []
    for stage in stages:
        balances = ledger.balances(db, f"round:{rounds[stage][0]}") if stage in rounds else {}
        for kind, status, money, amount in besides.get(stage, ()):
            account = Account(f"trial:{arm.id}", f"{kind}.{status}", money)
            balances[account] = balances.get(account, 0) - amount
        expert = round(seconds.get(stage, 0.0) * hourly.get(stage, 0) / 3600)
        texts = written if stage == final else 0
        stage_cost = group_cost(stage, balances, currency, texts=texts, expert=expert, training=stage != final)
        if stage_cost.total.amount or texts:
            groups.append(stage_cost)
    return ArmCosts(arm.name, summed(arm.name, currency, groups), round(sum(seconds.values()) / 3600, 3))


def expert_seconds(course: Course, stage: Stage) -> float:
    """Return how long experts graded at a stage: as measured or, where nothing was, as the protocol expects."""
    spent = course.arm.seconds.get(stage.name, {})
    measured = sum(seconds for person, seconds in spent.items() if person not in course.arm.people)
    if measured or not spent:
        return measured
    items = [course.arm.items[name] for name in course.sample(stage).names]
    grade_count = sum(person not in course.arm.people for item in items for person in (*item.grades, *item.checks))
    return grade_count * grading.rule_of(stage).minutes * 60
