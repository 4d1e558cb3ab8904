"""Workers from elsewhere: they come by an address of ours with the panel's ids in it, and go back with a code.

Three kinds: Prolific (`PROLIFIC_PID`, `STUDY_ID`, `SESSION_ID`), any panel with an entry address and a completion
link, and the ExternalQuestion of Mechanical Turk (`workerId`, `assignmentId`, `hitId`, `turkSubmitTo`), kept for
studies that are to be repeated. Each person gets an account under a name that says nothing, which may work on this
task only. What the panel calls them stays in one table and is never exported.
"""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from urllib.parse import quote, urlsplit

from sqlalchemy.orm import Session

from quintain.core.errors import BadInput, Conflict, Fault, Forbidden, NotFound
from quintain.core.people import OPERATOR, Actor, RoleName
from quintain.core.records.collect import Round
from quintain.core.rounds import Entry
from quintain.services.access import audit
from quintain.services.access.actors import actor_of
from quintain.services.access.permissions import require_user
from quintain.services.access.sign_in import StartedSession, start_session
from quintain.services.collect.rounds import RoundInfo, get_round
from quintain.services.collect.target_names import spec_for
from quintain.store.base import now
from quintain.store.database import lock, transaction
from quintain.store.queries.collect import panels as queries
from quintain.store.queries.collect import rounds as round_queries
from quintain.store.tables import PanelPerson, PanelStay, PanelVisit, RoleGrant, User

PREVIEW = "ASSIGNMENT_ID_NOT_AVAILABLE"
PROLIFIC_DONE = "https://app.prolific.com/submissions/complete?cc={code}"
TURK_HOSTS = ("www.mturk.com", "workersandbox.mturk.com", "requester.mturk.com", "requestersandbox.mturk.com")
MAX_ID = 200


@dataclass(frozen=True, slots=True)
class PanelArrival:
    """Somebody who came from a panel, and the page to go to. In a *preview* (Mechanical Turk) there is nobody yet."""

    place: str
    actor: Actor | None = None
    session: StartedSession | None = None
    preview: bool = False


@dataclass(frozen=True, slots=True)
class Completion:
    """How to send somebody back: a code to show, and an address to go to, or to post *fields* to."""

    code: str
    url: str
    method: str = "GET"
    fields: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class PanelIds:
    """What a panel calls somebody, the study and the session that they come from."""

    person: str
    study: str
    session: str
    submit_to: str = ""


def shown_round(db: Session, actor: Actor, info: RoundInfo, base_url: str) -> Round:
    """Give a round as *actor* may read it; with the address that a panel sends people to, for its owners."""
    shown = replace(info, spec=spec_for(db, actor, info))
    return shown.record(entry_url(shown, base_url) if shown.spec.entry else None)


def entry_url(info: RoundInfo, base_url: str) -> str:
    """Give the address that a panel sends people to, with its own places for ids."""
    if info.spec.entry is None:
        raise Conflict("Round {ref} has no [entry].", ref=info.ref, remedy="Add one that names the provider.")
    return address_for(info.spec.entry, info.entry_key, base_url)


def address_for(entry: Entry, key: str, base_url: str) -> str:
    """Give the address of the door with this key, with the panel's places for ids."""
    address = f"{base_url.rstrip('/')}/enter/{key}"
    if entry.provider == "prolific":
        ids = "PROLIFIC_PID={{%PROLIFIC_PID%}}&STUDY_ID={{%STUDY_ID%}}&SESSION_ID={{%SESSION_ID%}}"
        return f"{address}?{ids}"
    return f"{address}?{entry.id_parameter}=…" if entry.provider == "panel" else address


def enter(
    db: Session, key: str, parameters: Mapping[str, str], *, user_agent: str = "", language: str = "en"
) -> PanelArrival:
    """Let somebody in who came by the round's entry address with the panel's *parameters*; a new one has *language*."""
    info, entry = _round(db, key)
    if entry.provider == "mturk" and parameters.get("assignmentId") == PREVIEW:
        return PanelArrival(_page(info), preview=True)
    ids = panel_ids(entry, parameters)
    closed = info.closed_because(now())
    if closed:
        raise Conflict(
            closed, remedy="Return to the panel; nothing is owed and nothing is lost.", code="round_not_open"
        )
    with transaction(db):
        user = let_in(db, entry, ids, info.task, info.task_id, language)
        if queries.visit(db, info.id, user.id, ids.study, ids.session) is None:
            db.add(
                PanelVisit(
                    round_id=info.id,
                    user_id=user.id,
                    provider=entry.provider,
                    study=ids.study,
                    outside_session=ids.session,
                    submit_to=ids.submit_to,
                )
            )
        db.flush()
        actor = actor_of(db, user)
        audit.record(db, actor, "panel.enter", info.ref, provider=entry.provider)
    return PanelArrival(_page(info), actor, start_session(db, actor, user_agent=user_agent))


