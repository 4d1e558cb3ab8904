"""What is kept and taken away from a board: forks, snapshots, exports; by service, by API and by command."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable
from pathlib import Path

import pytest
from sqlalchemy.orm import Session
from starlette.testclient import TestClient
from typer.testing import Result

from quintain.compose import Workspace
from quintain.core.errors import BadInput, Conflict, Forbidden, NotFound, NotSignedIn
from quintain.core.people import ANONYMOUS, OPERATOR, Actor, Scope
from quintain.core.records.board import BoardView
from quintain.services.access import tokens
from quintain.services.access.links import make_link, redeem_link
from quintain.services.board import snapshots as board_keep
from quintain.services.board.assemble import board
from quintain.services.board.export import KINDS, SINGLE, export
from quintain.services.board.ranking import rank
from quintain.services.board.verify import verify_snapshot
from quintain.services.models.registry import set_visibility
from quintain.services.tasks.board_settings import board_spec, set_board
from quintain.store.blobs import Blobs
from quintain.web.app import create_app
from tests.beginnings import Build, with_small_board
from tests.refusals import refusal
from tests.web_support import PASSWORD, browser_of, post

CALL = "/api/v1/tasks/mood/board"


@pytest.fixture
def beginning() -> Build:
    """A board of three models on two data sets."""
    return with_small_board


def test_forks_belong_to_whoever_made_them(db: Session, blobs: Blobs, owner: Actor, builder: Actor) -> None:
    """A view is kept under a name, changed by its owner only, and removed; a view that ranks nothing is refused."""
    fast = BoardView(weights={"throughput": 1})
    board_keep.save_fork(db, blobs, builder, "mood", "fast", fast)
    assert [(fork.name, fork.owner) for fork in board_keep.list_forks(db, "mood")] == [("fast", builder.name)]
    with pytest.raises(Conflict, match="fast"):
        board_keep.save_fork(db, blobs, owner, "mood", "fast", fast)
    with pytest.raises(BadInput, match="beauty"):
        board_keep.save_fork(db, blobs, builder, "mood", "nice", BoardView(weights={"beauty": 1}))
    with pytest.raises(NotSignedIn):
        board_keep.save_fork(db, blobs, ANONYMOUS, "mood", "x", fast)
    board_keep.save_fork(db, blobs, builder, "mood", "fast", BoardView(weights={"memory": 1}))
    assert board_keep.list_forks(db, "mood")[0].view == BoardView(weights={"memory": 1})
    board_keep.remove_fork(db, owner, "mood", "fast")
    assert board_keep.list_forks(db, "mood") == []
    with pytest.raises(NotFound):
        board_keep.remove_fork(db, builder, "mood", "fast")
    board_keep.save_fork(db, blobs, owner, "mood", "fast", fast)


def test_a_snapshot_holds_what_everybody_sees_and_can_be_checked(db: Session, blobs: Blobs, builder: Actor) -> None:
    """It verifies as it is; a changed figure, rank or hash is found; private models are never in it."""
    set_visibility(db, builder, "mood/large", "private")
    made = board_keep.take_snapshot(
        db, blobs, builder, "mood", BoardView(weights={"performance": 1}), title="One", part=None
    )
    info, data = board_keep.read_snapshot(db, blobs, ANONYMOUS, "mood", made.hash[:10])
    assert info.title == "One"
    shape = json.loads(data)
    assert {model["name"] for model in shape["board"]["models"]} == {"medium", "small"}
    assert all(len(key) == 64 for keys in shape["inputs"]["predictions"]["mood/small@1"].values() for key in keys)
    assert verify_snapshot(data).problems == ()
    shape["ranking"]["models"][0]["dynascore"] += 1
    problems = verify_snapshot(json.dumps(shape).encode()).problems
    assert len(problems) == 3
    assert "was changed" in problems[0]
    for text in (b"{}", b"[]", b"no", b'{"format": "quintain-board/1"}'):
        with pytest.raises(BadInput, match="not a snapshot"):
            verify_snapshot(text)


@pytest.mark.parametrize("visibility", ["private", "anonymous"])
def test_a_snapshot_is_kept_from_who_may_not_see_its_models(
    workspace: Workspace, db: Session, blobs: Blobs, owner: Actor, builder: Actor, visibility: str
) -> None:
    """One that names a model made private since, or whose it was, is refused with the reason; its people read it."""
    taken = board_keep.take_snapshot(db, blobs, builder, "mood", title="large wins", part=None)
    assert board_keep.read_snapshot(db, blobs, ANONYMOUS, "mood", taken.hash)[0] == taken
    set_visibility(db, builder, "mood/large", visibility)
    with refusal(Forbidden, "not_public"):
        board_keep.read_snapshot(db, blobs, ANONYMOUS, "mood", taken.hash)
    for actor in (owner, builder, OPERATOR):
        assert board_keep.read_snapshot(db, blobs, actor, "mood", taken.hash)[0] == taken
    (listed,) = board_keep.list_snapshots(db, ANONYMOUS, "mood")
    assert listed.title == ("private model wins" if visibility == "private" else "large wins")
    with TestClient(create_app(workspace)) as client:
        answer = client.get(f"{CALL}/snapshots/{taken.hash}")
    assert (answer.status_code, answer.json()["error"]["code"]) == (403, "not_public")


def test_exports_have_every_model_and_escape_what_they_must(db: Session, blobs: Blobs) -> None:
    """CSV and JSON read back; LaTeX and Markdown have a line per model; other tools' formats have their keys."""
    ranked = rank(board(db, blobs, ANONYMOUS, "mood"))
    rows = list(csv.DictReader(io.StringIO(export(ranked, "csv"))))
    assert [row["rank"] for row in rows] == ["1", "2", "3"]
    assert float(rows[0]["performance_low"]) < float(rows[0]["performance"]) < float(rows[0]["performance_high"])
    assert len(json.loads(export(ranked, "json"))["models"]) == 3
    latex = export(ranked, "latex")
    assert latex.count(r"\\") == 4
    assert r"\%" in latex
    assert export(ranked, "markdown").count("| ") > 20
    harness = json.loads(export(ranked, "harness", "large"))
    assert harness["results"]["mood_test"]["acc,none"] == pytest.approx(0.9, abs=0.02)
    assert harness["higher_is_better"]["mood_test"] == {"acc": True}
    index = export(ranked, "model-index", "large")
    assert index.startswith("---\nmodel-index:\n- name: large\n")
    assert index.count("- task:") == index.count("type: text-classification") == 2
    for kind in SINGLE:
        with pytest.raises(BadInput, match="one model"):
            export(ranked, kind)
    with pytest.raises(BadInput, match="no format"):
        export(ranked, "xls")
    with pytest.raises(NotFound, match="nobody"):
        export(ranked, "harness", "nobody")


