"""One file that is a whole model, handed in by command, to a server, and by the client."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from sqlalchemy.orm import Session
from typer.testing import Result

from quintain.client import Client
from quintain.compose import Workspace
from quintain.core.people import Actor
from quintain.services.models import registry
from quintain.store.blobs import Blobs
from tests.evaluation import SENTENCES, add_data, add_task
from tests.integration.evaluate.test_model_files import pipeline
from tests.integration.evaluate.test_submit import ids_of
from tests.web_support import running, token_for

Cli = Callable[..., Result]


@pytest.fixture
def database() -> str:
    """Commands and the client are tested on SQLite."""
    return "sqlite"


@pytest.fixture
def mood(db: Session, blobs: Blobs, owner: Actor, tmp_path: Path) -> str:
    """A task with one data set."""
    add_task(db, owner)
    add_data(db, blobs, owner, tmp_path)
    return "mood"


def graph(file: Path) -> Path:
    """Save a small fitted pipeline with its vectoriser as an ONNX graph of strings."""
    skl2onnx = pytest.importorskip("skl2onnx", reason="skl2onnx is not installed")
    pytest.importorskip("onnxruntime", reason="onnxruntime is not installed")
    import joblib
    from skl2onnx.common.data_types import StringTensorType

    fitted = joblib.load(pipeline(file.with_suffix(".joblib")))
    converted = skl2onnx.convert_sklearn(fitted, initial_types=[("text", StringTensorType([None]))])
    file.write_bytes(converted.SerializeToString())
    return file


@pytest.mark.parametrize(
    ("save", "ending", "adapter"),
    [(pipeline, "joblib", "sklearn"), pytest.param(graph, "onnx", "onnx", marks=pytest.mark.slow)],
)
def test_a_file_alone_is_submitted_by_command_api_and_client(
    cli: Cli,
    mood: str,
    db: Session,
    workspace: Workspace,
    builder: Actor,
    tmp_path: Path,
    save: Callable[[Path], Path],
    ending: str,
    adapter: str,
) -> None:
    """A pipeline and a real graph: here, to a server by `--url`, and by the client, which sends the file as it is."""
    file = save(tmp_path / f"own.{ending}")
    ground = ("-w", workspace.settings.workspace)
    kept = cli(*ground, "model", "submit", file, "--task", mood, "--name", "here", "--json")
    assert json.loads(kept.stdout)["ref"] == "mood/here@1", kept.stderr
    with running(workspace) as url:
        token = token_for(workspace, builder.name)
        sent = cli(
            "-w", tmp_path / "none", "model", "submit", file, "-t", mood, "--url", url, "--token", token, "--json"
        )
        assert json.loads(sent.stdout)["ref"] == "mood/own@1", sent.stderr
        with Client(url, token) as client:
            assert client.submit(file, mood, name="again").ref == "mood/again@1"
    db.rollback()
    versions = [registry.get_model(db, builder, f"mood/{name}").version for name in ("here", "own", "again")]
    assert {version.adapter for version in versions} == {adapter}
    listed = json.loads(cli(*ground, "model", "predict", "mood/own", SENTENCES[0][0], "--json").stdout)
    assert SENTENCES[0][1] in json.dumps(listed)


def test_predictions_alone_are_taken(
    cli: Cli, mood: str, db: Session, blobs: Blobs, workspace: Workspace, builder: Actor, tmp_path: Path
) -> None:
    """A .csv that covers a data set is a model of it, by command and client; it is scored where it has predictions."""
    rows = zip(ids_of(db, blobs), (label for _, label in SENTENCES), strict=True)
    file = tmp_path / "answers.csv"
    file.write_text("id,prediction\n" + "".join(f"{key},{label}\n" for key, label in rows))
    kept = cli("-w", workspace.settings.workspace, "model", "submit", file, "--task", mood, "--json")
    assert (json.loads(kept.stdout)["ref"], json.loads(kept.stdout)["cells"]) == ("mood/answers@1", 1), kept.stderr
    with running(workspace) as url, Client(url, token_for(workspace, builder.name)) as client:
        assert client.submit(file, mood, name="again").ref == "mood/again@1"
    db.rollback()
    assert registry.get_model(db, builder, "mood/again").version.adapter == "predictions"
