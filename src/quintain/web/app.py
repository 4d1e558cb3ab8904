"""The web application: what stands around every request, and where each address leads (see `routes.py`)."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import cache

from fastapi import APIRouter, FastAPI
from fastapi.exceptions import RequestValidationError
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.middleware.gzip import GZipMiddleware
from starlette.routing import BaseRoute

from quintain import __version__
from quintain.compose import Workspace
from quintain.core.errors import QuintainError
from quintain.web.api.call import may_send
from quintain.web.described import Described
from quintain.web.errors import handle
from quintain.web.housekeeping import housekeeping
from quintain.web.middleware import Answering, BodyLimit, RequestId, SecurityHeaders
from quintain.web.routes import API, DESCRIPTION, PAGES, UPLOADS
from quintain.web.static_files import STATIC, Static
from quintain.web.switchboard import Switchboard

log = logging.getLogger("quintain.web")

# The outermost comes first.
MIDDLEWARE = [
    Middleware(RequestId),
    Middleware(SecurityHeaders),
    Middleware(Answering, handler=handle),
    Middleware(BodyLimit, large=UPLOADS, known=may_send),
]


@asynccontextmanager
async def lifespan(app: FastAPI) -> AsyncIterator[None]:
    """Keep house while the server runs: sessions that ran out are removed, messages are sent by e-mail."""
    workspace: Workspace = app.state.workspace
    if workspace.mail.enabled and workspace.settings.link_address is None:
        log.warning("E-mails have no links: set QUINTAIN_PUBLIC_URL to the address that people use.")
    house = housekeeping(workspace)
    await run_in_threadpool(house.__enter__)
    try:
        yield
    finally:
        await run_in_threadpool(house.__exit__, None, None, None)
        await run_in_threadpool(workspace.close)


def create_app(workspace: Workspace) -> FastAPI:
    """Make the application that serves *workspace*."""
    app = Described(
        title="Quintain",
        version=__version__,
        description=DESCRIPTION,
        openapi_url="/api/v1/openapi.json",
        docs_url=None,
        redoc_url=None,
        middleware=MIDDLEWARE,
        lifespan=lifespan,
    )
    for kind in (QuintainError, RequestValidationError, HTTPException):
        app.add_exception_handler(kind, handle)
    app.state.workspace = workspace
    # Only files are compressed: a page holds secrets next to what others may have typed.
    app.mount("/static", GZipMiddleware(Static(directory=STATIC), minimum_size=1000), name="static")
    app.routes.extend(_routes())
    app.router.middleware_stack = Switchboard(app.router)
    return app


@cache
def _routes() -> list[BaseRoute]:
    """Return the pages and endpoints: for every workspace the same, and slow to read from the functions."""
    router = APIRouter()
    for page in PAGES:
        page.add_to(router)
    for endpoint in API:
        endpoint.add_to(router)
    return router.routes


__all__ = ["create_app"]
