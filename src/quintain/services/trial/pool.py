"""The pool in which the final items of all arms are judged: one validation, shuffled, by judges who never see the arm.

Most items get a few judgements, and a seeded sample of each arm many: the protocols' `[validation]` says how many.
"""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy.orm import Session

from quintain.core.errors import BadInput
from quintain.core.people import Actor
from quintain.core.records.trial import TrialJudging
from quintain.core.records.validate import ItemsAdded
from quintain.core.rounds import Money
from quintain.core.validation import GoldPolicy, JudgeReward, Often, ValidationPolicy
from quintain.protocols.ranking import lot
from quintain.protocols.reading import parse_protocol
from quintain.protocols.spec import Protocol
from quintain.services.validate.console.manage import list_validations, open_validation, take_rows
from quintain.services.validate.policy import dump_policy
from quintain.store.queries.trial import trials as queries
from quintain.store.tables import Attempt, CrowdArm, CrowdTrial

KNOWN, RIGHT = 4, 3  # of so many known items, so many judged right earn the bonus


def pool_name(trial: str) -> str:
    """Name the validation in which a trial is judged."""
    return f"trial-{trial}"


def pool_policy(protocol: Protocol) -> ValidationPolicy:
    """Return the policy of a trial's pool: a majority of judges and, where the plan says so, the writer.

    >>> from quintain.protocols.reading import shipped
    >>> policy = pool_policy(shipped()["baseline"])
    >>> policy.judgements, policy.minimum, policy.often.judgements, policy.often.minimum
    (2, 2, 10, 3)
    """
    plan = protocol.validation
    setting = plan.setting if plan.sample else 0
    voices = int(plan.writer)
    often = None
    if plan.sample and plan.many > plan.votes:
        votes = min(plan.many, setting) + voices
        often = Often(plan.many, items=plan.sample, minimum=votes // 2 + 1)
    return ValidationPolicy(
        judgements=plan.votes,
        minimum=(min(plan.votes, setting or plan.votes) + voices) // 2 + 1,
        writer=plan.writer,
        setting=setting,
        page_size=plan.per,
        often=often,
        gold=GoldPolicy(bonus=plan.gold_bonus, bonus_every=KNOWN, bonus_right=RIGHT),
        reward=JudgeReward(plan.pay, protocol.currency, plan.quiz),
    )


def final_round(db: Session, arm: CrowdArm) -> int | None:
    """Return the round of an arm's last stage; a draft has none yet."""
    stage_round = queries.rounds(db, arm.id).get(parse_protocol(arm.toml).final.name)
    return stage_round[0] if stage_round else None


def final_items(db: Session, arm: CrowdArm) -> list[Attempt]:
    """List an arm's data: what was written in its final round and stands; with a model to fool, what fooled it."""
    protocol = parse_protocol(arm.toml)
    round_id = final_round(db, arm)
    return [*queries.final_attempts(db, round_id, fooling=protocol.data.target)] if round_id is not None else []


def fill_pool(db: Session, actor: Actor, task: str, trial: CrowdTrial, arms: Sequence[CrowdArm]) -> ItemsAdded:
    """Put final items into the pool that are not there yet, in an order that says nothing of the arm."""
    items = [(arm.name, item) for arm in arms for item in final_items(db, arm)]
    if not items:
        raise BadInput("Nothing has been written in a final round yet.", remedy="Wait for the arms to get there.")
    ref = f"{task}/{pool_name(trial.name)}"
    policy = None if ref in list_validations(db, task) else dump_policy(pool_policy(parse_protocol(arms[0].toml)))
    open_validation(db, actor, ref, policy, seed=trial.seed % 2**31)
    rows = [
        {
            "inputs": one.inputs,
            "answer": one.target,
            "predictions": one.predictions,
            "author_id": one.user_id,
            "attempt_id": one.id,
            "part": arm,
        }
        for arm, one in sorted(items, key=lambda each: lot(trial.seed, "order", str(each[1].id)))
    ]
    return take_rows(db, actor, ref, rows)


def judging_of(db: Session, task: str, trial: CrowdTrial, arms: Sequence[CrowdArm]) -> TrialJudging:
    """Return how a trial's items are judged, and what that takes for those there are."""
    protocols = [parse_protocol(arm.toml) for arm in arms]
    plan = protocols[0].validation
    items = judgements = 0
    for arm, protocol in zip(arms, protocols, strict=True):
        round_id = final_round(db, arm)
        count = queries.count_final(db, round_id, fooling=protocol.data.target) if round_id is not None else 0
        often = min(plan.sample, count)
        items += count
        judgements += (count - often) * plan.votes + often * plan.many
    ref = f"{task}/{pool_name(trial.name)}"
    return TrialJudging(
        validation=pool_name(trial.name) if ref in list_validations(db, task) else None,
        votes=plan.votes,
        many=plan.many,
        sample=plan.sample,
        setting=plan.setting,
        writer=plan.writer,
        items=items,
        judgements=judgements,
        cost=Money(-(-judgements // plan.per) * plan.pay, protocols[0].currency),
        quiz=Money(plan.quiz, protocols[0].currency),
    )
