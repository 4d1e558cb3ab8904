"""One call by a program: who it acts for, and what it may touch.

A program shows an API token (`Authorization: Bearer qt_…`). A page of our own may call with its session, and then has
to send the CSRF token, as forms do, wherever the call changes something.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Annotated

from fastapi import Depends, Request
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer
from sqlalchemy.orm import Session

from quintain.compose import Workspace
from quintain.core.errors import QuintainError
from quintain.core.people import ANONYMOUS, Actor, Scope
from quintain.services.access import sign_in as sessions
from quintain.services.access import tokens
from quintain.services.access.permissions import may_send_files
from quintain.store.blobs import Blobs
from quintain.web.peers import peer_of
from quintain.web.visit import SESSION_COOKIE, Opened, PendingRequest, check_csrf, make_visit, workspace_of

SAFE = frozenset({"GET", "HEAD", "OPTIONS"})
bearer = HTTPBearer(auto_error=False, description="An API token, made on the account page. It begins with `qt_`.")


@dataclass(frozen=True, slots=True)
class Call:
    """A call with everything that is needed to answer it."""

    request: Request
    workspace: Workspace
    db: Session
    actor: Actor

    @property
    def blobs(self) -> Blobs:
        """The workspace's blobs."""
        return self.workspace.blobs

    @property
    def address(self) -> str:
        """Where the call came from, for limits."""
        return peer_of(self.request, self.workspace.settings.trusted_proxies)

    @property
    def base_url(self) -> str:
        """The address that whoever asks uses for this application. Only they may see it: a request can name any."""
        return self.workspace.settings.public_url or str(self.request.base_url).rstrip("/")


@dataclass(frozen=True, slots=True)
class CallArrival(PendingRequest):
    """A call that has come in, with the token that it shows, if it does."""

    request: Request
    db: Session
    credentials: HTTPAuthorizationCredentials | None

    def open(self) -> Call:
        """Find out for whom the program asks."""
        if self.credentials is not None:
            actor = tokens.actor_for_token(self.db, self.credentials.credentials)
        else:
            visit = make_visit(self.request, self.db)
            actor = visit.actor
            if visit.signed_in and self.request.method not in SAFE:
                check_csrf(visit, "")
        return Call(self.request, workspace_of(self.request), self.db, actor)


async def arrive_at_call(
    request: Request, credentials: Annotated[HTTPAuthorizationCredentials | None, Depends(bearer)]
) -> AsyncIterator[CallArrival]:
    """Take a call in, with a database session for as long as it lasts; `open_request` opens it."""
    with workspace_of(request).session() as db:
        yield CallArrival(request, db, credentials)


def may_send(request: Request) -> bool:
    """Whether a request comes from somebody who may send files, before anything of its body is read."""
    with workspace_of(request).session() as db:
        try:
            return _may_send(actor_of(request, db))
        except QuintainError:
            return False


def actor_of(request: Request, db: Session) -> Actor:
    """Return for whom a request asks, by its session or its token, before anything of its body is read."""
    cookie = request.cookies.get(SESSION_COOKIE)
    session = sessions.open_session(db, cookie) if cookie else None
    if session is not None:
        return session.actor
    scheme, _, token = request.headers.get("authorization", "").partition(" ")
    return tokens.actor_for_token(db, token) if scheme.lower() == "bearer" else ANONYMOUS


def _may_send(actor: Actor) -> bool:
    return may_send_files(actor) and any(actor.may(scope) for scope in (Scope.WORK, Scope.BUILD, Scope.OWN))


Calling = Annotated[Call, Opened(by=arrive_at_call)]
