"""How the house is: its parts, what goes on beside requests, runs, e-mails, kept figures, the sandbox (admins)."""

from __future__ import annotations

from starlette.responses import Response

from quintain.conditions import sandbox_of
from quintain.core.errors import NotFound
from quintain.services.evaluate.cells.queue import run_queue
from quintain.services.house import health, mailing
from quintain.services.jobs import checking, loops
from quintain.web.visit import Posting, Visiting

MAILS_SHOWN = 50


def show(visit: Visiting) -> Response:
    """Show whether all parts work, and how full the house is."""
    _ = visit.tongue.gettext
    status = health.status(visit.db, visit.blobs, visit.actor, as_known=True)
    return visit.render(
        "house/health.html",
        status_info=status,
        queue=run_queue(visit.db, visit.actor),
        checks=visit.workspace.watch.readiness().checks,
        loops=loops.list_loops(visit.db, visit.actor, own=visit.workspace.loops.states()).loops,
        mails=mailing.mail_queue(visit.db, visit.actor, visit.workspace.mail, limit=MAILS_SHOWN),
        kept=checking.how_far(visit.db, visit.actor),
        sandbox=sandbox_of(visit.workspace.settings),
        wanted=visit.workspace.settings.sandbox,
        tab="health",
        crumbs=[(_("Administration"), "/admin"), (_("Health"), None)],
    )


def retry_mails(post: Posting) -> Response:
    """Try e-mails again: one, or all that wait or failed."""
    visit = post.visit
    number = mailing.try_again(visit.db, visit.actor, _chosen(post))
    toast = visit.tongue.ngettext("%(num)s e-mail is tried again.", "%(num)s e-mails are tried again.", number)
    return visit.redirect("/admin/health#mails", toast)


def give_up_mails(post: Posting) -> Response:
    """Put e-mails aside for good: one, or all that failed."""
    visit = post.visit
    number = mailing.give_up(visit.db, visit.actor, _chosen(post))
    toast = visit.tongue.ngettext("%(num)s e-mail is given up.", "%(num)s e-mails are given up.", number)
    return visit.redirect("/admin/health#mails", toast)


def _chosen(post: Posting) -> list[int] | None:
    text = post.text("id")
    if not text:
        return None
    if not (text.isdecimal() and len(text) < 10):
        raise NotFound("There is no e-mail {id} that waits or failed.", id=text[:20])
    return [int(text)]