def test_the_api_gives_the_board_once_and_ranks_it(workspace: Workspace, db: Session, owner: Actor) -> None:
    """The board has an ETag; views rank it or are refused with a reason; every part of it answers."""
    client = TestClient(create_app(workspace))
    answer = client.get(CALL)
    assert answer.status_code == 200
    assert len(answer.json()["models"]) == 3
    assert client.get(CALL, headers={"if-none-match": answer.headers["etag"]}).status_code == 304
    ranked = client.get(f"{CALL}/rank", params={"weights": "throughput:1"}).json()
    assert ranked["models"][0]["name"] == "small"
    refused = client.get(f"{CALL}/rank", params={"weights": "beauty:1"})
    assert refused.status_code == 422
    assert "beauty" in refused.json()["error"]["message"]
    assert client.get(f"{CALL}/uncertainty").json()["resamples"] == 1000
    assert client.get(f"{CALL}/sensitivity").json()["leader"]
    assert len(client.get(f"{CALL}/aggregations").json()["models"]) == 3
    assert client.get(f"{CALL}/models/large").json()["slices"]["test"]
    assert client.get(f"{CALL}/models/nobody").status_code == 404
    for kind in KINDS:
        params = {"format": kind, **({"model": "large"} if kind in SINGLE else {})}
        assert client.get(f"{CALL}/export", params=params).status_code == 200
    assert client.get(CALL, params={"live": "true"}).status_code in {401, 403}
    assert client.put(f"{CALL}/settings", json={"weights": {"memory": 1}}).status_code == 401
    token = {"authorization": f"Bearer {tokens.create_token(db, owner, 'test', scopes=Scope)[0]}"}
    assert client.put(f"{CALL}/settings", json={"weights": {"memory": 1}}, headers=token).status_code == 200
    assert client.get(f"{CALL}/settings").json()["weights"] == {"memory": 1}
    fork = client.post(f"{CALL}/forks", json={"name": "mine", "weights": {"memory": 1}}, headers=token)
    assert fork.status_code == 201, fork.text
    assert client.get(f"{CALL}/forks").json()["forks"][0]["name"] == "mine"
    assert client.delete(f"{CALL}/forks", params={"name": "mine"}, headers=token).status_code == 204
    made = client.post(f"{CALL}/snapshots", json={"title": "T"}, headers=token)
    assert made.status_code == 201, made.text
    data = client.get(f"{CALL}/snapshots/{made.json()['hash']}").content
    assert verify_snapshot(data).problems == ()
    assert client.get(f"{CALL}/snapshots").json()["snapshots"][0]["title"] == "T"


