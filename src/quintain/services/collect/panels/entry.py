"""Workers from elsewhere: they come by an address of ours with the panel's ids in it, and go back with a code.

Four kinds: Prolific (`PROLIFIC_PID`, `STUDY_ID`, `SESSION_ID`), any panel with an entry address and a completion
link, and the ExternalQuestion of Mechanical Turk (`workerId`, `assignmentId`, `hitId`, `turkSubmitTo`), kept for
studies that are to be repeated; and no panel at all, but a link that anybody may have, who are known by their browser.
Each person gets an account under a name that says nothing, which may work on this
task only. What the panel calls them stays in one table and is never exported.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from urllib.parse import quote

from sqlalchemy.orm import Session

from quintain.core.errors import Conflict, NotFound
from quintain.core.people import OPERATOR, Actor
from quintain.core.records.collect import Round
from quintain.core.rounds import Entry
from quintain.services.access import audit
from quintain.services.access.permissions import require_owner, require_user
from quintain.services.collect.panels.admission import Door, PanelArrival, Visitor, admit
from quintain.services.collect.panels.panel_ids import LINK, PanelIds
from quintain.services.collect.rounds.manage import RoundInfo, get_round, put_spec
from quintain.services.collect.rounds.target_names import spec_for
from quintain.store.base import now
from quintain.store.database import transaction
from quintain.store.queries.collect import panels as queries
from quintain.store.queries.collect import rounds as round_queries
from quintain.store.tables import PanelStay, PanelVisit

PROLIFIC_DONE = "https://app.prolific.com/submissions/complete?cc={code}"


@dataclass(frozen=True, slots=True)
class Completion:
    """How to send somebody back: a code to show, and an address to go to, or to post *fields* to."""

    code: str
    url: str
    method: str = "GET"
    fields: Mapping[str, str] = field(default_factory=dict)


def shown_round(db: Session, actor: Actor, info: RoundInfo, base_url: str) -> Round:
    """Return a round as *actor* may read it; for its owners with the address that a panel sends people to."""
    shown = replace(info, spec=spec_for(db, actor, info))
    return shown.record(entry_url(shown, base_url) if shown.spec.entry else None)


def invite_by_link(db: Session, actor: Actor, ref: str, *, on: bool = True) -> RoundInfo:
    """Let whoever has the round's address take part, without an account, or let nobody in by it any more (owners)."""
    info = get_round(db, actor, ref)
    require_owner(actor, info.task)
    if on and info.spec.entry is not None and info.spec.entry.provider != LINK:
        raise Conflict(
            "People come into round {ref} from a panel.", ref=ref, remedy="Change that where the round is edited."
        )
    return put_spec(db, actor, replace(info.spec, entry=Entry(provider=LINK) if on else None))


def entry_url(info: RoundInfo, base_url: str) -> str:
    """Return the address that a panel sends people to, with its own places for ids; refused without an entry."""
    if info.spec.entry is None:
        raise Conflict("Round {ref} has no [entry].", ref=info.ref, remedy="Add one that names the provider.")
    return address_for(info.spec.entry, info.entry_key, base_url)


def address_for(entry: Entry, key: str, base_url: str) -> str:
    """Return the address of the door with this key, with the panel's places for ids."""
    address = f"{base_url.rstrip('/')}/enter/{key}"
    if entry.provider == "prolific":
        ids = "PROLIFIC_PID={{%PROLIFIC_PID%}}&STUDY_ID={{%STUDY_ID%}}&SESSION_ID={{%SESSION_ID%}}"
        return f"{address}?{ids}"
    return f"{address}?{entry.id_parameter}=…" if entry.provider == "panel" else address


def enter(db: Session, key: str, parameters: Mapping[str, str], visitor: Visitor) -> PanelArrival:
    """Let somebody in who came by the round's entry address with the panel's *parameters*."""
    info, entry = _round(db, key)
    door = Door(f"round:{info.id}", entry, _page(info), info.task, info.task_id, info.ref)

    def check() -> None:
        closed = info.closed_because(now())
        if closed:
            raise Conflict(
                closed, remedy="Return to the panel; nothing is owed and nothing is lost.", code="round_not_open"
            )

    def remember(user_id: int, ids: PanelIds) -> None:
        if queries.visit(db, info.id, user_id, ids.study, ids.session) is None:
            db.add(
                PanelVisit(
                    round_id=info.id,
                    user_id=user_id,
                    provider=entry.provider,
                    study=ids.study,
                    outside_session=ids.session,
                    submit_to=ids.submit_to,
                )
            )

    arrival = admit(db, door, parameters, visitor, check, remember)
    return replace(arrival, round=info) if arrival.welcome else arrival


def complete(db: Session, actor: Actor, ref: str) -> Completion:
    """Return what somebody who came from a panel, and has ended a session since, needs to go back and be paid."""
    user_id = require_user(actor)
    with transaction(db):
        info = get_round(db, actor, ref)
        newest = queries.newest_visit(db, info.id, user_id)
        if newest is None or info.spec.entry is None:
            raise NotFound("You did not come to this round from a panel.")
        visit, outside_id = newest
        if not round_queries.ended_since(db, info.id, user_id, visit.arrived_at):
            raise Conflict("There is no finished session yet.", remedy="Finish or give up the one you have begun.")
        if visit.completed_at is None:
            visit.completed_at = now()
            audit.record(db, actor, "panel.complete", ref, provider=visit.provider)
        return completion_of(info.spec.entry, visit, outside_id)


def _page(info: RoundInfo) -> str:
    return f"/tasks/{info.task}/rounds/{info.number}/write"


def _round(db: Session, key: str) -> tuple[RoundInfo, Entry]:
    task_and_number = round_queries.by_entry_key(db, key) if "\x00" not in key else None
    info = get_round(db, OPERATOR, f"{task_and_number[0]}/{task_and_number[1]}") if task_and_number else None
    if info is None or info.spec.entry is None:
        raise NotFound("This address leads nowhere.", remedy="Check the link in the panel's study.")
    return info, info.spec.entry


def completion_of(entry: Entry, visit: PanelVisit | PanelStay, outside_id: str) -> Completion:
    """Return what somebody needs to go back to the panel and be paid there."""
    if entry.provider == "mturk":
        address = f"{visit.submit_to.rstrip('/')}/mturk/externalSubmit"
        fields = {"assignmentId": visit.outside_session, "done": "yes"}
        return Completion(entry.completion_code, address, "POST", fields)
    pattern = entry.completion_url or (PROLIFIC_DONE if entry.provider == "prolific" else "")
    values = {"id": outside_id, "code": entry.completion_code, "session": visit.outside_session}
    for name, value in values.items():
        pattern = pattern.replace(f"{{{name}}}", quote(value, safe=""))
    return Completion(entry.completion_code, pattern)
