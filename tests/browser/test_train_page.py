"""Training in a real browser: the form, the file, and curves of inoculation."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest
from playwright.sync_api import expect

from quintain.compose import Workspace, trainer_of
from quintain.core.people import OPERATOR
from quintain.services.evaluate.training import trainings
from tests.browser.visitor import Visitor
from tests.web_support import copy_demo, running

PAGE = "/tasks/sentiment/train"
MIX = '[[mix]]\ndata = "sentiment/train"\n'
LINEAR = f'task = "sentiment"\nname = "next"\ndev = ["sentiment/dev"]\n{MIX}'
CURVES = (
    f'task = "sentiment"\nname = "curves"\ncontinue = "sentiment/next"\n{MIX}'
    '[inoculation]\noriginal = ["sentiment/dev"]\nsizes = [5, 20]\n'
)


@pytest.fixture(scope="module")
def site(demo: Workspace, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A demo in which a model was trained, and another one inoculated."""
    made = copy_demo(demo, tmp_path_factory.mktemp("train") / "demo")
    trainer = trainer_of(made.settings)
    for recipe in (LINEAR, CURVES):
        with made.session() as db:
            trainings.start(db, made.blobs, OPERATOR, "sentiment", recipe, trainer)
        assert trainings.train_next(made.session, made.blobs, trainer, "worker", threading.Event())
    with running(made) as url:
        yield url


def test_the_pages_of_training_are_sound(visitor: Visitor) -> None:
    """Form, file, a finished training and the curves fit in light, dark and on a phone."""
    visitor.sign_in("demo-owner")
    page = visitor.go_in_looks(PAGE)
    expect(page.get_by_role("button", name="Start training")).to_be_visible()
    page = visitor.go_in_looks(f"{PAGE}?recipe=model-1")
    expect(page.locator("#toml")).to_contain_text("distributional")
    page = visitor.go_in_looks("/tasks/sentiment/trainings/1")
    expect(page.locator("main")).to_contain_text("sentiment/next@1")
    page = visitor.go_in_looks("/tasks/sentiment/trainings/2")
    expect(page.locator(".chart svg, .chart canvas").first).to_be_visible()
    expect(page.locator("main")).to_contain_text("original")


def test_a_training_is_started_and_cancelled(visitor: Visitor) -> None:
    """An owner starts one from the form and sees it wait; cancelled, it says so."""
    visitor.sign_in("demo-owner")
    page = visitor.go(PAGE)
    page.fill("#name", "by-hand")
    page.get_by_role("button", name="Start training").click()
    visitor.arrive("progress")
    page.get_by_role("button", name="Cancel the training").click()
    expect(page.locator("#live .chip").first).to_have_text("cancelled")
    visitor.check()
