"""Studies on Prolific that lead to us: their places, who may take part, and what Prolific tells us."""

from __future__ import annotations

import hashlib
import logging
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sqlalchemy.orm import Session

from quintain.adapters.contract import Outside
from quintain.adapters.panels.contract import PanelStanding, Uncertain
from quintain.adapters.panels.prolific import is_genuine, standing_of
from quintain.core.errors import BadInput, Conflict, Fault, Forbidden, QuintainError, Unavailable, Unreadable
from quintain.core.jsontext import NotJson, parse_json
from quintain.core.people import Actor
from quintain.core.records.pay import PanelGroup, Study
from quintain.core.rounds import Entry, Money
from quintain.core.texts import Text
from quintain.services.access import audit
from quintain.services.access.notify import notify_all
from quintain.services.access.permissions import require_owner
from quintain.services.collect.panels.entry import entry_url
from quintain.services.collect.rounds.manage import get_round
from quintain.services.pay.prolific import book_approvals
from quintain.services.pay.providers import prolific_of, prolific_spec, secret_of
from quintain.services.tasks.definitions import find_row
from quintain.store.base import now
from quintain.store.database import transaction
from quintain.store.queries.access.people import owners
from quintain.store.queries.collect import panels as queries
from quintain.store.tables import PanelEvent

logger = logging.getLogger(__name__)
NAME = "prolific"
ACTIONS = {"publish": "PUBLISH", "pause": "PAUSE", "start": "START", "stop": "STOP"}
DONE = (PanelStanding.WAITING, PanelStanding.APPROVED)
MOST_BODY = 100_000
MOST_REWARD = 10**9


@dataclass(frozen=True, slots=True)
class StudyPlace:
    """Where a study is to send people: how they come in there and by which address, how long it takes, what it pays."""

    ref: str
    task: str
    task_id: int
    entry: Entry | None
    address: str
    title: str
    description: str
    minutes: float
    reward: Money


def round_place(db: Session, actor: Actor, ref: str, base_url: str) -> StudyPlace:
    """Return a round as a place that a study sends people to."""
    info = get_round(db, actor, ref)
    spec = info.spec
    address = entry_url(info, base_url) if spec.entry is not None else ""
    text = spec.instructions or spec.title
    return StudyPlace(
        ref, info.task, info.task_id, spec.entry, address, spec.title, text, spec.minutes, spec.reward.base
    )


def create_study(
    db: Session,
    actor: Actor,
    destination: StudyPlace,
    outside: Outside,
    *,
    places: int,
    group: str = "",
    reward: int | None = None,
) -> Study:
    """Make a draft of a study that sends people to a place; with *group*, only its people see it (owners).

    Its *reward* is what the place pays, unless another is given: what people earn beyond it is paid as bonuses.
    """
    require_owner(actor, destination.task)
    amount = destination.reward.amount if reward is None else reward
    fields = {
        **_fields(destination),
        "reward": _reward(destination, amount),
        "total_available_places": _places(places),
        "filters": [{"filter_id": "participant_group_allowlist", "selected_values": [group]}] if group else [],
    }
    with prolific_of(db, destination.task_id, destination.task, outside) as prolific:
        paid_in = prolific.currency()
        if paid_in != destination.reward.currency:
            raise Conflict(
                "The account pays in {paid_in}, and {ref} in {currency}.",
                paid_in=paid_in,
                ref=destination.ref,
                currency=destination.reward.currency,
                remedy="Set the reward in the currency of the account.",
                code="currency_mismatch",
            )
        study = _answered(lambda: prolific.create_study(fields))
    with transaction(db):
        audit.record(db, actor, "prolific.study", destination.ref, study=study, places=places)
    return Study(destination.ref, study, "UNPUBLISHED", places)


def _fields(destination: StudyPlace) -> dict[str, Any]:
    """Return what Prolific is to show of a place, and where people go from there and back."""
    entry = destination.entry
    if entry is None or entry.provider != NAME or not entry.completion_code:
        raise Conflict(
            "{ref} does not take people from Prolific.",
            ref=destination.ref,
            remedy='Give it an [entry] with provider = "prolific" and a completion_code.',
        )
    return {
        "name": destination.title,
        "internal_name": destination.ref,
        "description": destination.description,
        "external_study_url": destination.address,
        "prolific_id_option": "url_parameters",
        "completion_codes": [
            {"code": entry.completion_code, "code_type": "COMPLETED", "actions": [{"action": "MANUALLY_REVIEW"}]}
        ],
        "estimated_completion_time": max(1, math.ceil(destination.minutes)),
    }


def _reward(destination: StudyPlace, amount: int) -> int:
    if not 1 <= amount <= MOST_REWARD:
        raise BadInput(
            "A study that leads to {ref} would pay {money}.",
            ref=destination.ref,
            money=Money(amount, destination.reward.currency),
            remedy="Say a reward, in minor units.",
        )
    return amount


