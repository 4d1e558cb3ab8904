"""What jobs are called, and where what came of them is read."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from quintain.core.records.jobs import JobStanding
from quintain.web.pages.job_words import name_job


def job(kind: str, subject: str, task: str = "") -> JobStanding:
    """Return a job that waits."""
    return JobStanding(1, kind, subject, task, "queued", 0, 0, datetime(2026, 1, 1, tzinfo=UTC), None, None, "", {})


@pytest.mark.parametrize(
    ("kind", "subject", "about", "url"),
    [
        ("figure:validation", "mood/5", "5", "/tasks/mood/validation/5"),
        ("figure:board", "mood?sight=owner", "", "/tasks/mood/board"),
        ("check", "house", "", ""),
    ],
)
def test_a_figure_that_nobody_asked_for_leads_to_its_task(kind: str, subject: str, about: str, url: str) -> None:
    """Such a job is of no owner's list; the admin's names its task and links to a page that is there."""
    named = name_job(str, job(kind, subject))
    assert (named.about, named.url, named.job.task) == (
        about,
        url,
        subject.split("/", maxsplit=1)[0].split("?", maxsplit=1)[0],
    )
