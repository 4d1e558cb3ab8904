"""The five stations of a round: where it stands after each step, on pages, calls and commands."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from click.testing import Result
from sqlalchemy.orm import Session

from quintain.client import Client
from quintain.compose import Workspace
from quintain.core.errors import NotFound
from quintain.core.people import OPERATOR, Actor, RoleName
from quintain.core.records.stations import Stations
from quintain.services.access.links import make_link, redeem_link
from quintain.services.collect.rounds.manage import close_round, put_round
from quintain.services.house.waiting import waiting_for
from quintain.services.models.registry import set_visibility
from quintain.services.models.train import train
from quintain.services.release.releases import parse_release, release
from quintain.services.release.stations import stations_of
from tests.judged_rounds import attempt, make_round
from tests.people import make_person
from tests.released import REF, Made, judged_round, mood_items
from tests.validation_support import make_judges
from tests.web_support import PASSWORD, browser_of, on_one_line, running, token_for

SPEC = 'dev = 9\ntest = 9\nwriters = "any"\neven = []\nchecked = []\nhidden = false\n'


def _past(found: Stations) -> tuple[list[str], str | None, str | None]:
    return [one.name.value for one in found.stations if one.done], found.now, found.step


@pytest.fixture
def database() -> str:
    """Stations add no query of their own kind: one database shows what they say."""
    return "sqlite"


def test_a_round_is_written_and_then_judged(db: Session, owner: Actor) -> None:
    """While people write it is at writing, however many judge; once closed it is at judging until nothing is wanted."""
    writer, *_ = make_judges(db, 1, "writer")
    make_round(db, owner, [attempt(writer, "so so", "neutral", "positive")], 'items = "all"')
    found = stations_of(db, owner, REF)
    assert _past(found) == ([], "write", "write")
    assert [(one.count, one.total) for one in found.stations[:2]] == [(1, None), (0, 5)]
    db.rollback()
    close_round(db, owner, REF)
    assert _past(stations_of(db, owner, REF)) == (["write"], "judge", "judge")


def test_a_judged_round_is_released_and_trained_on(workspace: Workspace, db: Session, owner: Actor) -> None:
    """After the judgements it waits for its release, then for a model, and at last for a round that aims at it."""
    judged_round(db, owner, mood_items(5))
    db.rollback()
    close_round(db, owner, REF)
    assert _past(stations_of(db, owner, REF)) == (["write", "judge", "label"], "release", "release")
    db.rollback()
    made = release(db, workspace.blobs, OPERATOR, REF, parse_release(SPEC))
    assert _past(found := stations_of(db, owner, REF)) == (["write", "judge", "label", "release"], "model", "train")
    assert found.stations[3].refs == list(made.versions.values())
    db.rollback()
    trained = train(db, workspace.blobs, OPERATOR, "mood", "tfidf", [made.versions["train"]])
    found = stations_of(db, owner, REF)
    assert (found.step, found.stations[4].refs) == ("next_round", [trained.ref])
    set_visibility(db, OPERATOR, trained.ref, "private")
    assert stations_of(db, make_person(db, "rita", RoleName.WORKER), REF).stations[4].refs == []
    assert stations_of(db, owner, REF).stations[4].refs == [trained.ref]
    db.rollback()
    put_round(db, OPERATOR, f'task = "mood"\ntitle = "Again"\n[targets]\nmodels = ["{trained.ref}"]\n')
    assert (stations_of(db, owner, REF).now, stations_of(db, owner, REF).step) == (None, None)
    assert stations_of(db, owner, "mood/2").step == "open"
    with pytest.raises(NotFound):
        stations_of(db, make_person(db, "wanda", RoleName.WORKER), "mood/2")


def test_contested_items_are_decided_first(db: Session, owner: Actor) -> None:
    """Items without a clear majority hold the round at its labels."""
    items = mood_items(1)
    split = [
        one.__class__(one.text, one.said, ("positive", "positive", "negative", "negative", "neutral")) for one in items
    ]
    judged_round(db, owner, split)
    db.rollback()
    close_round(db, owner, REF)
    found = stations_of(db, owner, REF)
    assert _past(found) == (["write", "judge"], "label", "adjudicate")
    assert (found.stations[2].count, found.stations[2].total) == (0, 9)
    assert found.also == "release"  # nobody has to decide them
    for person in (owner, make_person(db, "ezra", RoleName.EXPERT)):
        waits = [one for one in waiting_for(db, person) if one.kind == "adjudicate"]
        assert [(one.count, one.url) for one in waits] == [(9, "/tasks/mood/validation/1/adjudicate")]


def test_what_is_contested_can_be_released_and_asks_for_nothing_then(
    workspace: Workspace, db: Session, owner: Actor, cli: Callable[..., Result]
) -> None:
    """Beside the decision stands the release; once it is made, contested items wait for nobody, experts included."""
    split = Made(
        "a text that people see in two ways", "positive", ("positive", "positive", "negative", "negative", "mixed")
    )
    judged_round(db, owner, [*mood_items(3), split])
    expert = make_person(db, "ezra", RoleName.EXPERT)
    redeem_link(db, make_link(db, OPERATOR, "olga").token, PASSWORD)
    db.rollback()
    close_round(db, owner, REF)
    assert [one.count for one in waiting_for(db, expert) if one.kind == "adjudicate"] == [1]
    assert [one.kind for one in waiting_for(db, owner)][:2] == ["adjudicate", "release"]
    page = on_one_line(browser_of(workspace, "olga").get("/tasks/mood/validation/1"))
    assert '<a class="button primary" href="/tasks/mood/validation/1/adjudicate">' in page
    assert '<a class="button" href="/tasks/mood/validation/1/release">Release</a>' in page
    assert "1 contested item waits for a decision" in page
    shown = cli("--workspace", workspace.settings.workspace, "round", "stations", REF)
    assert "Next: adjudicate or release." in shown.stderr
    db.rollback()
    release(db, workspace.blobs, OPERATOR, REF, parse_release(SPEC))
    assert (stations_of(db, owner, REF).step, stations_of(db, owner, REF).also) == ("train", None)
    for person in (owner, expert):
        assert [one for one in waiting_for(db, person) if one.kind == "adjudicate"] == []
    page = on_one_line(browser_of(workspace, "olga").get("/tasks/mood/validation/1"))
    assert "contested item waits" not in page
    assert 'href="/tasks/mood/validation/1/adjudicate"' in page  # it can still be decided


def test_pages_calls_and_commands_say_the_same(
    workspace: Workspace, db: Session, owner: Actor, cli: Callable[..., Result]
) -> None:
    """The owner's button leads to the release, a worker has none there; the rest is for all."""
    judged_round(db, owner, mood_items(5))
    make_person(db, "wanda", RoleName.WORKER)
    for name in ("olga", "wanda"):
        redeem_link(db, make_link(db, OPERATOR, name).token, PASSWORD)
    db.rollback()
    close_round(db, owner, REF)
    button = '<a class="button primary" href="/tasks/mood/validation/1/release">Release</a>'
    for path in ("rounds/1", "rounds/1/texts", "rounds/1/flags", "rounds/1/pay", "validation/1", "validation/1/items"):
        page = on_one_line(browser_of(workspace, "olga").get(f"/tasks/mood/{path}"))
        assert page.count('aria-current="step"') == 1, path
        assert button in page, path
    page = on_one_line(browser_of(workspace, "olga").get("/tasks/mood/validation/1/release"))
    assert (page.count('aria-current="step"'), button in page) == (1, False)
    page = on_one_line(browser_of(workspace, "wanda").get("/tasks/mood/rounds/1"))
    assert (page.count('aria-current="step"'), button in page) == (1, False)
    with running(workspace) as url, Client(url, token_for(workspace, "wanda")) as client:
        assert client.stations(REF) == stations_of(db, owner, REF)
    shown = cli("--workspace", workspace.settings.workspace, "round", "stations", REF)
    assert "Next: release." in shown.stderr