def change_study(
    db: Session, actor: Actor, ref: str, study: str, outside: Outside, *, action: str = "", places: int = 0
) -> Study:
    """Publish, pause, start or stop a study of a task, or let more people take part (owners).

    *ref* begins with the name of the task, and says where the study leads.
    """
    task = ref.partition("/")[0]
    task_id = find_row(db, task).id
    require_owner(actor, task)
    if action and action not in ACTIONS:
        known = ", ".join(ACTIONS)
        raise BadInput(faults=[Fault("is '{action}', not one of {known}", action=action, known=known, field="action")])
    with prolific_of(db, task_id, task, outside) as prolific:
        if places:
            _answered(lambda: prolific.set_places(study, _places(places)))
        if action:
            _answered(lambda: prolific.change_study(study, ACTIONS[action]))
        answer = prolific.study(study)
    with transaction(db):
        audit.record(db, actor, "prolific.change", ref, study=study, wanted=action, places=places)
    return Study(ref, study, str(answer.get("status", "")), int(answer.get("total_available_places") or 0))


def sync_group(
    db: Session, actor: Actor, task: str, qualification: str, outside: Outside, *, group: str = ""
) -> PanelGroup:
    """Let a participant group hold exactly who holds a qualification; without *group*, one is made (owners).

    People whose qualification ended are taken out; those whom Prolific does not know are left alone.
    """
    task_id = find_row(db, task).id
    require_owner(actor, task)
    held, lost = queries.outside_by_qualification(db, task_id, qualification, NAME)
    project = prolific_spec(db, task_id, task).project
    with prolific_of(db, task_id, task, outside) as prolific:
        number = group or _answered(lambda: prolific.create_group(f"{task}: {qualification}", project))
        if held:
            _answered(lambda: prolific.add_to_group(number, held))
        if lost:
            _answered(lambda: prolific.remove_from_group(number, lost))
    with transaction(db):
        audit.record(db, actor, "prolific.group", task, group=number, people=len(held))
    return PanelGroup(task, qualification, number, len(held))


def take_event(db: Session, task: str, outside: Outside, headers: Mapping[str, str], body: bytes) -> str:
    """Take a message of Prolific that is signed, fresh and new; give its kind.

    Whatever is wrong with it is refused, and nothing is done. The same message comes once.
    """
    row = find_row(db, task)
    spec = prolific_spec(db, row.id, task)
    if not spec.hooks:
        raise Forbidden("Task '{task}' takes no messages.", task=task, remedy="Name the key that signs them.")
    signature = headers.get("x-prolific-request-signature", "")
    stamp = headers.get("x-prolific-request-timestamp", "")
    secret = secret_of(outside, spec.hooks)
    if len(body) > MOST_BODY or not is_genuine(secret, stamp, body, signature, now().timestamp()):
        raise Forbidden("The signature of this message is wrong, or old.", remedy="Check the secret of the webhook.")
    event = _event(body)
    # What is signed tells messages apart: whoever sends one again can give it any other header.
    key = hashlib.sha256(stamp.encode() + b"." + body).hexdigest()
    kind = str(event.get("event_type", ""))[:60]
    with transaction(db):
        if not queries.add_event(db, PanelEvent(provider=NAME, event_key=f"{NAME}:{key}", kind=kind, created_at=now())):
            raise Conflict("This message was taken before.", code="replayed")
        status = str(event.get("status", ""))
        if kind == "submission.status.change":
            panel_standing, submission = standing_of(status), str(event.get("resource_id", ""))
            completed_at = now() if panel_standing in DONE else None
            queries.set_standing(
                db, find_row(db, task).id, NAME, submission, panel_standing.value, completed_at=completed_at
            )
        if kind == "study.status.change":
            study = str(event.get("resource_id", ""))[:80]
            text = Text("The study {study} is {status} on Prolific.", study=study, status=status[:40])
            notify_all(db, owners(db, task), "prolific.study", text, f"/tasks/{task}/pay")
    if kind == "submission.status.change" and standing_of(status) is PanelStanding.APPROVED:
        _book_approval(db, task, outside)
    return kind


def _book_approval(db: Session, task: str, outside: Outside) -> None:
    """Book what an approval paid for nothing; while Prolific does not say how much, `pay check` names it."""
    try:
        book_approvals(db, task, outside)
    except QuintainError as error:
        logger.warning("an approval on Prolific was not booked yet: %s", error)


def _event(body: bytes) -> Mapping[str, Any]:
    try:
        event = parse_json(body)
    except NotJson as error:
        raise Unreadable("This message is no JSON that is read here: {reason}.", reason=error.reason) from None
    if not isinstance(event, dict):
        raise Unreadable("This message is no JSON object.")
    return event


def _places(places: int) -> int:
    if not 1 <= places <= 100_000:
        fault = Fault("is {places}, not a whole number from 1 to 100,000", places=places, field="places")
        raise BadInput(faults=[fault])
    return places


def _answered(call: Any) -> Any:
    try:
        return call()
    except Uncertain as error:
        raise Unavailable("Prolific does not answer: {error}.", error=error, remedy="Try again later.") from None
