"""What workers do outside of requests: how far each is, why it failed, and cancelling it."""

from __future__ import annotations

from starlette.responses import Response

from quintain.services.jobs import queue
from quintain.web.pages.jobs.naming import name_job
from quintain.web.visit import Posting, Visiting


def index(visit: Visiting) -> Response:
    """List the newest jobs of the tasks that one owns; admins see all."""
    _ = visit.tongue.gettext
    return visit.render(
        "jobs/jobs.html",
        jobs=[name_job(_, job) for job in queue.list_jobs(visit.db, visit.actor).jobs],
        state_names={
            "queued": _("waits"),
            "running": _("running"),
            "done": _("done"),
            "failed": _("failed"),
            "cancelled": _("cancelled"),
        },
        tab="jobs",
        crumbs=[(_("Jobs"), None)],
    )


def cancel(post: Posting, job: int) -> Response:
    """Cancel a job."""
    visit = post.visit
    queue.cancel(visit.db, visit.actor, job)
    return visit.redirect("/jobs", visit.tongue.gettext("The job is cancelled."))
