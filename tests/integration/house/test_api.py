"""The JSON API: the same ground as the pages, one shape of errors, the right status."""

from __future__ import annotations

import io
import json
import re
import zipfile
from typing import Any

import polars as pl
import pytest
from starlette.testclient import TestClient

from quintain.compose import Workspace
from quintain.core.people import OPERATOR, RoleName
from quintain.services.tasks.definitions import put_task
from quintain.tasks.starter import starter
from quintain.web.app import create_app
from quintain.web.described import REFUSALS
from tests.people import make_person
from tests.web_support import token_for


def api(workspace: Workspace, name: str | None = None) -> TestClient:
    """Give a program that acts for *name*, or for nobody."""
    client = TestClient(create_app(workspace), base_url="http://testserver/api/v1/")
    if name:
        client.headers["authorization"] = f"Bearer {token_for(workspace, name)}"
    return client


def error_of(answer: Any) -> dict[str, Any]:
    """Give the error in an answer, which always has the documented shape."""
    error = answer.json()["error"]
    assert set(error) == {"code", "message", "remedy", "faults"}
    assert error["message"]
    assert error["code"]
    return dict(error)


@pytest.fixture
def anybody(demo: Workspace) -> TestClient:
    """A program without a token."""
    return api(demo)


@pytest.fixture
def owner(demo: Workspace) -> TestClient:
    """A program that acts for the owner."""
    return api(demo, "demo-owner")


def test_what_is_public_needs_no_token(anybody: TestClient) -> None:
    """Tasks, data sets and models can be read by anybody."""
    names = [task["name"] for task in anybody.get("tasks").json()["tasks"]]
    assert {"sentiment", "nli", "qa"} <= set(names)
    task = anybody.get("tasks/sentiment").json()
    assert [label["name"] for label in task["labels"]] == ["positive", "negative", "neutral"]
    assert task["fields"][0]["name"] == "text"
    assert anybody.get("tasks/sentiment/datasets").json()["datasets"]
    assert anybody.get("tasks/sentiment/models/tfidf").json()["card"].startswith("#")
    assert anybody.get("status").json()["ready"] is True
    assert anybody.get("search", params={"q": "senti"}).json()["tasks"]


def test_tokens_say_who_asks(demo: Workspace, owner: TestClient) -> None:
    """A good token is answered, a wrong or made-up one refused with the reason."""
    assert owner.get("me").json()["name"] == "demo-owner"
    nobody = api(demo)
    assert nobody.get("me").status_code == 401
    nobody.headers["authorization"] = "Bearer qt_made-up"
    answer = nobody.get("tasks")
    assert answer.status_code == 401
    assert answer.headers["www-authenticate"] == "Bearer"
    assert "not known" in error_of(answer)["message"]


@pytest.mark.parametrize(
    ("method", "path", "body", "status"),
    [
        ("GET", "tasks/nope", None, 404),
        ("GET", "nope", None, 404),
        ("DELETE", "status", None, 405),
        ("POST", "tasks", {"toml": "name = 1"}, 422),
        ("POST", "tasks", {"wrong": "field"}, 422),
        ("GET", "users", None, 403),
        ("GET", "tasks/sentiment/datasets/train/preview?limit=0", None, 422),
        ("GET", "tasks/sentiment/models/tfidf?version=99", None, 404),
        ("POST", "tasks/sentiment/models/tfidf/predict", {"inputs": [{"wrong": "x"}]}, 422),
        ("POST", "tasks/sentiment/models/tfidf/predict", {"inputs": []}, 422),
    ],
)
def test_refusals_have_one_shape(owner: TestClient, method: str, path: str, body: Any, status: int) -> None:
    """Every refusal has its status, a message, and the faults where there are places to name."""
    answer = owner.request(method, path, json=body) if body else owner.request(method, path)
    assert answer.status_code == status
    error = error_of(answer)
    if status == 422:
        assert error["faults"]


def test_json_that_is_none_is_a_bad_request(owner: TestClient) -> None:
    """A body that cannot be read as JSON gets 400."""
    answer = owner.post("tasks", content=b"{", headers={"content-type": "application/json"})
    assert answer.status_code == 400
    assert error_of(answer)


def test_predictions(anybody: TestClient) -> None:
    """A model answers every input in order, with probabilities that add up to one."""
    body = {"inputs": [{"text": "Lovely and warm."}, {"text": "Dreadful, cold, rude."}]}
    answer = anybody.post("tasks/sentiment/models/tfidf/predict", json=body).json()
    assert answer["model"] == "sentiment/tfidf@1"
    assert len(answer["predictions"]) == 2
    assert sum(answer["predictions"][0]["probabilities"].values()) == pytest.approx(1)


