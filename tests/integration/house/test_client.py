"""The Python client against a real server on this machine."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest

import quintain
from quintain.compose import Workspace
from quintain.tasks.starter import starter
from tests.web_support import copy_demo, running, token_for


@pytest.fixture(scope="module")
def server(demo: Workspace, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Workspace, str]]:
    """A served demo of its own, and its address."""
    workspace = copy_demo(demo, tmp_path_factory.mktemp("served") / "demo")
    with running(workspace) as url:
        yield workspace, url


@pytest.fixture
def client(server: tuple[Workspace, str]) -> Iterator[quintain.Client]:
    """A client that acts for the owner of the starter tasks."""
    workspace, url = server
    with quintain.Client(url, token_for(workspace, "demo-owner")) as made:
        yield made


def test_looking_around(client: quintain.Client) -> None:
    """Tasks, data sets, models and oneself are records with names and types."""
    assert client.me().name == "demo-owner"
    assert client.status().ready
    assert "sentiment" in [task.name for task in client.tasks()]
    assert client.task("sentiment").answer_type == "label"
    newest = next(version for version in client.datasets("sentiment") if version.dataset == "train")
    assert newest.created_at.tzinfo is not None
    assert client.dataset("sentiment/train").rows == newest.rows
    assert client.label_counts("sentiment/train@1")["positive"] > 0
    assert client.preview("sentiment/train", label="positive", limit=3).examples[0]["answer"] == "positive"
    assert {model.name for model in client.models("sentiment")} >= {"tfidf", "lexicon"}
    assert client.model("sentiment/tfidf@1").card


def test_predicting(client: quintain.Client) -> None:
    """A model answers with the same Prediction that the platform uses."""
    found = client.predict("sentiment/tfidf", [{"text": "Warm and funny."}])
    assert isinstance(found[0], quintain.Prediction)
    assert found[0].answer in {"positive", "negative", "neutral"}


def test_up_and_down(client: quintain.Client, tmp_path: Path) -> None:
    """What goes up comes down; the file's ending chooses the format."""
    source = tmp_path / "mine.csv"
    source.write_text("text,answer\nGood.,positive\nBad.,negative\n")
    made = client.upload("sentiment", "uploaded", source, role="dev", description="two rows")
    assert (made.rows, made.new) == (2, True)
    for ending in ("jsonl", "csv", "tsv", "parquet"):
        target = client.download(made.ref, tmp_path / f"back.{ending}")
        assert target.stat().st_size > 0
    assert "Good." in (tmp_path / "back.jsonl").read_text()
    packed = client.download(made.ref, tmp_path / "back.zip", format="hf", also=["train"])
    with zipfile.ZipFile(packed) as archive:
        assert {"data/validation.parquet", "data/train.parquet"} <= set(archive.namelist())


def test_refusals_are_the_platforms_own_errors(client: quintain.Client, tmp_path: Path) -> None:
    """Each refusal is raised as the error that the services raise, with its faults."""
    with pytest.raises(quintain.NotFound, match="no task called 'nope'"):
        client.task("nope")
    with pytest.raises(quintain.BadInput) as refused:
        client.predict("sentiment/tfidf", [{"wrong": "field"}])
    assert refused.value.faults
    with pytest.raises(quintain.BadInput, match="not a reference"):
        client.dataset("sentiment")
    with pytest.raises(quintain.BadInput, match="TOML"):
        client.put_task("= nonsense")
    with pytest.raises(quintain.NotFound):
        client.upload("sentiment", "x", tmp_path / "missing.csv", role="dev")
    with pytest.raises(quintain.BadInput):
        client.download("sentiment/train", tmp_path / "x.docx")
    assert not list(tmp_path.iterdir())


def test_tokens(server: tuple[Workspace, str], client: quintain.Client) -> None:
    """A new token works at once, and no longer once it is revoked."""
    made = client.create_token("short", days=1)
    other = quintain.Client(server[1], made.token)
    assert other.me().name == "demo-owner"
    client.revoke_token(made.id)
    with pytest.raises(quintain.NotSignedIn):
        other.me()
    assert made.id not in [token.id for token in client.tokens()]
    assert made.token not in repr(made)


def test_a_task_by_client(client: quintain.Client) -> None:
    """A task file goes up and is there."""
    assert client.put_task(starter("text-classification", "by-client")).name == "by-client"
    assert client.notifications() == []


def test_nobody_there() -> None:
    """A server that does not run is said to be out of reach."""
    with pytest.raises(quintain.Unavailable, match="cannot be reached"):
        quintain.Client("http://127.0.0.1:9", timeout=2).tasks()


def test_importing_quintain_is_cheap() -> None:
    """The public module loads nothing heavy until something is used."""
    code = "import sys, quintain; print([n for n in ('polars', 'httpx2', 'fastapi', 'sqlalchemy') if n in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_the_public_names_are_there() -> None:
    """Everything that the public API promises can be imported, and nothing else is promised."""
    for name in quintain.__all__:
        assert getattr(quintain, name) is not None
    with pytest.raises(AttributeError):
        quintain.nonsense  # noqa: B018 - reading it is the test
