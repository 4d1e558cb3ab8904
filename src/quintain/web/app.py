"""The web application: what stands around every request, and where each address leads (see `routes.py`)."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import cache
from itertools import count

from fastapi import APIRouter, FastAPI
from fastapi.exceptions import RequestValidationError
from sqlalchemy.exc import SQLAlchemyError
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.middleware.gzip import GZipMiddleware
from starlette.routing import BaseRoute

from quintain import __version__
from quintain.compose import Workspace
from quintain.conditions import sandbox_of
from quintain.core.errors import QuintainError
from quintain.services.access import notify
from quintain.services.contest import freezing
from quintain.services.house import health
from quintain.services.jobs import checking
from quintain.services.validate import review
from quintain.services.wheel import standings
from quintain.web.api.call import may_send
from quintain.web.described import Described
from quintain.web.errors import handle
from quintain.web.middleware import Answering, BodyLimit, RequestId, SecurityHeaders
from quintain.web.routes import API, DESCRIPTION, PAGES, UPLOADS
from quintain.web.said import say
from quintain.web.static_files import STATIC, Static
from quintain.web.switchboard import Switchboard

HOUSE_SECONDS = 60.0
MINUTES_BETWEEN_TIDYING = 60
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
    await run_in_threadpool(keep_house, workspace, tidy=True)
    house = asyncio.create_task(_housekeeping(workspace))
    yield
    house.cancel()
    await asyncio.gather(house, return_exceptions=True)
    await run_in_threadpool(workspace.close)


async def _housekeeping(workspace: Workspace) -> None:
    for minute in count(1):
        await asyncio.sleep(HOUSE_SECONDS)
        await run_in_threadpool(keep_house, workspace, tidy=minute % MINUTES_BETWEEN_TIDYING == 0)
        if minute == 1:
            await run_in_threadpool(_try_sandbox, workspace)


def _try_sandbox(workspace: Workspace) -> None:
    """Find out which layers of the sandbox hold, which starts processes: whoever looks at the health does not wait."""
    try:
        sandbox_of(workspace.settings)
    except QuintainError as error:
        log.warning("the sandbox cannot be tried: %s", error)


def keep_house(workspace: Workspace, *, tidy: bool) -> None:
    """Send mail, make up for reviews, comparisons and sets of pairs that are owed; with *tidy* remove what ran out.

    With it, a worker is also asked to compare a part of what is kept with its facts, once in an hour.
    A failure waits for the next time.
    """
    try:
        with workspace.session() as db:
            if tidy:
                health.tidy(db, workspace.blobs)
                checking.ask_if_due(db)
            review.catch_up_all(db)
            standings.catch_up(db, workspace.blobs)
            freezing.freeze_due(db, workspace.blobs)
            notify.deliver_mail(db, workspace.mail, workspace.settings.link_address, say=say)
    except (QuintainError, SQLAlchemyError) as error:
        log.warning("housekeeping failed: %s", error)


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
    """Give the pages and endpoints: for every workspace the same, and slow to read from the functions."""
    router = APIRouter()
    for page in PAGES:
        page.add_to(router)
    for endpoint in API:
        endpoint.add_to(router)
    return router.routes


__all__ = ["create_app"]
