"""A board never empties: the last complete ranking stays until the next is complete, and settings show at once."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest
from sqlalchemy.orm import Session
from starlette.testclient import TestClient
from typer.testing import Result

from quintain.compose import Workspace
from quintain.core.cells import PLAIN
from quintain.core.editing import EditOrigin
from quintain.core.errors import Forbidden, NotFound
from quintain.core.people import ANONYMOUS, OPERATOR, Actor
from quintain.data.plan import ImportPlan
from quintain.services.board import cache
from quintain.services.board.cache import warm_board
from quintain.services.board.export import export
from quintain.services.board.materialised import BOARD, last_stored
from quintain.services.board.parts import BoardPart
from quintain.services.board.ranking import rank
from quintain.services.board.snapshots import snapshot_shape
from quintain.services.board.standings import known_standings, make_standing
from quintain.services.board.verify import verify_snapshot
from quintain.services.data.datasets import import_dataset
from quintain.services.evaluate.cells import lifecycle as evaluate
from quintain.services.jobs import figures
from quintain.services.models.registry import ModelVersionInfo, register_version
from quintain.services.tasks.board_settings import set_board
from quintain.store.base import clock, now
from quintain.store.blobs import Blobs
from quintain.store.database import transaction
from quintain.store.queries.evaluate import cells as queries
from quintain.store.queries.tasks import board_settings
from quintain.store.tables import CellEvent
from quintain.web.app import create_app
from tests.beginnings import Build, with_small_board
from tests.boards import CARD, COUNTED, add_sentences, add_version, evaluated, sentences, up_to, wait_for_standings

RANKS = {"large": 1, "medium": 2, "small": 3}


@pytest.fixture
def beginning() -> Build:
    """A board of three models on two data sets."""
    return with_small_board


def ranks(db: Session, blobs: Blobs, actor: Actor = ANONYMOUS, part: BoardPart | None = None) -> dict[str, int | None]:
    """The rank of each model on the board that is shown, by name."""
    ranked = rank(warm_board(db, blobs, actor, "mood", part).board)
    return {model.name: place for model, place in zip(ranked.board.models, ranked.ranking.rank, strict=True)}


def add_third(db: Session, blobs: Blobs, owner: Actor, folder: Path) -> None:
    """Add a data set that scores and on which no model has been run."""
    add_sentences(db, blobs, owner, folder, "third", sentences(40))
    evaluate.fill(db, "mood")


def add_newer(db: Session, blobs: Blobs, builder: Actor, folder: Path, name: str, text: str) -> ModelVersionInfo:
    """Register a version of a model that is not the one before: its handler has another *text*."""
    place = folder / text
    place.mkdir()
    (place / "handler.py").write_text(f"# {text}\n")
    return register_version(db, blobs, builder, "mood", name, adapter="handler", folder=place, card=CARD)


def finish(db: Session, blobs: Blobs, names: set[str]) -> None:
    """Let the runs of some models on the third set be done, as the same runs on the test set were."""
    with transaction(db):
        rows = queries.rows(db, task="mood")
        known = {(row.model.name, row.cell.variant): row.cell for row in rows if row.dataset.name == "test"}
        for row in rows:
            if row.dataset.name == "third" and row.model.name in names and row.cell.state != "done":
                row.cell.state, row.cell.reason = "failed", "ours: not run in this test"
                like = known.get((row.model.name, row.cell.variant))
                if like is not None:
                    row.cell.state, row.cell.reason = "done", ""
                    row.cell.predictions, row.cell.measurements = like.predictions, like.measurements
                row.cell.finished_at = like.finished_at if like else None
                db.add(CellEvent(cell_id=row.cell.id, kind=row.cell.state))


def test_a_set_that_begins_to_score_empties_no_board(
    db: Session, blobs: Blobs, owner: Actor, builder: Actor, tmp_path: Path
) -> None:
    """The last complete ranking stays, with the runs of the next; a lone model that is through changes nothing."""
    before = ranks(db, blobs)
    assert set(before.values()) == {1, 2, 3}
    was = warm_board(db, blobs, ANONYMOUS, "mood").board
    add_third(db, blobs, owner, tmp_path)
    shown = warm_board(db, blobs, ANONYMOUS, "mood").board
    assert ranks(db, blobs) == before
    assert shown.held is not None
    assert was.made_at <= shown.held.at <= shown.made_at
    assert shown.held.runs.waiting == shown.held.runs.needed - shown.held.runs.done > 0
    assert "the next one needs" in export(rank(shown), "markdown")
    assert {one.name for one in shown.datasets if one.weight} == {"contrast", "test"}
    finish(db, blobs, {"small"})
    after_one = warm_board(db, blobs, ANONYMOUS, "mood").board
    assert ranks(db, blobs) == before
    assert after_one.held is not None
    assert after_one.held.at == shown.held.at
    assert 0 < after_one.held.runs.waiting < shown.held.runs.waiting
    assert None not in ranks(db, blobs, OPERATOR).values()
    kept = json.dumps(snapshot_shape(rank(after_one), {}))
    assert verify_snapshot(kept.encode()).problems == ()
    live = warm_board(db, blobs, owner, "mood", BoardPart(live=True)).board
    assert live.held is None
    assert [place for place in rank(live).ranking.rank if place] == [1]
    finish(db, blobs, {"large", "medium"})
    done = warm_board(db, blobs, ANONYMOUS, "mood").board
    assert done.held is None
    assert {one.name for one in done.datasets if one.weight} == {"contrast", "test", "third"}
    assert set(ranks(db, blobs).values()) == {1, 2, 3}


def test_it_is_found_where_nobody_looked_before(db: Session, blobs: Blobs, owner: Actor, tmp_path: Path) -> None:
    """A board that was never shown, or whose kept figures were thrown away, is that of before the change.

    So are its parts, also where the last run was over in the same second as the change came.
    """
    second = now().replace(microsecond=0) + timedelta(seconds=1)
    with transaction(db):
        for row in queries.rows(db, task="mood"):
            row.cell.finished_at = second + timedelta(milliseconds=400)
    with clock(lambda: second + timedelta(milliseconds=600)):
        add_third(db, blobs, owner, tmp_path)
    shown = warm_board(db, blobs, ANONYMOUS, "mood").board
    assert shown.held is not None
    assert set(ranks(db, blobs).values()) == {1, 2, 3}
    tagged = warm_board(db, blobs, ANONYMOUS, "mood", BoardPart(tag="even")).board
    assert tagged.held == shown.held
    assert set(filter(None, rank(tagged).ranking.rank)) == {1, 2, 3}
    assert not figures.check(db, blobs, OPERATOR, [BOARD]).faults
    figures.rebuild(db, blobs, OPERATOR, [BOARD])
    again = last_stored(db, "mood?sight=public")
    assert again is not None
    assert again.held == shown.held


def test_a_model_that_is_new_holds_nobody_back(
    db: Session, blobs: Blobs, owner: Actor, builder: Actor, tmp_path: Path
) -> None:
    """One that was submitted waits for its own runs: others are ranked, and no change waits for it."""
    before = ranks(db, blobs)
    add_version(db, blobs, builder, tmp_path, "new")
    evaluate.fill(db, "mood")
    assert ranks(db, blobs) == {**before, "new": None}
    assert warm_board(db, blobs, ANONYMOUS, "mood").board.held is None
    add_third(db, blobs, owner, tmp_path)
    held = warm_board(db, blobs, ANONYMOUS, "mood").board.held
    assert held is not None
    finish(db, blobs, {"small", "large", "medium"})
    assert warm_board(db, blobs, ANONYMOUS, "mood").board.held is None
    assert {name for name, place in ranks(db, blobs).items() if place} == set(before)


def test_what_is_new_while_a_ranking_is_held_is_listed_with_its_runs(
    db: Session, blobs: Blobs, owner: Actor, builder: Actor, tmp_path: Path
) -> None:
    """A new model has no place on the ranking of before: it is named below, with how many of its runs are over."""
    ranks(db, blobs)
    add_third(db, blobs, owner, tmp_path)
    add_version(db, blobs, builder, tmp_path, "new")
    add_version(db, blobs, builder, tmp_path, "mine", visibility="private")
    evaluate.fill(db, "mood")
    held = warm_board(db, blobs, ANONYMOUS, "mood").board.held
    assert held is not None
    assert [new.model for new in held.coming] == ["mood/new@1"]
    assert held.coming[0].runs.waiting == held.coming[0].runs.needed > 0


def test_a_new_version_of_a_ranked_model_leaves_the_old_one_its_row_until_it_is_run(
    db: Session, blobs: Blobs, builder: Actor, tmp_path: Path
) -> None:
    """The old version keeps its rank and names the new one with its runs; run, the new one takes the row."""
    before = ranks(db, blobs)
    newest = add_newer(db, blobs, builder, tmp_path, "large", "second")
    evaluate.fill(db, "mood")
    shown = warm_board(db, blobs, ANONYMOUS, "mood").board
    assert ranks(db, blobs) == before
    assert shown.held is None
    large = next(model for model in shown.models if model.name == "large")
    assert (large.number, large.newer and large.newer.model) == (1, newest.ref)
    assert large.newer is not None
    assert large.newer.runs.waiting > 0
    assert [model.newer for model in shown.models if model.name != "large"] == [None, None]
    tagged = warm_board(db, blobs, ANONYMOUS, "mood", BoardPart(tag="even")).board
    assert {model.name: model.number for model in tagged.models}["large"] == 1
    third = add_newer(db, blobs, builder, tmp_path, "large", "third")
    large = next(model for model in warm_board(db, blobs, ANONYMOUS, "mood").board.models if model.name == "large")
    assert (large.number, large.newer and large.newer.model) == (1, third.ref)
    evaluated(db, blobs, third, up_to(90), throughput=20.0, memory=8.0)
    large = next(model for model in warm_board(db, blobs, ANONYMOUS, "mood").board.models if model.name == "large")
    assert (large.number, large.newer) == (3, None)


def test_runs_that_end_by_failing_do_not_hold_a_board(
    db: Session, blobs: Blobs, owner: Actor, builder: Actor, tmp_path: Path
) -> None:
    """When a model crashes on the new set and the others are through, the board changes and says what failed."""
    ranks(db, blobs)
    add_third(db, blobs, owner, tmp_path)
    finish(db, blobs, {"large", "medium"})
    with transaction(db):
        for row in queries.rows(db, task="mood"):
            if row.dataset.name == "third" and row.model.name == "small" and row.cell.variant == PLAIN:
                row.cell.state, row.cell.reason = "failed", "crashed: ValueError"
                db.add(CellEvent(cell_id=row.cell.id, kind="failed"))
    shown = warm_board(db, blobs, ANONYMOUS, "mood").board
    assert shown.held is None
    assert ranks(db, blobs)["small"] is None
    assert "the model failed" in rank(shown).reasons["mood/small@1"]


def test_a_class_of_machines_that_is_named_empties_no_board(db: Session, blobs: Blobs, owner: Actor) -> None:
    """Nothing was measured there yet: the last ranking stays, and the measurements to come are counted."""
    before = ranks(db, blobs)
    set_board(db, owner, "mood", {"machine": "elsewhere"})
    shown = warm_board(db, blobs, ANONYMOUS, "mood").board
    assert ranks(db, blobs) == before
    assert shown.held is not None
    assert shown.held.runs.waiting == 6
    set_board(db, owner, "mood", {}, edit=EditOrigin(whole=True))
    assert warm_board(db, blobs, ANONYMOUS, "mood").board.held is None


def test_settings_that_need_no_runs_show_at_once_also_while_a_ranking_is_held(
    db: Session, blobs: Blobs, owner: Actor, tmp_path: Path
) -> None:
    """A model that is hidden leaves, and weights move, on the ranking that stays."""
    ranks(db, blobs)
    add_third(db, blobs, owner, tmp_path)
    set_board(db, owner, "mood", {"hidden_models": ["large"], "weights": {"throughput": 1}})
    shown = warm_board(db, blobs, ANONYMOUS, "mood").board
    assert shown.held is not None
    assert ranks(db, blobs) == {"small": 1, "medium": 2}


def test_settings_show_at_once_on_a_large_board(
    db: Session, blobs: Blobs, owner: Actor, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Before any worker has made the next one, and in every process: what is kept is shown by the settings of now."""
    ranks(db, blobs)
    monkeypatch.setattr(cache, "BOARD", replace(BOARD, at_once=-1))
    set_board(
        db,
        owner,
        "mood",
        {"hidden_models": ["large"], "weights": {"throughput": 1}, "datasets": {"test": 1, "contrast": 0}},
    )
    outrun = warm_board(db, blobs, ANONYMOUS, "mood")
    assert not outrun.fresh
    assert ranks(db, blobs) == {"small": 1, "medium": 2}
    assert b"large" not in outrun.json
    assert {one.name: one.weight for one in outrun.board.datasets} == {"contrast": 0.0, "test": 1.0}


