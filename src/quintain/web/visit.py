"""One request by one person: who asks, in which language, with what to answer.

Pages take a `Visiting`, which is a `Visit`; those that change something take a `Posting`, a `Post`, which exists only
when the form carried the right CSRF token. Who asks is found out by `open_request`, in the thread in which the page is
made: under load every change of threads is a wait, and a request that waits for its thread holds no connection.
"""

from __future__ import annotations

import inspect
import json
import logging
import secrets
from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import wraps
from typing import Annotated, Any
from urllib.parse import quote, unquote

from fastapi import Depends, Request
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.orm import Session
from starlette.datastructures import FormData, UploadFile
from starlette.responses import HTMLResponse, RedirectResponse, Response

from quintain.compose import Workspace
from quintain.core.editing import EditOrigin, parts_of, revision_of
from quintain.core.errors import BadInput, Fault, Forbidden, QuintainError
from quintain.core.jsontext import NotJson, parse_json
from quintain.core.people import ANONYMOUS, Actor, RoleName, Scope
from quintain.core.task import Task
from quintain.services.access import notify
from quintain.services.access import sign_in as sessions
from quintain.services.access.permissions import require_no_door, require_scope, require_signed_in, require_this_task
from quintain.store.blobs import Blobs
from quintain.web import warning
from quintain.web.catalogues import spoken
from quintain.web.i18n import Tongue, choose_language
from quintain.web.peers import peer_of
from quintain.web.rendering import environment, mark_overrides
from quintain.web.roles import NAMES, READER, may_play
from quintain.web.sidebar import SidebarGroup, sidebar_of
from quintain.web.tour import AT_WORK, TOUR_COOKIE, TourStep, read_step, role_of, words
from quintain.web.untranslated import mark_english

SESSION_COOKIE = "quintain_session"
CSRF_COOKIE = "quintain_csrf"
LANGUAGE_COOKIE = "quintain_language"
LANGUAGE_QUERY = "lang"  # in a link that says in which language to begin
THEME_COOKIE = "quintain_theme"
TOAST_COOKIE = "quintain_toast"
DEVICE_COOKIE = "quintain_device"
PANEL_COOKIE = "quintain_panel"  # by which somebody who came by a panel's link is known again
CHOICE, THEIRS = "choose:", "theirs"  # which of two values of a field is to stay, where two have changed it
YEAR = 365 * 24 * 3600
log = logging.getLogger("quintain.web")


