"""`quintain model init`, `check` and `submit`: from nothing to a model on a server."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import Result

from quintain.adapters.manifest import read_manifest
from quintain.adapters.scaffold import start_of
from quintain.models.card import HEADINGS
from quintain.services.tasks.definitions import check_task
from quintain.tasks.contract import KINDS
from quintain.tasks.starter import starter
from tests.evaluation import CARD, TASK

Cli = Callable[..., Result]


@pytest.fixture
def model(cli: Cli, tmp_path: Path) -> Path:
    """A fresh model for sentiment, its card filled in."""
    folder = tmp_path / "my-model"
    result = cli("-w", tmp_path / "none", "model", "init", folder, "--task", "sentiment")
    assert result.exit_code == 0, result.stderr
    (folder / "card.md").write_text(CARD)
    return folder


def check(cli: Cli, folder: Path, *options: str | Path) -> dict[str, Any]:
    """Check a model and give what was found."""
    result = cli("-w", folder.parent / "none", "model", "check", folder, "--json", *options)
    report: dict[str, Any] = json.loads(result.stdout)
    assert result.exit_code == (0 if report["ok"] else 1)
    return report


def test_a_fresh_model_works(cli: Cli, model: Path) -> None:
    """The handler has ten lines at most, its test passes, and the check says what was measured."""
    assert len((model / "handler.py").read_text().splitlines()) <= 10
    command = [sys.executable, "-m", "unittest", "-q", "test_handler"]
    assert subprocess.run(command, cwd=model, capture_output=True, check=False).returncode == 0
    report = check(cli, model)
    assert report["ok"], report["faults"]
    assert report["examples"] == 4
    assert report["latency_p95"] >= report["latency_p50"] > 0
    assert 0 < report["memory"] < 0.5
    assert set(report["sandbox"].values()) == {True}


def test_a_card_that_is_not_filled_in_is_a_fault(cli: Cli, tmp_path: Path) -> None:
    """Each heading is named, and the model is tried all the same."""
    cli("-w", tmp_path / "none", "model", "init", tmp_path / "m", "--task", "sentiment")
    (tmp_path / "m" / "card.md").write_text("".join(f"## {heading}\n" for heading in HEADINGS))
    report = check(cli, tmp_path / "m")
    assert len(report["faults"]) == 6
    assert {fault["file"] for fault in report["faults"]} == {"card.md"}
    assert report["answers"]


def test_what_init_writes_can_be_submitted_as_it_is(cli: Cli, tmp_path: Path) -> None:
    """With a kind alone the manifest names no task, the message names the kind, and card and handler pass."""
    made = cli("-w", tmp_path / "none", "model", "init", tmp_path / "m", "--kind", "text-classification")
    assert f"model check {tmp_path / 'm'} --kind text-classification" in made.stderr.replace("\n", " ")
    assert read_manifest(tmp_path / "m").task is None
    assert check(cli, tmp_path / "m", "--kind", "text-classification")["faults"] == []


@pytest.mark.parametrize("kind", KINDS.names())
def test_there_is_a_working_handler_for_every_kind(kind: str) -> None:
    """What `init` writes answers the kind's own example with an answer that the kind takes."""
    task = check_task(starter(kind, "mine"))
    member = KINDS.get(kind)()
    space: dict[str, Any] = {}
    exec(start_of("handler", task).files["handler.py"], space)  # noqa: S102 - our own text
    (answer,) = space["predict"]([member.example.inputs])
    assert member.parse_answer(task, member.example.inputs, answer) is not None


