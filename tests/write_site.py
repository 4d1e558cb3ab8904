"""The demo with somebody who writes and somebody who owns the round, over HTTP."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from starlette.testclient import TestClient

from quintain.compose import Workspace
from quintain.core.people import OPERATOR
from quintain.services.collect.rounds.round_figures import counters
from tests.web_support import csrf_of, post
from tests.writing_rounds import add_round

HTMX = {"hx-request": "true"}


@dataclass(frozen=True)
class Site:
    """The demo with a worker and an owner at their browsers; each test opens rounds of its own."""

    workspace: Workspace
    client: TestClient
    owner: TestClient
    folder: Path

    def open(self, task: str = "sentiment", **more: str) -> str:
        """Open a round, and give its address."""
        return f"/tasks/{task}/rounds/{add_round(self.workspace, self.folder, task, **more).number}"


def begin(client: TestClient, place: str) -> str:
    """Begin a session in the round at *place* and give its address."""
    answer = post(client, f"{place}/write", f"{place}/write")
    assert answer.status_code == 303, answer.text
    return str(answer.headers["location"])


def token_of(page: str) -> str:
    """Give the token of the form that a page or a part of it holds."""
    found = re.search(r'name="token" value="([^"]+)"', page)
    assert found
    return found[1]


def send(client: TestClient, address: str, *, token: str = "", headers: dict[str, str] | None = HTMX, **fields: object):
    """Submit an attempt as htmx does."""
    page = client.get(address).text
    data = {"csrf": csrf_of(client, address), "token": token or token_of(page), **fields}
    names = {key.replace("in_", "in-").replace("answer_start", "answer-start"): value for key, value in data.items()}
    return client.post(f"{address}/try", data=names, headers=headers)


def ref_of(place: str) -> str:
    """Give the round at an address."""
    _, _, task, _, number = place.split("/")[:5]
    return f"{task}/{number}"


def made(site: Site, place: str) -> int:
    """Count the attempts of a round."""
    with site.workspace.session() as db:
        return counters(db, OPERATOR, ref_of(place)).attempts
