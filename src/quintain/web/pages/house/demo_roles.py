"""Playing a part in the demo: one click, no link and no password."""

from __future__ import annotations

from starlette.responses import Response

from quintain.core.errors import Forbidden, NotFound
from quintain.services.access import sign_in as sessions
from quintain.services.access.actors import actor_of, find_user
from quintain.web.pages.access.sign_in import welcome
from quintain.web.roles import NAMES, READER
from quintain.web.visit import SESSION_COOKIE, Posting, local_path


def change_role(post: Posting) -> Response:
    """Go on as the reader, who is nobody, or as the account that plays the part."""
    visit = post.visit
    if not visit.may_play:
        raise Forbidden(
            "Parts are played in a demo on this machine only.",
            remedy="Start one with `quintain demo`.",
            page="Sign in with your account.",
        )
    part, back = post.text("part"), local_path(post.text("next", "/"))
    name = NAMES.get(part)
    if name is None and part != READER:
        raise NotFound("The demo has no part '{part}'.", part=part)
    sessions.end_session(visit.db, visit.request.cookies.get(SESSION_COOKIE, ""))
    if name is None:
        visit.forget(SESSION_COOKIE)
        return visit.redirect(back)
    return welcome(visit, actor_of(visit.db, find_user(visit.db, name)), back)
