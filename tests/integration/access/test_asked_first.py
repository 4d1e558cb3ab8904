"""Who is there is asked before anything else: nobody learns from a refusal what there is, or in which state."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest
from starlette.testclient import TestClient

from quintain.compose import Workspace
from quintain.core.people import OPERATOR, Scope
from quintain.services.access.links import make_link, redeem_link
from quintain.services.validate.console.manage import open_validation
from quintain.web.app import create_app
from quintain.web.guarded_route import SAFE
from quintain.web.routes import API, PAGES
from tests.people import make_person
from tests.web_support import CSRF, PASSWORD, browser_of, copy_demo, token_for
from tests.writing_rounds import add_quiz, add_round

# What changes something, and yet is for anybody: signing in, a visitor's own settings, trying a model, signed messages.
FOR_ANYBODY = {
    "/fool",
    "/language",
    "/tour",
    "/login",
    "/logout",
    "/link/{token}",
    "/forgotten",
    "/register",
    "/tasks/{task}/talk",
    "/tasks/{task}/warning",
    "/demo/part",
    "/enter/{key}",
    "/tasks/{task}/models/{model}/predict",
    "/tasks/{task}/pay/prolific",
}
# Names of what there is, so that a service gets as far as it would go.
NAMES = {
    "task": "sentiment",
    "number": "1",
    "model": "ngram",
    "dataset": "test",
    "validation": "1",
    "name": "1",
    "quiz": "basics",
    "room": "rounds",
}


@pytest.fixture(scope="module")
def house(demo: Workspace, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workspace]:
    """The demo with a round that is written and judged, a quiz, and somebody without any role."""
    folder = tmp_path_factory.mktemp("asked-first")
    workspace = copy_demo(demo, folder / "workspace")
    add_round(workspace, folder, "sentiment")
    add_quiz(workspace, "sentiment")
    with workspace.session() as db:
        open_validation(db, OPERATOR, "sentiment/1")
        make_person(db, "nobody")
        redeem_link(db, make_link(db, OPERATOR, "nobody").token, PASSWORD)
    yield workspace
    workspace.close()


def path_of(route: Any) -> str:
    """Give the path of a route, with what there is in place of its parameters."""
    base = "" if route in PAGES else "/api/v1"
    return base + re.sub(r"\{(\w+)(?::\w+)?\}", lambda found: NAMES.get(found[1], "1"), route.path)


CHANGING = [route for route in (*PAGES, *API) if route.method not in SAFE]


def test_what_anybody_may_do_is_listed() -> None:
    """What is changed without an account is a short list; whoever adds to it does so knowingly."""
    assert {route.path for route in CHANGING if route.anybody} == FOR_ANYBODY


@pytest.mark.parametrize("shown", [{}, {"authorization": "Bearer qt_made-up"}, {"cookie": "quintain_session=made-up"}])
def test_nobody_is_told_only_that(house: Workspace, shown: dict[str, str]) -> None:
    """Whoever is not signed in hears so from every page and endpoint, whatever else is wrong with what they send."""
    client = TestClient(create_app(house), follow_redirects=False)
    bodies: tuple[dict[str, Any], ...] = ({}, {"json": {"made": "up"}}, {"json": []})
    wrong = []
    for route in CHANGING:
        for sent in bodies if route in API and not route.anybody else ():
            answer = client.request(route.method, path_of(route), headers=shown, **sent)
            if answer.status_code != 401:
                wrong.append((route.method, route.path, sent, answer.status_code, answer.text[:200]))
    broken = client.post("/api/v1/tasks", content=b"{", headers={**shown, "content-type": "application/json"})
    assert (wrong, broken.status_code) == ([], 401)


def test_nobody_is_sent_to_sign_in(house: Workspace) -> None:
    """A form with the right token of a page, sent by nobody, leads to the page where one signs in."""
    client = TestClient(create_app(house), follow_redirects=False)
    found = CSRF.search(client.get("/login").text)
    assert found
    wrong = []
    for route in CHANGING:
        if route in API or route.anybody:
            continue
        answer = client.request(route.method, path_of(route), data={"csrf": found[1]})
        if answer.status_code != 303 or not answer.headers["location"].startswith("/login"):
            wrong.append((route.path, answer.status_code, answer.headers.get("location")))
    assert not wrong, "\n".join(map(str, wrong))


def test_nobody_hears_what_there_is_of_what_takes_an_account_to_see(house: Workspace) -> None:
    """Payouts, people, mails: whoever is not signed in does not learn which numbers and names there are."""
    client = TestClient(create_app(house), follow_redirects=False)
    closed = [route for route in (*PAGES, *API) if route.method == "GET" and scopes_of(route) != {Scope.READ}]
    assert len(closed) > 15
    wrong = []
    for route in closed:
        answer = client.get(path_of(route))
        to_login = answer.status_code == 303 and answer.headers["location"].startswith("/login")
        if not (to_login if route in PAGES else answer.status_code == 401):
            wrong.append((route.path, answer.status_code, answer.text[:120]))
    assert wrong == []


def scopes_of(route: Any) -> set[Scope]:
    """Return what a page or an endpoint takes of a session or a token."""
    return {route.scope} if route in PAGES else set(route.scopes)


# What is for everybody with an account: their own things, a view or a copy of a board, what they choose in a round.
OF_THEIR_OWN = re.compile(r"/me\b|/uploads$|/board/(forks|snapshots)$|/choices$")


def example_of(schema: dict[str, Any], shapes: dict[str, Any]) -> Any:
    """Make the least value that a schema of the API's description takes."""
    if "$ref" in schema:
        return example_of(shapes[schema["$ref"].rpartition("/")[2]], shapes)
    inner = next((schema[choice][0] for choice in ("anyOf", "oneOf", "allOf") if choice in schema), None)
    if inner is not None:
        return example_of(inner, shapes)
    plain = {"integer": 1, "number": 1, "boolean": True, "string": "x", None: {}}
    kind = schema.get("type")
    if kind == "object":
        return {name: example_of(schema["properties"][name], shapes) for name in schema.get("required", [])}
    if kind == "array":
        return [example_of(schema.get("items", {}), shapes)]
    return schema.get("const", schema.get("enum", [plain.get(kind, {})])[0])


def test_somebody_without_a_role_is_refused_first(house: Workspace) -> None:
    """Somebody with an account and no role hears that something is not for them, and nothing of its state.

    They may hear before that their own text is no TOML or lacks a field: that is about what they sent alone.
    """
    client = browser_of(house)
    document = client.get("/api/v1/openapi.json").json()
    shapes = document["components"]["schemas"]
    shown = {"authorization": f"Bearer {token_for(house, 'nobody')}"}
    wrong = []
    for route in API:
        if route.method in SAFE or route.anybody or OF_THEIR_OWN.search(route.path):
            continue
        described = document["paths"][f"/api/v1{route.path}"][route.method.lower()]
        sent: dict[str, Any] = {}
        for kind, body in described.get("requestBody", {}).get("content", {}).items():
            example = example_of(body["schema"], shapes)
            if kind == "application/json":
                sent = {"json": example}
            elif kind == "multipart/form-data":
                sent = {
                    "data": {name: value for name, value in example.items() if name != "file"},
                    "files": {"file": ("x.jsonl", b'{"text": "x"}\n')},
                }
        answer = client.request(route.method, path_of(route), headers=shown, **sent)
        if answer.status_code not in {403, 404, 422}:
            wrong.append((route.method, route.path, answer.status_code, answer.text[:160]))
    assert not wrong, "\n".join(map(str, wrong))
