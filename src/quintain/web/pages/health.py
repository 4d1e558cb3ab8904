"""Is it alive, and can it work? For load balancers and people who look after it."""

from __future__ import annotations

from starlette.responses import JSONResponse, Response

from quintain.services import health
from quintain.web.visit import Request, workspace_of


def healthz() -> Response:
    """Say that the process answers."""
    return JSONResponse({"status": "ok"})
