"""What scores on a board: only what its owner lets, with a warning where that is too little to rank on."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest
from sqlalchemy import select
from sqlalchemy.orm import Session
from starlette.testclient import TestClient
from typer.testing import Result

from quintain.compose import Workspace
from quintain.core.errors import BadInput, Forbidden, NotFound
from quintain.core.people import ANONYMOUS, Actor, Scope
from quintain.data.plan import ImportPlan
from quintain.perturbations.contract import names_of
from quintain.perturbations.tables import lineage
from quintain.services.access import tokens
from quintain.services.board.assemble import board
from quintain.services.board.ranking import parse_view, rank
from quintain.services.board.snapshots import snapshot_shape
from quintain.services.board.uncertainty import more_examples, uncertainty
from quintain.services.board.verify import verify_snapshot
from quintain.services.data.datasets import import_dataset, list_versions
from quintain.services.data.fitness import fitness
from quintain.services.evaluate.cells.run_cell import variant_of
from quintain.services.evaluate.results.compute import results
from quintain.services.evaluate.results.variants import variant_name
from quintain.services.tasks.board_settings import board_spec, let_score, set_board
from quintain.store.blobs import Blobs
from quintain.store.queries.tasks import board_settings
from quintain.store.tables import AuditEntry
from quintain.web.app import create_app
from tests.beginnings import Build, with_small_board
from tests.boards import add_sentences, add_version, evaluated, sentences, up_to
from tests.evaluation import add_task

ROWS = "".join(json.dumps(row) + "\n" for row in sentences(8))


@pytest.fixture
def beginning(request: pytest.FixtureRequest) -> Build | None:
    """A board of three models on two data sets, for tests that use `small`."""
    return with_small_board if "small" in request.fixturenames else None


@pytest.fixture
def small() -> None:
    """Say that the workspace begins with a small board."""


@pytest.mark.usefixtures("small")
def test_a_board_on_which_nothing_scores_says_so(db: Session, blobs: Blobs, owner: Actor) -> None:
    """Without a data set that scores nobody is ranked, with the reason; a reader may weigh one all the same."""
    set_board(db, owner, "mood", {"datasets": {"contrast": 0, "test": 0}})
    made = board(db, blobs, ANONYMOUS, "mood")
    found = rank(made).as_dict()
    assert {row["rank"] for row in found["models"]} == {None}
    assert all("no data set scores yet" in row["reason"] for row in found["models"])
    assert uncertainty(db, blobs, made)["models"] == []
    assert rank(made, parse_view(datasets="test:1")).as_dict()["models"][0]["rank"] == 1
    with pytest.raises(BadInput, match="No data set has a weight"):
        rank(made, parse_view(datasets="test:0"))
    shape = snapshot_shape(rank(made), {})
    assert verify_snapshot(json.dumps(shape).encode()).problems == ()


@pytest.mark.usefixtures("small")
def test_a_new_data_set_scores_once_its_owner_lets_it(
    db: Session, blobs: Blobs, owner: Actor, builder: Actor, tmp_path: Path
) -> None:
    """Eight rows that were imported move no rank until the owner says so; a new version of them goes on scoring."""
    before = rank(board(db, blobs, ANONYMOUS, "mood")).as_dict()
    file = tmp_path / "eight.jsonl"
    file.write_text("".join(json.dumps({**row, "answer": "positive"}) + "\n" for row in sentences(8)))
    made = import_dataset(db, blobs, owner, "mood", "eight", file, ImportPlan(role="test"))
    assert (made.new, made.scores) == (True, False)
    shown = board(db, blobs, ANONYMOUS, "mood")
    assert {one.name: one.weight for one in shown.datasets} == {"contrast": 1.0, "eight": 0.0, "test": 1.0}
    after = rank(shown).as_dict()
    assert [(row["model"], row["rank"], row["dynascore"]) for row in after["models"]] == [
        (row["model"], row["rank"], row["dynascore"]) for row in before["models"]
    ]
    assert [text.partition(":")[0] for text in after["warnings"]["eight"]] == ["too small to rank on", "one-sided"]
    with pytest.raises(Forbidden):
        let_score(db, builder, "mood/eight")
    with pytest.raises(NotFound, match="no data set 'nine'"):
        let_score(db, owner, "mood/nine")
    assert let_score(db, owner, "mood/eight").dataset_weight("eight") == 1.0
    assert db.scalar(select(AuditEntry.action).order_by(AuditEntry.id.desc()).limit(1)) == "board.score"
    file.write_text(file.read_text() + json.dumps({"text": "One more.", "answer": "negative"}) + "\n")
    again = import_dataset(db, blobs, owner, "mood", "eight", file, ImportPlan(role="test"))
    assert (again.number, again.scores) == (2, True)
    assert let_score(db, owner, "mood/eight", False).dataset_weight("eight") == 0.0


@pytest.mark.usefixtures("small")
def test_an_owner_may_let_a_data_set_score_at_once(db: Session, blobs: Blobs, owner: Actor, tmp_path: Path) -> None:
    """Asked for at the import, it scores; what is for training never does, and then nothing is imported."""
    file = tmp_path / "rows.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in sentences(20)))
    assert import_dataset(db, blobs, owner, "mood", "now", file, ImportPlan(role="test"), score=True).scores
    assert board_spec(db, "mood").dataset_weight("now") == 1.0
    with pytest.raises(BadInput, match="never scores"):
        import_dataset(db, blobs, owner, "mood", "train", file, ImportPlan(role="train"), score=True)
    assert not [one for one in list_versions(db, owner, "mood") if one.dataset == "train"]


def test_eight_rows_are_not_sure(db: Session, blobs: Blobs, owner: Actor, builder: Actor, tmp_path: Path) -> None:
    """A model that says one label leads by eight rows of that label, and the board does not call that sure."""
    add_task(db, owner)
    add_sentences(db, blobs, owner, tmp_path, "test", sentences(164))
    eight = [{**row, "answer": "negative"} for row in sentences(8)]
    add_sentences(db, blobs, owner, tmp_path, "eight", eight)
    for name, says in (("one-label", lambda _: "negative"), ("good", up_to(80)), ("fair", up_to(60))):
        evaluated(db, blobs, add_version(db, blobs, builder, tmp_path, name), says)
    set_board(db, owner, "mood", {"metric": "macro_f1"})
    made = board(db, blobs, ANONYMOUS, "mood")
    view = parse_view("performance:1", "eight:1")
    found = uncertainty(db, blobs, made, view)
    first = found["models"][0]
    assert first["model"].startswith("mood/one-label")
    assert (first["rank"]["low"], first["rank"]["high"]) != (1, 1)
    assert all(pair["more"] != 0 or pair["probability"] >= 0.975 for pair in found["pairs"])
    assert all(not pair["more"] or pair["probability"] < 0.975 for pair in found["pairs"])
    assert not any(figure["low"] == figure["high"] for model in made.models for figure in model.values["performance"])


def test_notes_count_what_a_figure_rests_on(
    db: Session, blobs: Blobs, owner: Actor, builder: Actor, tmp_path: Path
) -> None:
    """Performance counts examples with a gold answer; robustness the examples, pairs and kinds that are in it."""
    add_task(db, owner)
    rows = [*sentences(60), *({"text": f"Nobody said what {place} is."} for place in range(40))]
    add_sentences(db, blobs, owner, tmp_path, "test", rows, unlabelled=True)
    model = add_version(db, blobs, builder, tmp_path, "large")
    evaluated(db, blobs, model, up_to(80))
    made = board(db, blobs, owner, "mood")
    (row,) = made.models
    assert (made.datasets[0].rows, row.values["performance"][0]["n"]) == (100, 60)
    (result,) = results(db, blobs, made.task)
    version = board_settings.evaluated_versions(db, "mood")[0][0]
    tables = {}
    for name in names_of("robustness", in_paper=True):
        blob = variant_of(db, blobs, made.task, version, variant_name(name)).blob
        tables[name] = lineage(pl.read_parquet(blobs.path(blob)))
    pairs = pl.concat(tables.values())
    kinds = sum(table.height > 0 for table in tables.values())
    figure = row.values["robustness"][0]
    assert (figure["n"], figure["pairs"], figure["kinds"]) == (pairs["parent"].n_unique(), pairs.height, kinds)
    assert result.robustness["families"]["typos"]["rows"] == tables["typos"].height


def test_how_many_more_examples_follows_from_how_sure_it_is() -> None:
    """What is sure needs no more; the less sure, the more; a coin that falls either way cannot be settled so."""
    assert more_examples(1.0, 165) == more_examples(0.975, 165) == 0
    needed = [more_examples(probability, 165) for probability in (0.97, 0.9, 0.8, 0.6)]
    assert all(number is not None and number > 0 for number in needed)
    assert needed == sorted(needed, key=lambda number: number or 0)
    assert more_examples(0.5, 165) is more_examples(0.3, 165) is None


def test_an_order_that_is_unsure_through_speed_alone_says_so(
    db: Session, blobs: Blobs, owner: Actor, builder: Actor, tmp_path: Path
) -> None:
    """Of two that answer alike the quicker leads by a speed known to 24 %: measuring again would settle it."""
    add_task(db, owner)
    add_sentences(db, blobs, owner, tmp_path, "test", sentences(120))
    for name, level, throughput, unevenness in (
        ("slow", 80, 100, 0.24),
        ("quick", 80, 110, 0.24),
        ("weak", 50, 400, 0.01),
    ):
        model = add_version(db, blobs, builder, tmp_path, name)
        evaluated(db, blobs, model, up_to(level), throughput=throughput, unevenness=unevenness)
    pairs = uncertainty(db, blobs, board(db, blobs, owner, "mood")).pairs
    (apart,) = (pair for pair in pairs if {pair.first, pair.second} == {"mood/slow@1", "mood/quick@1"})
    assert apart.probability < 0.975
    assert apart.through_measuring


@pytest.mark.parametrize(("uneven", "busy", "ranked"), [(1, 0.6, 2), (2, 0.6, 3), (3, 0.6, 3), (2, 0.0, 1)])
def test_a_busy_machine_empties_no_board(
    db: Session, blobs: Blobs, owner: Actor, builder: Actor, tmp_path: Path, uneven: int, busy: float, ranked: int
) -> None:
    """Where others kept the machine busy for most models, the axis is dropped for all; else the uneven have no rank.

    Models that are uneven of themselves switch nothing off, though they are most.
    """
    add_task(db, owner)
    add_sentences(db, blobs, owner, tmp_path, "test", sentences(120))
    for number, (name, level) in enumerate((("first", 90), ("second", 80), ("third", 60))):
        model = add_version(db, blobs, builder, tmp_path, name)
        unevenness = 0.6 if number < uneven else 0.02
        evaluated(
            db,
            blobs,
            model,
            up_to(level),
            throughput=100 + number,
            unevenness=unevenness,
            busy=busy if number < uneven else 0.0,
        )
    shown = rank(board(db, blobs, owner, "mood"))
    record = shown.page(shown.order(), limit=3)
    assert sum(model.rank is not None for model in record.models) == ranked
    assert ("throughput" in record.dropped) is (ranked == 3)
    assert all("too uneven" in (model.reason or "") for model in record.models if model.rank is None)


@pytest.mark.usefixtures("small")
def test_programs_let_a_data_set_score(workspace: Workspace, db: Session, owner: Actor, builder: Actor) -> None:
    """The API imports without scoring, lets it score for its owner only, and scores at once where asked to."""
    client = TestClient(create_app(workspace))
    secrets = [tokens.create_token(db, who, "test", scopes=Scope)[0] for who in (owner, builder)]
    mine, other = ({"authorization": f"Bearer {secret}"} for secret in secrets)
    files = {"file": ("eight.jsonl", ROWS.encode())}
    where = "/api/v1/tasks/mood"
    made = client.post(f"{where}/datasets", data={"name": "eight", "role": "test"}, files=files, headers=mine)
    assert (made.status_code, made.json()["scores"]) == (201, False)
    one = f"{where}/board/datasets/eight"
    assert client.put(one, json={"scores": True}).status_code == 401
    assert client.put(one, json={"scores": True}, headers=other).status_code == 403
    assert client.put(f"{where}/board/datasets/nine", json={"scores": True}, headers=mine).status_code == 404
    assert client.put(one, json={"scores": True}, headers=mine).json()["datasets"]["eight"] == 1.0
    live = client.get(f"{where}/board?live=true", headers=mine).json()
    (shown,) = (found for found in live["datasets"] if found["name"] == "eight")
    assert (shown["weight"], [why["kind"] for why in shown["warnings"]]) == (1.0, ["few"])
    assert "± 35 points" in shown["warnings"][0]["text"]
    asked = client.post(
        f"{where}/datasets", data={"name": "now", "role": "test", "score": "true"}, files=files, headers=mine
    )
    assert asked.json()["scores"] is True
    assert [one["scores"] for one in client.get(f"{where}/datasets").json()["datasets"]] == [True] * 4


@pytest.mark.usefixtures("small")
def test_commands_let_a_data_set_score(
    workspace: Workspace, cli: Callable[..., Result], tmp_path: Path, database: str
) -> None:
    """`data import` says what comes next, `board score` does it, and `board show` warns of what is too small."""
    if database != "sqlite":
        pytest.skip("the command line reads the address of the database from the environment")
    file = tmp_path / "eight.jsonl"
    file.write_text(ROWS)
    at = ("-w", workspace.settings.workspace)
    brought = cli(*at, "data", "import", file, "--task", "mood", "--name", "eight", "--role", "test")
    assert "does not score yet; let it: quintain board score mood/eight on" in " ".join(brought.stderr.split())
    shown = " ".join(cli(*at, "board", "show", "mood", "--no-sure").stderr.split())
    assert "eight does not score and was not run for all ranked models: quintain board queue mood/eight" in shown
    assert cli(*at, "board", "score", "mood/eight", "on").exit_code == 0
    assert "the next one needs" in " ".join(cli(*at, "board", "show", "mood", "--no-sure").stdout.split())
    off = cli(*at, "board", "score", "mood/eight", "off", "--json")
    assert json.loads(off.stdout)["datasets"]["eight"] == 0
    wrong = cli(*at, "board", "score", "mood/eight", "maybe")
    assert (wrong.exit_code, "neither on nor off" in wrong.stderr) == (1, True)
    at_once = cli(*at, "data", "import", file, "--task", "mood", "--name", "now", "--role", "test", "--score", "--json")
    assert json.loads(at_once.stdout)["version"]["scores"] is True


def test_hidden_labels_are_not_named_in_a_warning(db: Session, blobs: Blobs, owner: Actor, tmp_path: Path) -> None:
    """Of hidden labels a warning says that one is missing, not which; of some examples of theirs nothing."""
    add_task(db, owner)
    rows = [{**row, "answer": "negative"} for row in sentences(120)]
    add_sentences(db, blobs, owner, tmp_path, "hidden", rows)
    add_sentences(db, blobs, owner, tmp_path, "open", rows, hidden=False)
    made = board(db, blobs, ANONYMOUS, "mood")
    found = {one.name: one.warnings for one in made.datasets}
    assert [(one.kind, one.labels) for one in found["hidden"]] == [("one_sided", ())]
    assert [(one.kind, one.labels) for one in found["open"]] == [("one_sided", ("negative",))]
    for hidden, kinds in ((True, ["few"]), (False, ["few", "one_sided"])):
        some = fitness(blobs, made.task, made.datasets[0].blob, hidden=hidden, tag="even")
        assert [one.kind for one in some] == kinds
