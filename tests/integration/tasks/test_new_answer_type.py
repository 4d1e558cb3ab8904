"""A kind of task with a type of answers that nobody here knows needs no line outside its own file."""

from __future__ import annotations

import json
import re
import textwrap
import threading
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import polars as pl
import pytest
from sqlalchemy.orm import Session
from starlette.testclient import TestClient

from quintain.adapters.answer_reader import ReplyReader
from quintain.adapters.scaffold import start_of
from quintain.compose import Workspace
from quintain.core.cells import PLAIN, CellState
from quintain.core.errors import BadInput
from quintain.core.example import Answer, Example, Inputs, Prediction
from quintain.core.people import OPERATOR, Actor, RoleName
from quintain.core.task import AnswerType, Field, Task
from quintain.data.plan import ImportPlan
from quintain.engine.jobs import LocalEngine
from quintain.metrics.aligned import Aligned
from quintain.metrics.contract import METRICS, MeanMetric
from quintain.services.access.links import make_link, redeem_link
from quintain.services.collect.rounds.export import attempts_table
from quintain.services.collect.rounds.manage import open_round, put_round
from quintain.services.data.datasets import import_dataset
from quintain.services.evaluate.cells import lifecycle as evaluate
from quintain.services.evaluate.cells.worker import work
from quintain.services.evaluate.results.compute import model_results
from quintain.services.models.registry import register_version
from quintain.services.plain.files.score import Scoring, score_files
from quintain.services.tasks.definitions import put_task
from quintain.services.validate.console import manage as validate
from quintain.services.validate.judging import claim_page, submit_page
from quintain.services.validate.judging.submit_page import Answer as Judged
from quintain.services.validate.quality import vmer
from quintain.services.validate.quality.final_labels import final_labels
from quintain.stats.bootstrap import FloatArray
from quintain.store.blobs import Blobs
from quintain.store.database import transaction
from quintain.store.queries.evaluate import cells as queries
from quintain.tasks.answer_kinds.contract import ANSWER_KINDS, AnswerKind, Reading, answers_of
from quintain.tasks.contract import KINDS, FormField, TaskKind
from quintain.tasks.rules import Rule
from quintain.tasks.shapes import is_index
from tests.collecting import agree
from tests.evaluated import CONDITIONS
from tests.evaluation import CARD
from tests.people import make_person
from tests.web_support import PASSWORD, browser_of, post


class YearAnswer(AnswerKind):
    """A year."""

    name: ClassVar[AnswerType] = "year"
    wanted: ClassVar[str] = "a year"
    dtype: ClassVar[pl.DataType] = pl.Int64()
    predicted: ClassVar[pl.DataType] = pl.Int64()
    read_as: ClassVar[Reading] = "words"
    metrics: ClassVar[tuple[str, ...]] = ("within_ten",)
    graded_by: ClassVar[str | None] = "within_ten"

    def fits(self, value: Any) -> bool:
        """Ask for a whole number."""
        return is_index(value)

    def typed(self, text: str) -> Answer:
        """Read a number."""
        return int(text) if text.isdecimal() else text or None


class WithinTen(MeanMetric):
    """The share of years that are at most ten off."""

    name = "within_ten"
    title = "Within ten years"
    answer_types: ClassVar[tuple[AnswerType, ...]] = ("year",)

    def scores(self, data: Aligned) -> FloatArray:
        """Compare."""
        near = ((data.gold - data.predictions).abs() <= 10).fill_null(False)
        return near.to_numpy().astype(np.float64)


class GuessTheYear(TaskKind):
    """When something happened."""

    name: ClassVar[str] = "guess-the-year"
    title: ClassVar[str] = "Guess the year"
    answer_type: ClassVar[AnswerType] = "year"
    default_metrics: ClassVar[tuple[str, ...]] = ("within_ten",)
    example: ClassVar[Example] = Example({"event": "The wall fell."}, 1989)

    def fields(self, task: Task) -> tuple[Field, ...]:
        """Ask for the event."""
        return (Field("event", "text", title="Event"),)

    def answer_rules(self, task: Task) -> Sequence[Rule]:
        """Ask for a year of our era."""
        return [Rule("answer", pl.col("answer") < 1, "is before our era")]

    def parse_answer(self, task: Task, inputs: Inputs, raw: Any) -> Prediction:
        """Read a number."""
        if not str(raw).isdecimal():
            raise BadInput(f"The answer {raw!r} is no year.")
        return Prediction(int(raw))

    def fooled(self, task: Task, target: Answer, prediction: Answer) -> bool:
        """Forgive ten years."""
        return abs(target - prediction) > 10

    def answer_control(self, task: Task) -> FormField:
        """Let it be typed."""
        return FormField("answer", "line", "Year")


EVENTS = [("The wall fell.", 1989), ("The bastille was stormed.", 1789), ("A man walked on the moon.", 1969)]
MODEL = """
    def predict(batch):
        return [1980 for item in batch]
"""


