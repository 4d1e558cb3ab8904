"""Who may read the inputs of a data set: nobody finds them on any page or call where they are closed."""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Iterator

import polars as pl
import pytest
from starlette.testclient import TestClient
from typer.testing import CliRunner

from quintain.cli.app import app
from quintain.compose import Workspace, create_workspace
from quintain.core.errors import Conflict, Forbidden
from quintain.core.people import ANONYMOUS, OPERATOR, Actor, RoleName
from quintain.core.records.house import WaitingKind
from quintain.engine.jobs import LocalEngine
from quintain.perturbations.contract import perturbation
from quintain.perturbations.tables import perturb_table
from quintain.services.access.actors import actor_of, find_user
from quintain.services.access.audit import entries
from quintain.services.access.links import make_link, redeem_link
from quintain.services.access.notify import list_notifications
from quintain.services.board.parts import BoardPart
from quintain.services.board.snapshots import read_snapshot, take_snapshot
from quintain.services.data import content
from quintain.services.data.inputs import ask_for_inputs, decide_inputs, inputs_of, set_inputs
from quintain.services.evaluate.cells import lifecycle as evaluate
from quintain.services.evaluate.cells.run_cell import variant_of
from quintain.services.evaluate.cells.worker import work
from quintain.services.evaluate.submissions.tryouts import inputs_for
from quintain.services.house.waiting import waiting_for
from quintain.services.models.registry import get_model, set_visibility
from quintain.services.tasks.definitions import get_task
from quintain.settings import Settings
from quintain.store.database import transaction
from quintain.store.queries.evaluate import cells as queries
from quintain.web.app import create_app
from quintain.web.routes import API, PAGES
from tests.evaluated import CONDITIONS
from tests.evaluation import add_data, add_model, add_task
from tests.people import make_person
from tests.refusals import refusal
from tests.web_support import PASSWORD, browser_of, token_for

CANARY = "zqwren"
ROWS = [(f"The {CANARY} number {n} was a fine one to behold.", ("positive", "negative")[n % 2]) for n in range(12)]
PARROT = """
    import sys
    def predict(batch):
        for item in batch:
            print(item["text"], file=sys.stderr)
        return ["positive" for item in batch]
"""
CRASHES = """
    def predict(batch):
        raise ValueError(batch[0]["text"])
"""


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workspace]:
    """A closed data set, a model that prints what it is asked, one that fails with it, and one of equal content."""
    folder = tmp_path_factory.mktemp("closed")
    workspace = create_workspace(Settings(workspace=folder / "workspace", login_attempts=1000))
    files = folder / "files"
    files.mkdir()
    with workspace.session() as db:
        owner = make_person(db, "olga", RoleName.OWNER)
        builder = make_person(db, "bert", RoleName.BUILDER)
        other = make_person(db, "boris", RoleName.BUILDER)
        for name in ("olga", "bert", "boris"):
            redeem_link(db, make_link(db, OPERATOR, name).token, PASSWORD)
        add_task(db, owner)
        add_data(db, workspace.blobs, owner, files, name="secret", rows=ROWS, hidden=True)
        for name, code, actor in (("parrot", PARROT, builder), ("crashes", CRASHES, builder), ("twin", PARROT, other)):
            add_model(db, workspace.blobs, actor, files, name=name, code=code)
        evaluate.fill(db)
        with transaction(db):
            for row in queries.rows(db):
                if row.cell.variant.partition(".v")[0] not in {"plain", "typos"}:
                    row.cell.state = "cancelled"
        db.rollback()
    engine = LocalEngine(files / "locks")
    work(workspace.session, workspace.blobs, engine, CONDITIONS, threading.Event(), until_empty=True)
    yield workspace
    workspace.engine.dispose()


def person(workspace: Workspace, name: str) -> Actor:
    """Give somebody by name."""
    with workspace.session() as db:
        return actor_of(db, find_user(db, name))


def addresses(workspace: Workspace, model: str) -> list[str]:
    """Give every page and call that only reads, about the closed data set, the model and its runs."""
    names = {"task": "mood", "dataset": "secret", "model": model, "room": "rounds", "first": model, "kind": "csv"}
    with workspace.session() as db:
        runs = [str(row.cell.id) for row in queries.rows(db) if row.model.name == model]
        ids = pl.read_parquet(workspace.blobs.path(queries.rows(db)[0].dataset_version.blob))["id"].to_list()
    found = []
    for route in (*PAGES, *API):
        if route.method != "GET" or "stream" in route.path or route.path.endswith("/events"):
            continue
        base = "" if route in PAGES else "/api/v1"
        for run in runs if "/runs/" in route.path else ["1"]:
            known = names | {"run": run, "cell": run, "number": run, "example": ids[0]}
            found.append(
                base + re.sub(r"{(\w+)(?::\w+)?}", lambda part, known=known: known.get(part[1], "1"), route.path)
            )
    found += [f"{path}?format={form}" for path in found if "download" in path for form in ("csv", "parquet", "hf")]
    found += [f"/tasks/mood/compare?a={model}&b=twin", f"/api/v1/search?q={CANARY[:4]}", f"/search?q={CANARY[:4]}"]
    return list(dict.fromkeys(found))


