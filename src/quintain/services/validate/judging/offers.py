"""What judging is offered: what it asks, how long it takes, what it pays, and what stands in the way."""

from __future__ import annotations

from dataclasses import dataclass, replace
from statistics import median

from sqlalchemy.orm import Session

from quintain.core.errors import Conflict, Forbidden, QuintainError
from quintain.core.people import OPERATOR, Actor
from quintain.core.records.work import Reason
from quintain.core.rounds import Money
from quintain.core.validation import ValidationState
from quintain.services.access.permissions import require_user
from quintain.services.collect.rounds.manage import get_round
from quintain.services.pay.earnings import hourly, pace
from quintain.services.validate.console.manage import find_validation, list_validations, require_open
from quintain.services.validate.judging.claim_page import (
    ClaimedPage,
    claimed_page,
    held_page,
    require_judge,
    validation_of_page,
)
from quintain.services.validate.types import ValidationInfo
from quintain.services.work import qualify
from quintain.store.base import now
from quintain.store.queries.validate import claimable as left_queries
from quintain.store.queries.validate import judging_times as queries

ENOUGH_TIMES = 20


@dataclass(frozen=True, slots=True)
class JudgingOffer:
    """Judging that somebody may do. *seconds* is the time per item, *measured* or estimated; *mine* one's own.

    *trouble* says what stands in the way; *reasons* are the rules with whether they are met, and *quiz* the one to
    pass first. *warning* is the content warning of the round that the texts are from. *held* is the key of the page
    that is on their desk already.
    """

    validation: ValidationInfo
    title: str
    seconds: float
    measured: bool
    mine: float | None
    reward: Money
    hourly: Money
    trouble: QuintainError | None
    reasons: tuple[Reason, ...]
    quiz: str
    warning: str = ""
    held: str | None = None

    @property
    def minutes(self) -> float:
        """How long a full page takes."""
        return self.seconds * self.validation.policy.page_size / 60


@dataclass(frozen=True, slots=True)
class JudgingDesk:
    """A page on somebody's desk: what is offered, the items, and the seconds that it is still held."""

    offer: JudgingOffer
    page: ClaimedPage
    left: float

    @property
    def ended(self) -> bool:
        """Whether the page was handed in or given back; one that lapsed can still be handed in."""
        return self.page.ended


def get_offer(db: Session, actor: Actor, ref: str) -> JudgingOffer:
    """Describe the judging called *ref* to somebody who thinks of doing it."""
    validation = find_validation(db, ref)
    offer = _offer(db, actor, validation)
    return replace(offer, held=left_queries.held_page(db, validation.id, require_user(actor), now()))


def page_in_hand(db: Session, actor: Actor, ref: str) -> str | None:
    """Return the key of the page that *actor* has on their desk in the judging called *ref*; None without one."""
    return left_queries.held_page(db, find_validation(db, ref).id, require_user(actor), now())


def open_offers(db: Session, actor: Actor, task: str | None = None) -> list[JudgingOffer]:
    """Describe the judging, of *task* or of all tasks, in which something is left for *actor*, or on their desk."""
    user_id, moment, offers = require_user(actor), now(), []
    for ref in list_validations(db, task):
        validation = find_validation(db, ref)
        if validation.state is not ValidationState.OPEN:
            continue
        held = left_queries.held_page(db, validation.id, user_id, moment)
        if held is not None or left_queries.is_any_claimable(db, validation.id, user_id):
            offers.append(replace(_offer(db, actor, validation), held=held))
    return offers


def get_desk(db: Session, actor: Actor, token: str) -> JudgingDesk:
    """Return the page with this key for the person who holds it, with all that is shown around it."""
    held = held_page(db, actor, token)
    validation = validation_of_page(db, held)
    page = claimed_page(db, validation, held)
    left = (page.lease_until - now()).total_seconds()
    return JudgingDesk(_offer(db, actor, validation), page, max(left, 0.0))


def _offer(db: Session, actor: Actor, validation: ValidationInfo) -> JudgingOffer:
    user_id = require_user(actor)
    times = queries.recent_seconds(db, validation.id)
    mine = queries.recent_seconds(db, validation.id, user_id)
    seconds, measured = pace(times, validation.policy.seconds_per_item, ENOUGH_TIMES)
    size = validation.policy.page_size
    reward = validation.policy.reward.for_items(size, size)
    reasons: tuple[Reason, ...] = ()
    quiz = ""
    if validation.policy.quiz is not None:
        rule = {"rule": "quiz", "name": validation.policy.quiz.name}
        reasons = tuple(qualify.why(db, actor, validation.task.name, [rule]))
        quiz = validation.policy.quiz.name if not all(reason.ok for reason in reasons) else ""
    title, warning = _about(db, validation)
    return JudgingOffer(
        validation=validation,
        title=title,
        seconds=seconds,
        measured=measured,
        mine=median(mine) if mine else None,
        reward=reward,
        hourly=hourly(reward, seconds * size / 60),
        trouble=_trouble(db, actor, validation),
        reasons=reasons,
        quiz=quiz,
        warning=warning,
    )


def _about(db: Session, validation: ValidationInfo) -> tuple[str, str]:
    """Return the title of what is judged, and what its round warns of."""
    if validation.round_id is None:
        return validation.name, ""
    spec = get_round(db, OPERATOR, validation.ref).spec
    return spec.title, spec.content_warning


def _trouble(db: Session, actor: Actor, validation: ValidationInfo) -> QuintainError | None:
    try:
        require_open(validation)
        require_judge(db, actor, validation)
    except (Conflict, Forbidden) as error:
        return error
    return None
