"""One rule for every door: who comes by a panel's link, and what they have to show.

A panel's id is a claim: it stands in an address that others may know. The first visit with an id opens an account. Who
comes again shows that they are the same: by the browser that they came by before; by a link that the panel signs with
the owner's key; by a submission that the panel confirms; else by a code, from their mail or from an owner of the task,
or because an owner lets them in. A session that begins here is good for work on the task and no more, unless they have
shown who they are by something other than the browser.
"""

from __future__ import annotations

import hashlib
import hmac
import logging
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum

from sqlalchemy.orm import Session

from quintain.adapters.contract import Outside
from quintain.adapters.panels.contract import Declined
from quintain.core.errors import BadInput, Fault, Forbidden, QuintainError
from quintain.core.people import EVERYTHING, Actor, RoleName, Scope
from quintain.core.rounds import Entry
from quintain.services.access import audit, throttle
from quintain.services.access.actors import actor_of
from quintain.services.access.installation_keys import installation_key
from quintain.services.access.mail import Mail
from quintain.services.access.passwords import fingerprint, new_secret
from quintain.services.access.scopes import WORKING
from quintain.services.access.sign_in import StartedSession, limited, start_session
from quintain.services.collect.panels import entry_codes
from quintain.services.collect.panels.entry_codes import EntryCodeForm
from quintain.services.collect.panels.panel_ids import LINK, PREVIEW, PanelIds, panel_ids
from quintain.services.collect.rounds.manage import RoundInfo
from quintain.services.pay.policy import policy_of
from quintain.services.pay.providers import prolific_of
from quintain.store.base import now
from quintain.store.database import lock, transaction
from quintain.store.queries.access import people
from quintain.store.queries.collect import guests
from quintain.store.queries.collect import panels as queries
from quintain.store.queries.pay import held
from quintain.store.tables import PanelDevice, PanelPerson, RoleGrant, User

PROLIFIC = "prolific"
PROLIFIC_ID = re.compile(r"[0-9a-f]{24}")  # small letters only: another spelling would be another account
AT_WORK = frozenset({"ACTIVE", "RESERVED"})  # what a submission says of somebody who takes part now
TOOK_PART = AT_WORK | {"AWAITING REVIEW", "APPROVED", "PARTIALLY APPROVED", "SCREENED OUT"}
NEW_PER_HOUR = 300  # new ids from one address: a lecture hall is that many people, a script is more
NEW_PER_DAY = 60  # new ids by one browser: a machine in a laboratory
CODES_PER_HOUR = 10  # that are typed for one person from one address
CODES_FOR_ONE = 200  # that are typed for one person from everywhere
log = logging.getLogger(__name__)


class Proof(StrEnum):
    """How somebody at a door has shown who they are; `new` is the first visit with an id, which shows nothing yet."""

    NEW = "new"
    DEVICE = "device"
    LINK = "link"
    PANEL = "panel"
    MAIL = "mail"
    OWNER = "owner"


@dataclass(frozen=True, slots=True)
class Door:
    """A *place* that a panel sends people to: the *page* there, how they come and go, and of which task it is."""

    place: str
    entry: Entry
    page: str
    task: str
    task_id: int
    ref: str


@dataclass(frozen=True, slots=True)
class Visitor:
    """What is known of a browser at a door: its cookie (*device*), who is signed in there, and what they typed.

    *ask* is `mail` or `owner` where they want a code, or to be let in. *sure* says that they have said that they take
    part: what only looks at an address, as programs that show previews of links do, makes no account.
    """

    user_agent: str = ""
    language: str = "en"
    address: str = ""
    device: str = field(default="", repr=False)
    actor: Actor | None = None
    code: str = field(default="", repr=False)
    ask: str = ""
    sure: bool = False
    outside: Outside = field(default_factory=Outside)
    mail: Mail = field(default_factory=Mail)


@dataclass(frozen=True, slots=True)
class PanelArrival:
    """Somebody who came from a panel, and the page to go to. In a *preview* (Mechanical Turk) there is nobody yet.

    *device* is what the browser keeps, to be known by again. With a *question* they have to show first who they are.
    With *welcome* they are asked first whether they take part, in *round* where it is one.
    """

    place: str
    actor: Actor | None = None
    session: StartedSession | None = None
    preview: bool = False
    welcome: bool = False
    device: str = field(default="", repr=False)
    question: EntryCodeForm | None = None
    round: RoundInfo | None = None


@dataclass(frozen=True, slots=True)
class DoorEvidence:
    """What speaks for somebody before anything is written: a signed link, the panel's word (None: it says nothing)."""

    signed: bool
    panel: bool | None
    device: str


