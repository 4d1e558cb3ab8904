"""Training on data sets and on files, and asking the trained models."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy.orm import Session
from typer.testing import Result

from quintain.compose import Workspace
from quintain.core.errors import BadInput, Conflict, Forbidden, NotFound, TooMany, Unavailable
from quintain.core.example import Role
from quintain.core.people import ANONYMOUS, OPERATOR, Actor
from quintain.data.plan import ImportPlan
from quintain.models.card import check_card
from quintain.services.data.datasets import import_dataset
from quintain.services.models import registry as models
from quintain.services.models.ask import MAX_INPUTS, LoadedBaselines, limit_calls, predict
from quintain.services.models.train import train
from quintain.services.tasks.definitions import put_task
from quintain.store.blobs import Blobs

TASK = """
name = "mood"
kind = "text-classification"
title = "Mood"
[[labels]]
name = "negative"
[[labels]]
name = "positive"
"""
GOOD = ["lovely food", "a great day", "wonderful people", "the best film", "happy and kind", "such a joy"]
BAD = ["awful food", "a terrible day", "rude people", "the worst film", "sad and cruel", "such a mess"]
Cli = Callable[..., Result]


def write_data(path: Path, *, suffix: str = "") -> Path:
    """Write a small file of examples."""
    rows = [{"text": text + suffix, "answer": "positive"} for text in GOOD]
    rows += [{"text": text + suffix, "answer": "negative"} for text in BAD]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


@pytest.fixture
def data(db: Session, blobs: Blobs, tmp_path: Path) -> str:
    """A task with an open train set, an open dev set and a hidden test set; gives the train set's reference."""
    put_task(db, OPERATOR, TASK)
    for name, role, hidden in (("train", Role.TRAIN, False), ("dev", Role.DEV, False), ("test", Role.TEST, True)):
        path = write_data(tmp_path / f"{name}.jsonl", suffix=f" {name}")
        plan = ImportPlan(role=str(role), hidden=hidden)
        import_dataset(db, blobs, OPERATOR, "mood", name, path, plan)
    return "mood/train"


def test_training_registers_a_model_with_a_card(db: Session, blobs: Blobs, builder: Actor, data: str) -> None:
    """The version says what it was trained on and how it does, and its card is complete."""
    version = train(db, blobs, builder, "mood", "tfidf", [data], dev_refs=["mood/dev"], seed=3)
    assert version.ref == "mood/tfidf@1"
    assert version.adapter == "builtin"
    assert version.meta["data"][0]["name"] == "mood/train@1"
    assert version.meta["seed"] == 3
    assert version.meta["metrics"]["accuracy"]["value"] == 1.0
    assert check_card(version.card) == []
    assert "mood/train@1" in version.card


def test_training_that_learns_nothing_new_is_refused(db: Session, blobs: Blobs, builder: Actor, data: str) -> None:
    """Same data, same seed: that is said, with the version that is there; another seed makes a new one."""
    first = train(db, blobs, builder, "mood", "ngram", [data])
    with pytest.raises(Conflict, match=r"Nothing new was learned: .* mood/ngram@1 before"):
        train(db, blobs, builder, "mood", "ngram", [data])
    assert models.get_model(db, builder, "mood/ngram").version.hash == first.hash
    assert train(db, blobs, builder, "mood", "ngram", [data], seed=1).number == 2


def test_training_needs_the_role_the_task_and_open_answers(
    db: Session, blobs: Blobs, builder: Actor, worker: Actor, owner: Actor, data: str
) -> None:
    """Workers may not; nobody may train on hidden answers; what does not suit or exist is named."""
    with pytest.raises(Forbidden):
        train(db, blobs, worker, "mood", "tfidf", [data])
    for person in (builder, owner):
        with pytest.raises(Forbidden, match="hidden"):
            train(db, blobs, person, "mood", "tfidf", ["mood/test"])
    with pytest.raises(BadInput, match="does not suit"):
        train(db, blobs, builder, "mood", "return-context", [data])
    for wrong in (("mood", "nothing", data), ("none", "tfidf", data), ("mood", "tfidf", "mood/none")):
        with pytest.raises((NotFound, Forbidden)):
            train(db, blobs, builder, wrong[0], wrong[1], [wrong[2]])
    assert models.list_models(db, OPERATOR) == []


