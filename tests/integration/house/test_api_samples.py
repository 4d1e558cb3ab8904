"""The samples of docs/api.md, run against a real server: what the page shows works as it stands there."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import httpx2
import pytest

import quintain
from quintain.compose import Workspace
from quintain.core.people import OPERATOR
from quintain.services.models.registry import get_model
from tests.boards import evaluated
from tests.conftest import ROOT
from tests.web_support import running, token_for
from tests.writing_rounds import PROMPTS, ROUND, add_round

PAGE = (ROOT / "docs" / "api.md").read_text(encoding="utf-8")
SAMPLES = re.findall(r"^```(\w*)\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE)
ADDRESS, TOKEN = "http://127.0.0.1:8000", "qt_…"
POLICY = "judgements = 3\n"


def samples(language: str) -> list[str]:
    """Give the page's samples in *language*."""
    return [text for kind, text in SAMPLES if kind == language]


@pytest.fixture
def served(own_demo: Workspace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[str, str]]:
    """A served demo with a first round, the files that samples name, and an admin's token."""
    add_round(own_demo, tmp_path, "sentiment")
    monkeypatch.chdir(tmp_path)
    Path("reviews.csv").write_text("text,stars\nA joy from start to end.,positive\nDull.,negative\n")
    helps = "[helps]\nocclusion = true"
    Path("round.toml").write_text(ROUND.format(task="sentiment", title="2", model="ngram", more="", tables=helps))
    rows = [{"text": f"{row['text']} Again."} for row in PROMPTS["sentiment"]]
    Path("prompts.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    Path("policy.toml").write_text(POLICY)
    with running(own_demo) as url:
        yield url, token_for(own_demo, "admin")


@pytest.fixture
def ranked(own_demo: Workspace) -> None:
    """Two models of the demo that have been evaluated, so that there is a board."""
    with own_demo.session() as db:
        for name, letter, throughput in (("tfidf", "a", 900.0), ("ngram", "e", 300.0)):
            model = get_model(db, OPERATOR, f"sentiment/{name}").version
            says = partial(_by_letter, letter)
            evaluated(db, own_demo.blobs, model, says, throughput=throughput, task="sentiment")


def _by_letter(letter: str, row: Mapping[str, Any]) -> str:
    return "positive" if letter in row["text"] else "negative"


def test_every_sample_is_of_a_kind_that_is_run() -> None:
    """A sample in another language would not be run by the tests below; it has to get one."""
    assert {kind for kind, _ in SAMPLES} == {"", "json", "python"}
    assert all(line.startswith("curl ") for text in samples("") for line in text.splitlines())


def test_calls_with_curl(served: tuple[str, str]) -> None:
    """Each line of curl is translated into the request that it sends, and is answered."""
    url, token = served
    for line in "".join(samples("")).splitlines():
        words = shlex.split(line.replace(ADDRESS, url).replace(TOKEN, token))
        assert [words[0], words[1], len(words)] == ["curl", "-H", 4], f"only -H is translated: {line}"
        name, _, value = words[2].partition(": ")
        answer = httpx2.get(words[3], headers={name: value})
        assert answer.json()["name"] == "admin"


def test_the_shape_of_errors(served: tuple[str, str]) -> None:
    """The error on the page is the one that such a file gets, word by word."""
    [shown] = [json.loads(text)["error"] for text in samples("json")]
    rows = [{"text": f"Sentence {n}.", "answer": "postive" if n == 41 else "positive"} for n in range(1, 43)]
    Path("reviews.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))

    with (
        quintain.Client(served[0], token=served[1]) as client,
        pytest.raises(quintain.BadInput) as caught,
    ):
        client.upload("sentiment", "reviews", "reviews.jsonl", role="dev")

    said = caught.value.as_dict()
    assert {name: said[name] for name in shown} == shown


@pytest.mark.usefixtures("ranked")
def test_samples_of_the_client(served: tuple[str, str], capsys: pytest.CaptureFixture[str]) -> None:
    """The samples run one after another, as a reader would try them, and print what they promise."""
    url, token = served
    with quintain.Client(url, token=token) as client:
        names: dict[str, Any] = {"client": client, "Path": Path}
        for number, text in enumerate(samples("python"), start=1):
            code = compile(text.replace(ADDRESS, url).replace(TOKEN, token), f"docs/api.md, sample {number}", "exec")
            exec(code, dict(names))  # noqa: S102 - our own page
            assert capsys.readouterr().out.strip(), f"sample {number} prints nothing"

    assert {"train.parquet", "june.json", "attempts.parquet", "judgements.csv"} <= {
        one.name for one in Path().iterdir()
    }
