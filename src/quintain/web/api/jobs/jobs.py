"""What workers do outside of requests, for programs: how far it is, and cancelling it."""

from __future__ import annotations

from typing import Annotated

from fastapi import Path, Query
from starlette.responses import Response

from quintain.core.records.jobs import JobList, JobStanding
from quintain.services.jobs import queue
from quintain.web.api.call import Calling
from quintain.web.exporting import send_kept

JobId = Annotated[int, Path(description="Number of the job.", ge=1, le=2**31 - 1)]
Unfinished = Annotated[bool, Query(description="Only those that are not over.")]


def list_jobs(call: Calling, unfinished: Unfinished = False) -> JobList:
    """List the newest jobs of the tasks that one owns; admins see all."""
    return queue.list_jobs(call.db, call.actor, unfinished=unfinished)


def get_job(call: Calling, job: JobId) -> JobStanding:
    """Return how far a job is, and what came of it (who asked for it, and owners)."""
    return queue.get_job(call.db, call.actor, job)


def get_job_file(call: Calling, job: JobId) -> Response:
    """Download the file that a job has written; it is kept for a day (owners)."""
    return send_kept(call, job)


def cancel_job(call: Calling, job: JobId) -> JobStanding:
    """Cancel a job that is not over; what it has written stays (who asked for it, and owners)."""
    return queue.cancel(call.db, call.actor, job)
