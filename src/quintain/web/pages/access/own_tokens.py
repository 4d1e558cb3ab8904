"""One's own API tokens."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from starlette.responses import Response

from quintain.core.errors import BadInput, Conflict
from quintain.core.people import Scope
from quintain.services.access import tokens
from quintain.services.access.permissions import require_signed_in
from quintain.services.access.scopes import useful_scopes
from quintain.web.errors import Trouble, trouble_of
from quintain.web.visit import Posting, Visit, Visiting

LIFETIMES = (30, 90, 365)


def tokens_page(visit: Visiting, scopes: str = "") -> Response:
    """List the API tokens; the page that leads here says which *scopes* a new one needs, divided by commas."""
    require_signed_in(visit.actor)
    return _tokens(visit, ticked=scopes.split(","))


def create_token(post: Posting) -> Response:
    """Make a token and show it, this once."""
    visit = post.visit
    try:
        days = post.number("days") or None
        scopes = post.texts("scopes")
        secret, _ = tokens.create_token(visit.db, visit.actor, post.text("name"), days=days, scopes=scopes)
    except (BadInput, Conflict) as error:
        return _tokens(visit, trouble=trouble_of(error))
    return _tokens(visit, secret=secret)


def revoke_token(post: Posting) -> Response:
    """Make a token useless."""
    visit = post.visit
    tokens.revoke_token(visit.db, visit.actor, post.number("token"))
    return visit.redirect("/account/tokens", visit.tongue.gettext("The token is revoked."))


def scope_words(_: Callable[[str], str]) -> dict[Scope, tuple[str, str]]:
    """Return the name of each scope, and what a token with it may do."""
    return {
        Scope.READ: (_("Read"), _("look at everything that you may look at")),
        Scope.WORK: (_("Work"), _("write, judge, grade, take quizzes")),
        Scope.BUILD: (_("Build"), _("submit, train and withdraw models")),
        Scope.OWN: (_("Own"), _("change tasks that you own: data, rounds, boards, pay")),
        Scope.ADMIN: (_("Admin"), _("see and change other people’s accounts")),
        Scope.ACCOUNT: (_("Account"), _("change your own account, make tokens, take your data out")),
    }


def _tokens(visit: Visit, *, secret: str = "", trouble: Trouble | None = None, ticked: Sequence[str] = ()) -> Response:
    _ = visit.tongue.gettext
    words = scope_words(_)
    lifetimes = [(str(days), _("%(n)s days", n=days)) for days in LIFETIMES]
    return visit.render(
        "access/tokens.html",
        status=trouble.status if trouble else 200,
        tokens=tokens.list_tokens(visit.db, visit.actor),
        secret=secret,
        choices=[
            (scope.value, *words[scope], scope.value in (*ticked, Scope.READ))
            for scope in useful_scopes(visit.actor)
            if visit.actor.may(scope)
        ],
        lifetimes=[*lifetimes, ("0", _("until revoked"))],
        crumbs=[(_("Account"), "/account"), (_("API tokens"), None)],
        error=trouble,
    )
