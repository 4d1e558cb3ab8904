"""The door for people from panels: in by an address with the panel's ids, out with a completion code."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlsplit

from starlette.responses import Response

from quintain.core.rounds import Money
from quintain.services.access.sign_in import LONGEST
from quintain.services.collect.panels import entry
from quintain.services.collect.panels.admission import Visitor
from quintain.services.collect.panels.entry_codes import NAMES
from quintain.services.collect.panels.panel_ids import TURK_HOSTS
from quintain.services.collect.rounds.manage import RoundInfo
from quintain.services.pay import earnings
from quintain.services.trial import panel_entry as trial_entry
from quintain.services.validate.judging import panel_entry
from quintain.web.middleware import CONTENT_SECURITY_POLICY
from quintain.web.visit import CSRF_COOKIE, PANEL_COOKIE, SESSION_COOKIE, Posting, Visit, Visiting


def arrive(visit: Visiting, key: str) -> Response:
    """Let somebody in, unless they are signed in as somebody else or look at us through a frame."""
    if visit.request.headers.get("sec-fetch-dest") == "iframe":
        headers = {"content-security-policy": _framed_by(TURK_HOSTS)}
        return visit.render("trial/entry.html", headers=headers, why="framed", target=str(visit.request.url))
    if visit.signed_in and not visit.actor.name.startswith(NAMES):
        return visit.render("trial/entry.html", why="signed in", target=_here(visit))
    return _enter(visit, key)


def arrive_anyway(post: Posting, key: str) -> Response:
    """Let somebody in who was signed in as somebody else, or shows by a code who they are; or do what they ask for."""
    return _enter(post.visit, key, code=post.text("code"), ask=post.text("ask"), sure=True)


def complete(visit: Visiting, task: str, number: int) -> Response:
    """Show the completion code, and the way back, to who has written."""
    return _done(visit, entry.complete(visit.db, visit.actor, f"{task}/{number}"))


def complete_judging(visit: Visiting, task: str, name: str) -> Response:
    """Show the completion code, and the way back, to who has judged."""
    return _done(visit, panel_entry.complete(visit.db, visit.actor, f"{task}/{name}"))


def complete_trial(visit: Visiting, task: str, trial: str) -> Response:
    """Show the completion code, and the way back, to who has done something in a trial."""
    return _done(visit, trial_entry.complete(visit.db, visit.actor, task, trial, "trial"))


def complete_grading(visit: Visiting, task: str, trial: str) -> Response:
    """Show the completion code, and the way back, to who has graded."""
    return _done(visit, trial_entry.complete(visit.db, visit.actor, task, trial, "grading"))


def _done(visit: Visit, done: entry.Completion) -> Response:
    host = urlsplit(done.url)
    own = CONTENT_SECURITY_POLICY.replace("form-action 'self'", f"form-action 'self' https://{host.netloc}")
    headers = {"content-security-policy": own} if done.method == "POST" and host.netloc else {}
    return visit.render("trial/entry_done.html", headers=headers, done=done)


def _enter(visit: Visit, key: str, *, code: str = "", ask: str = "", sure: bool = False) -> Response:
    parameters = {name: value for name, value in visit.request.query_params.items() if isinstance(value, str)}
    visitor = Visitor(
        user_agent=visit.request.headers.get("user-agent", ""),
        language=visit.language,
        address=visit.address,
        device=visit.request.cookies.get(PANEL_COOKIE, ""),
        actor=visit.actor,
        code=code,
        ask=ask,
        sure=sure,
        outside=visit.workspace.outside,
        mail=visit.workspace.mail,
    )
    arrival = trial_entry.enter(visit.db, key, parameters, visitor)
    if arrival.device:
        visit.remember(PANEL_COOKIE, arrival.device)
    if arrival.question is not None:
        return visit.render("trial/entry_proof.html", status=401, question=arrival.question, target=_here(visit))
    if arrival.welcome:
        return visit.render("trial/entry.html", why="welcome", target=_here(visit), **_terms(visit, arrival.round))
    if arrival.session is None:
        return visit.render("trial/entry.html", why="preview", target="")
    visit.remember(SESSION_COOKIE, arrival.session.token, int(LONGEST.total_seconds()))
    visit.forget(CSRF_COOKIE)
    return visit.redirect(arrival.place)


def _terms(visit: Visit, info: RoundInfo | None) -> dict[str, Any]:
    """Return what a round takes and pays, for who is asked whether they take part."""
    if info is None:
        return {}
    bonus = Money(info.spec.reward.bonus, info.spec.reward.currency)
    return {"spec": info.spec, "wage": earnings.wage(visit.db, info.id, info.spec), "bonus": bonus}


def _here(visit: Visit) -> str:
    return f"{visit.request.url.path}?{visit.request.url.query}"


def _framed_by(hosts: tuple[str, ...]) -> str:
    return CONTENT_SECURITY_POLICY.replace(
        "frame-ancestors 'none'", f"frame-ancestors https://{' https://'.join(hosts)}"
    )
