"""Whether the server works, for programs."""

from __future__ import annotations

from quintain import __version__
from quintain.services import health
from quintain.web.api.call import Calling
from quintain.web.api.shapes import StatusShape


def get_status(call: Calling) -> StatusShape:
    """Say which version this is and whether all parts work."""
    checks = health.readiness(call.db, call.blobs)
    return StatusShape(
        version=__version__,
        ready=all(check.ok for check in checks),
        checks={check.name: "ok" if check.ok else check.detail for check in checks},
    )
