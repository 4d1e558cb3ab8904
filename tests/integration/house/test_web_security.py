"""What protects people: headers, cookies, limits on size, and error pages that give nothing away."""

from __future__ import annotations

import errno
import re
from dataclasses import replace
from urllib.parse import urljoin

import pytest
from starlette.testclient import TestClient

from quintain.compose import Workspace
from quintain.core.people import OPERATOR
from quintain.data import exporting
from quintain.services.tasks.definitions import put_task
from quintain.store.blobs import Blobs
from quintain.store.database import connect
from quintain.web.app import create_app
from quintain.web.middleware import CONTENT_SECURITY_POLICY
from quintain.web.static_files import static, static_version
from quintain.web.visit import local_path
from tests.web_support import PASSWORD, browser_of, post


@pytest.fixture
def client(demo: Workspace) -> TestClient:
    """Somebody who has not signed in."""
    return browser_of(demo)


@pytest.mark.parametrize("path", ["/", "/nope", "/api/v1/tasks", "/api/v1/nope", "/static/css/quintain.css"])
def test_every_answer_is_strict(client: TestClient, path: str) -> None:
    """Pages, errors, JSON and files all carry the policy and a request id."""
    answer = client.get(path)
    assert answer.headers["content-security-policy"] == CONTENT_SECURITY_POLICY
    assert "unsafe" not in CONTENT_SECURITY_POLICY
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert answer.headers["x-request-id"]


def test_no_page_has_inline_code(demo: Workspace) -> None:
    """No script, style or handler stands in a page; all come from our own files."""
    admin = browser_of(demo, "admin")
    for path in ("/", "/tasks/sentiment", "/tasks/sentiment/data/train", "/tasks/sentiment/talk", "/account", "/admin"):
        text = admin.get(path).text
        for forbidden in ("<style", " style=", " onclick=", "javascript:", "<script>"):
            assert forbidden not in text, (path, forbidden)


def test_files_are_kept_under_their_version_only(client: TestClient) -> None:
    """A module's own imports carry the version; an older or no version gets the present file, not to be kept."""
    address = static("js/main.js")
    kept = client.get(address)
    assert kept.status_code == 200
    assert "immutable" in kept.headers["cache-control"]
    beside = urljoin(address, re.findall(r'from "(\./[a-z]+\.js)"', kept.text)[0])
    assert beside.startswith(f"/static/{static_version()}/js/")
    assert "immutable" in client.get(beside).headers["cache-control"]
    for other in ("/static/0123456789ab/js/main.js", "/static/js/main.js"):
        answer = client.get(other)
        assert (answer.text, answer.headers["cache-control"]) == (kept.text, "no-cache")
    assert client.get(f"/static/{static_version()}/../web/app.py").status_code == 404


def test_cookies_are_out_of_reach(client: TestClient) -> None:
    """Session and CSRF cookies are HttpOnly and SameSite=Lax."""
    answer = post(client, "/login", "/login", name="admin", password=PASSWORD)
    cookies = [value for name, value in answer.headers.multi_items() if name == "set-cookie"]
    assert any(value.startswith("quintain_session=") for value in cookies)
    for value in cookies:
        assert "HttpOnly" in value
        assert "SameSite=lax" in value


def test_cookies_are_secure_behind_https(demo: Workspace) -> None:
    """Where people come by HTTPS, cookies travel by nothing else."""
    answer = TestClient(create_app(demo), base_url="https://testserver").get("/")
    assert "Secure" in answer.headers["set-cookie"]


def test_large_bodies_are_refused(demo: Workspace, client: TestClient) -> None:
    """A form of three megabytes gets 413, with and without a declared length, as a page and as JSON."""
    big = b"csrf=" + b"x" * (3 << 20)
    form = {"content-type": "application/x-www-form-urlencoded"}
    assert client.post("/login", content=big, headers=form).status_code == 413
    assert client.post("/login", content=iter([big]), headers=form).status_code == 413
    program = browser_of(demo, "admin")  # nobody hears first that this needs an account
    answer = program.post("/api/v1/tasks", content=big, headers={"content-type": "application/json"})
    assert answer.status_code == 413
    assert "larger than 2 MiB" in answer.json()["error"]["message"]


def test_only_files_may_be_large(demo: Workspace) -> None:
    """Where files are taken, JSON is held in memory before anybody asks who sends it, and has a limit of its own."""
    path = "/api/v1/tasks/sentiment/validations/1/gold"
    big = b"[" + b"1," * (9 << 20)
    answer = browser_of(demo, "admin").post(path, content=big, headers={"content-type": "application/json"})
    assert answer.status_code == 413
    assert "larger than 16 MiB" in answer.json()["error"]["message"]


@pytest.mark.parametrize("shown", [{}, {"cookie": "quintain_session=made-up"}, {"authorization": "Bearer qt_made-up"}])
def test_strangers_may_send_no_files(demo: Workspace, client: TestClient, shown: dict[str, str]) -> None:
    """A file is on our disk before a page can ask who sends it: so only those with a session or token may send one."""
    path = "/tasks/sentiment/data/import"
    sent = {"file": ("big.jsonl", b"x" * (3 << 20))}
    answer = client.post(path, files=sent, headers=shown)
    assert answer.status_code == (413 if shown else 303)  # who shows nothing is sent to sign in, and nothing is read
    assert browser_of(demo, "admin").post(path, files=sent).status_code == 403  # it was read; the form has no token


