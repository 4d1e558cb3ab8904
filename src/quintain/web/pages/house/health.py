"""Is it alive, and can it work? For load balancers and whoever looks after it."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from quintain.web.visit import workspace_of


async def healthz() -> Response:
    """Answer that the process is alive: from the loop itself, as threads may all be taken by what hangs."""
    return JSONResponse({"status": "ok"})


async def readyz(request: Request) -> Response:
    """Answer within two seconds whether the database, its migrations and the blobs work, and how all fares beside.

    What keeps failing there, such as a mail server, makes the answer `degraded`, with 200: another server would not do
    better. What hangs or has ended makes it 503.
    """
    readiness = await workspace_of(request).watch.readiness_beside()
    return JSONResponse({"status": readiness.state, "checks": readiness.words()}, 200 if readiness.ready else 503)
