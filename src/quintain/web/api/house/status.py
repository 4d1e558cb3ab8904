"""Whether the server works, for programs."""

from __future__ import annotations

from fastapi import Request

from quintain import __version__
from quintain.core.records.access import Status
from quintain.web.visit import workspace_of


def get_status(request: Request) -> Status:
    """Return which version this is and whether all parts work."""
    readiness = workspace_of(request).watch.readiness()
    return Status(version=__version__, ready=readiness.ready, state=readiness.state, checks=readiness.words())
