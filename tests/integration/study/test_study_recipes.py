"""Studies with the learner of a recipe: chosen on the page, by the API, the client and commands."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from click.testing import Result

from quintain.client import Client
from quintain.compose import Workspace
from quintain.core.errors import BadInput, Conflict
from quintain.core.people import OPERATOR
from quintain.services.house.job_kinds import job_handlers
from quintain.services.jobs.running import run_all
from quintain.services.study import studies
from tests.codings import coding_site
from tests.tiny_models import tiny_bert
from tests.web_support import browser_of, on_one_line, post, running, token_for

PAGE = "/tasks/mood/studies/data/test@1"
TFIDF = 'learner = "linear"\n[options]\nfeatures = "tfidf"\n'
TUNED = 'learner = "transformers"\n[options]\ncheckpoint = "small"\nlength = 16\nepochs = 1\nbatch = 32\n'


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workspace]:
    """A judged round and a data set."""
    workspace = coding_site(tmp_path_factory.mktemp("recipes"))
    yield workspace
    workspace.close()


def work(workspace: Workspace, checkpoints: Path | None = None) -> int:
    """Do the jobs that wait, as a worker would."""
    return run_all(workspace.session, workspace.blobs, job_handlers(checkpoints=checkpoints))


def test_a_learner_is_chosen_on_the_page(made: Workspace) -> None:
    """What is wrong with it is said above the form, which keeps what was typed; then the report is by that learner."""
    owner = browser_of(made, "olga")
    for learner, options, said in (
        ("linear", 'features = "letters"', "options.features"),
        ("linear", "features = ", "line 1"),
        ("transformers", 'checkpoint = "../elsewhere"', "no checkpoints here"),
        ("nothing", "", "'nothing' is not one of"),
        ("", 'features = "tfidf"', "has no options"),
    ):
        refused = post(owner, PAGE, PAGE, learner=learner, options=options)
        assert refused.status_code == 422, options
        assert said in on_one_line(refused).replace("&#39;", "'"), options
        assert f">{options}</textarea>".replace('"', "&#34;") in refused.text
    assert work(made) == 0
    assert post(owner, PAGE, PAGE, learner="linear", options='features = "tfidf"').headers["location"] == PAGE
    assert work(made) == 1
    shown = on_one_line(owner.get(PAGE))
    assert "The learner of the recipe linear sees only this part" in shown
    assert "--recipe RECIPE.toml" in shown
    post(owner, PAGE, PAGE, learner="", options="")
    work(made)
    assert "A linear learner on words and pairs of words" in on_one_line(owner.get(PAGE))


def test_programs_name_a_recipe(made: Workspace, cli: Callable[..., Result], tmp_path: Path) -> None:
    """The client sends it, and commands read it; another one than that of the job that waits is refused."""
    with running(made) as url, Client(url, token_for(made, "olga")) as owner:
        owner.start_study("mood", "data", "test", TFIDF)
        with pytest.raises(Conflict, match="waits already, with another recipe"):
            owner.start_study("mood", "data", "test")
        with pytest.raises(BadInput, match=r"options\.features"):
            owner.start_study("mood", "data", "test", TFIDF.replace("tfidf", "letters"))
        with pytest.raises(BadInput, match="transformers"):
            owner.start_study("mood", "rounds", "1", 'learner = "deep"')
        work(made)
        report = owner.study("mood", "data", "test").report
        assert report is not None
        assert "learner of the recipe linear" in str(report.sections[0].note)
    recipe = tmp_path / "mine.toml"
    recipe.write_text(TFIDF)
    at = ("--workspace", made.settings.workspace)
    told = json.loads(cli(*at, "study", "report", "mood/test", "--recipe", recipe, "--json").stdout)
    assert "learner of the recipe mine" in told["sections"][0]["note"]
    assert cli(*at, "study", "start", "mood", "data/test", "--recipe", recipe).exit_code == 0
    assert work(made) == 1
    assert cli(*at, "study", "start", "mood", "data/test", "--recipe", tmp_path / "none.toml").exit_code == 1


def test_rounds_and_comparisons_offer_it_too(made: Workspace) -> None:
    """Wherever something is learned the choice is there."""
    owner = browser_of(made, "olga")
    for source in ("rounds/1", "compared/test@1+few@1"):
        assert 'name="learner"' in owner.get(f"/tasks/mood/studies/{source}").text


@pytest.mark.slow
def test_a_checkpoint_of_the_server_is_fine_tuned(made: Workspace, tmp_path: Path) -> None:
    """Its folder is named, never a path; the worker finds it in its own folder of checkpoints."""
    tiny_bert(tmp_path / "small")
    with made.session() as db:
        with pytest.raises(BadInput, match="'large' is not one of the checkpoints here: small"):
            studies.start_study(
                db, OPERATOR, "mood", "data/test", recipe=TUNED.replace("small", "large"), checkpoints=tmp_path
            )
        studies.start_study(db, OPERATOR, "mood", "data/test", recipe=TUNED, checkpoints=tmp_path)
    assert work(made, tmp_path) == 1
    with made.session() as db:
        study = studies.get_study(db, OPERATOR, "mood", "data/test")
    assert study.job is not None
    assert study.job.state == "done", study.job.reason
    assert study.report is not None
    assert "transformers" in str(study.report.sections[0].note)
