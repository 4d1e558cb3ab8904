"""A chat model at home: what its calls took, what they may cost, and a start that imports no more than it needs."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest
from typer.testing import Result

from quintain.adapters.contract import EndpointSecret, Outside
from quintain.adapters.ledger import LedgerEntry, TokenUse
from quintain.adapters.reply_store import ReplyStore
from quintain.perturbations.contract import PERTURBATIONS
from quintain.services.evaluate.cells.kept_spending import within_budgets
from tests.endpoint import Server, ok
from tests.evaluation import SENTENCES, TASK

MANIFEST = """
adapter = "chat"
[options]
url = "{url}"
model = "m"
prompt = "{{text}}"
input_price = 1000.0
output_price = 1000.0
max_tokens = 1
"""


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Server]:
    """An endpoint that may be called and always says the same."""
    made = Server()
    usage = {"prompt_tokens": 10, "completion_tokens": 1}
    made.respond = lambda *_: ok({"choices": [{"message": {"content": "positive"}}], "usage": usage})
    monkeypatch.setenv("QUINTAIN_ENDPOINTS", made.url)
    monkeypatch.setenv("QUINTAIN_WORKSPACE", str(tmp_path / "workspace"))
    yield made
    made.close()


@pytest.fixture
def model(server: Server, tmp_path: Path) -> Path:
    """A chat model of that endpoint."""
    folder = tmp_path / "model"
    folder.mkdir()
    (folder / "quintain.toml").write_text(MANIFEST.format(url=server.url))
    (folder / "task.toml").write_text(TASK)
    return folder


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """Examples with a column whose name is nearly that of one that is read."""
    file = tmp_path / "reviews.jsonl"
    rows = [{"text": text, "answer": label, "tag": "x"} for text, label in SENTENCES]
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return file


def test_what_calls_took_is_shown(model: Path, data: Path, server: Server, cli: Callable[..., Result]) -> None:
    """Estimate before, then requests, tokens, cost and replies from the cache; `tag` for `tags` is named."""
    first = cli("evaluate", "local", model, "--data", data, "--quick", "--json")
    assert first.exit_code == 0, first.stderr
    assert "up to 6 calls" in first.stderr
    assert "The column 'tag' is not read; if it is 'tags', map it: tags=tag." in first.stderr
    found = json.loads(first.stdout)
    asked = found["asking"]
    assert (asked["requests"], asked["cached"], asked["input_tokens"], asked["output_tokens"]) == (6, 0, 60, 6)
    assert [asked["cost"], asked["spent"]] == pytest.approx([0.066, 0.066])
    assert found["estimate"]["calls"] == 6
    assert asked["cost"] <= found["estimate"]["cost_at_most"]
    again = json.loads(cli("evaluate", "local", model, "--data", data, "--quick", "--json").stdout)["asking"]
    assert (again["requests"], again["cached"], again["spent"]) == (0, 6, 0)
    assert len(server.calls) == 6
    shown = cli("evaluate", "local", model, "--data", data, "--quick").stdout
    assert "6 more replies from the cache" in shown


def test_a_budget_stops_at_home_too(model: Path, data: Path, server: Server, cli: Callable[..., Result]) -> None:
    """What does not fit is not called, and the message says how much was left."""
    with (model / "quintain.toml").open("a") as file:
        file.write("concurrency = 1\nbudget = 0.05\n")
    result = cli("evaluate", "local", model, "--data", data, "--quick")
    assert result.exit_code != 0
    assert "The budget does not cover the next call" in result.stderr
    assert len(server.calls) * 0.011 <= 0.05


def test_a_budget_at_home_holds_over_all_runs(
    model: Path, data: Path, server: Server, cli: Callable[..., Result]
) -> None:
    """A second run has what the first one left, a check as well, and one with a higher budget goes on from there."""
    manifest = model / "quintain.toml"
    before = manifest.read_text()
    manifest.write_text(f"{before}concurrency = 1\nbudget = 0.075\n")
    runs = [cli("evaluate", "local", model, "--data", data) for _ in range(2)]
    assert [run.exit_code for run in runs] == [1, 1]
    calls = len(server.calls)
    assert 0 < calls * 0.011 <= 0.075
    assert cli("model", "check", model).exit_code != 0
    assert len(server.calls) == calls
    manifest.write_text(f"{before}concurrency = 1\nbudget = 5\n")
    assert cli("evaluate", "local", model, "--data", data, "--quick").exit_code == 0


def test_a_keys_budget_at_home_is_shared_by_models(tmp_path: Path) -> None:
    """What models with one key have spent counts for all of them, and for nobody else's key."""
    secrets = {name: EndpointSecret("https://e.example", "k", (1.0, 1.0), 2.0) for name in ("ours", "theirs")}
    outside = Outside(("https://e.example",), secrets, tmp_path)
    first = within_budgets({"secret": "ours", "prompt": "a"}, outside)
    assert first.budget == 2.0
    with closing(ReplyStore(tmp_path)) as store:
        store.enter_call(first.run, LedgerEntry("answered", 200, TokenUse(10, 1), 1.5))
    assert within_budgets({"secret": "ours", "prompt": "b"}, outside).budget == 0.5
    assert within_budgets({"secret": "theirs", "prompt": "a"}, outside).budget == 2.0
    assert within_budgets({"secret": "ours", "prompt": "a", "budget": 1.0}, outside).budget == 0.0


def test_perturbations_beside_the_figures_are_not_called_for(
    model: Path, data: Path, server: Server, cli: Callable[..., Result]
) -> None:
    """Robustness and fairness come from those that count."""
    result = cli("evaluate", "local", model, "--data", data, "--json")
    assert result.exit_code == 0, result.stderr
    found = json.loads(result.stdout)
    families = {name for part in ("robustness", "fairness") for name in found[part]["families"]}
    assert families
    assert all(PERTURBATIONS.get(name).in_paper for name in families)
    assert len(server.calls) <= found["estimate"]["calls"]


def test_local_evaluation_imports_little() -> None:
    """The board, the worker and what they need are not loaded for a model at home, nor a web server."""
    code = (
        "import sys; sys.argv = ['quintain', 'evaluate', 'local', '--help']\n"
        "from quintain.cli.app import app\n"
        "try: app()\n"
        "except SystemExit: pass\n"
        "print(' '.join(sys.modules), file=sys.stderr)"
    )
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = set(said.stderr.split())
    assert "quintain.cli.evaluate.local" in loaded
    assert not loaded & {
        "quintain.services.board.assemble",
        "quintain.services.evaluate.cells.worker",
        "quintain.compose",
        "quintain.store",
        "scipy.special",
        "fastapi",
        "httpx2",
        "sqlalchemy",
    }
