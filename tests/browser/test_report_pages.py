"""Reports in a real browser: the choices, the page with its charts, and the file that needs no network."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import BrowserContext, Request, expect

from quintain.compose import Workspace
from quintain.core.people import OPERATOR
from quintain.reports.folder import write_folder
from quintain.services.house.job_kinds import job_handlers
from quintain.services.jobs.running import run_all
from quintain.services.study import stored_reports
from quintain.services.study.compare import compare_report
from quintain.services.study.studies import start_study
from tests.boards import add_sentences, add_version, evaluated, sentences, up_to
from tests.browser.visitor import Visitor
from tests.studied import OLD, studied_workspace
from tests.web_support import running

ERRORS = ("errors/open@1+weak@1", "errors/open@1+strong@1+weak@1")


@pytest.fixture(scope="module")
def studied(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workspace]:
    """A round with two conditions, items that had labels before, and two models on a data set that people judged."""
    folder = tmp_path_factory.mktemp("study")
    made = studied_workspace(folder)
    rows: list[dict[str, Any]] = [
        {**row, "label_distribution": {row["answer"]: 4, "neutral": at % 2}} for at, row in enumerate(sentences(60))
    ]
    with made.session() as db:
        add_sentences(db, made.blobs, OPERATOR, folder, "open", rows, hidden=False, keep=("label_distribution",))
        for name, level in (("strong", 90), ("weak", 40)):
            model = add_version(db, made.blobs, OPERATOR, folder, name)
            evaluated(db, made.blobs, model, up_to(level), perturbed=(), measured=False, sureness=0.8)
        for source in ERRORS:
            start_study(db, OPERATOR, "mood", source)
    run_all(made.session, made.blobs, job_handlers())
    yield made
    made.close()


@pytest.fixture(scope="module")
def site(studied: Workspace) -> Iterator[str]:
    """The address of that workspace."""
    with running(studied) as url:
        yield url


def test_report_pages_are_sound(visitor: Visitor) -> None:
    """From the choices one comes to a report, whose charts are all drawn, in light, dark and on a phone."""
    visitor.sign_in("olga")
    page = visitor.page
    page.goto(f"{visitor.base}/tasks/mood/reports")
    page.get_by_label("old", exact=True).check()
    page.locator("form[action$=compare] button").click()
    visitor.arrive("h2#vocabulary")
    expect(page.locator(".chart[data-drawn]")).to_have_count(5)
    visitor.check_looks()


def test_a_report_that_a_worker_makes_comes_by_itself(
    visitor: Visitor, studied: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The page that waits is sound, and once the report is there it stands on the page with its charts drawn."""
    much = {name: replace(one, at_once=-1) for name, one in stored_reports.FIGURES.items()}
    monkeypatch.setattr(stored_reports, "FIGURES", much)
    visitor.sign_in("olga")
    page = visitor.go_in_looks("/tasks/mood/reports/compare?rounds=1&harvests=old")
    expect(page.locator("h1")).to_have_text("A report on its way")
    run_all(studied.session, studied.blobs, job_handlers())
    expect(page.locator("h2#vocabulary")).to_be_visible()
    expect(page.locator(".chart[data-drawn]")).to_have_count(5)
    expect(page.locator("#figure-state")).to_have_count(0)


@pytest.mark.parametrize(("source", "charts"), [(ERRORS[0], 1), (ERRORS[1], 1)])
def test_errors_of_models_are_sound(visitor: Visitor, source: str, charts: int) -> None:
    """Whoever may see the labels reads where models err, in light, dark and on a phone, without a button."""
    visitor.sign_in("rita")
    page = visitor.go_in_looks(f"/tasks/mood/studies/{source}")
    expect(page.locator(".chart[data-drawn]")).to_have_count(charts)
    expect(page.get_by_role("button", name="Make it anew")).to_have_count(0)


def test_a_learner_is_chosen_and_refused(visitor: Visitor) -> None:
    """The choice of a learner is sound when it is open; what is wrong is said, and what was typed is still there."""
    visitor.sign_in("olga")
    page = visitor.go("/tasks/mood/studies/data/open")
    page.get_by_text("With another learner").click()
    page.get_by_label("Learner", exact=True).select_option("transformers")
    page.get_by_label("Options").fill('checkpoint = "large"')
    visitor.check_looks()
    visitor.expected = ("422",)  # a form that is sent back with what is wrong in it
    page.get_by_role("button", name="Make the report").click()
    expect(page.get_by_role("alert")).to_contain_text("there are no checkpoints here")
    expect(page.get_by_label("Options")).to_have_value('checkpoint = "large"')
    visitor.check_looks()


def test_the_choices_are_sound(visitor: Visitor) -> None:
    """The page with the choices has nothing that axe finds."""
    visitor.sign_in("olga")
    page = visitor.go("/tasks/mood/reports")
    expect(page.locator("h1")).to_have_text("Reports")


def test_the_file_draws_its_charts_without_a_network(
    context: BrowserContext, studied: Workspace, tmp_path: Path
) -> None:
    """Opened from the disk it asks for nothing, says nothing on the console, and every chart is drawn."""
    with studied.session() as db:
        report = compare_report(db, studied.blobs, OPERATOR, "mood", ["mood/1"], [OLD])
    asked: list[str] = []
    said: list[str] = []

    def note(request: Request) -> None:
        asked.append(request.url)

    page = context.new_page()
    page.on("request", note)
    page.on("console", lambda message: said.append(message.text))
    address = write_folder(report, tmp_path / "report").as_uri()
    page.goto(address)
    expect(page.locator(".chart[data-drawn]")).to_have_count(5)
    assert asked == [address]
    assert said == []
