"""Errors of one model or of two on a data set: who may see and ask, by page, program and command."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from click.testing import Result

from quintain.client import Client
from quintain.compose import Workspace
from quintain.core.errors import BadInput, Forbidden, NotFound
from quintain.core.people import OPERATOR, RoleName
from quintain.services.access.links import make_link, redeem_link
from quintain.services.house.job_kinds import job_handlers
from quintain.services.jobs.running import run_all
from quintain.services.study import studies
from quintain.services.study.model_errors import errors_report
from quintain.store.queries.study import coding as written
from tests.boards import add_sentences, add_version, evaluated, sentences, up_to
from tests.codings import coding_site, person, take_back
from tests.people import make_person
from tests.web_support import PASSWORD, browser_of, on_one_line, post, running, token_for

ONE, TWO = "errors/open@1+strong@1", "errors/open@1+strong@1+weak@1"


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workspace]:
    """Two models on a data set with open labels and on one with hidden ones; the weak one is bert's."""
    folder = tmp_path_factory.mktemp("errors")
    workspace = coding_site(folder)
    with workspace.session() as db:
        blobs, olga = workspace.blobs, person(db, "olga")
        add_sentences(db, blobs, olga, folder, "open", sentences(60), hidden=False)
        add_sentences(db, blobs, olga, folder, "shut", sentences(60), hidden=True)
        bert = make_person(db, "bert", RoleName.BUILDER)
        redeem_link(db, make_link(db, OPERATOR, "bert").token, PASSWORD)
        for name, level, owner in (("strong", 90, olga), ("weak", 40, bert)):
            model = add_version(db, blobs, owner, folder, name)
            evaluated(db, blobs, model, up_to(level), perturbed=(), measured=False)
        add_version(db, blobs, olga, folder, "idle")
    yield workspace
    workspace.close()


def work(workspace: Workspace) -> int:
    """Do the jobs that wait, as a worker would."""
    return run_all(workspace.session, workspace.blobs, job_handlers())


def test_who_may_see_and_who_may_ask(made: Workspace) -> None:
    """Open labels are for everybody, a model's owner may ask; hidden ones are for the task's owners alone."""
    with made.session() as db:
        olga, bert, xenia = (person(db, name) for name in ("olga", "bert", "xenia"))
        assert not studies.get_study(db, xenia, "mood", ONE).may_start
        with pytest.raises(Forbidden):
            studies.start_study(db, xenia, "mood", ONE)
        with pytest.raises(Forbidden):
            studies.start_study(db, bert, "mood", ONE)
        assert studies.get_study(db, bert, "mood", TWO).may_start
        with pytest.raises(BadInput, match="learns nothing, and takes no recipe"):
            studies.start_study(db, olga, "mood", TWO, recipe='learner = "linear"')
        for actor in (bert, xenia):
            for verb in (studies.get_study, studies.start_study):
                with pytest.raises(Forbidden, match="hidden"):
                    verb(db, actor, "mood", "errors/shut+weak")
        assert studies.get_study(db, olga, "mood", "errors/shut+weak").source == "errors/shut@1+weak@1"
        with pytest.raises(NotFound):
            studies.get_study(db, olga, "mood", "errors/open+none")
        with pytest.raises(BadInput, match="one model or of two"):
            studies.get_study(db, olga, "mood", "errors/open")
        with pytest.raises(BadInput, match="has not been run"):
            errors_report(db, made.blobs, OPERATOR, "mood/open", ["idle"])


def test_a_reader_finds_it_on_the_pages_of_models(made: Workspace) -> None:
    """From a model's results and from the comparison; made by a worker; readers see it, and no button."""
    owner, reader = browser_of(made, "olga"), browser_of(made, "xenia")
    results = reader.get("/tasks/mood/models/strong/results/open?version=1").text
    assert f'href="/tasks/mood/studies/{ONE}"' in results
    assert "studies/errors" not in reader.get("/tasks/mood/models/strong/results/shut?version=1").text
    compared = reader.get("/tasks/mood/compare?a=strong@1&b=weak@1").text
    assert 'href="/tasks/mood/studies/errors/open@1+strong@1+weak@1"' in compared
    assert "errors/shut" not in compared
    page = f"/tasks/mood/studies/{TWO}"
    empty = on_one_line(reader.get(page))
    assert "An owner of the task or of a model can have it made." in empty
    assert "Make the report" not in empty
    assert post(owner, page, page).headers["location"] == page
    work(made)
    shown = on_one_line(reader.get(page))
    assert "What strong@1 and weak@1 disagree on in open@1" in shown
    assert "Make it anew" not in shown
    assert 'href="/tasks/mood/models/weak/results/open?version=1"' in shown
    assert reader.get(f"{page}/download?format=md").text.startswith("# What strong@1 and weak@1 disagree on")


def test_by_program_and_by_command(made: Workspace, cli: Callable[..., Result], tmp_path: Path) -> None:
    """The client gives what the command gives; slices and calibration are there, or what is missing for it."""
    at = ("--workspace", made.settings.workspace)
    with running(made) as url, Client(url, token_for(made, "bert")) as bert:
        started = bert.start_study("mood", "errors", "open+weak")
        assert started.source == "errors/open@1+weak@1"
        work(made)
        found = bert.study("mood", "errors", "open+weak").report
    assert found is not None
    assert [one.key for one in found.sections] == ["slices", "calibration"]
    assert "votes of people" in found.sections[1].findings[0]
    [command] = found.sections[0].commands
    assert command == "quintain study errors mood/open@1 weak@1 --seed 0 --out DIR"
    again = json.loads(cli(*at, *command.split()[1:-1], tmp_path / "out", "--json").stdout)
    assert again["sections"][0]["findings"] == list(map(str, found.sections[0].findings))
    assert "weak@1" in (tmp_path / "out" / "report.html").read_text()


def test_a_report_that_may_quote_what_was_taken_back_is_not_shown(made: Workspace) -> None:
    """Somebody takes a text back: the round's report is gone at once, and comes again without it when it is made."""
    owner, page = browser_of(made, "olga"), "/tasks/mood/studies/rounds/1"
    post(owner, page, page)
    work(made)
    assert "All about round mood/1" in on_one_line(owner.get(page))
    with made.session() as db:
        one = next(one for one in written.of_round(db, 1) if one.user_id is not None)
        take_back(db, one.id)
    shown = on_one_line(owner.get(page))
    assert "taken back or withheld since" in shown
    assert "Make it anew" not in shown
    assert owner.get(f"{page}/download?format=md").status_code == 404
    post(owner, page, page)
    work(made)
    assert "Make it anew" in on_one_line(owner.get(page))
