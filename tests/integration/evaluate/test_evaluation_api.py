"""Evaluation over the API and the command line."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest
from starlette.testclient import TestClient
from typer.testing import Result

from quintain.compose import Workspace
from quintain.store.queries.evaluate import cells as queries
from quintain.web.app import create_app
from tests.web_support import token_for

API = "/api/v1"
BRITTLE = f"{API}/tasks/mood/models/brittle"


@pytest.fixture(scope="module")
def people(evaluated_site: Workspace) -> dict[str, TestClient]:
    """Clients with a token of the owner, the builder and somebody else, and one without."""
    clients = {"": TestClient(create_app(evaluated_site))}
    for name in ("olga", "bert", "boris"):
        headers = {"Authorization": f"Bearer {token_for(evaluated_site, name)}"}
        clients[name] = TestClient(create_app(evaluated_site), headers=headers)
    return clients


def test_results_have_five_axes(people: dict[str, TestClient]) -> None:
    """Everything that the pages show is there, with intervals, and hidden data sets keep what is small to owners."""
    found = people[""].get(f"{BRITTLE}/results").json()
    assert found["model"] == "mood/brittle@1"
    by_name = {one["dataset"]: one for one in found["datasets"]}
    opened, secret = by_name["open@1"], by_name["secret@1"]
    assert opened["metrics"]["accuracy"]["low"] <= opened["metrics"]["accuracy"]["value"]
    assert opened["robustness"]["families"]["word_case"]["value"] < 1
    assert opened["measurements"]["throughput"] > 0
    assert opened["confusion"]["labels"] == ["negative", "positive"]
    assert secret["confusion"] is None
    owners = {one["dataset"]: one for one in people["olga"].get(f"{BRITTLE}/results").json()["datasets"]}
    assert owners["secret@1"]["confusion"] is not None


def test_flips_and_answers_follow_the_labels(people: dict[str, TestClient]) -> None:
    """Flips of open sets are public, of hidden ones the builder's if inputs are open; gold never leaks."""
    found = people[""].get(f"{BRITTLE}/results/open/flips", params={"family": "word_case", "limit": 5}).json()
    assert 0 < len(found["flips"]) <= 5
    assert found["flips"][0]["before"] != found["flips"][0]["after"]
    inputs = "/api/v1/tasks/mood/datasets/secret/inputs"
    for chosen, status in (("never", 403), ("open", 200)):
        assert people["olga"].put(inputs, json={"inputs": chosen}).json()["inputs"] == chosen
        assert people["bert"].get(f"{BRITTLE}/results/secret/flips").status_code == status
    assert people["bert"].get(f"{BRITTLE}/results/secret/flips").status_code == 200
    assert people["boris"].get(f"{BRITTLE}/results/secret/flips").status_code == 403
    for name, status in {"": 403, "bert": 403, "olga": 200}.items():
        assert people[name].get(f"{BRITTLE}/results/secret/answers").status_code == status
    lines = people[""].get(f"{BRITTLE}/results/open/answers").text.splitlines()
    assert {"prediction", "answer", "score"} <= json.loads(lines[0]).keys()
    assert people[""].get(f"{BRITTLE}/results/nowhere/flips").status_code == 404


def test_models_are_compared(people: dict[str, TestClient]) -> None:
    """Both tests are given for each data set, and examples where the labels are open."""
    query = {"a": "brittle", "b": "constant@1"}
    found = people["bert"].get(f"{API}/tasks/mood/compare", params=query).json()
    assert [one["dataset"] for one in found["datasets"]] == ["open@1", "secret@1"]
    assert 0 < found["datasets"][0]["mcnemar"]["p_value"] <= 1
    path = f"{API}/tasks/mood/compare/examples"
    shown = people[""].get(path, params={**query, "dataset": "open@1"}).json()
    assert shown["total"] == len(shown["examples"]) > 0
    assert people["bert"].get(path, params={**query, "dataset": "secret@1"}).status_code == 403
    assert people["bert"].get(f"{API}/tasks/mood/compare", params={"a": "brittle", "b": "x"}).status_code == 404
    assert people["bert"].get(f"{BRITTLE}/overlap").json() == {"model": "mood/brittle@1", "overlaps": []}


def test_runs_are_listed_explained_and_managed(evaluated_site: Workspace, people: dict[str, TestClient]) -> None:
    """The builder retries and cancels; others may look, without the log."""
    listed = people[""].get(f"{API}/tasks/mood/runs", params={"state": "done", "dataset": "open"}).json()
    assert listed["total"] == len(listed["cells"]) == 10
    assert {one["worker"] for one in listed["cells"]} == {None}
    with evaluated_site.session() as db:
        number = queries.rows(db, states=["cancelled"])[0].cell.id
    assert people["boris"].post(f"{API}/runs/{number}/retry").status_code == 403
    queued = people["bert"].post(f"{API}/runs/{number}/retry").json()
    assert queued["cell"]["state"] == "queued"
    assert queued["ahead"] is not None
    assert people["bert"].post(f"{API}/runs/{number}/retry").status_code == 409
    assert people["bert"].post(f"{API}/runs/{number}/cancel").json()["cell"]["state"] == "cancelled"
    events = people["bert"].get(f"{API}/runs/{number}").json()["events"]
    assert any("by bert" in event["text"] for event in events)
    assert not any(event["text"] for event in people["boris"].get(f"{API}/runs/{number}").json()["events"])
    assert people[""].get(f"{API}/runs/999999").status_code == 404


def test_the_command_line_says_the_same(evaluated_site: Workspace, cli: Callable[..., Result]) -> None:
    """`evaluate results` and `evaluate compare` print tables for people and JSON for programs."""
    where = ("-w", evaluated_site.settings.workspace)
    found = json.loads(cli(*where, "evaluate", "results", "mood/brittle", "--json").stdout)
    assert {one["dataset"] for one in found["datasets"]} == {"open@1", "secret@1"}
    table = cli(*where, "evaluate", "results", "mood/brittle").stdout
    assert "throughput" in table
    assert "robustness" in table
    compared = json.loads(cli(*where, "evaluate", "compare", "mood/brittle", "mood/constant", "--json").stdout)
    assert compared["second"] == "mood/constant@1"
    shown = cli(*where, "evaluate", "compare", "mood/brittle", "mood/constant").stdout
    assert "A = mood/brittle@1, B = mood/constant@1" in shown
    result = cli(*where, "evaluate", "results", "mood/nobody")
    assert result.exit_code == 1
    assert "no model" in result.stderr
    between = json.loads(cli(*where, "data", "overlap", "mood/open", "mood/secret", "--json").stdout)
    assert between["exact"] == 6
