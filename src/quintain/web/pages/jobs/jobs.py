"""What workers do outside of requests: how far each is, why it failed, and cancelling it."""

from __future__ import annotations

from starlette.responses import Response

from quintain.services.jobs import exports, queue
from quintain.web.exporting import send_kept
from quintain.web.pages.job_words import name_job
from quintain.web.visit import Posting, Visit, Visiting


def index(visit: Visiting) -> Response:
    """List the newest jobs of the tasks that one owns; admins see all."""
    _ = visit.tongue.gettext
    return visit.render(
        "jobs/jobs.html",
        jobs=[name_job(_, job) for job in queue.list_jobs(visit.db, visit.actor).jobs],
        state_names=_state_names(visit),
        tab="jobs",
        crumbs=[(_("Jobs"), None)],
    )


def show(visit: Visiting, job: int) -> Response:
    """Show one job: how far it is and, where it writes a file, the file."""
    _ = visit.tongue.gettext
    shown_job = queue.get_job(visit.db, visit.actor, job)
    return visit.render(
        "jobs/job.html",
        named=name_job(_, shown_job),
        job=shown_job,
        writes=exports.is_export(shown_job),
        kept=exports.is_stored(visit.blobs, shown_job),
        kept_until=shown_job.finished_at + exports.KEPT if shown_job.finished_at else None,
        state_names=_state_names(visit),
        tab="jobs",
        crumbs=[(_("Jobs"), "/jobs"), (_("Job %(number)s", number=shown_job.id), None)],
    )


def file(visit: Visiting, job: int) -> Response:
    """Send the file that a job has written."""
    return send_kept(visit, job)


def _state_names(visit: Visit) -> dict[str, str]:
    _ = visit.tongue.gettext
    return {
        "queued": _("waits"),
        "running": _("running"),
        "done": _("done"),
        "failed": _("failed"),
        "cancelled": _("cancelled"),
    }


def cancel(post: Posting, job: int) -> Response:
    """Cancel a job."""
    visit = post.visit
    queue.cancel(visit.db, visit.actor, job)
    return visit.redirect("/jobs", visit.tongue.gettext("The job is cancelled."))