@dataclass(slots=True)
class Visit:
    """A request with everything that a page needs to answer it."""

    request: Request
    workspace: Workspace
    db: Session
    session: sessions.OpenSession | None
    language: str
    csrf: str
    toasts: tuple[str, ...] = ()
    _cookies: list[tuple[str, str, int | None]] = field(default_factory=list)
    _unread: int | None = None

    @property
    def actor(self) -> Actor:
        """The person who asks."""
        return self.session.actor if self.session else ANONYMOUS

    @property
    def signed_in(self) -> bool:
        """Whether it is known who asks."""
        return self.session is not None

    @property
    def may_play(self) -> bool:
        """Whether the person may change into any part: in a demo that is this machine's own."""
        return may_play(self.request, self.workspace.settings, demo=self.workspace.demo)

    @property
    def demo_roles(self) -> list[tuple[str, str, bool]]:
        """The parts of the demo: key, title, and whether it is being played."""
        _ = self.tongue.gettext
        titles = {
            READER: _("Reader"),
            RoleName.WORKER: _("Worker"),
            RoleName.OWNER: _("Owner"),
            RoleName.BUILDER: _("Builder"),
            RoleName.ADMIN: _("Admin"),
        }
        name = self.actor.name if self.signed_in else None
        return [(part, title, NAMES.get(part) == name) for part, title in titles.items()]

    @property
    def tour(self) -> tuple[TourStep, str] | None:
        """The step of the tour that the person is at, and what it says; none on pages where people work."""
        step = read_step(self.request.cookies.get(TOUR_COOKIE, ""))
        if step is None or step.role != role_of(self.actor) or self.request.url.path.startswith(AT_WORK):
            return None
        return step, words(self.tongue.gettext, step)

    @property
    def toured(self) -> bool:
        """Whether the person has been offered the tour and took it or ended it."""
        return TOUR_COOKIE in self.request.cookies

    @property
    def blobs(self) -> Blobs:
        """The workspace's blobs."""
        return self.workspace.blobs

    @property
    def unread(self) -> int:
        """How many messages the person has not read; counted by pages that show it."""
        if self._unread is None:
            try:
                self._unread = notify.unread_count(self.db, self.actor)
            except (SQLAlchemyError, QuintainError):  # the page that says what is broken shows it, too
                self._unread = 0
        return self._unread

    @property
    def tongue(self) -> Tongue:
        """The language of the page."""
        return Tongue(self.language)

    @property
    def path(self) -> str:
        """The address of this page, to come back to."""
        query = self.request.url.query
        return self.request.url.path + (f"?{query}" if query else "") if self.request.method == "GET" else "/"

    @property
    def theme(self) -> str:
        """What the person chose, light or dark; empty for the system's wish."""
        chosen = self.request.cookies.get(THEME_COOKIE, "")
        return chosen if chosen in {"light", "dark"} else ""

    @property
    def address(self) -> str:
        """Where the request came from, for limits."""
        return peer_of(self.request, self.workspace.settings.trusted_proxies)

    @property
    def base_url(self) -> str:
        """The address that whoever asks uses for this application. Only they may see it: a request can name any."""
        return self.workspace.settings.public_url or str(self.request.base_url).rstrip("/")

    def owns(self, task: Task) -> bool:
        """Whether the person may change *task*."""
        return self.actor.has(RoleName.OWNER, task.name)

    def sidebar(self, task: Task) -> list[SidebarGroup]:
        """List the rooms of *task* that this person may enter."""
        return sidebar_of(
            self.tongue.gettext,
            task.name,
            signed_in=self.signed_in,
            owner=self.owns(task),
            expert=self.actor.has(RoleName.EXPERT, task.name),
        )

    def made_from(self, edits: str, stored: Mapping[str, Any]) -> MadeFrom:
        """Return what a form that *edits* what is *stored* brings back.

        A form that comes back with a fault in it still stands on what it was made from, whatever is stored by now.
        """
        form = getattr(self.request.state, "form", None)
        if form is not None and form.get("edits") == edits and form.get("revision"):
            return MadeFrom(edits, str(form["revision"]), str(form.get("parts", "{}")))
        return MadeFrom.of(edits, stored)

    def render(
        self, template: str, *, status: int = 200, headers: Mapping[str, str] | None = None, **values: Any
    ) -> Response:
        """Answer with a page; of a task that warns of its content, with the warning until the reader has gone on."""
        opens = self.request.method == "GET" and "hx-request" not in self.request.headers
        if opens and warning.is_due(template, values, self.request.cookies.get(warning.WARNED_COOKIE, "")):
            shown = {"task": values["task"], "section": values.get("section"), "crumbs": values.get("crumbs", [])}
            return self.render("tasks/warning.html", next=self.path, **shown)
        html = environment(self.language).get_template(template).render(visit=self, **values)
        response = HTMLResponse(mark_overrides(mark_english(html)), status, dict(headers or {}))
        response.headers["vary"] = "Cookie, Accept-Language"
        response.headers["content-language"] = self.language
        if self.toasts:
            self.forget(TOAST_COOKIE)
        return self.finish(response)

    def go_past_warning(self, task: Task) -> None:
        """Remember that the reader has read what *task* warns of: its texts are shown from now on."""
        if task.content_warning:
            seen = self.request.cookies.get(warning.WARNED_COOKIE, "")
            self.remember(warning.WARNED_COOKIE, warning.with_mark(task, seen))

    def redirect(self, url: str, toast: str = "") -> Response:
        """Send the person on to *url*, where *toast* is shown once."""
        if toast:
            self.remember(TOAST_COOKIE, quote(toast), 60)
        return self.finish(RedirectResponse(url, 303))

    def remember(self, name: str, value: str, seconds: int | None = YEAR) -> None:
        """Set a cookie with the answer."""
        self._cookies.append((name, value, seconds))

    def forget(self, name: str) -> None:
        """Remove a cookie with the answer."""
        self._cookies.append((name, "", 0))

    def finish(self, response: Response) -> Response:
        """Put the cookies on *response*."""
        if not self.session and self.request.cookies.get(CSRF_COOKIE) != self.csrf:
            self.remember(CSRF_COOKIE, self.csrf, None)
        secure = self.base_url.startswith("https://")
        for name, value, seconds in self._cookies:
            response.set_cookie(name, value, max_age=seconds, httponly=True, secure=secure, samesite="lax")
        return response