def complete(db: Session, actor: Actor, ref: str) -> Completion:
    """Give somebody who came from a panel, and has ended a session since, what they need to go back and be paid."""
    user_id = require_user(actor)
    with transaction(db):
        info = get_round(db, actor, ref)
        found = queries.newest_visit(db, info.id, user_id)
        if found is None or info.spec.entry is None:
            raise NotFound("You did not come to this round from a panel.")
        visit, outside_id = found
        if not round_queries.ended_since(db, info.id, user_id, visit.arrived_at):
            raise Conflict("There is no finished session yet.", remedy="Finish or give up the one you have begun.")
        if visit.completed_at is None:
            visit.completed_at = now()
            audit.record(db, actor, "panel.complete", ref, provider=visit.provider)
        return way_back(info.spec.entry, visit, outside_id)


def _page(info: RoundInfo) -> str:
    return f"/tasks/{info.task}/rounds/{info.number}/write"


def _round(db: Session, key: str) -> tuple[RoundInfo, Entry]:
    place = round_queries.by_entry_key(db, key) if "\x00" not in key else None
    info = get_round(db, OPERATOR, f"{place[0]}/{place[1]}") if place else None
    if info is None or info.spec.entry is None:
        raise NotFound("This address leads nowhere.", remedy="Check the link in the panel's study.")
    return info, info.spec.entry


def panel_ids(entry: Entry, parameters: Mapping[str, str]) -> PanelIds:
    """Read the panel's ids of whoever comes, or say which are missing."""
    names = {
        "prolific": ("PROLIFIC_PID", "STUDY_ID", "SESSION_ID"),
        "mturk": ("workerId", "hitId", "assignmentId"),
        "panel": (entry.id_parameter, "", ""),
    }[entry.provider]
    needed = [name for name in names if name]
    faults = [
        Fault("is missing or is no id", field=name)
        for name in needed
        if not 0 < len(parameters.get(name, "")) <= MAX_ID or not parameters[name].isprintable()
    ]
    if faults:
        raise BadInput(faults=faults, remedy="Check the link in the panel's study.")
    person, study, session = (parameters.get(name, "") if name else "" for name in names)
    if entry.study and study and study != entry.study:
        raise Forbidden(
            "This address is not for study '{study}'.", study=study, remedy="Check the link in the panel's study."
        )
    submit_to = _checked(entry, parameters.get("turkSubmitTo", "")) if entry.provider == "mturk" else ""
    return PanelIds(person, study, session, submit_to)


def _checked(entry: Entry, address: str) -> str:
    """Refuse to send people, and what they did, to a place that nobody named."""
    parts = urlsplit(address)
    allowed = {*TURK_HOSTS, urlsplit(entry.completion_url).netloc}
    if parts.scheme != "https" or parts.netloc not in allowed or len(address) > 400:
        raise BadInput(
            faults=[Fault("'{address}' is not an address of the panel", address=address[:80], field="turkSubmitTo")],
            remedy="Name its server in completion_url, if it is another one.",
        )
    return address


def let_in(db: Session, entry: Entry, ids: PanelIds, task: str, task_id: int, language: str) -> User:
    """Find or make the account of somebody from a panel, who may work on the task; inside the caller's transaction."""
    lock(db, f"panel {entry.provider}:{ids.person}")
    user = queries.person(db, entry.provider, ids.person) or _add_person(db, entry, ids.person, language)
    if not actor_of(db, user).has(RoleName.WORKER, task):
        db.add(RoleGrant(user_id=user.id, role=RoleName.WORKER.value, task_id=task_id))
        db.flush()
    return user


def _add_person(db: Session, entry: Entry, outside_id: str, language: str) -> User:
    user = User(name=f"p-{secrets.token_hex(6)}", language=language)
    db.add(user)
    db.flush()
    db.add(PanelPerson(user_id=user.id, provider=entry.provider, outside_id=outside_id))
    return user


def way_back(entry: Entry, visit: PanelVisit | PanelStay, outside_id: str) -> Completion:
    """Give what somebody needs to go back to the panel and be paid there."""
    if entry.provider == "mturk":
        address = f"{visit.submit_to.rstrip('/')}/mturk/externalSubmit"
        fields = {"assignmentId": visit.outside_session, "done": "yes"}
        return Completion(entry.completion_code, address, "POST", fields)
    pattern = entry.completion_url or (PROLIFIC_DONE if entry.provider == "prolific" else "")
    values = {"id": outside_id, "code": entry.completion_code, "session": visit.outside_session}
    for name, value in values.items():
        pattern = pattern.replace(f"{{{name}}}", quote(value, safe=""))
    return Completion(entry.completion_code, pattern)