def test_asking_a_model(db: Session, blobs: Blobs, builder: Actor, data: str) -> None:
    """Anybody may ask a public model, and gets labels with probabilities."""
    train(db, blobs, builder, "mood", "tfidf", [data])
    found = predict(db, blobs, ANONYMOUS, "mood/tfidf", [{"text": "a wonderful joy"}, {"text": "awful mess"}])
    assert [one.answer for one in found] == ["positive", "negative"]
    assert sum((found[0].probabilities or {}).values()) == pytest.approx(1)


def test_bad_inputs_are_named(db: Session, blobs: Blobs, builder: Actor, data: str) -> None:
    """A missing text, a label among the inputs and too many inputs never reach the model."""
    train(db, blobs, builder, "mood", "majority", [data])
    for inputs in ({}, {"text": ""}, {"text": 3}, {"text": "x", "answer": "positive"}, {"text": "x" * 30_000}):
        with pytest.raises(BadInput):
            predict(db, blobs, builder, "mood/majority", [inputs])
    with pytest.raises(BadInput, match="row 2"):
        predict(db, blobs, builder, "mood/majority", [{"text": "fine"}, {"text": ""}])
    with pytest.raises(BadInput, match="at most"):
        predict(db, blobs, builder, "mood/majority", [{"text": "x"}] * (MAX_INPUTS + 1))


def test_private_and_withdrawn_models_do_not_answer(db: Session, blobs: Blobs, builder: Actor, data: str) -> None:
    """What may not be seen may not be asked, and what was withdrawn stays silent."""
    train(db, blobs, builder, "mood", "majority", [data])
    models.set_visibility(db, builder, "mood/majority", "private")
    with pytest.raises(NotFound):
        predict(db, blobs, ANONYMOUS, "mood/majority", [{"text": "x"}])
    models.withdraw(db, builder, "mood/majority")
    with pytest.raises(Conflict, match="withdrawn"):
        predict(db, blobs, builder, "mood/majority", [{"text": "x"}])


def test_other_adapters_need_a_runner(db: Session, blobs: Blobs, builder: Actor, data: str, tmp_path: Path) -> None:
    """Only built-ins run in process; whoever can run another adapter hands in how, and slow ones are given up."""
    version = train(db, blobs, builder, "mood", "majority", [data])
    models.register_version(db, blobs, builder, "mood", "theirs", adapter="handler", folder=None, card=version.card)
    with pytest.raises(Unavailable, match="adapter 'handler'"):
        predict(db, blobs, builder, "mood/theirs", [{"text": "x"}])

    def answer(version: models.ModelVersionInfo, blobs: Blobs, batch: list[dict[str, Any]]) -> list[Any]:
        return ["negative" for _ in batch]

    def dawdle(version: models.ModelVersionInfo, blobs: Blobs, batch: list[dict[str, Any]]) -> list[Any]:
        time.sleep(0.5)
        return answer(version, blobs, batch)

    found = predict(db, blobs, builder, "mood/theirs", [{"text": "x"}], runners={"handler": answer})
    assert found[0].answer == "negative"
    with pytest.raises(Unavailable, match="longer than"):
        predict(db, blobs, builder, "mood/theirs", [{"text": "x"}], runners={"handler": dawdle}, seconds=0.05)
    with pytest.raises(BadInput, match="0 answers to 1"):
        predict(db, blobs, builder, "mood/theirs", [{"text": "x"}], runners={"handler": lambda *_: []})


