"""Studies on Prolific for whatever people do here: a round, a judging, a trial or its grading."""

from __future__ import annotations

from typing import Literal, get_args

from sqlalchemy.orm import Session

from quintain.adapters.contract import Outside
from quintain.core.errors import BadInput, Fault
from quintain.core.people import Actor
from quintain.core.records.pay import Study
from quintain.core.rounds import Money
from quintain.protocols.reading import parse_protocol
from quintain.protocols.spec import Protocol
from quintain.protocols.stages import GradingStage
from quintain.services.access.permissions import require_owner
from quintain.services.collect.panels import prolific
from quintain.services.collect.panels.prolific import StudyPlace, round_place
from quintain.services.trial import panel_entry
from quintain.services.trial.trials import find_trial
from quintain.services.validate.console.manage import find_validation
from quintain.services.validate.judging import panel_entry as judging_doors
from quintain.store.queries.trial import trials as queries

To = Literal["round", "judging", "trial", "grading"]


def create_study(
    db: Session,
    actor: Actor,
    ref: str,
    outside: Outside,
    base_url: str,
    *,
    to: To = "round",
    places: int,
    group: str = "",
    reward: int | None = None,
) -> Study:
    """Make a draft of a study that sends people *to* a round, a judging, a trial or its grading (owners).

    *ref* is `task/number`, or `task/name`.
    """
    makers = {"round": round_place, "judging": _judging, "trial": _trial, "grading": _grading}
    if to not in makers:
        known = ", ".join(get_args(To))
        raise BadInput(faults=[Fault("is '{to}', not one of {known}", to=to, known=known, field="to")])
    require_owner(actor, ref.partition("/")[0])
    study_place = makers[to](db, actor, ref, base_url)
    return prolific.create_study(db, actor, study_place, outside, places=places, group=group, reward=reward)


def _judging(db: Session, actor: Actor, ref: str, base_url: str) -> StudyPlace:
    """Return a judging: its code comes after a page, and that is what it pays."""
    validation = find_validation(db, ref)
    policy, size = validation.policy, validation.policy.page_size
    address = judging_doors.judging_entry(db, actor, ref, base_url).url if policy.entry is not None else ""
    titles, minutes = validation.task.title, policy.seconds_per_item * size / 60
    title = titles.get("en") or next(iter(titles.values()), validation.task.name)
    pays = policy.reward.for_items(size, size)
    return StudyPlace(ref, validation.task.name, validation.task_id, policy.entry, address, title, title, minutes, pays)


def _trial(db: Session, actor: Actor, ref: str, base_url: str) -> StudyPlace:
    """Return a trial: its code comes after a session or the tutorial, whose pay is the least that any arm begins with.

    What the others pay more goes as a bonus: who reads the study does not learn of arms.
    """
    task, _, name = ref.partition("/")
    trial = find_trial(db, task, name)
    protocols = [parse_protocol(arm.toml) for arm in queries.arms(db, trial.id)]
    works = [next(stage.work for stage in protocol.stages if stage.work is not None) for protocol in protocols]
    doors = panel_entry.get_doors(db, actor, task, name, base_url=base_url)
    entry, title = panel_entry.doors_of(trial).entry, trial.title or trial.name
    pays = Money(min(work.pay for work in works), protocols[0].currency)
    minutes = max(work.minutes for work in works)
    return StudyPlace(ref, task, trial.task_id, entry, doors.entry or "", title, title, minutes, pays)


def _grading(db: Session, actor: Actor, ref: str, base_url: str) -> StudyPlace:
    """Return the grading of a trial: its code comes after a batch of grades, and that is what it pays."""
    task, _, name = ref.partition("/")
    trial = find_trial(db, task, name)
    protocols = [parse_protocol(arm.toml) for arm in queries.arms(db, trial.id)]
    entry, doors = panel_entry.doors_of(trial), panel_entry.get_doors(db, actor, task, name, base_url=base_url)
    rules = [rule for protocol in protocols for rule in _gradings(protocol)]
    each = entry.expert_pay if entry.experts else min((rule.pay for rule in rules if rule.by == "promoted"), default=0)
    minutes = entry.batch * max((rule.minutes for rule in rules), default=1.0)
    title, pays = trial.title or trial.name, Money(each * entry.batch, protocols[0].currency)
    return StudyPlace(ref, task, trial.task_id, entry.grading, doors.grading or "", title, title, minutes, pays)


def _gradings(protocol: Protocol) -> list[GradingStage]:
    return [stage.grading for stage in protocol.stages if stage.grading is not None]
