"""What a worker does before writing: agree, accept the warning, pass the quizzes, qualify; or opt out."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sqlalchemy.orm import Session

from quintain.core.errors import BadInput, Conflict, Forbidden
from quintain.core.hashing import content_id
from quintain.core.people import Actor
from quintain.core.records.collect import Readiness
from quintain.core.rounds import RoundSpec
from quintain.core.texts import joined
from quintain.services.access.permissions import require_user
from quintain.services.collect.rounds.manage import RoundInfo, get_round
from quintain.services.collect.writing.end_session import end_session
from quintain.services.tasks.definitions import get_task
from quintain.services.work.qualify import eligibility
from quintain.store.base import now
from quintain.store.database import lock, transaction
from quintain.store.queries.collect import rounds as queries
from quintain.store.tables import RoundChoice


def readiness(db: Session, actor: Actor, ref: str) -> Readiness:
    """Return what the actor has to do before writing in a round: consent, accept the warning, pass quizzes, qualify."""
    return readiness_in(db, actor, get_round(db, actor, ref))


def readiness_in(db: Session, actor: Actor, info: RoundInfo) -> Readiness:
    """Return the same for a round that is at hand."""
    user_id = require_user(actor)
    spec = info.spec
    chosen = queries.choices(db, info.id, user_id)
    rules = rules_of(spec)
    reasons = eligibility(db, user_id, rules, task=info.task, task_id=info.task_id) if rules else []
    out, back = chosen.get("opt_out"), chosen.get("opt_in")
    closed = info.closed_because(now())
    consent = bool(spec.consent) and not _agreed(chosen, "consent", spec.consent)
    text = warning_of(db, info)
    warning = bool(text) and not _agreed(chosen, "warning", text)
    opted_out = out is not None and (back is None or back.id < out.id)
    asked = zip(spec.quizzes, reasons[: len(spec.quizzes)], strict=True)
    return Readiness(
        ready=all(reason.ok for reason in reasons) and not (closed or consent or warning or opted_out),
        closed=closed,
        needs_consent=consent,
        needs_warning=warning,
        opted_out=opted_out,
        quizzes=tuple(name for name, reason in asked if not reason.ok),
        reasons=tuple(reasons),
    )


def record_choice(db: Session, actor: Actor, ref: str, kind: str) -> Readiness:
    """Take down a choice in a round: `consent`, `warning` (read and accepted), `opt_out` or `opt_in`.

    Who opts out ends the session that they have begun; what they did in it is paid.
    """
    user_id = require_user(actor)
    if kind not in {"consent", "warning", "opt_out", "opt_in"}:
        raise BadInput("'{kind}' is not a choice.", kind=kind, remedy="There are consent, warning, opt_out and opt_in.")
    with transaction(db):
        info = get_round(db, actor, ref)
        text = {"consent": info.spec.consent, "warning": warning_of(db, info)}.get(kind, "")
        db.add(RoundChoice(round_id=info.id, user_id=user_id, kind=kind, text_hash=content_id(text)))
        lock(db, f"writer {info.id}:{user_id}")
        session = queries.open_session(db, info.id, user_id) if kind == "opt_out" else None
        if session is not None:
            end_session(db, info, session, "given_up")
        db.flush()
    return readiness(db, actor, ref)


def warning_of(db: Session, info: RoundInfo) -> str:
    """Return what writers of a round are warned of: what its task says of its content, in each language, and the round.

    Who has agreed has agreed to these words.
    """
    task = get_task(db, info.task)
    return "\n\n".join(text for text in (*task.content_warning.values(), info.spec.content_warning) if text)


def rules_of(spec: RoundSpec) -> list[Mapping[str, Any]]:
    """List every rule that a writer of a round must meet: its quizzes first, then its qualifications."""
    return [*({"rule": "quiz", "name": name} for name in spec.quizzes), *spec.qualifications]


def _agreed(chosen: Mapping[str, RoundChoice], kind: str, text: str) -> bool:
    return kind in chosen and chosen[kind].text_hash == content_id(text)


def require_agreed(ready: Readiness) -> None:
    """Refuse somebody to whom the round is closed, who opted out of it, or who has not read what comes first."""
    if ready.closed:
        raise Conflict(ready.closed, remedy="See which other rounds are open.", code="round_not_open")
    if ready.opted_out:
        raise Conflict(
            "You have opted out of this round.", remedy="Opt in again if you wish to write.", code="opted_out"
        )
    if ready.needs_consent or ready.needs_warning:
        raise Forbidden(
            "Read the consent of this round first, and say whether you agree."
            if ready.needs_consent
            else "Read the content warning of this round first, and say whether you agree.",
            code="consent_needed",
        )


def require_ready(ready: Readiness) -> None:
    """Refuse somebody who may not begin, and say why."""
    require_agreed(ready)
    missing = [reason.text for reason in ready.reasons if not reason.ok]
    if missing:
        raise Forbidden("You cannot do this work yet. {missing}", missing=joined(missing), code="not_qualified")