@dataclass(frozen=True, slots=True)
class MadeFrom:
    """What a form that edits something brings back: what it edits, the revision that it shows, a hash of each field."""

    edits: str
    revision: str
    parts: str

    @classmethod
    def of(cls, edits: str, stored: Mapping[str, Any]) -> MadeFrom:
        """Make it for what is *stored* now."""
        return cls(edits, revision_of(stored), json.dumps(parts_of(stored), separators=(",", ":")))


def edit_in(form: FormData) -> EditOrigin:
    """Read from a form what it was made from."""
    try:
        parts = parse_json(str(form.get("parts") or "{}"))
    except NotJson:
        parts = {}
    known = {str(name): str(value) for name, value in parts.items()} if isinstance(parts, dict) else {}
    theirs = {name.removeprefix(CHOICE) for name, value in form.items() if name.startswith(CHOICE) and value == THEIRS}
    return EditOrigin(str(form.get("revision") or ""), known, frozenset(theirs))


@dataclass(frozen=True, slots=True)
class Post:
    """A form that was sent by the person whose page it was on."""

    visit: Visit
    form: FormData

    @property
    def actor(self) -> Actor:
        """The person who sent it."""
        return self.visit.actor

    def text(self, name: str, default: str = "") -> str:
        """Return what was typed into *name*."""
        value = self.form.get(name, default)
        return value if isinstance(value, str) else default

    def texts(self, name: str) -> list[str]:
        """Return all that was chosen for *name*."""
        return [value for value in self.form.getlist(name) if isinstance(value, str) and value]

    def flag(self, name: str) -> bool:
        """Whether the box *name* was ticked."""
        return name in self.form

    @property
    def edit(self) -> EditOrigin:
        """What the form was made from, and which fields are to stay as others left them."""
        return edit_in(self.form)

    def number(self, name: str) -> int:
        """Return the whole number in *name*; refuse anything else."""
        try:
            return int(self.text(name))
        except ValueError:
            raise BadInput(
                faults=[Fault("'{given}' is not a whole number", given=self.text(name), field=name)]
            ) from None

    def file(self, name: str) -> UploadFile | None:
        """Return the file that was chosen for *name*; None where none was."""
        value = self.form.get(name)
        return value if isinstance(value, UploadFile) and value.filename else None


def workspace_of(request: Request) -> Workspace:
    """Return the workspace that the application serves."""
    workspace: Workspace = request.app.state.workspace
    return workspace


def make_visit(request: Request, db: Session) -> Visit:
    """Find out who asks and in which language to answer."""
    token = request.cookies.get(SESSION_COOKIE)
    session = sessions.open_session(db, token) if token else None
    asked = spoken(request.query_params.get(LANGUAGE_QUERY))
    language = choose_language(
        session.language if session else None,
        request.cookies.get(LANGUAGE_COOKIE),
        request.headers.get("accept-language"),
        link=asked,
    )
    toast = unquote(request.cookies.get(TOAST_COOKIE, ""))
    visit = Visit(
        request=request,
        workspace=workspace_of(request),
        db=db,
        session=session,
        language=language,
        csrf=session.csrf if session else request.cookies.get(CSRF_COOKIE) or secrets.token_urlsafe(32),
        toasts=(toast,) if toast else (),
    )
    if asked and not (session and session.language):  # the pages that follow, too
        visit.remember(LANGUAGE_COOKIE, asked)
    request.state.visit = visit
    return visit


class PendingRequest:
    """A request that has come in; nobody has looked yet who sent it."""

    __slots__ = ()

    def open(self) -> object:
        """Find out who it is, and give what an answer needs."""
        raise NotImplementedError


@dataclass(frozen=True, slots=True)
class Arrival(PendingRequest):
    """A request for a page that has come in, with the form that it brought."""

    request: Request
    db: Session
    form: FormData | None = None

    def open(self) -> Visit | Post:
        """Find out who it is; accept a form only with the CSRF token of the visit."""
        visit = make_visit(self.request, self.db)
        if self.form is None:
            return visit
        check_csrf(visit, str(self.form.get("csrf", "")))
        return Post(visit, self.form)


async def arrive(request: Request) -> AsyncIterator[Arrival]:
    """Take a request in, with a database session for as long as it lasts."""
    with workspace_of(request).session() as db:
        yield Arrival(request, db)


async def arrive_with_form(request: Request, arrival: Annotated[Arrival, Depends(arrive)]) -> Arrival:
    """Take a request in and read the form that it brought."""
    request.state.form = await request.form()
    return replace(arrival, form=request.state.form)


