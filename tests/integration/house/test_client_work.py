"""The Python client on boards, runs, rounds and validations, against a real server on this machine."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import quintain
from quintain.client import Client
from quintain.compose import Workspace
from quintain.core.errors import BadInput, NotFound
from quintain.core.people import RoleName
from quintain.services.board.verify import verify_snapshot
from quintain.services.collect.writing import sessions
from quintain.services.collect.writing.submit_attempt import confirm
from tests.collecting import ROUND, sentences, submit, write_prompts
from tests.people import make_person
from tests.validation_support import TASK, judge_all, make_judges, text_of, truth
from tests.web_support import copy_demo, running, token_for

CHECK = "feeling/check"
LABELS = {"mixed": 0, "negative": 4, "neutral": 4, "positive": 4, "no majority": 0}


@pytest.fixture(scope="module")
def server(evaluated_site: Workspace, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Workspace, str]]:
    """A served copy of the workspace with two models that have been run, and its address."""
    workspace = copy_demo(evaluated_site, tmp_path_factory.mktemp("served") / "evaluated")
    with running(workspace) as url:
        yield workspace, url
    workspace.engine.dispose()


@pytest.fixture
def client(server: tuple[Workspace, str]) -> Iterator[Client]:
    """A client that acts for the owner of all tasks."""
    with Client(server[1], token_for(server[0], "olga")) as made:
        yield made


@pytest.fixture
def builder(server: tuple[Workspace, str]) -> Iterator[Client]:
    """A client that acts for the builder of the models."""
    with Client(server[1], token_for(server[0], "bert")) as made:
        yield made


def test_a_board_is_a_matrix_that_is_ranked_by_a_view(client: Client) -> None:
    """The matrix has a figure for each model, axis and data set; weights decide who leads, and figures have types."""
    board = client.board("mood")
    assert (board.task, board.metric, board.frozen_at) == ("mood", "accuracy", None)
    assert {model["name"] for model in board.models} == {"brittle", "constant"}
    assert board.made_at.tzinfo is not None
    assert len(board.models[0]["values"]["performance"]) == len(board.datasets)
    figure = board.models[0].values["performance"][0]
    assert figure is not None
    assert (figure.low or 0) <= figure.value <= (figure.high or 0)
    assert [one.name for one in board.axes][:2] == ["performance", "throughput"]
    found = client.rank("mood", weights={"performance": 1}, datasets={"open": 1}, epsilon=0.0)
    assert (found.datasets["open"], found.datasets["secret"], found.base) == (1.0, 0.0, "performance")
    assert [model.rank for model in found.models] == [1, 2]
    values = {model.name: model.values["performance"] for model in found.models}
    assert list(values) == ["constant", "brittle"]
    brittle, constant = values["brittle"], values["constant"]
    assert brittle is not None
    assert constant is not None
    # Six of the twelve sentences are positive; whether there is a "w" in them tells five of the twelve rightly.
    assert (constant.value, brittle.value) == (pytest.approx(100 * 6 / 12), pytest.approx(100 * 5 / 12))
    assert brittle.low is not None
    assert brittle.low < brittle.value
    assert {axis for axis, weight in found.weights.items() if weight} == {"performance"}
    opened = next(one for one in client.results("mood/brittle@1") if one.dataset == "open@1")
    assert (opened.rows, opened.metrics["accuracy"]["value"]) == (12, pytest.approx(5 / 12))


def test_how_sure_a_ranking_is_and_what_it_hangs_on(client: Client) -> None:
    """The probabilities of a pair add up to one, and each aggregation ranks every model."""
    sure = client.uncertainty("mood", weights={"performance": 1})
    assert sure.above[0][1] + sure.above[1][0] == pytest.approx(1)
    assert sure.models[0]["rank"]["low"] == 1
    assert {sure.pairs[0]["first"], sure.pairs[0]["second"]} == {"mood/brittle@1", "mood/constant@1"}
    sides = client.aggregations("mood", weights={"performance": 1})
    assert set(sides["models"][0]["aggregates"]) == set(sides["aggregations"])
    assert client.sensitivity("mood", weights={"performance": 1})["leader"] == sure.models[0]["model"]


def test_a_board_is_exported_and_frozen(client: Client, tmp_path: Path) -> None:
    """Exports are texts of the same ranking; what a snapshot holds stands up to being checked."""
    table = pl.read_csv(client.export_board("mood", weights={"performance": 1}).encode())
    ranked = client.rank("mood", weights={"performance": 1}).models
    assert table["rank"].to_list() == [model.rank for model in ranked]
    assert client.export_board("mood", "markdown").startswith("|")
    made = client.take_snapshot("mood", "Spring", weights={"performance": 1})
    assert [one.title for one in client.snapshots("mood")] == ["Spring"]
    data = client.download_snapshot("mood", made.hash[:12], tmp_path / "spring.json").read_bytes()
    assert verify_snapshot(data).problems == ()


def test_views_are_kept_and_the_board_is_set(client: Client) -> None:
    """A kept view ranks as it was given and is removed again; the owner's settings are the board's default."""
    kept = client.save_fork("mood", "lean", weights={"memory": 1})
    assert client.forks("mood") == [kept]
    assert client.rank("mood", **kept.view) == client.rank("mood", weights={"memory": 1})
    client.remove_fork("mood", "lean")
    assert client.forks("mood") == []
    with pytest.raises(NotFound, match="lean"):
        client.remove_fork("mood", "lean")
    with pytest.raises(BadInput, match="beauty"):
        client.save_fork("mood", "nice", weights={"beauty": 1})
    assert client.set_board("mood", {"weights": {"memory": 1}})["weights"] == {"memory": 1}
    assert client.board_settings("mood")["weights"] == {"memory": 1}
    assert {name for name, weight in client.board("mood").weights.items() if weight} == {"memory"}
    with pytest.raises(BadInput, match="is not in the file"):
        client.set_board("mood", {"human": 0.9})
    client.set_board("mood", {"human": None}, remove=["weights"])


def test_models_are_compared_and_their_answers_come_down(client: Client, tmp_path: Path) -> None:
    """Both data sets are compared; the answers file has a row for each example."""
    compared = client.compare("mood", "brittle", "constant@1")
    assert [one["dataset"] for one in compared] == ["open@1", "secret@1"]
    assert 0 < compared[0]["mcnemar"]["p_value"] <= 1
    answers = pl.read_csv(client.download_answers("mood/constant", "open", tmp_path / "answers.csv"))
    assert answers["prediction"].unique().to_list() == ["positive"]
    assert answers.height == 12


def test_runs_are_listed_retried_and_cancelled(client: Client, builder: Client) -> None:
    """Filters narrow the list; a run goes from cancelled to queued and back, and says why."""
    done = client.runs("mood", states=["done"], dataset="open")
    assert done.total == len(done.runs) == 10
    assert done.runs[0].finished_at is not None
    several = client.runs("mood", states=["done", "cancelled"], limit=1)
    assert len(several.runs) == 1
    assert several.total > done.total
    number = client.runs("mood", states=["cancelled"]).runs[0].id
    queued = builder.retry_run(number)
    assert queued.run is not None
    assert (queued.run.id, queued.run.state) == (number, "queued")
    assert queued.ahead is not None
    stopped = builder.cancel_run(number).run
    assert stopped is not None
    assert stopped.state == "cancelled"
    assert any("by bert" in event["text"] for event in builder.run(number).events)


def test_a_round_from_its_file_to_its_attempts(server: tuple[Workspace, str], client: Client, tmp_path: Path) -> None:
    """A file becomes a draft, prompts go in, people write, the counters move, and the attempts come down."""
    toml = ROUND.format(more="", targets='models = ["mood/brittle"]', tables="")
    draft = client.put_round("mood", toml)
    assert (draft.ref, draft.state, draft.opened_at) == ("mood/1", "draft", None)
    with pytest.raises(quintain.Conflict, match="has no prompts") as refused:
        client.open_round(draft.ref)
    assert refused.value.remedy == "Import some with `quintain round prompts mood/1 FILE`, or add a condition without."
    report = client.import_prompts(draft.ref, write_prompts(tmp_path, sentences(4)), corpus="words", tags=["new"])
    assert (report["rows"], report["added"]) == (4, 4)
    assert client.open_round(draft.ref).opened_at is not None
    with server[0].session() as db:
        writer = make_person(db, "wilma", RoleName.WORKER)
        session = sessions.start_session(db, server[0].blobs, writer, draft.ref)
        options: dict[str, Any] = {"runners": {"handler": lambda version, blobs, batch: ["positive"] * len(batch)}}
        submit(db, server[0].blobs, writer, session.key, "A fine amber evening.", target="positive", **options)
        text = "Rain fell on the cobalt roof."
        last = submit(db, server[0].blobs, writer, session.key, text, target="negative", **options)
        confirm(db, writer, last.attempt_id, True)
    counts = client.counters(draft.ref)
    assert (counts.attempts, counts.fooled, counts.workers) == (2, 1, 1)
    assert {line["name"]: line["fooled"] for line in counts.by_label} == {"positive": 0, "negative": 1}
    rows = client.download_attempts(draft.ref, tmp_path / "attempts.jsonl").read_text().splitlines()
    assert sorted(json.loads(row)["fooled"] for row in rows) == [False, True]
    assert "wilma" not in "".join(rows)
    assert client.close_round(draft.ref).state == "closed"
    copy = client.clone_round(draft.ref)
    assert [(one.number, one.state) for one in sorted(client.rounds("mood"), key=lambda one: one.number)] == [
        (1, "closed"),
        (copy.number, "draft"),
    ]
    assert client.round(copy.ref).title == draft.title


def test_a_validation_from_its_items_to_its_judgements(
    server: tuple[Workspace, str], client: Client, tmp_path: Path
) -> None:
    """Items go in, people judge, a bad judge is found and set aside, experts decide, and the judgements come down."""
    client.put_task(TASK.replace('"mood"', '"feeling"'))
    client.open_validation(CHECK, "automatic = false", seed=7)
    rows = [{"inputs": {"text": text_of(number)}} for number in range(12)]
    assert client.add_items(CHECK, rows).added == 12
    again = client.add_items(CHECK, rows[:2])
    assert (again.added, again.repeats) == (0, 2)
    assert client.validation_progress(CHECK).forecast["judgements"] == 60
    with server[0].session() as db:
        judge_all(db, make_judges(db, 6), [lambda inputs: "mixed", *[truth] * 5], ref=CHECK)
    found = client.validation(CHECK)
    assert found.labels == LABELS
    assert found.judges[0]["worker"] == "judge0"
    (listed,) = client.validations("feeling")
    assert (listed.validation, listed.state, listed.items, listed.done) == (CHECK, "open", 12, 1.0)

    tried = client.try_rule(CHECK, limit=0.8, least=5)
    assert (tried.workers, tried.unqualified) == (["judge0"], [])
    applied = client.apply_rule(CHECK, limit=0.8, least=5)
    assert (applied.unqualified, applied.opened) == (["judge0"], tried.judgements)
    back = client.requalify(CHECK, "judge0", restore=True)
    assert [one["qualified"] for one in back.standings] == [False, True]
    assert client.unqualify(CHECK, ["judge0"], "always says mixed") == tried.judgements

    path = client.download_judgements(CHECK, tmp_path / "judgements.csv")
    assert pl.read_csv(path).height == 60
    assert client.set_validation_state(CHECK, "closed").state == "closed"


def test_gold_and_experts(server: tuple[Workspace, str], client: Client) -> None:
    """Gold items are listed with their label; an expert's word becomes the label of a contested item."""
    ref = "feeling/split"
    client.put_task(TASK.replace('"mood"', '"feeling"'))
    client.open_validation(ref, "automatic = false\njudgements = 3", seed=3)
    said_by_model = [{"model": "feeling/counter", "answer": "positive"}]
    client.add_items(ref, [{"inputs": {"text": "It is what it is."}, "predictions": said_by_model}])
    assert client.add_gold(ref, [{"inputs": {"text": "so so"}, "label": "neutral", "note": "Plain."}]) == 1
    assert [(one.label, one.note, one.answered) for one in client.gold(ref).gold] == [("neutral", "Plain.", 0)]
    with server[0].session() as db:
        said = [lambda inputs, label=label: label for label in ("negative", "neutral", "positive")]
        judge_all(db, make_judges(db, 3, "split"), said, ref=ref)
    (item,) = client.contested(ref)
    assert sorted(item.votes.values(), reverse=True)[:3] == [1, 1, 1]
    client.adjudicate(ref, item.id, "neutral", reason="Nobody can tell.")
    assert client.contested(ref) == []
    (decided,) = client.items(ref, state="labelled", text="what it is").items
    assert (decided.label, decided.by_expert) == ("neutral", True)
    assert client.items(ref, state="waiting").total == 0
    rates = client.error_rates(ref)
    assert (rates["collected"], rates["validated"], rates["errors"], rates["vmer"]["value"]) == (1, 1, 1, 1.0)


def test_refusals_keep_their_remedy(client: Client, builder: Client) -> None:
    """What the server refuses is raised as our own error, and says what to do."""
    with pytest.raises(quintain.BadInput, match="no data set 'nope'") as refused:
        client.rank("mood", datasets={"nope": 1})
    assert refused.value.remedy == "There are: open, secret."
    with pytest.raises(quintain.Forbidden):
        builder.validations("mood")
    with pytest.raises(quintain.NotFound, match="no cell 999999"):
        client.run(999999)
    with pytest.raises(quintain.BadInput, match="not a reference"):
        client.counters("mood")
    with pytest.raises(quintain.NotFound, match="no file"):
        client.import_prompts("mood/1", "missing.csv")
