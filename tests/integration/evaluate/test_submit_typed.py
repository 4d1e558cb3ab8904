"""Models that are typed into the page: lines of Python and endpoints, tried at once and submitted."""

from __future__ import annotations

import html
from collections.abc import Iterator
from dataclasses import replace

import pytest
from starlette.testclient import TestClient

from quintain.compose import Workspace
from quintain.core.people import OPERATOR
from quintain.services.evaluate.cells.progress import list_cells
from tests.endpoint import Server, completion, refusal
from tests.web_support import browser_of, csrf_of

PAGE = "/tasks/sentiment/submit/typed"
GOOD = "def predict(batch):\n    return ['positive' if 'e' in item['text'] else 'negative' for item in batch]\n"
WRONG = "def predict(batch):\n    print('never', 'mind')\n    return ['happy' for item in batch]\n"
BROKEN = "def predict(batch)\n    return []\n"
CHAT = {"option-model": "m", "option-prompt": "Answer for: {text}", "option-read": "exact"}


def send(client: TestClient, way: str, **fields: str) -> str:
    """Send the form as a browser does, and return the page that comes back."""
    page = f"{PAGE}/{way}"
    answer = client.post(page, data={"csrf": csrf_of(client, page), "visibility": "private", **fields})
    return html.unescape(answer.text) if answer.status_code != 303 else answer.headers["location"]


def models_of(workspace: Workspace, name: str) -> set[str]:
    """The states of the runs of a model."""
    with workspace.session() as db:
        return {cell.state for cell in list_cells(db, OPERATOR, task="sentiment") if cell.model == f"{name}@1"}


@pytest.fixture
def server() -> Iterator[Server]:
    """An endpoint that finds everything good."""
    made = Server()
    made.respond = lambda *_: completion("positive")
    yield made
    made.close()


@pytest.fixture
def outside(own_demo: Workspace, server: Server) -> Workspace:
    """The demo, whose operator allows that endpoint."""
    return replace(own_demo, settings=replace(own_demo.settings, endpoints=server.url))


def test_python_is_tried_and_then_submitted(own_demo: Workspace) -> None:
    """A try shows answers and keeps nothing; the same lines submitted are a model whose runs are queued."""
    client = browser_of(own_demo, "demo-owner")
    assert f'href="{PAGE}/handler"' in client.get("/tasks/sentiment/submit").text
    assert "def predict(batch)" in html.unescape(client.get(f"{PAGE}/handler").text)
    fields = {"option-code": GOOD, "name": "typed"}
    tried = send(client, "handler", **fields, **{"try": "1"})
    assert "It answers" in tried
    assert "<b>positive</b>" in tried
    assert GOOD in tried
    assert client.get("/tasks/sentiment/models/typed").status_code == 404
    assert send(client, "handler", **fields) == "/tasks/sentiment/models/typed?version=1"
    assert models_of(own_demo, "typed") == {"queued"}


def test_what_is_wrong_is_said_once_and_nothing_is_lost(own_demo: Workspace) -> None:
    """An answer that is no label is named once however many examples got it; what was typed and printed is shown."""
    client = browser_of(own_demo, "demo-owner")
    for step in ({"try": "1"}, {"name": "wrong"}):
        page = send(client, "handler", **{"option-code": WRONG}, **step)
        assert page.count("the model answered 'happy'") == 1
        assert "more)" in page
        assert WRONG in page
        assert "never mind" in page
    broken = send(client, "handler", **{"option-code": BROKEN, "try": "1"})
    assert "does not parse" in broken
    assert BROKEN in broken
    assert "is empty" in send(client, "handler", **{"option-code": "  "})
    assert client.get("/tasks/sentiment/models/wrong").status_code == 404


def test_a_test_call_shows_what_is_asked_and_what_comes_back(outside: Workspace, server: Server) -> None:
    """The prompt and the reply stand on the page; submitting makes the model, with its options as they were typed."""
    client = browser_of(outside, "demo-owner")
    fields = {**CHAT, "option-url": server.url, "option-temperature": "0.5", "name": "called"}
    tried = send(client, "chat", **fields, **{"try": "1"})
    assert "It answers" in tried
    sent = server.calls[0][1]
    assert sent["temperature"] == 0.5
    assert sent["messages"][-1]["content"].startswith("Answer for: ")
    assert sent["messages"][-1]["content"] in tried
    assert send(client, "chat", **fields) == "/tasks/sentiment/models/called?version=1"


def test_a_server_that_refuses_is_told_with_its_words(outside: Workspace, server: Server) -> None:
    """What the server wrote back stands on the page, and so does an address that the operator does not allow."""
    client = browser_of(outside, "demo-owner")
    server.respond = lambda *_: refusal(401, "Incorrect key provided")
    refused = send(client, "chat", **CHAT, **{"option-url": server.url, "try": "1"})
    assert "It would be refused" in refused
    assert "Incorrect key provided" in refused
    elsewhere = send(client, "chat", **CHAT, **{"option-url": "http://127.0.0.1:9", "try": "1"})
    assert "127.0.0.1:9" in elsewhere
    assert len({call[0] for call in server.calls}) == 1


def test_only_who_may_submit_may_try(own_demo: Workspace) -> None:
    """Workers get neither the form nor a try, and what is no way to type a model is not found."""
    worker = browser_of(own_demo, "demo-worker")
    assert worker.get(f"{PAGE}/handler").status_code == 403
    csrf = csrf_of(worker, "/account")
    assert worker.post(f"{PAGE}/handler", data={"csrf": csrf, "option-code": GOOD, "try": "1"}).status_code == 403
    owner = browser_of(own_demo, "demo-owner")
    assert owner.get(f"{PAGE}/sklearn").status_code == 404
    assert owner.get(f"{PAGE}/nothing").status_code == 404