@dataclass(frozen=True, slots=True)
class Opened:
    """Says of a parameter that a view gets what was opened of a `PendingRequest`, which the framework takes in by *by*.

    A function that `open_request` does not wrap gets none: to the framework, this says nothing.
    """

    by: Callable[..., Any]


Visiting = Annotated[Visit, Opened(by=arrive)]
Posting = Annotated[Post, Opened(by=arrive_with_form)]


def open_request(
    view: Callable[..., Any], scopes: Iterable[Scope] = (), *, anybody: bool = True, at_doors: bool = True
) -> Callable[..., Any]:
    """Wrap a page or an endpoint: open what arrived, answer, and give the connection back, all in one thread.

    The framework would keep it until the answer has been sent, for as long as somebody takes to read a large file.
    What is not for *anybody* tells those who are not signed in just that. Whoever comes with a credential that is not
    good for *scopes* is refused before the view is asked, and so is a session that a panel's link began, but for what
    is open *at_doors*.
    """

    @wraps(view)
    def answer(**arguments: Any) -> Any:
        sessions = [db for argument in arguments.values() if isinstance(db := getattr(argument, "db", None), Session)]
        try:
            opened = {
                name: value.open() if isinstance(value, PendingRequest) else value for name, value in arguments.items()
            }
            for value in opened.values():
                if isinstance(actor := getattr(value, "actor", None), Actor):
                    if not anybody:
                        require_signed_in(actor)
                    _require(actor, scopes, arguments.get("task"))
                    if not at_doors:
                        require_no_door(actor)
            return view(**opened)
        finally:
            for db in sessions:
                db.close()

    answer.__signature__ = _taken_in(inspect.signature(view, eval_str=True))  # type: ignore[attr-defined]
    return answer


def _taken_in(signature: inspect.Signature) -> inspect.Signature:
    """Return what the framework is to read: pending requests in place of what a view gets when they are opened."""
    parameters = list(signature.parameters.values())
    for at, parameter in enumerate(parameters):
        for mark in getattr(parameter.annotation, "__metadata__", ()):
            if isinstance(mark, Opened):
                parameters[at] = parameter.replace(annotation=Annotated[PendingRequest, Depends(mark.by)])
    return signature.replace(parameters=parameters)


def _require(actor: Actor, scopes: Iterable[Scope], task: str | None) -> None:
    for scope in scopes:
        require_scope(actor, scope)
        if scope is not Scope.READ:
            require_this_task(actor, task)


def check_csrf(visit: Visit, token: str) -> None:
    """Refuse what did not come from one of our own pages."""
    token = token or visit.request.headers.get("x-csrf-token", "")
    if not secrets.compare_digest(token.encode(), visit.csrf.encode()):
        raise Forbidden("This form is out of date.", remedy="Reload the page and send it again.")


def local_path(url: str) -> str:
    """Return *url* if it leads into this application, else the home page: nobody is sent elsewhere after log-in.

    >>> local_path("//evil.example"), local_path("/tasks/nli?x=1")
    ('/', '/tasks/nli?x=1')
    """
    is_local = url.startswith("/") and not url.startswith(("//", "/\\")) and "\\" not in url and url.isprintable()
    return url if is_local else "/"


def render_error(
    request: Request,
    status: int,
    words: Callable[[Tongue], Mapping[str, Any]],
    headers: Mapping[str, str],
    *,
    database: bool = True,
) -> Response:
    """Answer with the error page, with *words* in the reader's language; it must come whatever is broken.

    Without *database* none is asked who reads it: it has just let this request wait in vain.
    """

    def page(visit: Visit) -> Response:
        name = getattr(request.state, "request_id", "-")
        texts = words(visit.tongue)
        return visit.render("error.html", status=status, headers=headers, status_code=status, request_id=name, **texts)

    try:
        if database:
            with workspace_of(request).session() as db:
                # The request's own session was closed when it failed: what the page asks needs one of its own.
                known: Visit | None = getattr(request.state, "visit", None)
                return page(replace(known, db=db) if known else make_visit(request, db))
    except (SQLAlchemyError, QuintainError) as error:
        log.warning("the error page does without the database: %s", error)
    language = choose_language(None, request.cookies.get(LANGUAGE_COOKIE), request.headers.get("accept-language"))
    return page(Visit(request, workspace_of(request), Session(), None, language, ""))