def where_it_is_read(workspace: Workspace, secret: str, model: str, who: str | None) -> list[str]:
    """Crawl every page and call as somebody, and give those where the secret stands."""
    client = browser_of(workspace, who)
    shown = {"authorization": f"Bearer {token_for(workspace, who)}"} if who else {}
    read = []
    for path in addresses(workspace, model):
        answer = client.get(path, headers=shown if path.startswith("/api/") else {}, follow_redirects=False)
        if secret in answer.content.decode("utf-8", "replace") + str(answer.headers):
            read.append(path)
    return read


@pytest.mark.parametrize("who", ["bert", None])
def test_no_input_of_a_closed_set_is_read_anywhere(house: Workspace, who: str | None) -> None:
    """A builder whose models print their inputs and fail with them finds no input; neither does anybody else."""
    for model in ("parrot", "crashes"):
        assert not where_it_is_read(house, CANARY, model, who)
    with house.session() as db:
        bert = person(house, "bert")
        assert not [one for one in list_notifications(db, bert) if CANARY in str(one.text)]
        assert [one for one in list_notifications(db, bert) if one.kind == "run-failed"]
        assert not [row for row in inputs_for(db, house.blobs, get_task(db, "mood")) if CANARY in str(row)]


def test_perturbed_texts_are_for_owners_of_open_sets_too(house: Workspace) -> None:
    """A model that prints what it is asked tells its builder the open texts, not what perturbations made of them."""
    olga = person(house, "olga")
    with house.session() as db:
        set_inputs(db, olga, "mood/secret", "open")
        rows = [row for row in queries.rows(db) if row.model.name == "parrot"]
        runs = {row.cell.variant.partition(".v")[0]: row.cell.id for row in rows}
    try:
        logs = {
            (name, variant): browser_of(house, name).get(f"/runs/{runs[variant]}").text
            for name in ("bert", "olga")
            for variant in ("plain", "typos")
        }
    finally:
        with house.session() as db:
            set_inputs(db, olga, "mood/secret", "never")
    assert {who: "to behold." in text for who, text in logs.items()} == {
        ("bert", "plain"): True,
        ("bert", "typos"): False,
        ("olga", "plain"): True,
        ("olga", "typos"): True,
    }


def test_owners_read_all_of_it(house: Workspace) -> None:
    """The crawl would find it: the task's owner reads the inputs, the model's answers on them, and logs."""
    found = where_it_is_read(house, CANARY, "parrot", "olga")
    for part in ("/preview", "/download", "/answers", "/runs/"):
        assert [path for path in found if part in path], part
    assert [path for path in where_it_is_read(house, CANARY, "crashes", "olga") if "/runs/" in path]


def test_asking_allowing_and_revoking(house: Workspace) -> None:
    """On request, one person reads one set after an owner allowed it, and no longer once it is revoked; all audited."""
    bert, olga = person(house, "bert"), person(house, "olga")
    ref = "mood/secret"
    with house.session() as db:
        assert (inputs_of(db, bert, ref).inputs, inputs_of(db, bert, ref).readable) == ("never", False)
        with refusal(Forbidden, "inputs_closed"):
            ask_for_inputs(db, bert, ref)
        with pytest.raises(Forbidden):
            set_inputs(db, bert, ref, "open")
        set_inputs(db, olga, ref, "request")
        number = ask_for_inputs(db, bert, ref, "To look for duplicates.").requests[0].id
        assert ask_for_inputs(db, bert, ref).requests[0].state == "waiting"
        assert not inputs_of(db, person(house, "boris"), ref).requests
        assert [one for one in list_notifications(db, olga) if one.kind == "data.inputs.request"]
        assert [one.name for one in waiting_for(db, olga) if one.kind is WaitingKind.INPUTS] == ["secret"]
        with pytest.raises(Forbidden):
            content.preview(db, house.blobs, bert, ref)
        with pytest.raises(Forbidden):
            decide_inputs(db, bert, ref, number, "allow")
        decide_inputs(db, olga, ref, number, "allow")
        assert content.preview(db, house.blobs, bert, ref).total == len(ROWS)
        with pytest.raises(Forbidden):
            content.preview(db, house.blobs, person(house, "boris"), ref)
        with pytest.raises(Conflict):
            decide_inputs(db, olga, ref, number, "decline")
        decide_inputs(db, olga, ref, number, "revoke")
        with pytest.raises(Forbidden):
            content.preview(db, house.blobs, bert, ref)
        actions = {one.action for one in entries(db, OPERATOR)}
        assert {"data.inputs", "data.inputs.ask", "data.inputs.allow", "data.inputs.revoke"} <= actions
        set_inputs(db, olga, ref, "never")


