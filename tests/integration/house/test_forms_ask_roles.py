"""Forms whose verbs check the role refuse whoever has none, before anything is tried or kept."""

from __future__ import annotations

import pytest

from quintain.compose import Workspace
from quintain.core.people import OPERATOR
from quintain.services.models.registry import list_models
from quintain.services.tasks.definitions import list_tasks
from tests.web_support import browser_of, csrf_of

CODE = "def predict(batch):\n    return ['positive'] * len(batch)\n"


@pytest.mark.parametrize("flag", ["try", "submit"])
def test_a_worker_submits_nothing_by_typing(own_demo: Workspace, flag: str) -> None:
    """Neither a try nor a submission: 403, and no model more."""
    with own_demo.session() as db:
        before = [model.name for model in list_models(db, OPERATOR, "sentiment")]
    browser = browser_of(own_demo, "demo-worker")
    data = {"csrf": csrf_of(browser, "/account"), flag: "on", "code": CODE, "name": "mine", "visibility": "public"}
    answer = browser.post("/tasks/sentiment/submit/typed/handler", data=data)
    assert answer.status_code == 403, answer.text[:300]
    with own_demo.session() as db:
        assert [model.name for model in list_models(db, OPERATOR, "sentiment")] == before


@pytest.mark.parametrize("address", ["/tasks/sentiment/data/import", "/tasks/new/file"])
def test_a_worker_brings_no_file(own_demo: Workspace, address: str) -> None:
    """Neither into a task nor as a new one: 403, and no task more."""
    with own_demo.session() as db:
        before = len(list_tasks(db))
    browser = browser_of(own_demo, "demo-worker")
    data = {"csrf": csrf_of(browser, "/account"), "step": "look"}
    answer = browser.post(address, data=data, files={"file": ("a.csv", b"text,answer\nGood.,positive\n")})
    assert answer.status_code == 403, answer.text[:300]
    with own_demo.session() as db:
        assert len(list_tasks(db)) == before