def test_what_breaks_is_logged_and_not_shown(demo: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    """A bug gives a friendly 500 with the request's id, strict headers, and no word of the cause."""

    def broken(*args: object) -> None:
        raise RuntimeError("secret cause")

    monkeypatch.setattr("quintain.web.pages.house.home.front", broken)
    answer = TestClient(create_app(demo)).get("/")
    assert answer.status_code == 500
    assert "secret cause" not in answer.text
    assert answer.headers["x-request-id"] in answer.text
    assert "content-security-policy" in answer.headers


def test_unknown_pages_are_friendly(client: TestClient) -> None:
    """A wrong address says so and offers a way on; a task with a near name is suggested."""
    assert "There is nothing here" in client.get("/nope").text
    assert "Did you mean sentiment" in client.get("/tasks/sentimant").text


def test_only_local_addresses_are_followed() -> None:
    """Anything that could lead to another site becomes the home page."""
    assert local_path("/tasks/nli?x=1") == "/tasks/nli?x=1"
    for url in ("//evil.example", "https://evil.example", "/\\evil", "evil", "", "/a\nb"):
        assert local_path(url) == "/"


def test_a_session_cookie_alone_cannot_change_anything_by_api(demo: Workspace) -> None:
    """A call by a signed-in page needs the CSRF token, as forms do."""
    admin = browser_of(demo, "admin")
    assert admin.get("/api/v1/me").status_code == 200
    assert admin.patch("/api/v1/me", json={"display_name": "Eve"}).status_code == 403


@pytest.mark.parametrize(
    "address", ["sqlite:////nowhere-of-ours/quintain.db", "postgresql://keeper:secret@127.0.0.1:1/nowhere-of-ours"]
)
def test_what_is_out_of_order_is_said_and_not_where(
    demo: Workspace, address: str, caplog: pytest.LogCaptureFixture
) -> None:
    """Without its database the server answers 503 and says what to do; where that is stands in the log alone."""
    blobs = Blobs(demo.settings.workspace / "quintain.db" / "nowhere-of-ours")
    broken = replace(demo, engine=connect(address), blobs=blobs, _watches=[])
    client = TestClient(create_app(broken))
    for path in ("/", "/api/v1/tasks", "/api/v1/me", "/readyz", "/api/v1/status"):
        answer = client.get(path, headers={"authorization": "Bearer qt_made-up"})
        assert answer.status_code == 503 or path == "/api/v1/status", path
        assert not re.search("nowhere-of-ours|keeper|127.0.0.1|quintain.db", answer.text + str(answer.headers)), path
        assert "operator" in answer.text, path
    assert "nowhere-of-ours" in caplog.text


def test_a_download_that_cannot_be_written_names_no_path(
    demo: Workspace, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """On a full disk every download, in each format, says that the server is out of order; where stands in the log."""

    def full(*paths: object, **options: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device", str(paths[-1]))

    monkeypatch.setattr(exporting.os, "replace", full)  # the module itself: whoever puts a finished file in its place
    client = TestClient(create_app(demo), raise_server_exceptions=False)
    paths = [f"/api/v1/tasks/sentiment/datasets/train/download?format={form}" for form in ("csv", "parquet", "jsonl")]
    paths += ["/tasks/sentiment/data/train/download?format=csv", "/tasks/sentiment/data/train/download?format=tsv"]
    for path in paths:
        answer = client.get(path)
        assert answer.status_code == 503, path
        assert not re.search("quintain-download|/tmp/|No space", answer.text + str(answer.headers)), path
        assert "operator" in answer.text, path
    assert "quintain-download" in caplog.text


def test_json_is_read_within_bounds(demo: Workspace) -> None:
    """JSON that is nested too deeply, or holds a number that nothing can hold, is a bad request wherever it comes."""
    admin = browser_of(demo, "admin")
    for body in (b"[" * 50_000, b'{"a":' * 100 + b"1" + b"}" * 100, b"1e999", b"\xff"):
        for path in ("/api/v1/tasks", "/api/v1/tasks/sentiment/models/ngram/predict"):
            answer = admin.post(path, content=body, headers={"content-type": "application/json"})
            assert (answer.status_code, answer.json()["error"]["code"]) == (400, "bad_input")


def test_overrides_of_direction_are_seen(own_demo: Workspace) -> None:
    """A title that would turn what stands around it shows a mark on every page; the form to change it keeps it."""
    admin = browser_of(own_demo, "admin")
    with own_demo.session() as db:
        labels = 'labels = ["a", "b"]\ntitle = "T\u202eexe"\n'
        put_task(db, OPERATOR, f'name = "turned"\nkind = "text-classification"\n{labels}')
    for path in ("/", "/tasks/turned", "/search?q=turned"):
        page = admin.get(path).text
        assert "\u202e" not in page, path
    assert "T�exe" in admin.get("/tasks/turned").text
    assert "\u202e" in admin.get("/tasks/turned/settings").text