@dataclass(frozen=True, slots=True)
class Admission:
    """Who stands at a door, what they have shown (None: nothing), and whether they may do more than work."""

    user: User
    proof: Proof | None
    full: bool = False


def admit(
    db: Session,
    door: Door,
    parameters: Mapping[str, str],
    visitor: Visitor,
    check: Callable[[], None],
    remember: Callable[[int, PanelIds], None],
) -> PanelArrival:
    """Let somebody in who came by a door with the panel's *parameters*, unless *check* refuses; *remember* notes it."""
    if door.entry.provider == "mturk" and parameters.get("assignmentId") == PREVIEW:
        return PanelArrival(door.page, preview=True)
    check()
    if door.entry.provider == LINK:
        if not visitor.sure and not _is_known(db, visitor):
            return PanelArrival(door.page, welcome=True)
        visitor = replace(visitor, device=visitor.device or new_secret())
    ids = panel_ids(door.entry, parameters, fingerprint(visitor.device) if visitor.device else "")
    evidence = _gather(db, door, ids, parameters, visitor)
    with transaction(db):
        admission = _admit(db, door, ids, evidence, visitor)
        user = admission.user
        actor = actor_of(db, user)
        if admission.proof is not None:
            remember(user.id, ids)
            db.flush()
            if admission.proof is Proof.NEW:
                entry_codes.report_shared_addresses(db, door.task, door.task_id, user.id)
            audit.record(db, actor, "panel.enter", door.ref, provider=door.entry.provider, proof=admission.proof.value)
    if admission.proof is None:
        question = entry_codes.ask(db, door.task, door.task_id, user.id, fingerprint(evidence.device), visitor)
        return PanelArrival(door.page, device=evidence.device, question=question)
    scopes = EVERYTHING if admission.full else WORKING
    task_id = None if admission.full else door.task_id
    browser, language = visitor.user_agent, visitor.language
    session = start_session(db, actor, user_agent=browser, scopes=scopes, task_id=task_id, language=language)
    shown = actor if admission.full else limited(actor, WORKING, door.task)
    return PanelArrival(door.page, shown, session, device=evidence.device)


def _is_known(db: Session, visitor: Visitor) -> bool:
    """Whether somebody has come by a link from this browser before."""
    return bool(visitor.device) and queries.person(db, LINK, fingerprint(visitor.device)) is not None


def signing_key(db: Session, task_id: int) -> str:
    """Return the key by which a panel signs its links to a task."""
    key = installation_key(db, "panel links")
    return hmac.new(key, f"task:{task_id}".encode(), hashlib.sha256).hexdigest()


def sign_ids(key: str, ids: PanelIds) -> str:
    """Sign the ids in a link: HMAC-SHA256 over person, study and session, a line each, in hexadecimal digits."""
    content = "\n".join((ids.person, ids.study, ids.session))
    return hmac.new(key.encode(), content.encode(), hashlib.sha256).hexdigest()


def source_of(db: Session, address: str) -> str:
    """Return what is kept of an address, by which people who come from the same one are seen: it leads nowhere back."""
    if not address:
        return ""
    return hmac.new(installation_key(db, "panel sources"), address.encode(), hashlib.sha256).hexdigest()[:32]


def _gather(db: Session, door: Door, ids: PanelIds, parameters: Mapping[str, str], visitor: Visitor) -> DoorEvidence:
    """Look at what somebody brings along; refuse what cannot be true, and floods of new ids."""
    signed = _is_signed(db, door, ids, parameters)
    device = visitor.device or new_secret()
    known = queries.person(db, door.entry.provider, ids.person)
    if known is None:
        _check_form(door.entry, ids)
        if visitor.address:
            throttle.hit(db, f"door:address:{visitor.address}", NEW_PER_HOUR, 3600)
        throttle.hit(db, f"door:device:{fingerprint(device)}", NEW_PER_DAY, 86400)
    elif visitor.code:
        throttle.hit(db, f"door:code:{known.id}:{visitor.address}", CODES_PER_HOUR, 3600)
        throttle.hit(db, f"door:codes:{known.id}", CODES_FOR_ONE, 3600)
    browser = guests.device(db, known.id, fingerprint(device)) if known else None
    if browser is not None and not guests.is_unconfirmed(db, browser.user_id):
        return DoorEvidence(signed, None, device)
    word = _panels_word(db, door, ids, visitor.outside, returning=known is not None)
    if word is False and browser is None:
        raise Forbidden(
            "Prolific knows no submission by which you take part.",
            remedy="Begin the study on Prolific, and come by its link.",
            code="no_submission",
        )
    return DoorEvidence(signed, word, device)


