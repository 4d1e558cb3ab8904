"""Automatic breaking: beginning a search, going on with it, and deciding on what it proposes, one by one."""

from __future__ import annotations

from starlette.responses import Response

from quintain.core.contests import Phase
from quintain.core.errors import BadInput, Conflict, Forbidden, NotFound, Unavailable
from quintain.perturbations.drafts.substitutes import WORD_SOURCES
from quintain.services.contest import search_pairs
from quintain.services.contest.teams import require_part
from quintain.services.models.registry import models_to_choose
from quintain.web.errors import Trouble, trouble_of
from quintain.web.pages.contest.common import Room, room_of
from quintain.web.pages.contest.sides import answer_field, differences
from quintain.web.visit import Post, Posting, Visit, Visiting

SHOWN = 10  # proposals on a page


def searches_page(visit: Visiting, task: str, name: str) -> Response:
    """Show a form for a search, and the team's searches."""
    return _searches(visit, room_of(visit, task, name))


def start(post: Posting, task: str, name: str) -> Response:
    """Begin a search, and look at its first sentences at once."""
    visit = post.visit
    room = room_of(visit, task, name)
    try:
        search = search_pairs.start_search(
            visit.db,
            visit.blobs,
            visit.actor,
            room.info.ref,
            post.text("model"),
            text=post.text("text").strip(),
            words=post.number("words"),
            beam=post.number("beam"),
            budget=post.number("budget"),
            sources=post.texts("sources"),
        )
    except (BadInput, Conflict, Forbidden, NotFound) as error:
        return _searches(visit, room, post, trouble_of(error))
    return _advanced(visit, room, search.number)


def search_page(visit: Visiting, task: str, name: str, number: int, first: int = 0) -> Response:
    """Show how far a search is, and what waits to be decided about."""
    return _search(visit, room_of(visit, task, name), number, first=max(first, 0))


def advance(post: Posting, task: str, name: str, number: int) -> Response:
    """Go on with a search."""
    visit = post.visit
    return _advanced(visit, room_of(visit, task, name), number)


def decide(post: Posting, task: str, name: str, number: int) -> Response:
    """Make a pair of a proposal, put it aside, or take it up again."""
    visit = post.visit
    _ = visit.tongue.gettext
    room = room_of(visit, task, name)
    ref, proposal, decision = room.info.ref, post.number("proposal"), post.text("decision")
    try:
        if decision == "keep":
            pair = search_pairs.confirm_proposal(
                visit.db,
                visit.blobs,
                visit.actor,
                ref,
                proposal,
                post.text("modified_label"),
                rationale=post.text("rationale"),
                tags=post.texts("tags"),
            )
            toast = _("It is your team’s pair %(name)s.", name=pair.name)
        else:
            search_pairs.reject_proposal(visit.db, visit.actor, ref, proposal, undo=decision == "undo")
            toast = _("It waits again.") if decision == "undo" else _("It is put aside.")
    except (BadInput, Conflict, Forbidden, NotFound) as error:
        return _search(visit, room, number, trouble_of(error))
    return visit.redirect(f"{room.base}/break/search/{number}", toast)


def _advanced(visit: Visit, room: Room, number: int) -> Response:
    try:
        search_pairs.advance_search(
            visit.db, visit.blobs, visit.actor, room.info.ref, number, runners=visit.workspace.runners
        )
    except (BadInput, Conflict, NotFound, Unavailable) as error:
        return _search(visit, room, number, trouble_of(error))
    return visit.redirect(f"{room.base}/break/search/{number}")


def _searches(visit: Visit, room: Room, post: Post | None = None, trouble: Trouble | None = None) -> Response:
    require_part(visit.db, visit.actor, room.info, "break")
    _ = visit.tongue.gettext
    offered = models_to_choose(visit.db, visit.actor, room.info.task)
    spec = room.info.spec
    typed = {"model": "", "text": "", "words": str(min(2, spec.changed_words or 2)), "beam": "4", "budget": "500"}
    chosen: tuple[str, ...] = WORD_SOURCES
    if post is not None:
        typed = {key: post.text(key) for key in typed}
        chosen = tuple(post.texts("sources"))
    return room.render(
        "searches",
        "search",
        trouble=trouble,
        listed=search_pairs.list_searches(visit.db, visit.actor, room.info.ref),
        models=[(model.ref, f"{model.name} @ {model.number}") for model in offered.models],
        more=offered.more,
        typed=typed,
        chosen=chosen,
        sources=[
            ("opposites", _("opposites, from a list")),
            ("near", _("words that mean nearly the same, from a list")),
            ("data", _("words that stand between the same neighbours in the starter set")),
        ],
        open=room.info.phase is Phase.BREAK,
    )


def _search(visit: Visit, room: Room, number: int, trouble: Trouble | None = None, *, first: int = 0) -> Response:
    ref = room.info.ref
    search = search_pairs.get_search(visit.db, visit.actor, ref, number)
    _ = visit.tongue.gettext
    choices = answer_field(room.task).choices
    page = search_pairs.list_proposals(visit.db, visit.actor, ref, number, offset=first, limit=SHOWN)
    return room.render(
        "search",
        "search",
        trouble=trouble,
        search=search,
        page=page,
        before_these=max(first - SHOWN, 0) if first else None,
        after_these=first + SHOWN if first + SHOWN < page.total else None,
        differences=differences,
        answer_choices=[("", _("Choose")), *((key, key) for key, _gloss in choices)],
        open=room.info.phase is Phase.BREAK,
    )
