"""Examples that an endpoint does not answer: counted, within a limit, and what the figure is with them all right."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from typer.testing import Result

from quintain.adapters.reply_store import FILE
from quintain.core.task import Task
from quintain.engine.runner import RunnableModel, open_runner
from quintain.engine.sandbox.limits import Limits, Outcome, RunEnded
from quintain.services.evaluate.results.scoring import score_table
from quintain.tasks.definition import parse_task
from tests.endpoint import Answer, Server, completion, refusal
from tests.evaluation import TASK

MANIFEST = """
adapter = "chat"
[options]
url = "{url}"
model = "m"
prompt = "{prompt}"
retries = 1
{more}
"""


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Server]:
    """An endpoint that may be called and always says the same."""
    endpoint = Server()
    endpoint.respond = lambda *_: completion("positive")
    monkeypatch.setenv("QUINTAIN_ENDPOINTS", endpoint.url)
    monkeypatch.setenv("QUINTAIN_WORKSPACE", str(tmp_path / "workspace"))
    yield endpoint
    endpoint.close()


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """Sixty examples, of which every second is positive."""
    file = tmp_path / "reviews.jsonl"
    rows = [{"text": f"text {n}", "answer": "positive" if n % 2 else "negative"} for n in range(60)]
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return file


def model_at(folder: Path, url: str, prompt: str = "{text}", more: str = "") -> Path:
    """Write a chat model."""
    folder.mkdir()
    manifest = MANIFEST.format(url=url, prompt=prompt, more=more)
    (folder / "quintain.toml").write_text(manifest.replace("retries = 1\n", "") if "retries" in more else manifest)
    (folder / "task.toml").write_text(TASK)
    return folder


def failing(*, always: set[int], filtered: set[int]) -> Callable[..., Answer]:
    """Answer all but some, to which the endpoint always fails, and others that its filter keeps back."""

    def respond(path: str, body: Any, headers: dict[str, str]) -> Answer:
        number = int(body["messages"][-1]["content"].split()[1])
        if number in always:
            return 500, {"retry-after": "0"}, b"oops"
        if number in filtered:
            return refusal(400, "It was filtered by the content management policy.", code="content_filter")
        return completion("positive")

    return respond


def test_a_figure_stands_with_its_bounds_beside_it(
    server: Server, data: Path, tmp_path: Path, cli: Callable[..., Result]
) -> None:
    """One example that always answers 500 and four that a filter keeps back are counted, and end nothing."""
    server.respond = failing(always={1}, filtered={3, 5, 10, 11})
    model = model_at(tmp_path / "model", server.url)
    result = cli("evaluate", "local", model, "--data", data, "--quick", "--json")
    assert result.exit_code == 0, result.stderr
    report = json.loads(result.stdout)
    assert report["failed"] == 5
    assert report["metrics"]["accuracy"]["value"] == pytest.approx(26 / 60)
    assert report["bounds"]["accuracy"] == {
        "examples": 5,
        "low": pytest.approx(26 / 60),
        "high": pytest.approx(31 / 60),
    }
    assert report["asking"]["requests"] == len(server.calls) == 61
    shown = cli("evaluate", "local", model, "--data", data, "--quick").stdout
    assert "5 failed, all wrong or all right" in shown


def test_beyond_the_limit_there_is_no_figure_and_a_reason(
    server: Server, data: Path, tmp_path: Path, cli: Callable[..., Result]
) -> None:
    """Four of sixty are more than one in twenty; what the endpoint said first is shown."""
    server.respond = failing(always={1, 12, 33, 54}, filtered=set())
    result = cli("evaluate", "local", model_at(tmp_path / "model", server.url), "--data", data, "--quick", "--json")
    assert result.exit_code == 1
    assert "answered with status 500: 'oops' (2 attempts)" in result.stderr
    assert "It failed on 4 examples; 3 of 60 may fail." in result.stderr


@pytest.mark.parametrize(
    ("prompt", "more", "said"),
    [
        ("{txet}", "", "options.prompt': names {txet}; there are labels, options, text"),
        ("Is it good?", "", "options.prompt': would ask the same of every example; it names one of {text}"),
        ("Is it {labels}?", "", "options.prompt': would ask the same of every example"),
        ("{text.title}", "", "options.prompt': would ask the same of every example"),
        ("{text}", "temperature = 5", "options.temperature': is 5; it lies between 0 and 2"),
        ("{text}", "concurrency = 5000", "options.concurrency': is 5000"),
        ("{text}", "concurrency = 2.5", "options.concurrency': is 2.5"),
        ("{text}", 'read = "regex"', "options.read': is 'regex'"),
        ("{text}", 'max_tokens = "many"', "options.max_tokens': is 'many'"),
        ("{text}", "max_tokens = 0", "options.max_tokens': is 0"),
        ("{text}", 'retries = "many"', "options.retries': is 'many'"),
        ("{text}", "system = 5", "options.system': is 5, which is not a text"),
        ("{text}", 'fallback = "postive"', "options.fallback': is 'postive', not one of"),
        ("{text}", 'input_price = "free"', "options.input_price': is 'free'"),
        ("{text}", "budget = 5", "options.budget': needs input_price"),
    ],
)
def test_options_are_checked_before_any_call_whoever_calls(
    server: Server, data: Path, tmp_path: Path, cli: Callable[..., Result], prompt: str, more: str, said: str
) -> None:
    """At home as by `model check`, and where a model is asked live: a named fault, no traceback, no call."""
    model = model_at(tmp_path / "model", server.url, prompt, more)
    task = ("--task", model / "task.toml")
    for command in (("evaluate", "local", model, "--data", data), ("model", "check", model, *task)):
        result = cli(*command)
        assert result.exit_code == 1
        assert said in result.stderr + result.stdout
        assert "Traceback" not in result.stderr
    from quintain.adapters.contract import Outside
    from quintain.adapters.manifest import read_manifest

    live = RunnableModel(model, "chat", read_manifest(model).options)
    with (
        pytest.raises(RunEnded, match="options") as caught,
        open_runner(live, parse_task(TASK), limits=Limits(), outside=Outside((server.url,))),
    ):
        pass
    assert caught.value.outcome is Outcome.MANIFEST
    assert server.calls == []


def test_killed_in_the_middle_it_pays_for_no_reply_twice(server: Server, data: Path, tmp_path: Path) -> None:
    """Replies are kept as they arrive: of what had come, nothing is asked again after a kill."""
    answered: list[str] = []

    def slowly(path: str, body: Any, headers: dict[str, str]) -> Answer:
        time.sleep(0.03)
        answered.append(body["messages"][-1]["content"])
        return completion("positive")

    server.respond = slowly
    model = model_at(tmp_path / "model", server.url)
    command = [sys.executable, "-m", "quintain", "evaluate", "local", str(model), "--data", str(data), "--quick"]
    environment = {**os.environ, "QUINTAIN_ENDPOINTS": server.url}
    running = subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    while len(answered) < 20 and running.poll() is None:
        time.sleep(0.005)
    running.send_signal(signal.SIGKILL)
    running.wait()
    time.sleep(0.2)
    assert len(answered) < 60
    assert (tmp_path / "workspace" / "cache" / FILE).exists()
    done = subprocess.run([*command, "--json"], env=environment, capture_output=True, text=True, check=True)
    twice = [text for text, times in Counter(answered).items() if times > 1]
    assert len(twice) <= 4  # of the calls that were under way, nobody has heard the reply
    asking = json.loads(done.stdout)["asking"]
    assert asking["requests"] + asking["cached"] == 60
    assert asking["cached"] >= 16


def test_bounds_are_those_of_every_metric(task_of_labels: Task) -> None:
    """Macro F1 with the failed all wrong is the figure itself, and with all right what another run might have said."""
    import polars as pl

    examples = pl.DataFrame(
        {
            "id": list("abcd"),
            "answer": ["negative", "negative", "positive", "positive"],
            "tags": [[], [], [], []],
            "group": [None] * 4,
        },
        schema_overrides={"tags": pl.List(pl.String), "group": pl.String},
    )
    predictions = pl.DataFrame(
        {
            "id": list("abcd"),
            "prediction": ["negative", None, None, "negative"],
            "failure": [None, "The model raised.", "No answer in words.", None],
            "outcome": ["answered", "failed", "unreadable", "answered"],
        }
    )
    scored = score_table(task_of_labels, examples, predictions)
    assert scored["metrics"]["accuracy"]["value"] == 0.25
    assert scored["bounds"]["accuracy"] == {"examples": 1, "low": 0.25, "high": 0.5}
    assert scored["bounds"]["macro_f1"]["low"] == pytest.approx(scored["metrics"]["macro_f1"]["value"])
    assert scored["bounds"]["macro_f1"]["high"] > scored["bounds"]["macro_f1"]["low"]
    whole = predictions.with_columns(prediction=pl.lit("negative"), failure=None, outcome=pl.lit("answered"))
    assert "bounds" not in score_table(task_of_labels, examples, whole)


@pytest.fixture
def task_of_labels() -> Task:
    """A task of two labels."""
    return parse_task(
        'name = "mood"\nkind = "text-classification"\nlabels = ["negative", "positive"]\n'
        'metrics = ["macro_f1", "accuracy"]\n'
    )
