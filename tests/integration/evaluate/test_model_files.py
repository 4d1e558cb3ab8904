"""What a model may be begun with and handed in as: every adapter's start, one file by itself, a card of its own."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy.orm import Session
from typer.testing import Result

from quintain.adapters.contract import ADAPTERS
from quintain.adapters.manifest import CARD as CARD_FILE
from quintain.adapters.manifest import read_manifest
from quintain.adapters.scaffold import adapters_to_start, is_bare, is_card_unsaid
from quintain.compose import Workspace
from quintain.core.errors import BadInput
from quintain.core.example import Example
from quintain.core.people import Actor
from quintain.engine.archives import packed
from quintain.engine.presence import serving
from quintain.models.card import HEADINGS
from quintain.services.evaluate.submissions.model_files import opened_model
from quintain.services.evaluate.submissions.submit import submit_file
from quintain.store.blobs import Blobs
from tests.evaluation import CARD, SENTENCES, add_data, add_task
from tests.integration.evaluate.test_submit import RULES, folder_of
from tests.web_support import browser_of, csrf_of

Cli = Callable[..., Result]
PAGE = "/tasks/sentiment/submit"


@pytest.fixture
def mood(db: Session, blobs: Blobs, owner: Actor, tmp_path: Path) -> str:
    """A task with one data set."""
    add_task(db, owner)
    add_data(db, blobs, owner, tmp_path)
    return "mood"


def check(cli: Cli, model: Path, *options: str) -> dict[str, Any]:
    """Check a model without a workspace and give the report."""
    done = cli("-w", model.parent / "none", "model", "check", model, "--json", *options)
    report: dict[str, Any] = json.loads(done.stdout)
    return report


def pipeline(file: Path) -> Path:
    """Save a small fitted pipeline."""
    pytest.importorskip("sklearn", reason="scikit-learn is not installed")
    import joblib
    from sklearn.feature_extraction.text import CountVectorizer
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline

    texts, labels = zip(*SENTENCES, strict=True)
    joblib.dump(make_pipeline(CountVectorizer(), LogisticRegression()).fit(texts, labels), file)
    return file


@pytest.mark.parametrize("adapter", ADAPTERS.names())
def test_every_adapter_has_something_to_start_from(adapter: str, cli: Cli, tmp_path: Path) -> None:
    """What `init` writes is a manifest that is read; it passes the check, or the check names what has to be added."""
    folder = tmp_path / "m"
    done = cli("-w", tmp_path / "none", "model", "init", folder, "--task", "sentiment", "--adapter", adapter, "--json")
    if ADAPTERS.get(adapter).ours:
        assert done.exit_code == 1
        assert "quintain train" in done.stderr
        return
    assert done.exit_code == 0, done.stderr
    manifest = read_manifest(folder)
    assert (manifest.adapter, manifest.task) == (adapter, "sentiment")
    text = (folder / "quintain.toml").read_text()
    assert all(f"\n{option} = " in text or f"\n# {option} = " in text for option in ADAPTERS.get(adapter).options)
    left = json.loads(done.stdout)["left"]
    assert left
    report = check(cli, folder)
    if report["ok"]:
        assert report["answers"]
        return
    reasons = {fault["reason"] for fault in report["faults"]}
    assert any(fault["file"] != "card.md" for fault in report["faults"]), "only the card would be left"
    assert all(any(word in reason for word in ("missing", "no rows", "not one", "question")) for reason in reasons)


def test_what_there_is_to_start_from_is_offered(demo: Workspace) -> None:
    """The page lists every adapter but our own, says which files may come alone, and gives a starter of each."""
    client = browser_of(demo, "demo-owner")
    page = client.get(PAGE).text
    for adapter, title in adapters_to_start():
        assert title in page
        assert f'href="{PAGE}/starter?adapter={adapter}"' in page
    assert ".joblib" in page
    assert ".onnx" in page
    assert client.get(f"{PAGE}/starter?adapter=chat").status_code == 200
    assert client.get(f"{PAGE}/starter?adapter=nonsense").status_code == 404


def test_the_commands_of_the_page_name_its_server(demo: Workspace) -> None:
    """Whoever copies them from the page reaches that server, and is told where the token comes from."""
    page = browser_of(demo, "demo-owner").get(PAGE).text
    assert "quintain model submit my-model --url http" in page
    assert "quintain model init my-model --task sentiment --url http" in page
    assert "QUINTAIN_TOKEN" in page
    assert 'href="/account/tokens?scopes=build"' in page


def test_a_pipeline_alone_is_submitted_on_the_page(own_demo: Workspace, tmp_path: Path) -> None:
    """A .joblib is wrapped: it is named after its file, and the next page says that its card is empty."""
    client = browser_of(own_demo, "demo-owner")
    file = pipeline(tmp_path / "My Pipeline.joblib")
    answer = client.post(
        PAGE,
        data={"csrf": csrf_of(client, PAGE), "visibility": "private"},
        files={"file": (file.name, file.read_bytes())},
    )
    assert answer.status_code == 303, answer.text
    assert answer.headers["location"] == "/tasks/sentiment/models/my-pipeline?version=1"
    assert "Its card says nothing yet" in client.get(answer.headers["location"]).text


def test_what_is_no_model_is_told_what_is(own_demo: Workspace) -> None:
    """A file of another kind is named, with all that may be handed in."""
    client = browser_of(own_demo, "demo-owner")
    answer = client.post(
        PAGE,
        data={"csrf": csrf_of(client, PAGE), "visibility": "public"},
        files={"file": ("notes.txt", b"this is no archive")},
    )
    assert answer.status_code == 422
    assert "notes.txt is neither an archive nor a file that is a whole model by itself" in answer.text
    assert ".joblib" in answer.text


def test_a_file_alone_is_checked_and_evaluated(cli: Cli, mood: str, db: Session, workspace: Workspace) -> None:
    """`model check` and `evaluate local` take a pipeline as they take a folder."""
    folder = workspace.settings.workspace
    file = pipeline(folder / "tf.joblib")
    data = folder / "own.jsonl"
    data.write_text("".join(json.dumps({"text": text, "answer": label}) + "\n" for text, label in SENTENCES))
    (folder / "mood.toml").write_text(
        'name = "mood"\nkind = "text-classification"\nlabels = ["negative", "positive"]\n'
    )
    report = json.loads(cli("model", "check", file, "--task", folder / "mood.toml", "--json").stdout)
    assert report["ok"], report["faults"]
    assert report["adapter"] == "sklearn"
    local = cli("evaluate", "local", file, "--data", data, "--task", folder / "mood.toml", "--quick", "--json")
    assert json.loads(local.stdout)["metrics"]["accuracy"]["value"] == 1.0


def test_a_file_alone_is_submitted_by_command(cli: Cli, own_demo: Workspace, tmp_path: Path) -> None:
    """`model submit` wraps it as the page does, and prints the reference of the model."""
    file = pipeline(tmp_path / "tf.joblib")
    done = cli("-w", own_demo.settings.workspace, "model", "submit", file, "--task", "sentiment")
    assert done.exit_code == 0, done.stderr
    assert done.stdout.split() == ["sentiment/tf@1"]


def test_predictions_alone_are_a_model(
    db: Session, blobs: Blobs, builder: Actor, mood: str, tmp_path: Path, owner: Actor
) -> None:
    """A .csv with ids and predictions needs no folder; what is wrong in it is named."""
    file = tmp_path / "answers.csv"
    file.write_text("id,prediction\nnobody,positive\n")
    with pytest.raises(BadInput, match="nobody"):
        submit_file(db, blobs, builder, mood, file, rules=RULES)
    rows = [f"{Example({'text': text}).id},{label}" for text, label in SENTENCES]
    file.write_text("\n".join(["id,prediction", *rows]))
    submitted = submit_file(db, blobs, builder, mood, file, rules=RULES)
    assert (submitted.version.ref, submitted.version.adapter) == ("mood/answers@1", "predictions")


@pytest.mark.parametrize("filename", ["mood.pkl", "mood.JOBLIB", "mood.onnx", "p.parquet"])
def test_files_that_are_models_are_known_by_their_names(filename: str) -> None:
    """In whatever case their endings are written."""
    assert is_bare(filename)


def test_the_starters_card_is_no_other_models(
    db: Session, blobs: Blobs, builder: Actor, mood: str, cli: Cli, tmp_path: Path
) -> None:
    """A model that was taught something may not say that it answers every example alike; the untouched one may."""
    folder = tmp_path / "m"
    cli("-w", tmp_path / "none", "model", "init", folder, "--task", "sentiment")
    assert check(cli, folder)["ok"]
    handler = folder / "handler.py"
    handler.write_text(handler.read_text().replace("1 / len(LABELS)", "float(label == 'positive')"))
    report = check(cli, folder)
    assert not report["ok"]
    assert {fault["file"] for fault in report["faults"]} == {"card.md"}
    assert "it answers every example alike" in str(report["faults"])
    card = (folder / "card.md").read_text()
    other = folder_of(tmp_path / "other", card=card)
    with packed(other, tmp_path / "other.tar.gz") as archive, pytest.raises(BadInput, match="Say what is true"):
        submit_file(db, blobs, builder, mood, archive, rules=RULES, name="other")
    (folder / "card.md").write_text(CARD)
    assert check(cli, folder)["ok"]


def test_questions_of_a_card_are_no_answers(cli: Cli, tmp_path: Path) -> None:
    """A card that still asks what its model is for is not filled in: each heading is named."""
    folder = tmp_path / "m"
    cli("-w", tmp_path / "none", "model", "init", folder, "--task", "sentiment", "--adapter", "sklearn")
    pipeline(folder / "model.joblib")
    report = check(cli, folder)
    assert {fault["file"] for fault in report["faults"]} == {"card.md"}
    assert len(report["faults"]) == len(HEADINGS)
    assert report["answers"], "it is tried all the same"


def test_a_check_uses_what_the_server_uses(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, settings_seen: list[str]
) -> None:
    """Where a server of the workspace runs with another sandbox, a check does, too; the caller's own word wins."""
    folder = tmp_path / "m"
    cli("-w", tmp_path, "model", "init", folder, "--task", "sentiment")
    (tmp_path / "serving").mkdir()
    with serving(tmp_path / "serving", "http://127.0.0.1:1", {"sandbox": "partial"}):
        cli("-w", tmp_path, "model", "check", folder)
        monkeypatch.setenv("QUINTAIN_SANDBOX", "off")
        cli("-w", tmp_path, "model", "check", folder)
        monkeypatch.delenv("QUINTAIN_SANDBOX")
    cli("-w", tmp_path, "model", "check", folder)
    assert settings_seen == ["partial", "off", "full"]


