"""Judging: what is offered, a page of items with keys, handing it in. What was answered is never lost."""

from __future__ import annotations

from typing import Annotated

from fastapi import Path
from starlette.responses import JSONResponse, Response

from quintain.core.errors import BadInput, Conflict, Forbidden
from quintain.core.records.judging import Receipt
from quintain.core.task import Task
from quintain.services.access.permissions import require_signed_in
from quintain.services.tasks import definitions as tasks
from quintain.services.validate.judging import claim_page, panel_entry, submit_page
from quintain.services.validate.judging import drafts as judge_drafts
from quintain.services.validate.judging import offers as judging_offers
from quintain.services.validate.judging.claim_page import ClaimedItem
from quintain.services.validate.judging.offers import JudgingDesk, JudgingOffer
from quintain.services.validate.judging.submit_page import Answer
from quintain.store.base import now
from quintain.web.error_text import translated
from quintain.web.errors import Trouble, trouble_of
from quintain.web.pages.tasks.tasks import title_of
from quintain.web.pages.validate.judge_items import answer_of, cards_of, parts_of
from quintain.web.visit import Post, Posting, Visit, Visiting

ItemNumber = Annotated[int, Path(ge=1, le=2**31 - 1)]


def index(visit: Visiting, task: str) -> Response:
    """List what can be judged for a task; a single one is gone to at once."""
    require_signed_in(visit.actor)
    definition = tasks.get_task(visit.db, task)
    offers = judging_offers.open_offers(visit.db, visit.actor, task)
    if len(offers) == 1:
        return visit.redirect(_home(offers[0]))
    return visit.render(
        "validate/judge_offers.html",
        task=definition,
        section="judge",
        offers=[(offer, _home(offer)) for offer in offers],
        crumbs=[(title_of(visit, definition), f"/tasks/{task}"), (visit.tongue.gettext("Judge"), None)],
    )


def landing(visit: Visiting, task: str, name: str, left: str = "") -> Response:
    """Show what is judged, what it pays, and what stands in the way; with *left* `none`, that nothing is left."""
    require_signed_in(visit.actor)
    return _landing(visit, f"{task}/{name}", nothing=left == "none")


def begin(post: Posting, task: str, name: str) -> Response:
    """Hand out a page, the one that is held if there is one."""
    visit = post.visit
    ref = f"{task}/{name}"
    try:
        page = claim_page.claim_page(visit.db, visit.actor, ref)
    except (Conflict, Forbidden) as error:
        return _landing(visit, ref, trouble=trouble_of(error))
    if page is None:
        return visit.redirect(f"/tasks/{task}/judge/{name}?left=none")
    visit.go_past_warning(tasks.get_task(visit.db, task))  # it stands above the button
    return visit.redirect(f"/judge/{page.token}")


def show(visit: Visiting, token: str) -> Response:
    """Show a page that somebody holds, or say how it ended."""
    require_signed_in(visit.actor)
    return _page(visit, judging_offers.get_desk(visit.db, visit.actor, token))


def hand_in(post: Posting, token: str) -> Response:
    """Hand in what was answered; what was not goes back. The same answers again change nothing."""
    visit = post.visit
    page = claim_page.get_page(visit.db, visit.actor, token)
    answers = [answer for item in page.items if (answer := _answer(post, item)) is not None]
    if not answers and not page.ended:
        claim_page.return_page(visit.db, visit.actor, token)
        return _page(visit, judging_offers.get_desk(visit.db, visit.actor, token))
    try:
        receipt = submit_page.submit_page(visit.db, visit.actor, token, answers)
    except (BadInput, Conflict, Forbidden) as error:
        return _page(visit, judging_offers.get_desk(visit.db, visit.actor, token), trouble=trouble_of(error))
    return _page(visit, judging_offers.get_desk(visit.db, visit.actor, token), receipt=receipt)


