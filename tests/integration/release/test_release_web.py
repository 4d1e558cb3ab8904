"""Releases over HTTP: the calls of the client, who may make them, and where a data set says it comes from."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from quintain.client import Client
from quintain.compose import Workspace
from quintain.core.errors import BadInput, Forbidden
from quintain.core.people import OPERATOR, RoleName
from quintain.services.access.links import make_link, redeem_link
from quintain.services.release.releases import parse_release, release
from tests.people import make_person
from tests.released import REF, judged_round, mood_items
from tests.web_support import PASSWORD, browser_of, on_one_line, post, running, token_for

SPEC = 'dev = 9\ntest = 9\nwriters = "any"\neven = []\nchecked = []\n'


@pytest.fixture
def database() -> str:
    """Pages and client are tested on SQLite; the services below them on both."""
    return "sqlite"


@pytest.fixture
def judged(workspace: Workspace) -> Workspace:
    """A round of 45 judged items, its owner olga, and rita, who owns nothing."""
    with workspace.session() as db:
        owner = make_person(db, "olga", RoleName.OWNER)
        judged_round(db, owner, mood_items(5))
        make_person(db, "rita", RoleName.WORKER)
        for name in ("olga", "rita"):
            redeem_link(db, make_link(db, OPERATOR, name).token, PASSWORD)
    return workspace


@pytest.fixture
def served(judged: Workspace) -> Iterator[str]:
    """A server with the judged round."""
    with running(judged) as url:
        yield url


def test_the_client_looks_releases_and_lists(judged: Workspace, served: str) -> None:
    """What is looked at is what is released; the list has it, and the same again is no second one."""
    with Client(served, token_for(judged, "olga")) as client:
        looked = client.preview_release(REF, SPEC)
        assert (looked.number, looked.versions, client.releases(REF)) == (None, {}, [])
        made = client.make_release(REF, SPEC)
        assert made.report == looked.report
        assert made.versions == {name: f"mood/round-1-{name}@1" for name in ("train", "dev", "test")}
        assert client.make_release(REF, SPEC).new is False
        assert [one.number for one in client.releases(REF)] == [1]
        with pytest.raises(BadInput, match="multiples of 9"):
            client.make_release(REF, "dev = 10")


def test_only_owners_call(judged: Workspace, served: str) -> None:
    """Somebody without the role is refused by each of the calls."""
    with Client(served, token_for(judged, "rita")) as client:
        for call in (client.preview_release, client.make_release, client.releases):
            with pytest.raises(Forbidden):
                call(REF)


def test_a_data_set_says_where_it_comes_from(judged: Workspace) -> None:
    """Its page names round, validation and release; owners can go there, others only read it."""
    with judged.session() as db:
        release(db, judged.blobs, OPERATOR, REF, parse_release(SPEC))
    page = on_one_line(browser_of(judged, "olga").get("/tasks/mood/data/round-1-test"))
    assert '<a href="/tasks/mood/rounds/1">round 1</a>' in page
    assert '<a href="/tasks/mood/validation/1">validation 1</a>' in page
    assert "release 1" in page
    other = on_one_line(browser_of(judged, "rita").get("/tasks/mood/data/round-1-test"))
    assert "round 1 → validation 1 → release 1" in other
    assert "/tasks/mood/validation/1" not in other


def test_an_owner_looks_and_releases_on_the_page(judged: Workspace) -> None:
    """The console leads there; what is too much is said beside the form, a look writes nothing, then it is released."""
    home = "/tasks/mood/validation/1"
    client = browser_of(judged, "olga")
    assert f'<a class="button primary" href="{home}/release">Release</a>' in client.get(home).text
    asked = {"dev": "9", "test": "9", "writers": "any", "at_chance": "on", "balanced": "on", "hidden": "on"}
    refused = post(client, f"{home}/release", f"{home}/release", **{**asked, "dev": "10"})
    assert refused.status_code == 422
    assert "multiples of 9" in refused.text
    looked = post(client, f"{home}/release", f"{home}/release", **asked)
    assert "Nothing is written yet." in looked.text
    assert "F1 of mood/m0" in looked.text
    assert client.get("/tasks/mood/data/round-1-dev").status_code == 404
    done = post(client, f"{home}/release", f"{home}/release", **asked, release="on")
    assert done.headers["location"] == f"{home}/release"
    page = client.get(f"{home}/release").text
    assert '<a href="/tasks/mood/data/round-1-dev?version=1">mood/round-1-dev@1</a>' in page
    assert browser_of(judged, "rita").get(f"{home}/release").status_code == 403
