"""A model at home: all five axes from a folder and a file."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from typer.testing import Result

from quintain.engine.jobs import CellJob, CellResult, LocalEngine
from tests.evaluation import SENTENCES, TASK

HANDLER = 'def predict(batch): return ["positive" if "w" in item["text"] else "negative" for item in batch]\n'


@pytest.fixture
def model(tmp_path: Path) -> Path:
    """A folder with a handler and its task."""
    folder = tmp_path / "model"
    folder.mkdir()
    (folder / "handler.py").write_text(HANDLER)
    (folder / "task.toml").write_text(TASK)
    return folder


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """Examples whose answers stand in a column of another name."""
    file = tmp_path / "reviews.jsonl"
    file.write_text("".join(json.dumps({"text": text, "gold": label}) + "\n" for text, label in SENTENCES))
    return file


def test_all_five_axes_without_a_workspace(model: Path, data: Path, cli: Callable[..., Result]) -> None:
    """Performance, throughput, memory, robustness and fairness come from the same code as on a server."""
    result = cli("evaluate", "local", model, "--data", data, "--column", "answer=gold", "--json")
    assert result.exit_code == 0, result.stderr
    found = json.loads(result.stdout)
    assert found["rows"] == 6
    assert 0 < found["metrics"]["accuracy"]["value"] < 1
    assert found["measurements"]["throughput"] > 0
    assert found["measurements"]["memory"] > 0
    assert found["robustness"]["share"]["value"] < 1
    assert found["fairness"]["share"]["value"] is not None
    assert sum(map(sum, found["confusion"]["counts"])) == 6


def test_a_variant_that_the_model_breaks_counts_as_changed(model: Path, data: Path, cli: Callable[..., Result]) -> None:
    """A handler that ends its process on odd letter case is less robust for it, as on a server, and is told so."""
    odd = "any(word[1:] != word[1:].lower() for item in batch for word in item['text'].split())"
    (model / "handler.py").write_text(
        f"import os\n\n\ndef predict(batch):\n    if {odd}: os._exit(3)\n    return ['positive'] * len(batch)\n"
    )
    result = cli("evaluate", "local", model, "--data", data, "--column", "answer=gold", "--json")
    assert result.exit_code == 0, result.stderr
    found = json.loads(result.stdout)["robustness"]
    assert "word_case" in found["broken"]
    assert found["families"]["word_case"]["value"] == 0
    assert found["share"]["value"] < 1


def test_what_is_missing_is_said(model: Path, data: Path, tmp_path: Path, cli: Callable[..., Result]) -> None:
    """No task, no folder, no such column and a crash are each explained, with exit code 1."""
    (model / "task.toml").unlink()
    result = cli("evaluate", "local", model, "--data", data)
    assert result.exit_code == 1
    assert "which task" in result.stderr
    result = cli("evaluate", "local", tmp_path / "none", "--data", data, "--task", "sentiment")
    assert result.exit_code == 1
    assert "no folder" in result.stderr
    result = cli("evaluate", "local", model, "--data", data, "--task", "unknown-task")
    assert result.exit_code == 1
    assert "no task file" in result.stderr
    (model / "handler.py").write_text("def predict(batch): return 1 / 0\n")
    (model / "task.toml").write_text(TASK)
    result = cli("evaluate", "local", model, "--data", data, "--column", "answer=gold", "--quick")
    assert result.exit_code == 1
    assert "ZeroDivisionError" in result.stderr


def test_overlap_of_two_files(tmp_path: Path, cli: Callable[..., Result]) -> None:
    """The command counts, shows pairs, and has a JSON form."""
    for name, texts in {"train.csv": ["a good film", "b"], "test.csv": ["A good film!", "nothing alike"]}.items():
        (tmp_path / name).write_text("text,label\n" + "".join(f"{text},x\n" for text in texts))
    result = cli("data", "overlap", tmp_path / "train.csv", tmp_path / "test.csv", "--json")
    assert result.exit_code == 0, result.stderr
    found = json.loads(result.stdout)
    assert (found["exact"], found["near"], found["share"]) == (1, 0, 0.5)
    assert "1 of 2 examples" in cli("data", "overlap", tmp_path / "train.csv", tmp_path / "test.csv").stdout


def test_a_model_that_is_quick_only_while_it_is_timed_is_told(
    model: Path, tmp_path: Path, cli: Callable[..., Result], monkeypatch: pytest.MonkeyPatch
) -> None:
    """One that can tell further processes from the scored one, and answers otherwise in them, would not rank."""
    (model / "handler.py").write_text("def predict(batch): return ['positive'] * len(batch)\n")
    quick, usual = tmp_path / "quick", LocalEngine.run
    quick.mkdir()
    (quick / "handler.py").write_text("def predict(batch): return ['negative'] * len(batch)\n")

    def tells(engine: LocalEngine, job: CellJob, *rest: Any) -> CellResult:
        return usual(engine, replace(job, model=replace(job.model, folder=quick)) if job.measured else job, *rest)

    monkeypatch.setattr(LocalEngine, "run", tells)
    monkeypatch.setenv("COLUMNS", "200")
    data = tmp_path / "many.jsonl"
    rows = [{"text": f"Sentence number {number}.", "answer": "positive"} for number in range(40)]
    data.write_text("".join(json.dumps(row) + "\n" for row in rows))
    result = cli("evaluate", "local", model, "--data", data, "--quick")
    assert result.exit_code == 0, result.output
    assert "throughput would not rank" in result.stdout
    assert "examples otherwise while it was timed than in the run that is scored" in result.stdout
    assert "while loading" not in result.stdout


def test_a_pipeline_stops_at_a_score_that_is_not_sure(model: Path, data: Path, cli: Callable[..., Result]) -> None:
    """The interval's lower end decides, by the exit code; the figures are printed either way."""
    words = ("evaluate", "local", model, "--data", data, "--column", "answer=gold", "--quick", "--json")
    free = cli(*words)
    accuracy = json.loads(free.stdout)["metrics"]["accuracy"]
    between = (accuracy["low"] + accuracy["value"]) / 2
    failed = cli(*words, "--fail-under", f"accuracy={between}")
    assert (failed.exit_code, json.loads(failed.stdout)["metrics"]["accuracy"]) == (1, accuracy)
    assert f"accuracy is surely {accuracy['low']:.4f} or more" in " ".join(failed.stderr.split())
    assert cli(*words, "--fail-under", f"accuracy={accuracy['low'] - 0.01}").exit_code == 0


@pytest.mark.parametrize("least", ["accuracy", "robustness=.5", "mystery=.5", "log_loss=2"])
def test_a_least_score_that_cannot_be_met_is_refused_at_once(
    least: str, model: Path, data: Path, cli: Callable[..., Result]
) -> None:
    """What is not computed, has no number or is better the lower is refused before the model is run."""
    result = cli(
        "evaluate", "local", model, "--data", data, "--column", "answer=gold", "--quick", "--fail-under", least
    )
    assert result.exit_code != 0
    assert least.partition("=")[0] in result.stderr
    assert result.stdout == ""