def test_lines_of_a_failure_without_values(house: Workspace) -> None:
    """Where owners allow it, a builder reads at which line a model failed, and still no value."""
    with house.session() as db:
        run = next(
            row.cell.id for row in queries.rows(db) if row.model.name == "crashes" and row.cell.variant == "plain"
        )
        set_inputs(db, OPERATOR, "mood/secret", "never", traces=True)
        client = TestClient(create_app(house))
        shown = {"authorization": f"Bearer {token_for(house, 'bert')}"}
        text = client.get(f"/api/v1/runs/{run}", headers=shown).text
        assert re.search(r"ValueError at line \d", text)
        assert CANARY not in text
        set_inputs(db, OPERATOR, "mood/secret", "never", traces=False)


def test_page_and_command_say_who_reads(house: Workspace) -> None:
    """The owner chooses on the page and by command; the page of a closed set shows how to ask, and no example."""
    folder = str(house.settings.workspace)
    said = CliRunner().invoke(app, ["-w", folder, "data", "inputs", "mood/secret", "--set", "request"])
    assert "inputs request" in said.output, said.output
    page = browser_of(house, "bert").get("/tasks/mood/data/secret")
    assert "Who may read the inputs?" in page.text
    assert "Download" not in page.text
    CliRunner().invoke(app, ["-w", folder, "data", "inputs", "mood/secret", "--set", "never"])


def test_perturbed_texts_cannot_be_made_from_the_inputs(house: Workspace) -> None:
    """A variant is the same whenever it is asked for, and another than the public seed makes."""
    with house.session() as db:
        row = next(row for row in queries.rows(db) if row.cell.variant.startswith("typos"))
        task = get_task(db, "mood")
        made = variant_of(db, house.blobs, task, row.dataset_version, row.cell.variant)
        assert made.secret
        assert variant_of(db, house.blobs, task, row.dataset_version, row.cell.variant).blob == made.blob
        source = pl.read_parquet(house.blobs.path(row.dataset_version.blob)).sort("id")
        public = perturb_table(task, source, perturbation("typos"), seed=0)
        assert set(pl.read_parquet(house.blobs.path(made.blob))["text"]) != set(public["text"])


def test_a_twin_does_not_tell_whose_an_anonymous_model_is(house: Workspace) -> None:
    """Of an anonymous model no page, call or snapshot shows the hash of its content until it is opened."""
    with house.session() as db:
        bert = person(house, "bert")
        raw = get_model(db, OPERATOR, "mood/parrot").version.hash
        set_visibility(db, bert, "mood/parrot", "anonymous")
        snapshot = take_snapshot(db, house.blobs, OPERATOR, "mood", part=BoardPart())
        listed = TestClient(create_app(house)).get("/api/v1/tasks/mood/board").json()["models"]
        assert {one["name"] for one in listed if one["hash"] == raw} == {"twin"}
        # The twin would be found under its own hash, so it steps aside while all else is looked through.
        set_visibility(db, person(house, "boris"), "mood/twin", "private")
        assert not where_it_is_read(house, raw, "parrot", None)
        set_visibility(db, person(house, "boris"), "mood/twin", "public")
        shown = get_model(db, ANONYMOUS, "mood/parrot").version.hash
        assert shown != raw
        assert get_model(db, ANONYMOUS, f"mood/parrot@{shown[:10]}").version.number == 1
        assert get_model(db, bert, "mood/parrot").version.hash == raw
        shape = json.loads(read_snapshot(db, house.blobs, ANONYMOUS, "mood", snapshot.hash)[1])
        assert {"mood/twin@1"} == {ref for ref, own in shape["inputs"]["models"].items() if raw in own}
        assert "mood/parrot@1" not in shape["inputs"]["predictions"]
        set_visibility(db, bert, "mood/parrot", "public")
        assert get_model(db, ANONYMOUS, "mood/parrot").version.hash == raw
