"""A task that is there is changed by a form: title, labels and instructions, and nothing else of it."""

from __future__ import annotations

from dataclasses import replace

import pytest
from starlette.testclient import TestClient

from quintain.compose import Workspace
from quintain.core.task import Label
from quintain.services.tasks.definitions import get_task
from tests.web_support import browser_of, on_one_line, post

SETTINGS = "/tasks/sentiment/settings"


@pytest.fixture
def owner(own_demo: Workspace) -> TestClient:
    """The owner of the starter tasks."""
    return browser_of(own_demo, "demo-owner")


def fields(names: list[str], glosses: list[str], title: str, instructions: str) -> dict[str, object]:
    """Return what the form sends."""
    texts = {"title": title, "instructions": instructions, "kind": "text-classification", "name": "sentiment"}
    return {"as_form": "1", "label-name": names, "label-gloss": glosses, **texts}


def test_the_form_changes_what_people_read_and_nothing_else(own_demo: Workspace, owner: TestClient) -> None:
    """A label more, another title: other languages, examples, extra labels and metrics stay as they were."""
    with own_demo.session() as db:
        before = get_task(db, "sentiment")
    names = [*before.label_names, "unsure"]
    glosses = [*(label.gloss for label in before.labels), "Nobody can tell"]
    sent = fields(names, glosses, "Mood", before.instructions["en"])
    assert post(owner, SETTINGS, SETTINGS, **sent).status_code == 303
    with own_demo.session() as db:
        after = get_task(db, "sentiment")
    assert after == replace(
        before, title={**before.title, "en": "Mood"}, labels=(*before.labels, Label("unsure", "Nobody can tell"))
    )


def test_what_is_wrong_stands_at_its_field(owner: TestClient) -> None:
    """A label that is there twice is refused with the form as it was typed, and the file below is the stored one."""
    answer = post(owner, SETTINGS, SETTINGS, **fields(["a", "a"], ["", ""], "Mood", ""))
    page = on_one_line(answer)
    assert answer.status_code == 422
    assert page.count('name="label-name" value="a"') == 2
    assert 'id="labels-fault"' in page
    assert "Splendid idea" in page


def test_instructions_that_are_missing_lead_their_owner_to_the_form(own_demo: Workspace, owner: TestClient) -> None:
    """Who may write them finds out where; others are told only that there are none."""
    new = fields(["a", "b"], ["", ""], "Bare", "") | {"name": "bare"}
    assert post(owner, "/tasks/new", "/tasks/new", **new).status_code == 303
    assert "/tasks/bare/settings#as-form" in owner.get("/tasks/bare").text
    assert "/tasks/bare/settings#as-form" not in browser_of(own_demo).get("/tasks/bare").text