@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("def predict(batch): return [1.5] * len(batch)", "neither a label nor probabilities"),
        ("def predict(batch): return ['postive'] * len(batch)", "Did you mean 'positive'?"),
        ("def predict(batch): return [item['txet'] for item in batch]", "KeyError: 'txet'"),
        ("def predict(batch): return []", "given 1 inputs and returned 0 answers"),
        ("import nothing_like_it\ndef predict(batch): return batch", "No module named 'nothing_like_it'"),
        ("import time\ndef predict(batch): time.sleep(60)", "gave no answer within 1 seconds"),
        ("import time\ndef predict(batch): time.sleep(.1); return ['positive'] * len(batch)", "is too slow"),
        (
            "import socket\ndef predict(batch): socket.create_connection(('example.org', 80))",
            "no network in the sandbox",
        ),
        (
            "x = bytearray(600 << 20)\nx[::4096] = b'1' * len(x[::4096])\ndef predict(batch): return ['positive']",
            "memory",
        ),
        ("def predict(batch:", "does not parse"),
    ],
)
def test_every_fault_is_explained(cli: Cli, model: Path, code: str, said: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Wrong types, missing keys, crashes, too slow, too big, the network: one sentence each, and the traceback."""
    monkeypatch.setenv("QUINTAIN_MODEL_SECONDS", "300")
    monkeypatch.setattr("quintain.conditions.GIB", 1 << 27)  # half a gigabyte in all
    (model / "handler.py").write_text(code)
    report = check(cli, model, "--seconds", "1" if "time.sleep" in code else "30")
    reasons = "\n".join(fault["reason"] for fault in report["faults"])
    assert said in reasons
    if "KeyError" in said:
        assert "handler.py" in report["log"]


def test_trying_the_network_and_carrying_on_is_a_warning(cli: Cli, model: Path) -> None:
    """A model that copes without it may be submitted, and its builder is told."""
    code = "import socket\ntry: socket.socket()\nexcept OSError: pass\ndef predict(b): return ['positive'] * len(b)"
    (model / "handler.py").write_text(code)
    report = check(cli, model)
    assert report["ok"]
    assert "opened an internet socket" in report["warnings"][0]


def test_a_model_is_tried_on_a_file(cli: Cli, model: Path, tmp_path: Path) -> None:
    """Rows of a data file stand in for the samples."""
    (tmp_path / "data.jsonl").write_text(
        '{"text": "Lovely.", "answer": "positive"}\n{"text": "Oh.", "answer": "neutral"}\n'
    )
    report = check(cli, model, "--data", tmp_path / "data.jsonl", "--limit", "1")
    assert report["examples"] == 1
    assert report["answers"][0]["inputs"] == {"text": "Lovely."}


def test_a_model_is_submitted_to_the_workspace_itself(cli: Cli, model: Path, tmp_path: Path) -> None:
    """Without an address it goes into the local workspace; the second time it is there already."""
    workspace = tmp_path / "workspace"
    cli("-w", workspace, "init")
    (tmp_path / "mood.toml").write_text(TASK)
    assert cli("-w", workspace, "task", "add", tmp_path / "mood.toml").exit_code == 0
    (model / "quintain.toml").write_text('task = "mood"\nname = "mine"\n')
    (model / "handler.py").write_text("def predict(batch): return ['positive'] * len(batch)")
    result = cli("-w", workspace, "model", "submit", model, "--json")
    assert result.exit_code == 0, result.stderr
    assert json.loads(result.stdout)["ref"] == "mood/mine@1"
    again = cli("-w", workspace, "model", "submit", model)
    assert "was there already" in again.stderr
    assert again.stdout.strip() == "mood/mine@1"


def test_what_cannot_be_submitted_is_said(cli: Cli, tmp_path: Path) -> None:
    """No folder, a folder that is in the way, an unknown task."""
    assert "There is no folder" in cli("model", "submit", tmp_path / "nowhere", "--task", "x").stderr
    assert cli("-w", tmp_path, "model", "init", tmp_path / "m", "--task", "sentiment").exit_code == 0
    assert "is there already" in cli("-w", tmp_path, "model", "init", tmp_path / "m", "--task", "sentiment").stderr
    assert "no workspace" in cli("-w", tmp_path, "model", "init", tmp_path / "n", "--task", "unheard-of").stderr
    assert cli("-w", tmp_path, "model", "init", tmp_path / "n").exit_code == 2
