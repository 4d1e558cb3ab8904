"""vMER on the board: per round, as the metric that ranks, frozen, exported and verified."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence

import pytest
from sqlalchemy.orm import Session
from typer.testing import Result

from quintain.compose import Workspace
from quintain.core.errors import BadInput
from quintain.core.people import ANONYMOUS, Actor
from quintain.core.records.base import to_plain
from quintain.core.records.board import BoardView
from quintain.core.task import VMER
from quintain.services.board.assemble import board
from quintain.services.board.export import export
from quintain.services.board.parts import BoardMatrix, BoardPart
from quintain.services.board.ranking import rank
from quintain.services.board.snapshots import read_snapshot, take_snapshot
from quintain.services.board.uncertainty import uncertainty
from quintain.services.board.verify import verify_snapshot
from quintain.services.models.registry import set_visibility
from quintain.services.tasks import definitions as tasks
from quintain.services.tasks.board_settings import set_board
from quintain.services.validate.console import manage as validate
from quintain.services.validate.quality.review import review
from quintain.store.blobs import Blobs
from tests.beginnings import Build, with_small_board
from tests.evaluation import TASK
from tests.validation_support import judge_all, make_judges

# The small board's large, medium and small model fail on so many of ten items.
WRONG = {"large": 6, "medium": 3, "small": 1}


def validated(db: Session, owner: Actor, ref: str, wrong: dict[str, int], judges: Sequence[Actor]) -> None:
    """Let people judge ten items, which models answered before, and review them."""
    validate.open_validation(db, owner, ref, seed=7)
    rows = []
    for number in range(10):
        label = "positive" if number % 2 else "negative"
        other = "negative" if number % 2 else "positive"
        said = [
            {"model": f"mood/{name}@1", "answer": other if number < mistakes else label}
            for name, mistakes in wrong.items()
        ]
        rows.append({"inputs": {"text": f"{ref} item {number} is {label}"}, "predictions": said})
    validate.add_items(db, owner, ref, rows)
    judge_all(db, list(judges), ref=ref)
    review(db, owner, ref)


@pytest.fixture
def beginning() -> Build:
    """A board of three models on two data sets."""
    return with_small_board


@pytest.fixture
def made(db: Session, blobs: Blobs, owner: Actor) -> BoardMatrix:
    """The small board, after two rounds were judged; the small model met only the first."""
    judges = make_judges(db, 5)
    validated(db, owner, "mood/one", WRONG, judges)
    validated(db, owner, "mood/two", {"large": 2, "medium": 2}, judges)
    return board(db, blobs, ANONYMOUS, "mood")


def test_a_round_that_nobody_judged_has_no_rate(
    db: Session,
    blobs: Blobs,
    owner: Actor,
    workspace: Workspace,
    cli: Callable[..., Result],
    database: str,
    made: BoardMatrix,
) -> None:
    """Reviewed before anybody judged, a round has no rates, no best model, and no part in the figure over rounds."""
    validate.open_validation(db, owner, "mood/three", seed=7)
    said = [{"model": "mood/large@1", "answer": "negative"}]
    validate.add_items(db, owner, "mood/three", [{"inputs": {"text": "new"}, "predictions": said}])
    review(db, owner, "mood/three")
    set_board(db, owner, "mood", {"metric": VMER})
    now = board(db, workspace.blobs, ANONYMOUS, "mood")
    third = next(one for one in now.rounds if one.ref == "mood/three").record()
    assert (third["best"], third["models"][0]["vmer"]["value"]) == (None, None)
    large = next(model for model in now.models if model.name == "large")
    assert large.pooled["performance"] is not None
    assert (large.pooled["performance"]["n"], large.pooled["performance"]["value"]) == (20, 40.0)
    assert "round_three" not in export(rank(now), "harness", "large")
    assert [one.ref for one in made.rounds] == ["mood/one", "mood/two"]
    if database == "sqlite":
        shown = cli("-w", workspace.settings.workspace, "board", "show", "mood", "--no-sure")
        assert shown.exit_code == 0, shown.output


def test_rounds_have_rates_by_model_and_what_people_reach(made: BoardMatrix) -> None:
    """Each round says how often each model failed, which model was best, and how far people agree."""
    first, second = (to_plain(one.record()) for one in made.rounds)
    assert (first["round"], first["collected"], first["validated"]) == ("mood/one", 10, 10)
    assert {one["name"]: one["vmer"]["value"] for one in first["models"]} == {"large": 0.6, "medium": 0.3, "small": 0.1}
    assert all(one["vmer"]["low"] < one["vmer"]["value"] < one["vmer"]["high"] for one in first["models"])
    assert first["best"]["model"] == "mood/small@1"
    assert first["best"]["value"] == pytest.approx(0.9)
    assert first["best"]["low"] < 0.9 < first["best"]["high"]
    assert first["human"]["value"] == 1.0
    assert [one["name"] for one in second["models"]] == ["large", "medium"]
    assert to_plain(made.record().rounds) == [first, second]


def test_vmer_may_be_the_metric_that_ranks(db: Session, blobs: Blobs, owner: Actor, made: BoardMatrix) -> None:
    """Less is better, what is left of 100 is the good, rounds are pooled, and weights of data sets do not matter."""
    assert not made.axes[0].pooled
    set_board(db, owner, "mood", {"metric": VMER})
    by_rate = board(db, blobs, ANONYMOUS, "mood")
    axis = by_rate.axes[0]
    assert (axis.title, axis.lower, axis.cap, axis.pooled) == ("vMER", True, 100.0, True)
    pooled = {model.name: model.pooled["performance"] for model in by_rate.models}
    assert {name: figure and (figure["value"], figure["n"]) for name, figure in pooled.items()} == {
        "large": (40.0, 20),
        "medium": (25.0, 20),
        "small": (10.0, 10),
    }
    for datasets in (None, {"test": 1.0}):
        ranked = rank(by_rate, BoardView(weights={"performance": 1}, datasets=datasets)).as_dict()
        assert [one["name"] for one in ranked["models"]] == ["small", "medium", "large"]
        assert [one["dynascore"] for one in ranked["models"]] == pytest.approx([90, 75, 60])
        figure = ranked["models"][0]["values"]["performance"]
        assert figure["value"] == 10.0
        assert figure["low"] < 10.0 < figure["high"]
    sure = uncertainty(db, blobs, by_rate, BoardView(weights={"performance": 1}))
    assert [one["model"] for one in sure["models"]] == ["mood/small@1", "mood/medium@1", "mood/large@1"]
    assert 0.5 < sure["pairs"][0]["probability"] < 1
    tagged = board(db, blobs, ANONYMOUS, "mood", BoardPart(tag="odd"))
    assert tagged.metric == "accuracy"


def test_a_task_may_make_vmer_canonical(db: Session, blobs: Blobs, owner: Actor, made: BoardMatrix) -> None:
    """The task's own file may say it, beside a metric for data sets; alone it is refused."""
    assert made.metric == "accuracy"
    text = TASK.replace('"macro_f1"]', '"vmer"]').replace('canonical_metric = "accuracy"', 'canonical_metric = "vmer"')
    task = tasks.put_task(db, owner, text)
    assert tasks.leading_metric(task) == "accuracy"
    assert board(db, blobs, ANONYMOUS, "mood").axes[0].title == "vMER"
    alone = text.replace('["accuracy", "vmer"]', '["vmer"]')
    with pytest.raises(BadInput, match="comes from rounds"):
        tasks.check_task(alone)


