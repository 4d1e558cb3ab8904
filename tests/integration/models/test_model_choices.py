"""Lists and choices of models: pages of them, and forms that offer some of many."""

from __future__ import annotations

from pathlib import Path

import pytest
from sqlalchemy.orm import Session
from starlette.testclient import TestClient

from quintain.compose import Workspace
from quintain.core.people import ANONYMOUS, OPERATOR, RoleName
from quintain.services.access.actors import actor_of, find_user
from quintain.services.access.links import make_link, redeem_link
from quintain.services.house.fool import find_box
from quintain.services.models import registry
from quintain.services.models.registry import (
    models_to_choose,
    page_of_models,
    register_version,
    set_visibility,
    withdraw,
)
from quintain.services.tasks.board_settings import board_spec, set_board
from quintain.store.blobs import Blobs
from quintain.web.pages.board import board as board_pages
from tests.beginnings import Build
from tests.boards import small_board
from tests.evaluation import CARD
from tests.people import make_person
from tests.statements import counted
from tests.web_support import PASSWORD, browser_of, on_one_line, post

NAMES = ["large", "medium", "small"]


def build(workspace: Workspace, folder: Path) -> None:
    """Begin with a board of three models; olga owns the task, bert the models, and both can sign in."""
    with workspace.session() as db:
        people = (make_person(db, "olga", RoleName.OWNER), make_person(db, "bert", RoleName.BUILDER))
        small_board(db, workspace.blobs, *people, folder)
        for name in ("olga", "bert"):
            redeem_link(db, make_link(db, OPERATOR, name).token, PASSWORD)


@pytest.fixture
def beginning() -> Build:
    """A board of three models on two data sets."""
    return build


@pytest.fixture
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a form offer two models."""
    monkeypatch.setattr(registry, "MOST_CHOICES", 2)
    monkeypatch.setattr(board_pages, "MOST_BOXES", 2)


@pytest.fixture
def olga(workspace: Workspace) -> TestClient:
    """The owner's browser."""
    return browser_of(workspace, "olga")


@pytest.mark.both_databases
def test_the_newest_standing_versions_are_offered(db: Session, blobs: Blobs, tmp_path: Path) -> None:
    """Of each model one; of many the last that came, by name; what is withdrawn or private to others is left out."""
    bert = actor_of(db, find_user(db, "bert"))
    assert [one.name for one in models_to_choose(db, bert, "mood").models] == NAMES
    (tmp_path / "handler.py").write_text("# another\n")
    second = register_version(db, blobs, bert, "mood", "large", adapter="handler", folder=tmp_path, card=CARD)
    assert second.number == 2
    some = models_to_choose(db, bert, "mood", limit=2)
    assert ([one.ref for one in some.models], some.more) == (["mood/large@2", "mood/small@1"], True)
    withdraw(db, bert, "mood/large@2")
    set_visibility(db, bert, "mood/small", "private")
    assert [one.ref for one in models_to_choose(db, ANONYMOUS, "mood").models] == ["mood/large@1", "mood/medium@1"]
    assert [one.name for one in models_to_choose(db, bert, "mood", own=True).models] == NAMES
    assert not models_to_choose(db, ANONYMOUS, "mood", own=True).models
    withdraw(db, bert, "mood/medium@1")
    assert [one.ref for one in models_to_choose(db, OPERATOR, "mood").models] == ["mood/large@1", "mood/small@1"]


@pytest.mark.both_databases
def test_models_come_in_pages(db: Session, olga: TestClient) -> None:
    """Pages put together are the list, each with how many there are; a page reads only its own models."""
    pages = [page_of_models(db, ANONYMOUS, "mood", limit=2, offset=offset) for offset in (0, 2, 4)]
    assert [[one.name for one in found] for found, _ in pages] == [NAMES[:2], NAMES[2:], []]
    assert {total for _, total in pages} == {3}
    answer = olga.get("/api/v1/tasks/mood/models?limit=1&offset=1").json()
    assert ([one["name"] for one in answer["models"]], answer["total"], answer["offset"]) == (["medium"], 3, 1)
    bert = actor_of(db, find_user(db, "bert"))
    set_visibility(db, bert, "mood/medium", "private")
    assert page_of_models(db, ANONYMOUS, "mood", limit=5)[1] == 2


@pytest.mark.usefixtures("few")
def test_a_round_form_offers_some_models_and_takes_others_by_name(olga: TestClient) -> None:
    """The two newest are boxes; another one is named, and shown among the boxes from then on."""
    page = on_one_line(olga.get("/tasks/mood/rounds/new"))
    assert 'value="mood/medium@1"' in page
    assert 'value="mood/large@1"' not in page
    assert "Only the newest are shown" in page
    sent = post(
        olga,
        "/tasks/mood/rounds/new",
        "/tasks/mood/rounds/new",
        **{"title": "A round", "mode": "ensemble", "models": "mood/small@1", "models-more": " mood/large@1, "},
        attempts="5",
        minutes="3",
        currency="USD",
        writing="blank",
        fooled="task",
        aiming="choose",
    )
    assert sent.status_code == 303, on_one_line(sent)
    edit = on_one_line(olga.get(f"{sent.headers['location']}/edit"))
    for ref in ("mood/small@1", "mood/large@1"):
        assert f'value="{ref}" checked' in edit


@pytest.mark.usefixtures("few")
def test_forms_with_one_model_are_typed_where_there_are_many(olga: TestClient) -> None:
    """Talking, harvests and contests offer the newest and take any."""
    for path in ("/tasks/mood/talk", "/tasks/mood/rounds/harvest"):
        page = on_one_line(olga.get(path))
        assert '<datalist id="model-choices">' in page, path
        assert "mood/large@1" not in page.replace("small", ""), path
        assert '<select id="model"' not in page, path
    assert "Only the newest are shown" in on_one_line(olga.get("/tasks/mood/contests/new"))


def test_forms_of_few_models_have_boxes_and_lists_of_all(olga: TestClient) -> None:
    """Nothing is to be typed on a small site."""
    assert '<select id="model"' in on_one_line(olga.get("/tasks/mood/talk"))
    page = on_one_line(olga.get("/tasks/mood/rounds/new"))
    assert all(f'value="mood/{name}@1"' in page for name in NAMES)
    assert "models-more" not in page


@pytest.mark.usefixtures("few")
def test_board_settings_take_names_where_there_are_many(db: Session, olga: TestClient) -> None:
    """Those that are not shown are named; where only some are shown, those are."""
    page = "/tasks/mood/board/settings"
    assert "named-models" in olga.get(page).text
    assert post(olga, page, page, **{"named-models": "large, small"}).status_code == 303
    db.rollback()
    assert board_spec(db, "mood").hidden_models == ("large", "small")
    assert "large, small" in olga.get(page).text
    set_board(db, actor_of(db, find_user(db, "olga")), "mood", {"models": ["medium"], "hidden_models": []})
    assert post(olga, page, page, **{"named-models": "medium,small"}).status_code == 303
    db.rollback()
    assert (board_spec(db, "mood").models, board_spec(db, "mood").hidden_models) == (("medium", "small"), ())


def test_the_front_page_reads_few_models(db: Session, workspace: Workspace) -> None:
    """No statement about models is without a limit or the names that it asks for."""
    with counted(workspace) as sent:
        find_box(db, ANONYMOUS, {})
    listed = [one for one in sent if "FROM models" in one or "FROM model_versions" in one]
    assert listed
    assert all("LIMIT" in one or "models.name IN" in one or "model_id IN" in one for one in listed), listed
