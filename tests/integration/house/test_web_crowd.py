"""Many requests at once wait for each other, and never for ever."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor

import httpx2 as httpx

from quintain.compose import Workspace
from quintain.services.access.actors import actor_of, find_user
from quintain.services.access.sign_in import start_session
from tests.web_support import running

CROWD = 150  # more than there are threads, and those are more than there are connections


def test_a_crowd_is_answered(own_demo: Workspace) -> None:
    """Requests that wait for a thread hold no connection, so that those with a thread get one."""
    with own_demo.session() as db:
        token = start_session(db, actor_of(db, find_user(db, "demo-worker"))).token

    async def ask(url: str) -> list[int]:
        limits = httpx.Limits(max_connections=CROWD)
        cookies = {"quintain_session": token}
        async with httpx.AsyncClient(base_url=url, cookies=cookies, timeout=60, limits=limits) as client:
            answers = await asyncio.gather(*(client.get("/tasks/sentiment") for _ in range(CROWD)))
        return [answer.status_code for answer in answers]

    # In a thread of its own: browser tests in the same process keep an event loop running in this one.
    with running(own_demo) as url, ThreadPoolExecutor(1) as thread:
        assert thread.submit(asyncio.run, ask(url)).result() == [200] * CROWD
