"""The front door: all tasks, and the search over everything."""

from __future__ import annotations

from starlette.responses import Response

from quintain.core.errors import BadInput
from quintain.core.people import RoleName
from quintain.services.access import accounts
from quintain.services.house import browse
from quintain.web.i18n import languages
from quintain.web.visit import LANGUAGE_COOKIE, Posting, Visiting, local_path


def home(visit: Visiting) -> Response:
    """Show the tasks."""
    cards = browse.task_cards(visit.db, visit.actor)
    return visit.render("house/home.html", cards=cards, may_create=visit.actor.has(RoleName.OWNER))


def search(visit: Visiting, q: str = "") -> Response:
    """Show the tasks, data sets and models whose names match."""
    query = q.strip()[:200]
    found = browse.search(visit.db, visit.actor, query) if query else None
    title = visit.tongue.gettext("Search")
    return visit.render("house/search.html", query=query, found=found, crumbs=[(title, None)])


def choose_language(post: Posting) -> Response:
    """Remember the language that was chosen, in a cookie and with the account."""
    visit = post.visit
    language = post.text("language")
    if language not in languages():
        raise BadInput(
            "The interface does not speak '{language}'.",
            language=language,
            languages=", ".join(languages()),
            remedy="It speaks {languages}.",
        )
    if visit.signed_in:
        accounts.update_profile(visit.db, visit.actor, language=language)
    visit.remember(LANGUAGE_COOKIE, language)
    return visit.redirect(local_path(post.text("next", "/")))