def test_hidden_answers_never_leave(anybody: TestClient, owner: TestClient) -> None:
    """Preview, download, counts and filters give no hidden answer to anybody but an owner, and no input unasked."""
    base = "tasks/sentiment/datasets/test"
    assert anybody.get(f"{base}/preview").status_code == anybody.get(f"{base}/download").status_code == 403
    assert owner.put(f"{base}/inputs", json={"inputs": "open"}).status_code == 200
    assert all("answer" not in row for row in anybody.get(f"{base}/preview").json()["examples"])
    assert anybody.get(f"{base}/labels").json() == {"labels": {}}
    assert anybody.get(f"{base}/preview", params={"label": "positive"}).status_code == 403
    first = json.loads(anybody.get(f"{base}/download").text.splitlines()[0])
    assert "answer" not in first
    assert owner.get(f"{base}/labels").json()["labels"]
    assert owner.put(f"{base}/inputs", json={"inputs": "never"}).json()["inputs"] == "never"


def test_a_folder_comes_as_a_zip_without_hidden_answers(owner: TestClient, anybody: TestClient) -> None:
    """Several versions are splits of one ZIP; the hidden one's answers are empty, for the owner as well."""
    wanted = {"format": "hf", "also": ["train@1"]}
    assert owner.put("tasks/sentiment/datasets/test/inputs", json={"inputs": "open"}).status_code == 200
    for client in (anybody, owner):
        answer = client.get("tasks/sentiment/datasets/test/download", params=wanted)
        assert (answer.status_code, answer.headers["content-type"]) == (200, "application/zip")
        with zipfile.ZipFile(io.BytesIO(answer.content)) as archive:
            tables = {name: pl.read_parquet(archive.read(f"data/{name}.parquet")) for name in ("train", "test")}
            assert "README.md" in archive.namelist()
        assert tables["test"]["answer"].null_count() == tables["test"].height > 0
        assert tables["train"]["answer"].null_count() == 0
        assert "meta" not in tables["train"].columns
    refused = anybody.get("tasks/sentiment/datasets/test/download", params={"format": "csv", "also": "train"})
    assert (refused.status_code, refused.json()["error"]["message"]) == (422, "A file holds one version.")
    assert owner.put("tasks/sentiment/datasets/test/inputs", json={"inputs": "never"}).status_code == 200
    missing = anybody.get("tasks/sentiment/datasets/test/download", params={"format": "hf", "also": "nope"})
    assert missing.status_code == 404


def test_upload_preview_diff_download(workspace: Workspace) -> None:
    """A data set goes up twice, is compared, looked at and fetched, on SQLite and on PostgreSQL."""
    with workspace.session() as db:
        make_person(db, "olga", RoleName.OWNER)
        put_task(db, OPERATOR, starter("text-classification", "mood"))
    client = api(workspace, "olga")
    labels = [label["name"] for label in client.get("tasks/mood").json()["labels"]]

    def upload(rows: list[dict[str, str]]) -> Any:
        text = "\n".join(json.dumps(row) for row in rows)
        return client.post(
            "tasks/mood/datasets", data={"name": "reviews", "role": "dev"}, files={"file": ("reviews.jsonl", text)}
        )

    first = upload([{"text": "one", "answer": labels[0]}, {"text": "two", "answer": labels[1]}])
    assert first.status_code == 201, first.text
    assert first.json()["new"] is True
    assert upload([{"text": "one", "answer": labels[0]}, {"text": "two", "answer": labels[1]}]).json()["new"] is False
    upload([{"text": "one", "answer": labels[1]}, {"text": "three", "answer": labels[1]}])
    change = client.get("tasks/mood/datasets/reviews/diff", params={"a": 1, "b": 2}).json()
    assert [change[key]["count"] for key in ("added", "removed", "changed")] == [1, 1, 1]
    found = client.get("tasks/mood/datasets/reviews/preview", params={"text": "thr"}).json()
    assert found["total"] == 1
    assert len(client.get("tasks/mood/datasets/reviews/download?version=1").text.splitlines()) == 2
    bad = upload([{"text": "x", "answer": "nonsense"}, {"answer": labels[0]}])
    assert bad.status_code == 422
    assert {fault["row"] for fault in error_of(bad)["faults"]} == {1, 2}


