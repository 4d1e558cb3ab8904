"""The documents as pages: every one opens, and every link in it leads somewhere."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from starlette.testclient import TestClient

from quintain.compose import Workspace
from quintain.web.help_pages import ROOMS, folder, help_page, names
from quintain.web.help_tree import help_tree, neighbours
from tests.web_support import browser_of

DOCS = folder()
assert DOCS is not None


@pytest.fixture(scope="module")
def client(evaluated_site: Workspace) -> Iterator[TestClient]:
    """Anybody at a browser."""
    with browser_of(evaluated_site) as found:
        yield found


def _tree_urls(language: str = "en") -> list[str]:
    return [entry.url for part in help_tree(language) for page in part.pages for entry in (page, *page.pages)]


@pytest.mark.parametrize("name", ["", *names()])
def test_every_document_opens_and_its_links_lead_somewhere(client: TestClient, name: str) -> None:
    """Links between documents are pages of the help, with the heading that they name; none leads out of it."""
    document = help_page(name)
    page = client.get(document.url)
    assert page.status_code == 200
    anchors = re.findall(r' id="([^"]+)"', page.text)
    assert len(anchors) == len(set(anchors))
    body = page.text.partition('<div class="prose help"')[2].partition('<nav class="help-turn"')[0]
    for source in re.findall(r'<img src="([^"]+)"', body):
        answer = client.get(source)
        assert (answer.status_code, answer.headers["content-type"]) == (200, "image/png"), source
    assert body.count("<img") == len(re.findall(r'alt="[^"]{10,}" width="\d+" height="\d+" loading="lazy"', body))
    assert "&lt;!--" not in body
    _check_links(name, document.html, "en")


@pytest.mark.parametrize("name", [path.stem for path in sorted(DOCS.glob("de/*.md")) if path.stem != "README"])
def test_a_translated_document_is_the_same_document(client: TestClient, name: str) -> None:
    """Its headings are those of the English one, in order and by address, and its links lead somewhere."""
    english, german = help_page(name), help_page(name, "de")
    assert german.language == "de"
    assert german.title != english.title
    assert [(part.level, part.anchor) for part in german.sections] == [
        (part.level, part.anchor) for part in english.sections
    ]
    _check_links(name, german.html, "de")
    shown = client.get(english.url, headers={"accept-language": "de"}).text
    assert f'<h1 lang="de">{german.title}</h1>' in shown
    assert "noch nicht übersetzt" not in shown
    assert f'<h1 lang="en">{english.title}</h1>' in client.get(f"{english.url}?language=en").text


def _check_links(name: str, html: str, language: str) -> None:
    """Check the links of one document among the documents themselves: to the pages, and to headings of these."""
    for target in re.findall(r'href="([^"]+)"', html):
        path, _, anchor = target.partition("#")
        if path.startswith(("http", "/api")):
            continue
        address, _, chosen = path.partition("?language=")
        linked = help_page(address.removeprefix("/help").removeprefix("/") if path else name, chosen or language)
        assert not anchor or anchor in {part.anchor for part in linked.sections}, target


def test_what_is_not_translated_says_so(client: TestClient) -> None:
    """A reader of another language gets the English page with a word about it, and the tree in their own."""
    page = client.get("/help/board", headers={"accept-language": "de"}).text
    assert "noch nicht übersetzt" in page
    assert '<h1 lang="en">' in page
    assert 'href="/help/judging">Beurteilen</a>' in page


def test_the_tree_holds_every_document_in_every_language() -> None:
    """Nothing is only found by its address; the German list has the order of the English one."""
    assert sorted(_tree_urls()) == sorted(help_page(name).url for name in names())
    assert _tree_urls("de") == _tree_urls()


def test_one_can_read_from_the_first_to_the_last_document(client: TestClient) -> None:
    """Each page names the one before and the one after, as the tree orders them; pages of a folder are among them."""
    urls = _tree_urls()
    walked = [urls[0]]
    while (after := neighbours(walked[-1])[1]) is not None:
        assert (neighbours(after.url)[0] or after).url == walked[-1]
        walked.append(after.url)
    assert walked == urls
    page = client.get("/help/cli/task").text
    assert 'rel="prev"' in page
    assert 'rel="next"' in page
    assert 'href="#quintain-task-check"' in page.partition('class="help-contents"')[2]
    assert 'href="/help/cli/task" aria-current="page"' in page


def test_words_in_tables_stay_whole(client: TestClient) -> None:
    """A table stands in a box that scrolls and that keys reach; the style breaks no word within its cells."""
    body = client.get("/help/cli/settings").text
    assert '<div class="wide" tabindex="0"><table>' in body
    address = re.findall(r'href="([^"]+quintain[^"]*css)"', body)[0]
    style = client.get(address).text
    assert "overflow-wrap: anywhere" not in style.partition("/* ---------- prose")[2].partition("/* ----------")[0]


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