@pytest.fixture(autouse=True)
def new_kind(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Register the kind, its type of answers and its metric, as another distribution would."""
    for registry, member in ((KINDS, GuessTheYear), (ANSWER_KINDS, YearAnswer), (METRICS, WithinTen)):
        registry.names()  # what comes with the product is there first
        monkeypatch.setitem(registry._members, member.name, member)
    yield
    answers_of.cache_clear()


@pytest.fixture
def client(workspace: Workspace, db: Session, monkeypatch: pytest.MonkeyPatch) -> Iterator[TestClient]:
    """A worker at a browser, facing a model that always says the same year."""
    monkeypatch.setattr(Workspace, "runners", {"handler": lambda version, blobs, batch: [1980 for _ in batch]})
    make_person(db, "wanda", RoleName.WORKER)
    redeem_link(db, make_link(db, OPERATOR, "wanda").token, PASSWORD)
    with browser_of(workspace, "wanda") as made:
        yield made


def add_all(db: Session, blobs: Blobs, owner: Actor, folder: Path) -> None:
    """Add the task, a data set and a model."""
    put_task(db, owner, 'name = "years"\nkind = "guess-the-year"\ntitle = "Years"')
    file = folder / "test.jsonl"
    file.write_text("".join(json.dumps({"event": event, "answer": year}) + "\n" for event, year in EVENTS))
    import_dataset(db, blobs, owner, "years", "test", file, ImportPlan(role="test", hidden=False), score=True)
    place = folder / "model"
    place.mkdir()
    (place / "handler.py").write_text(textwrap.dedent(MODEL))
    register_version(db, blobs, owner, "years", "m", adapter="handler", folder=place, card=CARD)


@pytest.mark.parametrize("database", ["sqlite"], indirect=True)
def test_it_is_imported_and_evaluated(
    workspace: Workspace, db: Session, blobs: Blobs, owner: Actor, tmp_path: Path
) -> None:
    """A file is imported and checked, a model is run on it and graded by the type's own metric."""
    add_all(db, blobs, owner, tmp_path)
    bad = tmp_path / "bad.jsonl"
    bad.write_text('{"event": "Rome was founded.", "answer": -753}\n{"event": "x", "answer": "long ago"}\n')
    with pytest.raises(BadInput) as refused:
        import_dataset(db, blobs, owner, "years", "bad", bad, ImportPlan(role="test"))
    reasons = {fault.reason for fault in refused.value.faults}
    assert reasons == {"is before our era", "'long ago' is not a whole number"}
    evaluate.fill(db)
    with transaction(db):
        for row in queries.rows(db):
            if row.cell.variant != PLAIN:
                row.cell.state = CellState.CANCELLED.value
    db.rollback()
    engine = LocalEngine(tmp_path / "locks")
    work(workspace.session, workspace.blobs, engine, CONDITIONS, threading.Event(), until_empty=True)
    found = model_results(db, blobs, owner, "years/m")[0].record()
    assert found["metrics"]["within_ten"]["value"] == pytest.approx(1 / 3)


def test_files_are_scored_and_words_are_read(tmp_path: Path) -> None:
    """Plain files are scored by the type's metric, a chat model's words are read, a starter model answers."""
    (tmp_path / "gold.csv").write_text("id,answer\na,1989\nb,1789\n")
    (tmp_path / "said.csv").write_text("id,prediction\na,1985\nb,1900\n")
    report = score_files(tmp_path / "gold.csv", tmp_path / "said.csv", Scoring(metrics=("within_ten",)))
    assert (report.answer_type, report.evaluation.metrics["within_ten"].estimate.value) == ("year", 0.5)
    assert ReplyReader("exact", "year").read("1989") == "1989"
    task = Task("years", "guess-the-year", {"en": "Years"})
    assert "return 0" in start_of("handler", task).files["handler.py"]


@pytest.mark.parametrize("database", ["sqlite"], indirect=True)
def test_it_is_written_and_judged(db: Session, blobs: Blobs, owner: Actor, client: TestClient, tmp_path: Path) -> None:
    """A writer types the event and the year, fools the model by the kind's own rule, and judges say it is right."""
    add_all(db, blobs, owner, tmp_path)
    blank = '[[conditions]]\nname = "only"\nprompt = false\n'
    info = put_round(db, owner, f'task = "years"\ntitle = "Y"\n[targets]\nmodels = ["years/m"]\n{blank}')
    open_round(db, owner, info.ref)
    address = str(post(client, "/tasks/years/rounds/1/write", "/tasks/years/rounds/1/write").headers["location"])
    page = client.get(address).text
    token = re.search(r'name="token" value="([^"]+)"', page)
    assert token
    assert "position counted from 0" not in page
    fields: Mapping[str, Any] = {"in-event": "The war ended.", "answer": "1945", "token": token[1]}
    assert post(client, address, f"{address}/try", **fields).status_code == 303
    db.rollback()
    agree(db, attempts_table(db, owner, "years/1")["attempt"][0])
    row = attempts_table(db, owner, "years/1").row(0, named=True)
    assert (json.loads(row["target"]), row["fooled"]) == (1945, True)
    validate.open_validation(db, owner, "years/1", "judgements = 1\nminimum = 1\n[gold]\nrate = 0")
    judging = make_person(db, "julia", RoleName.WORKER)
    sheet = claim_page.claim_page(db, judging, "years/1")
    assert sheet is not None
    (item,) = sheet.items
    assert (item.answer, [label.name for label in item.labels]) == (1945, ["right", "wrong"])
    submit_page.submit_page(db, judging, sheet.token, [Judged(item.id, "right", seconds=1.0)])
    assert final_labels(db, validate.find_validation(db, "years/1")).names() == ["right"]
    assert vmer.error_rates(db, owner, "years/1")["errors"] == 1
