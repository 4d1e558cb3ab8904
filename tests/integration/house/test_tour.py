"""The tour: five steps on the pages themselves, for each role; begun when asked for, ended for good."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from starlette.testclient import TestClient

from quintain.compose import Workspace
from quintain.web.tour import PAGES, STEPS, TOUR_COOKIE
from tests.web_support import browser_of, copy_demo, on_one_line, post
from tests.write_site import begin
from tests.writing_rounds import add_round


@pytest.fixture(scope="module")
def toured(demo: Workspace, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workspace]:
    """The demo with an open round."""
    folder = tmp_path_factory.mktemp("tour")
    workspace = copy_demo(demo, folder / "demo")
    add_round(workspace, folder, "sentiment")
    yield workspace
    workspace.close()


def _follow(client: TestClient, address: str) -> str:
    """Open a page, following where it leads."""
    page = client.get(address, follow_redirects=True)
    assert page.status_code == 200, address
    return on_one_line(page)


@pytest.mark.parametrize(
    ("name", "role"), [(None, "reader"), ("demo-worker", "worker"), ("demo-owner", "owner"), ("admin", "admin")]
)
def test_five_steps_lead_through_the_pages(toured: Workspace, name: str | None, role: str) -> None:
    """Every step opens a page that this role may see, says what is there, and the last one ends the tour."""
    client = browser_of(toured, name)
    assert "Tour: 1 of 5" not in client.get("/").text
    address = str(post(client, "/", "/tour").headers["location"])
    for number in range(1, STEPS + 1):
        assert address == PAGES[role][number - 1].format(task="sentiment")
        assert f"Tour: {number} of 5" in _follow(client, address)
        address = str(post(client, "/", "/tour", next="1", here="/help").headers["location"])
    assert address == "/help"
    assert "Tour: " not in client.get("/").text
    assert "Show me around" not in client.get("/").text


def test_it_is_offered_to_those_who_look_around_and_not_to_those_who_work(toured: Workspace) -> None:
    """A stranger and an owner are offered it once; a worker finds it at the foot; no page of work shows it."""
    assert "Show me around" in browser_of(toured).get("/").text
    assert "Show me around" in browser_of(toured, "demo-owner").get("/").text
    worker = browser_of(toured, "demo-worker")
    assert "Show me around" not in worker.get("/").text
    assert 'action="/tour"' in worker.get("/").text
    session = begin(worker, "/tasks/sentiment/rounds/1")
    post(worker, "/", "/tour")
    assert "Tour: 1 of 5" in worker.get("/").text
    assert "Tour: 1 of 5" not in worker.get(session).text
    post(worker, "/", "/tour", end="1", here="/work")
    assert "Tour: 1 of 5" not in worker.get("/").text


def test_a_cookie_of_nonsense_is_no_tour(toured: Workspace) -> None:
    """What somebody wrote into the cookie is not believed."""
    client = browser_of(toured)
    client.cookies.set(TOUR_COOKIE, "admin.1.sentiment")
    assert "Tour: " not in client.get("/").text
    client.cookies.set(TOUR_COOKIE, "reader.7.<b>")
    assert client.get("/").status_code == 200
