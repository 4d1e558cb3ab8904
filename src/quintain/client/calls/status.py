"""Calls about the server itself, and the jobs that workers do.

Written by scripts/make_client.py from the API's description; change that, not this.
"""

from __future__ import annotations

from quintain.client.transport import Transport
from quintain.core.records.access import Status
from quintain.core.records.jobs import JobList, JobStanding


class StatusCalls:
    """What `Client` can ask about status."""

    _transport: Transport

    def status(self) -> Status:
        """Say which version this is and whether all parts work."""
        return self._transport.read(Status, "GET", "/status")

    def jobs(self, *, unfinished: bool = False) -> tuple[JobStanding, ...]:
        """List the newest jobs of the tasks that one owns; admins see all."""
        return self._transport.read(JobList, "GET", "/jobs", params={"unfinished": unfinished}).jobs

    def job(self, job: int) -> JobStanding:
        """Say how far a job is, and what came of it (who asked for it, and owners)."""
        return self._transport.read(JobStanding, "GET", f"/jobs/{job}")

    def cancel_job(self, job: int) -> JobStanding:
        """Cancel a job that is not over; what it has written stays (who asked for it, and owners)."""
        return self._transport.read(JobStanding, "POST", f"/jobs/{job}/cancel")