def test_models_are_loaded_once_and_the_oldest_is_let_go(
    db: Session, blobs: Blobs, builder: Actor, data: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Eight threads asking at once load a model once; past the limit the one unused for longest goes."""
    versions = [train(db, blobs, builder, "mood", name, [data]) for name in ("majority", "tfidf", "lexicon")]
    loads: list[str] = []
    from quintain.services.models import ask as module

    original = module._load

    def counted(version: models.ModelVersionInfo, blobs: Blobs) -> Any:
        loads.append(version.model)
        return original(version, blobs)

    monkeypatch.setattr(module, "_load", counted)
    runner = LoadedBaselines(limit=2)
    threads = [threading.Thread(target=runner.model, args=(versions[1], blobs)) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert loads == ["tfidf"]
    for version in (versions[0], versions[1], versions[2], versions[1], versions[0]):
        runner.model(version, blobs)
    assert loads == ["tfidf", "majority", "lexicon", "majority"]


def test_calls_are_limited(db: Session, worker: Actor) -> None:
    """Each person, and each address of those who are nobody, has a number of calls a minute."""
    for _ in range(3):
        limit_calls(db, worker, "192.0.2.1", 3)
    with pytest.raises(TooMany):
        limit_calls(db, worker, "192.0.2.2", 3)
    limit_calls(db, ANONYMOUS, "192.0.2.1", 3)


def test_the_commands_on_a_workspace(cli: Cli, workspace: Workspace, db: Session, data: str) -> None:
    """Train, list, show, card, visibility, predict, withdraw: each also as JSON."""
    if workspace.settings.database_url:
        pytest.skip("commands on PostgreSQL differ only in the address")
    at = ["--workspace", str(workspace.settings.workspace)]

    def run(*arguments: str | Path) -> Any:
        result = cli(*at, *arguments, "--json")
        assert result.exit_code == 0, result.output
        return json.loads(result.stdout)

    trained = run("train", "tfidf", "--task", "mood", "--data", data, "--dev", "mood/dev", "--name", "first")
    assert trained["ref"] == "mood/first@1"
    assert run("model", "list", "--task", "mood")["models"][0]["version"]["hash"] == trained["hash"]
    assert run("model", "show", "mood/first")["versions"][0]["number"] == 1
    assert "## Licence" in run("model", "card", "mood/first")["card"]
    assert run("model", "visibility", "mood/first", "anonymous")["visibility"] == "anonymous"
    asked = run("model", "predict", "mood/first", "what a lovely joy")["predictions"][0]
    assert asked["answer"] == "positive"
    assert run("model", "withdraw", "mood/first@1")["withdrawn_at"]
    for words in (["list"], ["show", "mood/first"], ["card", "mood/first"], ["card", "mood/first", "--history"]):
        assert cli(*at, "model", *words).exit_code == 0
    refused = cli(*at, "model", "predict", "mood/first", "hello")
    assert refused.exit_code == 1
    assert "withdrawn" in refused.stderr


def test_the_commands_on_files(cli: Cli, tmp_path: Path) -> None:
    """Training and asking need no workspace: a task file, a data file and a folder are enough."""
    (tmp_path / "task.toml").write_text(TASK)
    data = write_data(tmp_path / "train.jsonl")
    arguments = ("--task", tmp_path / "task.toml", "--data", data, "--dev", data, "--out", tmp_path / "model")
    result = cli("train", "tfidf", *arguments, "--json")
    assert result.exit_code == 0, result.output
    assert json.loads(result.stdout)["metrics"]["accuracy"]["value"] == 1.0
    assert check_card((tmp_path / "model" / "CARD.md").read_text()) == []
    (tmp_path / "inputs.jsonl").write_text('{"text": "a great day"}\n\n{"text": "rude"}\n')
    result = cli("model", "predict", "--dir", tmp_path / "model", "--file", tmp_path / "inputs.jsonl", "--json")
    assert [one["answer"] for one in json.loads(result.stdout)["predictions"]] == ["positive", "negative"]
    assert cli("model", "predict", "--dir", tmp_path / "model", "a great day").stdout.startswith("positive")


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (("train", "nothing", "--task", "task.toml", "--data", "train.jsonl", "--out", "m"), 1, "no baseline"),
        (("train", "tfidf", "--task", "none.toml", "--data", "train.jsonl", "--out", "m"), 1, "no file"),
        (("train", "tfidf", "--task", "task.toml", "--data", "none.jsonl", "--out", "m"), 1, "no file none.jsonl"),
        (("train", "tfidf", "--task", "task.toml", "--data", "bad.jsonl", "--out", "m"), 1, "row 1"),
        (("train", "tfidf", "--task", "task.toml", "--data", "train.jsonl", "--out", "full"), 1, "there already"),
        (("train", "tfidf", "--task", "task.toml", "--data", "train.jsonl", "--plan", "p.toml"), 2, "--out"),
        (("train", "tfidf"), 2, "--task"),
        (("model", "predict", "--dir", "full", "hello"), 1, "no trained baseline"),
        (("model", "predict", "--dir", "m"), 1, "no trained baseline"),
        (
            (
                "model",
                "predict",
            ),
            2,
            "Name a model",
        ),
    ],
)
def test_bad_commands_say_what_to_do(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: tuple[str, ...], code: int, message: str
) -> None:
    """Wrong names, wrong files and wrong usage: a message, an exit code, and nothing written."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "task.toml").write_text(TASK)
    write_data(tmp_path / "train.jsonl")
    (tmp_path / "bad.jsonl").write_text('{"text": "x", "answer": "postive"}\n')
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "something.txt").write_text("precious")
    result = cli(*arguments)
    assert result.exit_code == code, result.output
    assert message in " ".join(result.stderr.split())
    assert not (tmp_path / "m").exists()