def test_nobody_learns_of_models_that_they_may_not_see(
    db: Session, blobs: Blobs, owner: Actor, builder: Actor, made: BoardMatrix
) -> None:
    """A private model is in no round that others read, and neither is one that the owner hides."""
    assert len(made.rounds[0].models) == 3
    set_visibility(db, builder, "mood/large", "private")
    set_board(db, owner, "mood", {"hidden_models": ["medium"]})
    for actor, shown in ((ANONYMOUS, ["mood/small@1"]), (builder, ["mood/large@1", "mood/small@1"])):
        assert [one.model for one in board(db, blobs, actor, "mood").rounds[0].models] == shown


def test_a_frozen_board_keeps_its_rounds(db: Session, blobs: Blobs, owner: Actor, made: BoardMatrix) -> None:
    """What is reviewed after the freeze is not shown before it ends; the owner sees it on the live board."""
    set_board(db, owner, "mood", {"freeze_until": "2999-01-01T00:00+00:00"})
    validated(db, owner, "mood/three", {"small": 9}, make_judges(db, 5, "late"))
    assert [one.ref for one in board(db, blobs, ANONYMOUS, "mood").rounds] == [one.ref for one in made.rounds]
    live = board(db, blobs, owner, "mood", BoardPart(live=True))
    assert [one.ref for one in live.rounds] == ["mood/one", "mood/two", "mood/three"]


@pytest.mark.usefixtures("made")
def test_the_command_line_prints_rounds(workspace: Workspace, cli: Callable[..., Result], database: str) -> None:
    """`board show` lists the rate of each model in each round, as a table and as JSON."""
    if database != "sqlite":
        pytest.skip("the command line reads the address of the database from the environment")
    command = ("-w", workspace.settings.workspace, "board", "show", "mood", "--no-sure")
    assert "60.0%" in cli(*command).stdout
    shape = json.loads(cli(*command, "--json").stdout)
    assert [one["round"] for one in shape["rounds"]] == ["mood/one", "mood/two"]


@pytest.mark.usefixtures("made")
def test_exports_and_snapshots_carry_rounds(db: Session, blobs: Blobs, owner: Actor) -> None:
    """Other tools get one result for each round, and a snapshot of such a board verifies."""
    set_board(db, owner, "mood", {"metric": VMER})
    ranked = rank(board(db, blobs, ANONYMOUS, "mood"))
    harness = json.loads(export(ranked, "harness", "large"))
    assert {task: one["vmer,none"] for task, one in harness["results"].items()} == {
        "mood_round_one": pytest.approx(0.6),
        "mood_round_two": pytest.approx(0.2),
    }
    assert harness["higher_is_better"]["mood_round_one"] == {"vmer": False}
    assert export(ranked, "model-index", "small").count("type: vmer") == 1
    taken = take_snapshot(db, blobs, owner, "mood", part=None)
    _, data = read_snapshot(db, blobs, ANONYMOUS, "mood", taken.hash)
    assert verify_snapshot(data).problems == ()
    assert set(json.loads(data)["inputs"]["rounds"]) == {"mood/one", "mood/two"}
