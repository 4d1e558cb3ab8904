"""What waits for the organisers of a contest, and what teams contest: with the reasons, and where it is decided."""

from __future__ import annotations

from starlette.responses import Response

from quintain.core.errors import BadInput
from quintain.services.access.permissions import require_owner
from quintain.services.contest import rulings, scores
from quintain.web.errors import Trouble, trouble_of
from quintain.web.listing import SIZE, Asking, page_of
from quintain.web.pages.contest.common import Room, room_of
from quintain.web.pages.contest.results import reason_names, state_names
from quintain.web.pages.contest.sides import differences
from quintain.web.visit import Posting, Visit, Visiting


def decide_page(visit: Visiting, task: str, name: str, asked: Asking) -> Response:
    """Show the pairs that only the organisers can settle, with what was said of each."""
    return _decide(visit, room_of(visit, task, name), asked)


def rule_rest(post: Posting, task: str, name: str, asked: Asking) -> Response:
    """Let all that waits count as it was written."""
    visit = post.visit
    room = room_of(visit, task, name)
    try:
        decided = rulings.rule_rest(visit.db, visit.actor, room.info.ref, post.text("reason"))
    except BadInput as error:
        return _decide(visit, room, asked, trouble_of(error))
    toast = visit.tongue.ngettext(
        "%(num)s pair counts as it was written.", "%(num)s pairs count as they were written.", decided.pairs
    )
    return visit.redirect(f"{room.base}/decide", toast)


def disputes_page(visit: Visiting, task: str, name: str) -> Response:
    """Show what one's own team contests, or all that is contested for the organisers, and what came of it."""
    room = room_of(visit, task, name)
    claims = rulings.list_disputes(visit.db, visit.actor, room.info.ref)
    return room.render("disputes", "disputes", claims=claims, states=state_names(visit), reasons=reason_names(visit))


def _decide(visit: Visit, room: Room, asked: Asking, trouble: Trouble | None = None) -> Response:
    require_owner(visit.actor, room.info.task)
    ref = room.info.ref
    waiting = scores.list_pairs(
        visit.db, visit.blobs, visit.actor, ref, status="waiting", offset=asked.offset, limit=SIZE
    )
    pairs = [
        pair
        for one in waiting.pairs
        if (pair := scores.get_pair(visit.db, visit.blobs, visit.actor, ref, one.id)) is not None
    ]
    return room.render(
        "decide",
        "decide",
        trouble=trouble,
        listing=page_of(pairs, waiting.total, asked, path=f"{room.base}/decide", sort="", down=False),
        differences=differences,
        reasons=reason_names(visit),
    )