def _check_form(entry: Entry, ids: PanelIds) -> None:
    if entry.provider == PROLIFIC and not PROLIFIC_ID.fullmatch(ids.person):
        fault = Fault("is no id of Prolific’s: that is 24 digits from 0 to f", field="PROLIFIC_PID")
        raise BadInput(faults=[fault], remedy="Check the link in the panel's study.")


def _is_signed(db: Session, door: Door, ids: PanelIds, parameters: Mapping[str, str]) -> bool:
    signature = parameters.get("signature", "")
    if door.entry.provider == LINK or not (signature or door.entry.signed):
        return False
    right = sign_ids(signing_key(db, door.task_id), ids)
    if not hmac.compare_digest(signature.encode(errors="replace"), right.encode()):
        raise Forbidden(
            "The signature of this link is wrong."
            if signature
            else "The panel signs its links here, and this one is not.",
            remedy="Come by the panel's own link.",
            code="link_not_signed",
        )
    return True


def _panels_word(db: Session, door: Door, ids: PanelIds, outside: Outside, *, returning: bool) -> bool | None:
    """Ask the panel whether somebody takes part by this submission; None where it cannot be asked, or is silent."""
    spec = policy_of(db, door.task_id).prolific if door.entry.provider == PROLIFIC else None
    if spec is None or spec.secret not in outside.secrets:
        return None
    try:
        with prolific_of(db, door.task_id, door.task, outside) as prolific:
            submission = prolific.submission(ids.session)
    except Declined as error:
        return False if error.status == 404 else None
    except QuintainError as error:
        log.warning("Prolific was not heard about a submission: %s", error)
        return None
    states = AT_WORK if returning else TOOK_PART
    return (
        str(submission.get("participant_id")) == ids.person
        and str(submission.get("study_id")) == ids.study
        and str(submission.get("status")) in states
    )


def _admit(db: Session, door: Door, ids: PanelIds, evidence: DoorEvidence, visitor: Visitor) -> Admission:
    """Find or make the account, and say what was shown for it; inside the caller's transaction."""
    provider = door.entry.provider
    lock(db, f"panel {provider}:{ids.person}")
    user = queries.person(db, provider, ids.person)
    new = user is None
    if user is None:
        user = _add_person(db, provider, ids.person, visitor)
    proof, full = _shown(db, door, user, evidence, visitor, new=new)
    if proof is None:
        return Admission(user, None)
    if proof in (Proof.PANEL, Proof.LINK):
        if guests.is_unconfirmed(db, user.id):  # whoever came first by this id may have been somebody else
            guests.forget_devices(db, user.id, keep=fingerprint(evidence.device))
            people.end_sessions(db, user.id)
        held.confirm(db, provider, [user.id], proof.value, now())
    _keep_device(db, user.id, fingerprint(evidence.device), proven=full)
    if not actor_of(db, user).has(RoleName.WORKER, door.task):
        db.add(RoleGrant(user_id=user.id, role=RoleName.WORKER.value, task_id=door.task_id))
        db.flush()
    return Admission(user, proof, full)


def _shown(
    db: Session, door: Door, user: User, evidence: DoorEvidence, visitor: Visitor, *, new: bool
) -> tuple[Proof | None, bool]:
    """Return by what somebody has shown who they are, the strongest first, and whether that is enough for all.

    What an owner says, or signs, is enough where the account belongs to their task alone.
    """
    alone = not guests.grants_elsewhere(db, user.id, door.task_id)
    if evidence.panel:
        return Proof.PANEL, True
    if evidence.signed:
        return Proof.LINK, alone
    if new:
        return Proof.NEW, False
    device = fingerprint(evidence.device)
    browser = guests.device(db, user.id, device)
    way = entry_codes.use(db, door.task_id, user.id, device, visitor.code)
    if way is not None:
        return Proof(way), alone or way == Proof.MAIL
    if visitor.actor is not None and visitor.actor.user_id == user.id:
        return Proof.DEVICE, visitor.actor.may(Scope.ACCOUNT)
    return (None, False) if browser is None else (Proof.DEVICE, browser.proven)


def _add_person(db: Session, provider: str, outside_id: str, visitor: Visitor) -> User:
    user = User(name=entry_codes.new_name(), language=visitor.language)
    db.add(user)
    db.flush()
    source = source_of(db, visitor.address)
    db.add(PanelPerson(user_id=user.id, provider=provider, outside_id=outside_id, source=source))
    db.flush()
    return user


def _keep_device(db: Session, user_id: int, device: str, *, proven: bool) -> None:
    row = guests.device(db, user_id, device)
    if row is None:
        db.add(PanelDevice(device=device, user_id=user_id, proven=proven))
        db.flush()
    elif proven:
        row.proven = True