@pytest.fixture
def settings_seen(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The levels of the sandbox that models were run under, in turn; nothing is run."""
    from quintain.cli.evaluate import check as command
    from quintain.services.evaluate.submissions.check_model import CheckReport

    seen: list[str] = []

    def note(model: Path, task: object, conditions: Any, inputs: object) -> CheckReport:
        seen.append(conditions.sandbox)
        return CheckReport()

    monkeypatch.setattr(command, "check_model", note)
    return seen


def test_init_asks_a_server_for_its_task(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, demo: Workspace
) -> None:
    """Without a workspace, `--url` fetches the definition: the handler has the labels of that task."""
    from quintain.cli import server_task
    from quintain.services.tasks.definitions import get_task

    asked: list[str] = []

    def ask(name: str, url: str, token: str | None) -> object:
        asked.append(url)
        with demo.session() as db:
            return get_task(db, name)

    monkeypatch.setattr("quintain.cli.evaluate.check.task_on_server", ask)
    assert server_task.task_on_server is not ask
    done = cli("-w", tmp_path, "model", "init", tmp_path / "m", "--task", "nli", "--url", "https://bench.example")
    assert done.exit_code == 0, done.stderr
    assert asked == ["https://bench.example"]
    assert "contradiction" in (tmp_path / "m" / "handler.py").read_text()
    assert "--url https://bench.example" in done.stderr.replace("\n", " ")


@pytest.mark.parametrize("packing", ["folder", "archive", "archive of a folder"])
def test_a_folder_without_a_manifest_is_known_by_its_files(tmp_path: Path, packing: str) -> None:
    """What `save_pretrained` writes is taken as it is; a folder on disk is completed in a copy, and its card kept."""
    folder = tmp_path / "Mood BERT"
    folder.mkdir()
    for name in ("config.json", "model.safetensors", "tokenizer.json"):
        (folder / name).write_text("{}")
    handed_in = folder
    if packing != "folder":
        handed_in = tmp_path / "Mood BERT.zip"
        with zipfile.ZipFile(handed_in, "w") as archive:
            for file in folder.iterdir():
                archive.write(file, file.name if packing == "archive" else f"Mood BERT/{file.name}")
    with opened_model(handed_in) as opened:
        manifest = read_manifest(opened)
        assert (manifest.adapter, manifest.name) == ("transformers", "mood-bert")
        assert is_card_unsaid((opened / CARD_FILE).read_text())
    assert sorted(file.name for file in folder.iterdir()) == ["config.json", "model.safetensors", "tokenizer.json"]
    (folder / CARD_FILE).write_text(CARD)
    with opened_model(folder) as opened:
        assert (opened / CARD_FILE).read_text() == CARD


def test_a_folder_that_tells_nothing_is_given_as_it_is(tmp_path: Path) -> None:
    """Without a manifest and without files that only one adapter has, nothing is guessed."""
    (tmp_path / "handler.py").write_text("def predict(batch): return batch")
    (tmp_path / "config.json").write_text("{}")
    with opened_model(tmp_path) as opened:
        assert opened == tmp_path
        assert read_manifest(opened).adapter == "handler"
