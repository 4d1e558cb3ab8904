"""What is sent to the server damaged is answered with 4xx, as a page and over the API, and leaves nothing behind."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from quintain.compose import Workspace
from quintain.services.evaluate.submissions import tryouts
from quintain.settings import Settings
from tests import damage
from tests.evaluation import CARD
from tests.integration.evaluate.test_submit import folder_of
from tests.unit.engine.test_archives import BAD, entry, tar_of, zip_of
from tests.web_support import browser_of, csrf_of

PAGE = "/tasks/sentiment/submit"
FILES = {"handler.py": b"def predict(batch): return ['positive'] * len(batch)", "card.md": CARD.encode()}
# Models that look like models, with a file that no reader should be thrown by.
MODELS: dict[str, dict[str, bytes]] = {
    "nesting in the manifest": {"quintain.toml": b"a = " + damage.DEEP.encode()},
    "digits in the manifest": {"quintain.toml": b"batch_size = " + damage.DIGITS.encode()},
    "a long name of a file": {"quintain.toml": b'[options]\nfile = "' + b"a" * 5000 + b'"'},
    "a null character in the name of a file": {"quintain.toml": b'[options]\nfile = "a\\u0000b"'},
    "a list for the name of a file": {"quintain.toml": b"[options]\nfile = [1]"},
    "a number for the name of a file": {"quintain.toml": b'adapter = "onnx"\n[options]\nvocabulary = 5'},
    "nesting in the handler": {"handler.py": b"x = " + b"(" * 20_000},
    "deep additions in the handler": {"handler.py": b"x = " + b"1 + " * 200_000 + b"1\n"},
    "null bytes in the handler": {"handler.py": b"x = 1\0"},
    "nesting in the config": {"quintain.toml": b'adapter = "transformers"', "config.json": damage.DEEP.encode()},
    "blanks in the requirements": {"requirements.txt": b"a" + b" " * 60_000 + b"!"},
    "a long line of requirements": {"requirements.txt": b"a" * 90_000},
    "blanks in the card": {"card.md": b"# " + b" " * 90_000 + b"x"},
    "a large card": {"card.md": b"# " + b"x" * 900_000},
    "nesting in the predictions": {
        "quintain.toml": b'adapter = "predictions"',
        "predictions.jsonl": damage.jsonl(damage.MIDDLING),
    },
    "damaged pages in the predictions": {
        "quintain.toml": b'adapter = "predictions"',
        "predictions.parquet": dict(damage.named("parquet"))["a page of nothing"],
    },
}


@pytest.fixture
def client(own_demo: Workspace) -> TestClient:
    """A browser of the demo's owner."""
    return browser_of(own_demo, "demo-owner")


def left_behind() -> set[str]:
    """List what our code has put into the system's temporary folder."""
    return {path.name for path in Path(tempfile.gettempdir()).glob("quintain-s*")}


def test_every_odd_archive_is_refused_on_the_page(client: TestClient) -> None:
    """All of them get the form again with the reason, and no folder stays behind."""
    before, token = left_behind(), csrf_of(client, PAGE)
    for what, make in BAD.items():
        answer = client.post(
            PAGE, data={"csrf": token, "name": "odd", "visibility": "private"}, files={"file": ("m.tar.gz", make())}
        )
        # Some are only too large for the small limits of the test beside the archives: then they are no model.
        assert answer.status_code == 422, what
    assert left_behind() == before


@pytest.mark.parametrize("what", MODELS)
def test_every_odd_model_is_refused_on_the_page(client: TestClient, what: str) -> None:
    """Manifest, handler, card, requirements, config and predictions: what is wrong is said."""
    before = left_behind()
    files = {**FILES, **MODELS[what]}
    archive = tar_of(*[(entry(name), data) for name, data in files.items()])
    sent = {"csrf": csrf_of(client, PAGE), "name": "odd", "visibility": "private"}
    answer = client.post(PAGE, data=sent, files={"file": ("m.tar", archive)})
    assert answer.status_code == 422, answer.text
    assert client.get("/tasks/sentiment/models/odd").status_code == 404
    assert left_behind() == before


@pytest.mark.parametrize("form", ["jsonl", "csv", "parquet"])
def test_every_damaged_table_is_refused(client: TestClient, form: str) -> None:
    """A data set on the page gets 422, whatever its file holds."""
    page = "/tasks/sentiment/data/import"
    token = csrf_of(client, page)
    for what, data in damage.named(form):
        sent = {"csrf": token, "name": "odd", "role": "test", "column-answer": "label"}
        answer = client.post(page, data=sent, files={"file": (f"odd.{form}", data)})
        assert answer.status_code == 422, (what, answer.text)


@pytest.mark.parametrize("path", ["/api/v1/uploads", "/api/v1/tasks/sentiment/models", "/api/v1/tasks"])
@pytest.mark.parametrize("value", ["deep nesting", "many digits", "half a surrogate pair", "a huge exponent"])
def test_json_that_cannot_be_read_is_answered_with_4xx(client: TestClient, path: str, value: str) -> None:
    """The body of a call is bounded like everything else from outside."""
    body = f'{{"upload": {damage.VALUES[value]}, "size": {damage.VALUES[value]}}}'
    headers = {"content-type": "application/json", "x-csrf-token": csrf_of(client, PAGE)}
    answer = client.post(path, content=body, headers=headers)
    assert 400 <= answer.status_code < 500, answer.text


def test_a_worker_may_send_no_file(own_demo: Workspace) -> None:
    """A body of three megabytes is not taken from somebody who may not submit, on the page or over the API."""
    client = browser_of(own_demo, "demo-worker")
    big = {"file": ("m.tar.gz", b"x" * (3 << 20))}
    assert client.post(PAGE, files=big).status_code == 413
    token = csrf_of(client, "/")
    begun = client.post("/api/v1/uploads", json={"size": 9, "sha256": "0" * 64}, headers={"x-csrf-token": token})
    assert begun.status_code == 403


def test_a_misspelt_answer_is_shown_on_the_form(client: TestClient) -> None:
    """What the model said stands on the page, and nothing was registered."""
    archive = zip_of(("handler.py", b"def predict(batch): return ['postive'] * len(batch)"), ("card.md", CARD.encode()))
    sent = {"csrf": csrf_of(client, PAGE), "name": "misspelt", "visibility": "private"}
    answer = client.post(PAGE, data=sent, files={"file": ("m.zip", archive)})
    assert answer.status_code == 422
    assert "the model answered &#39;postive&#39;" in answer.text
    assert client.get("/tasks/sentiment/models/misspelt").status_code == 404


def test_the_page_of_a_model_says_that_it_is_being_tried(
    own_demo: Workspace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where workers run elsewhere, the model waits for one of them, and its page follows that."""
    settings = Settings(workspace=own_demo.settings.workspace, workers=0)
    client = browser_of(Workspace(settings, own_demo.engine, own_demo.blobs), "demo-owner")
    monkeypatch.setattr(tryouts, "_sandbox_is_here", lambda conditions: False)
    folder = folder_of(tmp_path / "m")
    archive = tar_of(*[(entry(path.name), path.read_bytes()) for path in folder.iterdir()])
    sent = {"csrf": csrf_of(client, PAGE), "name": "later", "visibility": "private"}
    answer = client.post(PAGE, data=sent, files={"file": ("m.tar", archive)})
    assert answer.status_code == 303, answer.text
    page = client.get(answer.headers["location"]).text
    assert "Being tried" in page
    assert 'hx-trigger="every 5s"' in page