def test_pages_that_show_a_board_small_follow_the_settings(db: Session, blobs: Blobs, owner: Actor) -> None:
    """A model that was hidden is not among the first on any page, before the standing is made anew."""
    known_standings(db, blobs, ["mood"])
    wait_for_standings(db)
    assert len(known_standings(db, blobs, ["mood"])["mood"].places) == 3
    set_board(db, owner, "mood", {"hidden_models": ["large"]})
    names = {place.name for place in known_standings(db, blobs, ["mood"])["mood"].places}
    assert names == {"medium", "small"}
    wait_for_standings(db)
    assert {place.name for place in make_standing(db, blobs, "mood").places} == names


def test_the_command_says_of_when_the_ranking_is(
    workspace: Workspace, db: Session, owner: Actor, tmp_path: Path, cli: Callable[..., Result], database: str
) -> None:
    """`board show` gives the ranking that stays, in words and as JSON."""
    if database != "sqlite":
        pytest.skip("the command line reads the address of the database from the environment")
    add_third(db, workspace.blobs, owner, tmp_path)
    at = ("-w", workspace.settings.workspace)
    found = json.loads(cli(*at, "board", "show", "mood", "--no-sure", "--json").stdout)
    assert {row["rank"] for row in found["models"]} == {1, 2, 3}
    assert found["held"]["runs"]["waiting"] > 0
    assert "the next one needs" in cli(*at, "board", "show", "mood", "--no-sure").stdout