def keep_alive(post: Posting, token: str) -> Response:
    """Begin the lease anew, and say for how long; a page of which nothing is held any more has lapsed."""
    visit = post.visit
    try:
        lease = claim_page.extend_page(visit.db, visit.actor, token)
    except Conflict as error:
        return JSONResponse({"ended": translated(visit.language, error.message)}, 409)
    left = (lease.lease_until - now()).total_seconds()
    return JSONResponse({"left": max(left, 0.0), "lapsed": lease.held == 0})


def save(post: Posting, token: str, item: ItemNumber) -> Response:
    """Keep one answer as it is given, or take it back; nothing counts before the page is handed in.

    That a page is over is an answer like any other to the script that asks: it goes on to keep what it has.
    """
    visit = post.visit
    flagged = post.flag("flagged") or bool(post.text("flag").strip())
    answer = Answer(
        item,
        post.text("label") or None,
        post.text("skip").strip() or None,
        post.text("flag").strip() if flagged else None,
        _seconds(post.text("seconds")),
    )
    try:
        number = judge_drafts.save_answer(visit.db, visit.actor, token, answer, number=_number(post.text("number")))
    except (BadInput, Conflict) as error:
        return JSONResponse({"refused": translated(visit.language, error.message)})
    return JSONResponse({"number": number})


def _number(text: str) -> int | None:
    """Read the number of a change; without one, the last that comes stays."""
    return int(text) if text.isascii() and text.isdecimal() and len(text) < 16 else None


def _answer(post: Post, item: ClaimedItem) -> Answer | None:
    label = post.text(f"label-{item.id}") or None
    skip = post.text(f"skip-{item.id}").strip() or None
    flag = post.text(f"flag-{item.id}").strip()
    flagged = bool(flag) or post.flag(f"flagged-{item.id}")
    if label is None and skip is None:
        if not flagged:
            return None
        skip = flag or "flagged"  # who only flags an item does not judge it, and what they say of it is kept
    return Answer(item.id, label, skip, flag if flagged else None, _seconds(post.text(f"seconds-{item.id}")))


def _seconds(text: str) -> float | None:
    """Read a time; what is none is left to the server's own clock."""
    try:
        return float(text)
    except ValueError:
        return None


def _home(offer: JudgingOffer) -> str:
    return f"/tasks/{offer.validation.task.name}/judge/{offer.validation.name}"


def _crumbs(visit: Visit, task: Task, offer: JudgingOffer, *, within: bool) -> list[tuple[str, str | None]]:
    last = _home(offer) if within else None
    judging = (visit.tongue.gettext("Judge"), f"/tasks/{task.name}/judge")
    return [(title_of(visit, task), f"/tasks/{task.name}"), judging, (offer.title, last)]


def _landing(visit: Visit, ref: str, *, nothing: bool = False, trouble: Trouble | None = None) -> Response:
    offer = judging_offers.get_offer(visit.db, visit.actor, ref)
    task = offer.validation.task
    return visit.render(
        "validate/judge_start.html",
        status=trouble.status if trouble else 200,
        task=task,
        section="judge",
        offer=offer,
        policy=offer.validation.policy,
        home=_home(offer),
        nothing=nothing,
        labels=[*task.labels, *task.extra_labels],
        crumbs=_crumbs(visit, task, offer, within=False),
    )


def _page(
    visit: Visit, desk: JudgingDesk, *, receipt: Receipt | None = None, trouble: Trouble | None = None
) -> Response:
    task = desk.offer.validation.task
    items = [
        (
            item,
            parts_of(task, item.inputs),
            cards_of(item.labels, visit.language),
            answer_of(task, item.inputs, item.answer),
        )
        for item in desk.page.items
    ]
    return visit.render(
        "validate/judge_done.html" if desk.ended and trouble is None else "validate/judge.html",
        status=trouble.status if trouble else 200,
        task=task,
        section="judge",
        desk=desk,
        to_panel=desk.ended and panel_entry.may_complete(visit.db, visit.actor, desk.offer.validation.ref),
        offer=desk.offer,
        policy=desk.offer.validation.policy,
        home=_home(desk.offer),
        items=items,
        receipt=receipt,
        labels=[*task.labels, *task.extra_labels],
        crumbs=_crumbs(visit, task, desk.offer, within=True),
        error=trouble,
    )