def test_uploads_need_an_owner(demo: Workspace) -> None:
    """A worker may not bring data."""
    worker = api(demo, "demo-worker")
    files = {"file": ("x.jsonl", '{"text": "x", "answer": "neutral"}')}
    answer = worker.post("tasks/sentiment/datasets", data={"name": "x", "role": "dev"}, files=files)
    assert answer.status_code == 403


def test_people_and_roles(own_demo: Workspace) -> None:
    """An admin invites somebody, grants a role on a task and takes it back; the log tells."""
    admin = api(own_demo, "admin")
    link = admin.post("users", json={"name": "vera"})
    assert link.status_code == 201
    assert "/link/" in link.json()["url"]
    assert admin.post("users", json={"name": "vera"}).status_code == 409
    granted = admin.post("users/vera/grants", json={"role": "owner", "task": "nli"}).json()
    assert {"role": "owner", "task": "nli"} in granted["grants"]
    revoked = admin.delete("users/vera/grants/owner", params={"task": "nli"}).json()
    assert {"role": "owner", "task": "nli"} not in revoked["grants"]
    actions = [entry["action"] for entry in admin.get("audit").json()["entries"]]
    assert "role.grant" in actions
    assert [person["name"] for person in admin.get("users", params={"search": "ver"}).json()["users"]] == ["vera"]


def test_tokens_by_api(own_demo: Workspace) -> None:
    """A token makes another, which works until it is revoked."""
    admin = api(own_demo, "admin")
    made = admin.post("me/tokens", json={"name": "second", "days": 1}).json()
    second = api(own_demo)
    second.headers["authorization"] = f"Bearer {made['token']}"
    assert second.get("me").status_code == 200
    assert admin.delete(f"me/tokens/{made['id']}").status_code == 204
    assert second.get("me").status_code == 401


def test_tasks_by_api(own_demo: Workspace) -> None:
    """A task is added, changed, looked back at and archived."""
    owner = api(own_demo, "demo-owner")
    text = starter("text-classification", "mine")
    assert owner.post("tasks", json={"toml": text}).status_code == 201
    assert owner.put("tasks/mine", json={"toml": text + "\n# more\n"}).status_code == 200
    assert owner.put("tasks/nli", json={"toml": text}).status_code == 409
    assert [v["number"] for v in owner.get("tasks/mine/history").json()["versions"]] == [2, 1]
    assert owner.delete("tasks/mine").status_code == 204
    assert "mine" not in [task["name"] for task in owner.get("tasks").json()["tasks"]]


def test_openapi_documents_every_endpoint(anybody: TestClient) -> None:
    """Each operation has a summary, a success shape and the shape of errors."""
    document = anybody.get("openapi.json").json()
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            assert operation["summary"], (method, path)
            said = {code: one["$ref"] for code, one in operation["responses"].items() if "$ref" in one}
            assert said == {str(code): f"#/components/responses/Error{code}" for code in REFUSALS}, (method, path)


def test_openapi_has_the_shape_of_errors_once(anybody: TestClient) -> None:
    """What operations refer to is there: every refusal with its sentence, and the shape that they share."""
    document = anybody.get("openapi.json").json()
    shapes, answers = document["components"]["schemas"], document["components"]["responses"]

    assert {one["description"] for one in answers.values()} == set(REFUSALS.values())
    assert {one["content"]["application/json"]["schema"]["$ref"] for one in answers.values()} == {
        "#/components/schemas/ErrorShape"
    }
    known = {f"#/components/schemas/{name}" for name in shapes} | {f"#/components/responses/{name}" for name in answers}
    assert set(re.findall(r'"\$ref": "([^"]+)"', json.dumps(document))) <= known
    assert not {"HTTPValidationError", "ValidationError"} & set(shapes)


def test_shapes_have_names_for_people(anybody: TestClient) -> None:
    """No two shapes share a name, so none is told apart by the path of its module or by which way it goes."""
    names = anybody.get("openapi.json").json()["components"]["schemas"]
    assert [name for name in names if "__" in name or "-" in name] == []
    page = anybody.get("docs").text
    assert '<a href="#CloneRequest">' in page  # a body that may be left out has its shape all the same
    assert "how version b differs from version a." in page


def test_applications_share_their_routes_and_nothing_else(workspace: Workspace, demo: Workspace) -> None:
    """The routes are read once for all applications; each still answers from its own workspace."""
    here, there = TestClient(create_app(workspace)), TestClient(create_app(demo))

    assert here.get("/api/v1/tasks").json()["tasks"] == []
    assert there.get("/api/v1/tasks").json()["tasks"] != []
