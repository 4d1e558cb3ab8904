"""The documents as pages: every one opens, and every link in it leads somewhere."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from starlette.testclient import TestClient

from quintain.compose import Workspace
from quintain.web.help_pages import ROOMS, folder
from tests.web_support import browser_of

PLACE = folder()
assert PLACE is not None
NAMES = [path.stem for path in sorted(PLACE.glob("*.md")) if path.stem != "README"]


@pytest.fixture(scope="module")
def client(evaluated_site: Workspace) -> Iterator[TestClient]:
    """Anybody at a browser."""
    with browser_of(evaluated_site) as found:
        yield found


@pytest.mark.parametrize("name", ["", *NAMES])
def test_every_document_opens_and_its_links_lead_somewhere(client: TestClient, name: str) -> None:
    """Links between documents are pages of the help, with the heading that they name; none leads out of it."""
    address = f"/help/{name}" if name else "/help"
    page = client.get(address)
    assert page.status_code == 200
    body = page.text.partition('<div class="prose help"')[2].partition("</main>")[0]
    assert "<img" not in body
    for target in re.findall(r'href="([^"]+)"', body):
        if target.startswith("http"):
            continue
        path, _, anchor = target.partition("#")
        found = page if not path else client.get(path)
        assert found.status_code == 200, target
        assert not anchor or f'id="{anchor}"' in found.text, target


def test_every_page_links_to_the_help_of_its_room(client: TestClient) -> None:
    """The foot of each page leads to the help, of a task's pages to the document on just that."""
    assert 'href="/help"' in client.get("/").text
    assert 'href="/help/board"' in client.get("/tasks/mood/board").text
    assert set(ROOMS.values()) <= set(NAMES)


@pytest.mark.parametrize("name", ["nothing", "..%2F..%2Fpyproject", "README"])
def test_what_is_no_document_is_not_found(client: TestClient, name: str) -> None:
    """Only documents are shown, whatever the address says."""
    assert client.get(f"/help/{name}").status_code == 404
