"""Unqualifying judges: nobody's work is rejected or unpaid; their judgements are set aside and collected anew.

Every change is a fact in the judge's history and in the audit log, and can be taken back.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sqlalchemy.orm import Session

from quintain.core.errors import BadInput, Conflict
from quintain.core.people import Actor
from quintain.core.records.judging import RuleEffect, RulePower, Unqualified
from quintain.core.texts import Text
from quintain.core.validation import SlotState, UnqualifyRule
from quintain.services.access import audit, notify
from quintain.services.access.actors import find_user
from quintain.services.access.permissions import require_owner
from quintain.services.validate.console.manage import find_validation
from quintain.services.validate.judging.update_slots import update_slots
from quintain.services.validate.policy import policy_of
from quintain.services.validate.quality.judge_figures import Figures
from quintain.services.validate.quality.validation_figures import people_figures, validation_figures
from quintain.services.validate.types import QUALIFICATION, ValidationInfo
from quintain.services.work import qualify
from quintain.stats.bootstrap import FloatArray, IntArray
from quintain.stats.judge_rules import catches, judgements_needed, power
from quintain.store.database import transaction
from quintain.store.queries.access.people import names as people_names
from quintain.store.queries.validate import judgements as queries
from quintain.store.queries.validate import reopening
from quintain.store.queries.validate import slots as slot_queries
from quintain.store.queries.work import qualify as qualify_queries
from quintain.store.tables import JudgeStanding

CHUNK = 500
POWER_AT = (10, 20, 50, 100)
ENOUGH = 0.8  # a rule that catches fewer random clickers than this is weak
HARMLESS = 0.01  # and one that catches more honest judges than this is no help


def rule_of(rule: str, limit: float | None, least: int) -> UnqualifyRule:
    """Make a rule of what somebody chose; without a *limit*, its default."""
    options = {"rule": rule, "least": least} | ({} if limit is None else {"limit": limit})
    return policy_of({"rules": [options]}).rules[0]


def try_rule(db: Session, actor: Actor, ref: str, rule: UnqualifyRule) -> RuleEffect:
    """Return whom *rule* would catch, what would be collected anew, and how well it tells clickers apart (owners)."""
    validation = find_validation(db, ref)
    require_owner(actor, validation.task.name)
    validation_figures(db, validation)
    figures = counts_of(people_figures(db, validation).get("judges", {}))
    qualified = qualified_mask(db, validation, figures)
    caught = caught_by(rule, figures, qualified)
    names = people_names(db, figures.users[caught].tolist())
    labels = max(len(validation.task.judgement_labels), 2)
    measured = qualified & (figures.compared > 0)
    agreement = figures.agreed[measured] / figures.compared[measured]
    honest = float(np.median(agreement)) if len(agreement) else 0.9
    powers = [power(rule, max(count, rule.least), labels=labels, honest=honest) for count in POWER_AT]
    weak = powers[-1].clicker < ENOUGH
    better, needed = _better(rule, labels, honest) if weak and rule.rule != "gold" else (None, None)
    return RuleEffect(
        rule=rule,
        workers=sorted(names.values()),
        judgements=int(figures.judgements[caught].sum()),
        power=powers,
        judgements_needed=judgements_needed(rule, labels=labels),
        weak=weak,
        advice=_advice(powers[-1], labels, better, needed) if weak else "",
        labels=labels,
        better=better,
        better_needed=needed,
    )


def _better(rule: UnqualifyRule, labels: int, honest: float) -> tuple[UnqualifyRule | None, int | None]:
    """Look for a rule that tells clickers from the honest: sure to agree less than half-way between the two."""
    better = UnqualifyRule("wilson", round((1 / labels + honest) / 2, 2), rule.least)
    needed = judgements_needed(better, labels=labels)
    if needed is None or power(better, needed, labels=labels, honest=honest).honest > HARMLESS:
        return None, None
    return better, needed


def _advice(last: RulePower, labels: int, better: UnqualifyRule | None, needed: int | None) -> str:
    """Return plainly that a rule is weak, and what would do better."""
    text = (
        f"With {labels} labels a random clicker agrees on {1 / labels:.0%} by chance; even after"
        f" {last.judgements} judgements this rule catches {last.clicker:.0%} of them."
    )
    if better is None:
        return text
    return f"{text} --rule {better.rule} --limit {better.limit:g} catches 95 % after {needed} judgements."


def apply_rule(db: Session, actor: Actor, ref: str, rule: UnqualifyRule) -> RuleEffect:
    """Unqualify everybody whom *rule* catches, and collect anew what they judged."""
    with transaction(db):
        effect = try_rule(db, actor, ref, rule)
        done = unqualify(db, actor, ref, effect.workers, reason=str(rule), rule=rule)
    return replace(effect, unqualified=done.unqualified, opened=done.opened)


@dataclass(frozen=True, slots=True)
class JudgeCounts:
    """What rules look at, one entry per judge."""

    users: IntArray
    judgements: IntArray
    compared: IntArray
    agreed: IntArray
    gold_seen: IntArray
    gold_right: IntArray
    right: FloatArray
    wrong: FloatArray


def counts_of(columns: Mapping[str, Any]) -> JudgeCounts:
    """Read the figures of judges as they are kept."""

    def whole(name: str) -> IntArray:
        return np.array(columns.get(name, []), dtype=np.int64)

    return JudgeCounts(
        users=whole("user"),
        judgements=whole("judgements"),
        compared=whole("compared"),
        agreed=whole("agreed"),
        gold_seen=whole("gold_seen"),
        gold_right=whole("gold_right"),
        right=np.array(columns.get("right", []), dtype=np.float64),
        wrong=np.array(columns.get("wrong", []), dtype=np.float64),
    )


def qualified_mask(db: Session, validation: ValidationInfo, figures: Figures | JudgeCounts) -> Any:
    """Return who is still qualified."""
    standings = queries.standings(db, validation.id)
    gone = {user for user, standing in standings.items() if not standing.qualified}
    return np.array([user not in gone for user in figures.users.tolist()], dtype=bool)


def caught_by(rule: UnqualifyRule, figures: Figures | JudgeCounts, among: Any) -> Any:
    """Return which of the judges *among* a rule catches."""
    if rule.rule == "gold":
        return among & catches(rule, figures.gold_right, figures.gold_seen)
    caught = catches(rule, figures.agreed, figures.compared, figures.right, figures.wrong)
    return among & caught


def unqualify(
    db: Session, actor: Actor, ref: str, names: Sequence[str], *, reason: str, rule: UnqualifyRule | None = None
) -> Unqualified:
    """Unqualify judges by name, and collect anew what they judged."""
    if not reason.strip():
        raise BadInput("Say why: the judge will read it.")
    with transaction(db):
        validation = find_validation(db, ref)
        require_owner(actor, validation.task.name)
        why = (rule.rule if rule else "owner", reason.strip())
        opened = end_qualifications(db, actor, validation, {find_user(db, name).id: why for name in names})
    return Unqualified(list(names), opened)


def end_qualifications(
    db: Session, actor: Actor, validation: ValidationInfo, ended: Mapping[int, tuple[str, str]]
) -> int:
    """End the qualifications of judges (each with rule and reason); for other services, in their transaction.

    Give how many slots were opened again. Those who are unqualified already are left alone.
    """
    standings = queries.standings(db, validation.id)
    gone = {user for user, standing in standings.items() if not standing.qualified}
    new = {user: why for user, why in ended.items() if user not in gone}
    if not new:
        return 0
    newest = queries.newest(db, validation.id)
    for user, (rule, reason) in new.items():
        db.add(
            JudgeStanding(
                validation_id=validation.id,
                user_id=user,
                qualified=False,
                rule=rule,
                reason=reason,
                aside_through=newest,
                by=actor.user_id,
            )
        )
        # The qualification is the task's: who was caught in one round does not go on in the next.
        where = f"{reason} ({validation.ref})"
        qualify.put_qualification(
            db, validation.task_id, user, QUALIFICATION, held=False, reason=where, by=actor.user_id
        )
        audit.record(db, actor, "judge.unqualify", f"user:{user}", validation=validation.ref, rule=rule, reason=reason)
        task = validation.task.name
        text = Text(
            "You no longer judge for {task}: {where}. All that you did is paid and stays in the record.",
            task=task,
            where=where,
        )
        notify.notify(db, user, "judge.unqualified", text)
    db.flush()
    opened = reopening.reopen(db, validation.id, list(new))
    if validation.policy.adaptive is not None:
        items = reopening.judged_items(db, validation.id, list(new))
        for start in range(0, len(items), CHUNK):
            update_slots(db, validation, slot_queries.of_items(db, items[start : start + CHUNK]))
    return opened


def requalify(db: Session, actor: Actor, ref: str, name: str, *, reason: str = "", restore: bool = False) -> None:
    """Let a judge work again; with *restore*, what was set aside counts again too.

    The qualification of the task is given back. Where other validations have set the judge's work aside, they go on to
    refuse them until this is done there, too.
    """
    with transaction(db):
        validation = find_validation(db, ref)
        require_owner(actor, validation.task.name)
        user = find_user(db, name)
        newest = queries.standings(db, validation.id).get(user.id)
        aside = newest is not None and not newest.qualified
        known = qualify_queries.newest_qualification(db, validation.task_id, user.id, QUALIFICATION)
        if not aside and (known is None or known.held):
            raise Conflict("{name} is qualified for {ref} already.", name=user.name, ref=ref)
        if aside:
            _bring_back(db, actor, validation, user.id, reason, restore=restore)
        qualify.put_qualification(
            db, validation.task_id, user.id, QUALIFICATION, held=True, reason=reason, by=actor.user_id
        )
        audit.record(db, actor, "judge.requalify", f"user:{user.id}", validation=ref, reason=reason, restore=restore)
        text = Text("You may judge for {ref} again. {reason}", ref=validation.ref, reason=reason)
        notify.notify(db, user.id, "judge.requalified", text)


def _bring_back(
    db: Session, actor: Actor, validation: ValidationInfo, user_id: int, reason: str, *, restore: bool
) -> None:
    """Let a judge's work in this validation count from now on; with *restore*, also what was set aside."""
    db.add(
        JudgeStanding(
            validation_id=validation.id,
            user_id=user_id,
            qualified=True,
            rule="owner",
            reason=reason,
            aside_through=0 if restore else queries.newest(db, validation.id),
            by=actor.user_id,
        )
    )
    db.flush()
    if restore:
        _fill_again(db, validation, user_id)


def _fill_again(db: Session, validation: ValidationInfo, user_id: int) -> None:
    """Let restored judgements fill slots that are still open: nobody needs to be asked again."""
    mine = {item: key for key, item, _, gold in queries.of_user(db, validation.id, user_id) if gold is None}
    items = sorted(mine)
    for start in range(0, len(items), CHUNK):
        slots = slot_queries.of_items(db, items[start : start + CHUNK])
        done: set[int] = set()
        for slot in slots:
            if slot.state == SlotState.OPEN and slot.item_id not in done:
                slot.state, slot.judgement_id = SlotState.FILLED.value, mine[slot.item_id]
                slot.generation += 1
                done.add(slot.item_id)
        update_slots(db, validation, slots)