def test_the_settings_page_keeps_whom_the_file_named(workspace: Workspace, db: Session, owner: Actor) -> None:
    """A board that shows named models only goes on to do so; the page ticks and unticks all that there are."""
    set_board(db, owner, "mood", {"models": ["large", "small"], "caps": {"memory": 16}})
    redeem_link(db, make_link(db, OPERATOR, "olga").token, PASSWORD)
    client = browser_of(workspace, "olga")
    page = "/tasks/mood/board/settings"
    text = client.get(page).text
    assert 'name="shown" value="large" checked' in text
    assert 'name="shown" value="medium">' in text
    fields = {"model-names": ["large", "medium", "small"], "dataset-test": "1", "weight-performance": "1"}
    answer = post(client, page, page, **fields, **{"shown": ["large", "medium"], "cap-memory": "16"})
    assert answer.status_code == 303, answer.text
    db.rollback()
    spec = board_spec(db, "mood")
    assert (spec.models, spec.hidden_models, spec.caps) == (("large", "medium"), (), {"memory": 16})


def test_commands_show_export_freeze_and_check(
    workspace: Workspace, cli: Callable[..., Result], tmp_path: Path, database: str
) -> None:
    """`board show`, `export`, `snapshot`, `verify` and `set` work on a workspace, as tables and as JSON."""
    if database != "sqlite":
        pytest.skip("the command line reads the address of the database from the environment")
    folder = ("-w", workspace.settings.workspace, "board")
    shown = cli(*folder, "show", "mood", "--weights", "throughput=1", "--json")
    assert shown.exit_code == 0, shown.output
    shape = json.loads(shown.stdout)
    assert shape["models"][0]["name"] == "small"
    assert shape["uncertainty"]["models"][0]["rank"] == {"value": 1, "low": 1, "high": 1}
    table = cli(*folder, "show", "mood")
    assert "large" in table.stdout
    bad = cli(*folder, "show", "mood", "--weights", "beauty=1")
    assert bad.exit_code == 1
    assert "beauty" in bad.stderr
    file = tmp_path / "board.json"
    assert cli(*folder, "snapshot", "mood", "-o", file).exit_code == 0
    verified = cli("board", "verify", file, "--json")
    assert verified.exit_code == 0
    assert json.loads(verified.stdout)["verified"] is True
    file.write_text(file.read_text().replace('"title": ""', '"title": "x"'))
    assert cli("board", "verify", file).exit_code == 1
    assert cli(*folder, "export", "mood", "--format", "markdown").stdout.startswith("| Rank | Model |")
    other = cli(*folder, "export", "mood", "--format", "json", "--base", "throughput")
    assert json.loads(other.stdout)["base"] == "throughput"
    assert cli(*folder, "snapshot", "mood", "--language", "en", "-o", file, "--force").exit_code == 0
    assert json.loads(file.read_text())["board"]["language"] == "en"
    settings = tmp_path / "board.toml"
    settings.write_text("human = 0.9\n[weights]\nperformance = 1\n")
    assert json.loads(cli(*folder, "set", "mood", settings, "--json", "--yes").stdout)["human"] == 0.9
    settings.write_text("[weights]\nbeauty = 1\n")
    assert cli(*folder, "set", "mood", settings).exit_code == 1


def test_commands_keep_views_under_names(workspace: Workspace, cli: Callable[..., Result], database: str) -> None:
    """`board fork`, `forks` and `unfork` keep, list and remove a view; `show --fork` ranks by it."""
    if database != "sqlite":
        pytest.skip("the command line reads the address of the database from the environment")
    folder = ("-w", workspace.settings.workspace, "board")
    made = cli(*folder, "fork", "mood", "fast", "--weights", "throughput=1", "--json")
    assert made.exit_code == 0, made.output
    listed = json.loads(cli(*folder, "forks", "mood", "--json").stdout)["forks"]
    assert listed == [json.loads(made.stdout)]
    assert (listed[0]["owner"], listed[0]["view"]) == (None, {"weights": {"throughput": 1.0}})
    assert "throughput=1" in cli(*folder, "forks", "mood").stdout
    shown = json.loads(cli(*folder, "show", "mood", "--fork", "fast", "--json").stdout)
    assert shown["models"][0]["name"] == "small"
    assert shown["weights"]["throughput"] == 1
    both = cli(*folder, "show", "mood", "--fork", "fast", "--weights", "memory=1")
    assert both.exit_code == 1
    unknown = cli(*folder, "show", "mood", "--fork", "slow")
    assert unknown.exit_code == 1
    assert "'fast'" in unknown.stderr
    assert cli(*folder, "fork", "mood", "none", "--weights", "beauty=1").exit_code == 1
    assert cli(*folder, "unfork", "mood", "fast").exit_code == 0
    again = cli(*folder, "unfork", "mood", "fast")
    assert again.exit_code == 1
    assert "fast" in again.stderr