def test_a_set_that_was_not_run_is_not_offered_and_its_owner_may_run_it(
    workspace: Workspace, db: Session, blobs: Blobs, owner: Actor, builder: Actor, tmp_path: Path
) -> None:
    """What does not score and lacks runs of ranked models is named as such; queued, it waits for a worker."""
    file = tmp_path / "later.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in sentences(40)))
    import_dataset(db, blobs, owner, "mood", "later", file, ImportPlan(role="test"))
    with transaction(db):  # as a set that is collected says: only models that somebody asks for are run on it
        versions = [version for version, name in board_settings.evaluated_versions(db, "mood") if name == "later"]
        versions[0].meta = {**versions[0].meta, "models": evaluate.ASKED}
    evaluate.fill(db, "mood")
    assert rank(warm_board(db, blobs, ANONYMOUS, "mood").board).unrun() == ["later"]
    page = TestClient(create_app(workspace)).get("/tasks/mood/board").text
    assert "not run for all ranked models, so that it cannot be weighed yet" in page
    assert "so that you may weigh it for yourself" not in page
    with pytest.raises(Forbidden):
        evaluate.fill_dataset(db, builder, "mood/later")
    with pytest.raises(NotFound):
        evaluate.fill_dataset(db, owner, "mood/never")
    added = evaluate.fill_dataset(db, owner, "mood/later")
    rows = [row for row in queries.rows(db, task="mood") if row.dataset.name == "later"]
    assert added == len(rows) > 3 * len(COUNTED)
    assert evaluate.fill_dataset(db, owner, "mood/later") == 0


def test_where_nobody_is_ranked_only_what_some_model_was_run_on_is_offered(
    db: Session, blobs: Blobs, owner: Actor, tmp_path: Path
) -> None:
    """Weighing a set on which every model still waits would rank nobody either; those that were run may be weighed."""
    file = tmp_path / "later.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in sentences(40)))
    import_dataset(db, blobs, owner, "mood", "later", file, ImportPlan(role="test"))
    evaluate.fill(db, "mood")
    set_board(db, owner, "mood", {"datasets": {"contrast": 0, "test": 0}})
    shown = rank(warm_board(db, blobs, owner, "mood", BoardPart(live=True)).board)
    assert set(shown.ranking.rank) == {None}
    assert shown.unrun() == ["later"]
