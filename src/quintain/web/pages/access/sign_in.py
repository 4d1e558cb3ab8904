"""Signing in and out: by password, by a link that works once, and what to do when it is forgotten."""

from __future__ import annotations

from starlette.responses import Response

from quintain.core.errors import BadInput, Conflict, NotSignedIn, QuintainError, TooMany
from quintain.core.people import Actor
from quintain.services.access import accounts, links
from quintain.services.access import sign_in as sessions
from quintain.web.errors import trouble_of
from quintain.web.visit import (
    CSRF_COOKIE,
    DEVICE_COOKIE,
    SESSION_COOKIE,
    Posting,
    Visit,
    Visiting,
    local_path,
)


def login_page(visit: Visiting, next: str = "/") -> Response:  # noqa: A002 - the word in the address
    """Ask who it is."""
    if visit.signed_in:
        return visit.redirect(local_path(next))
    return _login_form(visit, next)


def login(post: Posting) -> Response:
    """Check name and password, and begin a session."""
    visit = post.visit
    try:
        actor = sessions.authenticate(
            visit.db,
            post.text("name"),
            post.text("password"),
            address=visit.address,
            attempts=visit.workspace.settings.login_attempts,
            device=visit.request.cookies.get(DEVICE_COOKIE, ""),
        )
    except (NotSignedIn, TooMany) as error:
        return _login_form(visit, post.text("next", "/"), error=error, name=post.text("name"))
    return welcome(visit, actor, local_path(post.text("next", "/")))


def logout(post: Posting) -> Response:
    """End the session."""
    visit = post.visit
    sessions.end_session(visit.db, visit.request.cookies.get(SESSION_COOKIE, ""))
    visit.forget(SESSION_COOKIE)
    return visit.redirect("/", visit.tongue.gettext("You are signed out."))


def link_page(visit: Visiting, token: str) -> Response:
    """Show whose link it is and ask for a password."""
    name, purpose = links.look_up_link(visit.db, token)
    return visit.render("access/link.html", name=name, purpose=purpose)


def redeem_link(post: Posting, token: str) -> Response:
    """Use the link up: set the password and begin a session."""
    visit = post.visit
    name, purpose = links.look_up_link(visit.db, token)
    try:
        if post.text("password") != post.text("repeat"):
            raise BadInput("The two passwords differ.")
        actor = links.redeem_link(visit.db, token, post.text("password"), language=visit.language)
    except BadInput as error:
        return visit.render("access/link.html", status=422, name=name, purpose=purpose, error=trouble_of(error))
    return welcome(visit, actor, "/")


def forgotten_page(visit: Visiting) -> Response:
    """Ask for the name or address of the account whose password is forgotten."""
    return visit.render("access/forgotten.html", mail=visit.workspace.mail.enabled, sent=False)


def forgotten(post: Posting) -> Response:
    """Send a link, if there is such an account; the answer is the same if there is none."""
    visit = post.visit
    mail = visit.workspace.mail
    if mail.enabled:
        # Never the address that the request names: whoever sends it is not whoever reads the mail.
        base = visit.workspace.settings.link_address
        links.ask_password_link(
            visit.db, post.text("name"), base_url=base, address=visit.address, language=visit.language
        )
    return visit.render("access/forgotten.html", mail=mail.enabled, sent=True)


def register_page(visit: Visiting) -> Response:
    """Offer an account to anybody, where the settings allow it."""
    return visit.render("access/register.html", open=visit.workspace.settings.open_registration, values={})


def register(post: Posting) -> Response:
    """Make an account and begin a session."""
    visit = post.visit
    is_open = visit.workspace.settings.open_registration
    try:
        actor = accounts.register(
            visit.db,
            post.text("name"),
            post.text("password"),
            is_open=is_open,
            email=post.text("email") or None,
            address=visit.address,
            language=visit.language,
        )
    except (BadInput, Conflict) as error:
        trouble = trouble_of(error)
        values = {"name": post.text("name"), "email": post.text("email")}
        return visit.render("access/register.html", status=trouble.status, open=is_open, values=values, error=trouble)
    return welcome(visit, actor, "/")


def _login_form(visit: Visit, target: str, *, error: QuintainError | None = None, name: str = "") -> Response:
    trouble = trouble_of(error) if error else None
    return visit.render(
        "access/login.html",
        status=trouble.status if trouble else 200,
        next=local_path(target),
        name=name,
        open_registration=visit.workspace.settings.open_registration,
        error=trouble,
    )


def welcome(visit: Visit, actor: Actor, target: str) -> Response:
    """Begin a session for *actor*, who has shown who they are, and go on to *target*."""
    browser = visit.request.headers.get("user-agent", "")
    started = sessions.start_session(visit.db, actor, user_agent=browser, language=visit.language)
    visit.remember(SESSION_COOKIE, started.token, int(sessions.LONGEST.total_seconds()))
    visit.remember(DEVICE_COOKIE, sessions.mark_device(visit.db, actor))
    visit.forget(CSRF_COOKIE)
    return visit.redirect(target, visit.tongue.gettext("Welcome, %(name)s.", name=actor.name))
