"""What every route asks before its page or endpoint is asked: who is there, and whether JSON is within bounds.

Whoever is nobody hears that first, whatever else is wrong with what they sent: no refusal tells them more.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Coroutine, Sequence
from typing import Any

from fastapi import Request
from fastapi.exceptions import RequestValidationError
from fastapi.routing import APIRoute
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.responses import Response

from quintain.core.jsontext import NotJson, parse_json
from quintain.core.people import ANONYMOUS, Scope
from quintain.services.access.permissions import require_signed_in
from quintain.web.api.call import SAFE, actor_of
from quintain.web.visit import SESSION_COOKIE, workspace_of

Handler = Callable[[Request], Coroutine[Any, Any, Response]]


class BoundedRequest(Request):
    """A request whose JSON is read within bounds of depth and digits."""

    async def json(self) -> Any:
        """Return what the body holds as JSON; what is none, or out of bounds, is refused as the framework does."""
        if not hasattr(self, "_json"):
            body = await self.body()
            try:
                self._json = parse_json(body)
            except NotJson as error:
                raise json.JSONDecodeError(error.reason, body.decode("utf-8", "replace"), 0) from error
        return self._json


class OpenRoute(APIRoute):
    """A route that anybody may take, signed in or not."""

    def get_route_handler(self) -> Handler:
        """Return the function that answers a request."""
        answer = super().get_route_handler()

        async def handle(request: Request) -> Response:
            return await answer(BoundedRequest(request.scope, request.receive))

        return handle


class SignedInRoute(OpenRoute):
    """A route for people who are signed in: nobody else is told anything but that."""

    def get_route_handler(self) -> Handler:
        """Return the function that answers a request."""
        answer = super().get_route_handler()

        async def handle(request: Request) -> Response:
            if SESSION_COOKIE not in request.cookies and "authorization" not in request.headers:
                require_signed_in(ANONYMOUS)
            try:
                return await answer(request)
            except (RequestValidationError, HTTPException) as error:
                # Nobody has looked yet whether the cookie or the token is somebody's.
                if isinstance(error, HTTPException) and error.status_code == 413:
                    raise
                await run_in_threadpool(_require_known, request)
                raise

        return handle


def _require_known(request: Request) -> None:
    """Refuse those whom neither their session nor their token shows to be somebody."""
    with workspace_of(request).session() as db:
        require_signed_in(actor_of(request, db))


def route_class(method: str, scopes: Sequence[Scope], *, anybody: bool) -> type[APIRoute]:
    """Return the kind of route that *method* needs: what changes something is for people who are signed in.

    So is what takes more of a session or a token than that its person may look at things.
    """
    looks = method in SAFE and set(scopes) <= {Scope.READ}
    return OpenRoute if anybody or looks else SignedInRoute


__all__ = ["BoundedRequest", "OpenRoute", "SignedInRoute", "route_class"]
