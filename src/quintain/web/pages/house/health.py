"""Is it alive, and can it work? For load balancers and whoever looks after it."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from quintain.web.visit import workspace_of


def healthz() -> Response:
    """Say that the process answers."""
    return JSONResponse({"status": "ok"})


def readyz(request: Request) -> Response:
    """Say whether the database, its migrations and the blobs work."""
    checks = workspace_of(request).watch.checks()
    ready = all(check.ok for check in checks)
    parts = {check.name: "ok" if check.ok else check.told for check in checks}
    return JSONResponse({"status": "ok" if ready else "not ready", "checks": parts}, 200 if ready else 503)
