"""The documents as pages: every one opens, and every link in it leads somewhere."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from starlette.testclient import TestClient

from quintain.compose import Workspace
from quintain.web.help_pages import ROOMS, folder, names
from tests.web_support import browser_of

DOCS = folder()
assert DOCS is not None


@pytest.fixture(scope="module")
def client(evaluated_site: Workspace) -> Iterator[TestClient]:
    """Anybody at a browser."""
    with browser_of(evaluated_site) as found:
        yield found


@pytest.mark.parametrize("name", ["", *names()])
def test_every_document_opens_and_its_links_lead_somewhere(client: TestClient, name: str) -> None:
    """Links between documents are pages of the help, with the heading that they name; none leads out of it."""
    address = f"/help/{name}" if name else "/help"
    page = client.get(address)
    assert page.status_code == 200
    body = page.text.partition('<div class="prose help"')[2].partition("</main>")[0]
    for source in re.findall(r'<img src="([^"]+)"', body):
        found = client.get(source)
        assert (found.status_code, found.headers["content-type"]) == (200, "image/png"), source
    assert body.count("<img") == len(re.findall(r'alt="[^"]{10,}" width="\d+" height="\d+" loading="lazy"', body))
    for target in re.findall(r'href="([^"]+)"', body):
        if target.startswith("http"):
            continue
        path, _, anchor = target.partition("#")
        found = page if not path else client.get(path)
        assert found.status_code == 200, target
        assert not anchor or f'id="{anchor}"' in found.text, target


def test_documents_of_a_folder_are_pages_below_its_list(client: TestClient) -> None:
    """A folder with a list of its documents is part of the help: from the first page one gets to each, and back."""
    assert DOCS is not None
    stems = {path.stem for path in DOCS.glob("repeating/*.md")} - {"README"}
    assert {f"repeating/{stem}" for stem in stems} | {"repeating"} == {
        name for name in names() if name.startswith("repeating")
    }
    assert 'href="/help/repeating"' in client.get("/help").text
    listed = client.get("/help/repeating").text
    for stem in stems:
        assert f'href="/help/repeating/{stem}"' in listed
        assert 'href="/help/repeating"' in client.get(f"/help/repeating/{stem}").text


def test_every_page_links_to_the_help_of_its_room(client: TestClient) -> None:
    """The foot of each page leads to the help, of a task's pages to the document on just that."""
    assert 'href="/help"' in client.get("/").text
    assert 'href="/help/board"' in client.get("/tasks/mood/board").text
    assert set(ROOMS.values()) <= set(names())


def test_the_documents_for_people_have_their_pictures(client: TestClient) -> None:
    """One page for each kind of reader, and what they will see is shown on it."""
    for name in ("for-workers", "for-owners", "for-builders", "for-analysts", "for-operators"):
        assert 'src="/help/images/' in client.get(f"/help/{name}").text


@pytest.mark.parametrize("name", ["images/nothing.png", "images/..%2Fboard.md", "images/board.md"])
def test_what_is_no_picture_is_not_found(client: TestClient, name: str) -> None:
    """Only pictures of the documents are given."""
    assert client.get(f"/help/{name}").status_code == 404


@pytest.mark.parametrize(
    "name", ["nothing", "..%2F..%2Fpyproject", "README", "repeating/README", "nothing/dynasent", "notebooks/own-board"]
)
def test_what_is_no_document_is_not_found(client: TestClient, name: str) -> None:
    """Only documents are shown, whatever the address says."""
    assert client.get(f"/help/{name}").status_code == 404
