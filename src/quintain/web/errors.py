"""What people and programs are told when something goes wrong: the right status, the cause, what to do."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from http import HTTPStatus
from typing import Any
from urllib.parse import urlsplit

from fastapi import Request
from fastapi.exceptions import RequestValidationError
from sqlalchemy.exc import OperationalError
from sqlalchemy.exc import TimeoutError as NoConnection
from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse, RedirectResponse, Response

from quintain.core.errors import (
    BadInput,
    Conflict,
    Fault,
    Forbidden,
    NotFound,
    NotSignedIn,
    OutOfOrder,
    QuintainError,
    Stale,
    TooMany,
    Unavailable,
    Unreadable,
)
from quintain.core.texts import Text
from quintain.store.database import RETRY_S
from quintain.web.conflicts import conflict_page
from quintain.web.error_text import error_text
from quintain.web.i18n import Tongue
from quintain.web.visit import render_error

log = logging.getLogger("quintain.web")

STATUS: dict[type[QuintainError], int] = {
    Unreadable: 400,
    BadInput: 422,
    NotFound: 404,
    NotSignedIn: 401,
    Forbidden: 403,
    Conflict: 409,
    Stale: 409,
    TooMany: 429,
    Unavailable: 503,
}


@dataclass(frozen=True, slots=True)
class Trouble:
    """An error in the one shape from which pages and the API answer."""

    status: int
    code: str
    message: str
    remedy: str | None = None
    faults: tuple[Fault, ...] = ()
    total: int = 0
    retry_after: int | None = None
    page: str | None = None

    def as_dict(self) -> dict[str, object]:
        """Return the error as the API documents it."""
        faults = [fault.as_dict() for fault in self.faults]
        return {"error": {"code": self.code, "message": self.message, "remedy": self.remedy, "faults": faults}}


def status_of(error: QuintainError) -> int:
    """Return the HTTP status that says what *error* says."""
    return next((STATUS[kind] for kind in type(error).__mro__ if kind in STATUS), 400)


def trouble_of(error: Exception) -> Trouble:
    """Describe any exception; what is not meant for people stays in the log."""
    match error:
        case QuintainError():
            return _of_ours(error)
        case RequestValidationError():
            return _of_validation(error)
        case HTTPException(status_code=413):
            return Trouble(
                413,
                "too_large",
                Text("What was sent is larger than {size} MiB.", size=error.detail),
                Text("Send less, or import the file on the server with `quintain data import`."),
                page=Text("Send less, or ask the operator to import the file on the server."),
            )
        case HTTPException():
            return Trouble(error.status_code, HTTPStatus(error.status_code).name.lower(), str(error.detail))
        case OperationalError() | NoConnection():
            return Trouble(
                503,
                Unavailable.code,
                Text("The database cannot be reached just now."),
                Text("Try again in a moment."),
                retry_after=RETRY_S,
            )
        case _:
            return Trouble(
                500,
                "internal_error",
                Text("Something broke on the server."),
                Text("It has been logged; the request's id finds it."),
            )


def _of_ours(error: QuintainError) -> Trouble:
    if isinstance(error, OutOfOrder):  # it names a file or an address of ours, which the log has
        return Trouble(503, error.code, error.outside, error.outside_remedy, retry_after=error.retry_after)
    faults = error.faults if isinstance(error, BadInput | Stale) else ()
    total = error.total if isinstance(error, BadInput) else len(faults)
    wait = error.retry_after if isinstance(error, TooMany | Unavailable) else None
    return Trouble(status_of(error), error.code, error.message, error.remedy, faults, total, wait, error.page)


def _of_validation(error: RequestValidationError) -> Trouble:
    """Return which parameter or field is wrong. JSON that cannot be read at all is the sender's bad request."""
    details = error.errors()
    status = 400 if any(item["type"] == "json_invalid" for item in details) else 422
    faults = tuple(
        Fault(_checked(item), field=".".join(str(part) for part in item["loc"][1:]) or str(item["loc"][0]))
        for item in details
    )
    return Trouble(
        status,
        BadInput.code,
        Text("The request is not as this address expects it."),
        Text("See /api/v1/docs."),
        faults,
        len(faults),
    )


_CHECKS = {
    "int_parsing": Text("Input should be a valid integer, unable to parse string as an integer"),
    "float_parsing": Text("Input should be a valid number, unable to parse string as a number"),
    "bool_parsing": Text("Input should be a valid boolean, unable to interpret input"),
    "missing": Text("Field required"),
}


def _checked(item: Mapping[str, Any]) -> Text:
    """Return what pydantic says of a value as a text of ours: those of its checks that an address may fail.

    >>> _checked({"type": "less_than_equal", "msg": "Input should be less than or equal to 9", "ctx": {"le": 9}})
    'Input should be less than or equal to 9'
    """
    if item["type"] == "greater_than_equal":
        return Text("Input should be greater than or equal to {limit}", limit=item["ctx"]["ge"])
    if item["type"] == "less_than_equal":
        return Text("Input should be less than or equal to {limit}", limit=item["ctx"]["le"])
    return _CHECKS.get(item["type"]) or Text("{said}", said=item["msg"])


def handle(request: Request, error: Exception) -> Response:
    """Answer a request that failed: JSON for programs, a page for people."""
    trouble = trouble_of(error)
    if trouble.status >= 500:
        name = getattr(request.state, "request_id", "-")
        log.error("request %s failed: %s", name, error, exc_info=error if trouble.status == 500 else None)
    headers = {"retry-after": str(trouble.retry_after)} if trouble.retry_after else {}
    if trouble.status == HTTPStatus.UNAUTHORIZED:
        headers["www-authenticate"] = "Bearer"
    if isinstance(error, HTTPException) and error.headers:
        headers.update(error.headers)
    if request.url.path.startswith("/api/"):
        return JSONResponse(trouble.as_dict(), trouble.status, headers)
    if trouble.status == HTTPStatus.UNAUTHORIZED:
        return _to_login(request)
    if isinstance(error, Stale) and (choice := conflict_page(request, error)) is not None:
        return choice
    return _page(request, trouble, headers)


def _to_login(request: Request) -> Response:
    """Send a person who is not signed in to the log-in page, and back afterwards."""
    page = request.headers.get("hx-current-url", "")  # a form that was sent from within a page leads back to the page
    back = request.url.path if request.method == "GET" else urlsplit(page).path or "/"
    target = f"/login?next={back}"
    if request.headers.get("hx-request"):
        return Response(status_code=204, headers={"hx-redirect": target})
    return RedirectResponse(target, 303)


def _page(request: Request, trouble: Trouble, headers: dict[str, str]) -> Response:
    passing = trouble.status == HTTPStatus.SERVICE_UNAVAILABLE and trouble.retry_after is not None
    return render_error(request, trouble.status, partial(_words, trouble), headers, database=not passing)


def _words(trouble: Trouble, tongue: Tongue) -> dict[str, object]:
    _ = tongue.gettext
    titles = {
        400: _("That request made no sense to us"),
        403: _("This is not for you"),
        404: _("There is nothing here"),
        405: _("That cannot be done here"),
        409: _("That clashes with what is there"),
        413: _("That is too large"),
        422: _("Something in it is not right"),
        429: _("A little slower, please"),
        500: _("Something broke"),
        503: _("Not available just now"),
    }
    bare = HTTPStatus(trouble.status).phrase  # what the framework says where we have said nothing
    title = titles.get(trouble.status, bare)
    text = error_text(tongue.code, trouble)
    if trouble.message == bare:
        text = replace(text, message=_("The address may be wrong, or what was here is gone."))
    return {"title": title, "told": text}
