"""Calls about the server itself, and the jobs that workers do.

Written by scripts/make_client.py from the API's description; change that, not this.
"""

from __future__ import annotations

from collections.abc import Iterable

from quintain.client.transport import Transport
from quintain.core.records.access import MailCount, MailQueue, Status
from quintain.core.records.jobs import JobList, JobStanding, LoopReport, LoopReports


class StatusCalls:
    """What `Client` can ask about status."""

    _transport: Transport

    def status(self) -> Status:
        """Return which version this is and whether all parts work."""
        return self._transport.read(Status, "GET", "/status")

    def loops(self) -> list[LoopReport]:
        """List how everything fares that goes on beside requests: mail, reviews, workers and the like (admins)."""
        return self._transport.read(LoopReports, "GET", "/loops").loops

    def mails(self, *, state: str | None = None, limit: int = 50, offset: int = 0) -> MailQueue:
        """List the e-mails that wait or failed, with why (admins)."""
        return self._transport.read(
            MailQueue, "GET", "/mails", params={"state": state, "limit": limit, "offset": offset}
        )

    def retry_mails(self, ids: Iterable[int] | None = None) -> int:
        """Try e-mails again at once, as if for the first time (admins)."""
        return self._transport.read(MailCount, "POST", "/mails/retry", json={"ids": ids and list(ids)}).count

    def give_up_mails(self, ids: Iterable[int] | None = None) -> int:
        """Put e-mails that wait or failed aside for good; without ids, all that failed (admins)."""
        return self._transport.read(MailCount, "POST", "/mails/give-up", json={"ids": ids and list(ids)}).count

    def jobs(self, *, unfinished: bool = False) -> tuple[JobStanding, ...]:
        """List the newest jobs of the tasks that one owns; admins see all."""
        return self._transport.read(JobList, "GET", "/jobs", params={"unfinished": unfinished}).jobs

    def job(self, job: int) -> JobStanding:
        """Return how far a job is, and what came of it (who asked for it, and owners)."""
        return self._transport.read(JobStanding, "GET", f"/jobs/{job}")

    def cancel_job(self, job: int) -> JobStanding:
        """Cancel a job that is not over; what it has written stays (who asked for it, and owners)."""
        return self._transport.read(JobStanding, "POST", f"/jobs/{job}/cancel")
