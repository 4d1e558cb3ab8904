"""A board of a task in another language ranks by what applies there, and says nothing of runs that nobody makes."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest
from sqlalchemy.orm import Session

from quintain.core.errors import BadInput
from quintain.core.people import Actor
from quintain.core.records.board import BoardView
from quintain.data.plan import ImportPlan
from quintain.perturbations.contract import PERTURBATIONS
from quintain.services.board.assemble import board
from quintain.services.board.ranking import dataset_weights, dropped_axes, rank
from quintain.services.data.datasets import import_dataset
from quintain.services.evaluate.results.compute import results
from quintain.services.evaluate.results.variants import applies
from quintain.services.tasks.board_settings import let_score, set_board
from quintain.services.tasks.definitions import get_task, put_task
from quintain.store.blobs import Blobs
from tests.boards import add_version, evaluated
from tests.evaluation import TASK
from tests.languages import opinions

ANSWERS = {"good": "positive", "bad": "negative"}


@pytest.mark.parametrize("language", ["zh", "ar", "hi", "de"])
def test_a_board_in_another_language_ranks(
    db: Session, blobs: Blobs, owner: Actor, builder: Actor, tmp_path: Path, language: str
) -> None:
    """Fairness, of which nothing applies, is no axis; robustness is one only where it rests on several kinds."""
    put_task(db, owner, f'{TASK}languages = ["{language}"]\n')
    rows = [{**row, "answer": ANSWERS[row["answer"]]} for row in opinions(language, half=1)]
    file = tmp_path / "test.jsonl"
    pl.DataFrame(rows).write_ndjson(file)
    version = import_dataset(db, blobs, owner, "mood", "test", file, ImportPlan(role="test"))
    assert version.language == language
    assert version.report is not None
    assert version.report.hints == []
    let_score(db, owner, "mood/test")
    answers = {row["text"]: row["answer"] for row in rows}
    task = get_task(db, "mood")
    kinds = [name for name in PERTURBATIONS.names() if applies(task, name)]
    for name, share in (("strong", 36), ("weak", 24)):
        known = set(list(answers)[:share])
        model = add_version(db, blobs, builder, tmp_path, name)
        evaluated(
            db, blobs, model,
            lambda row, known=known: answers.get(row["text"], "positive") if row["text"] in known else "positive",
            perturbed=kinds,
        )  # fmt: skip
    matrix = board(db, blobs, owner, "mood")
    dropped = dropped_axes(matrix, dataset_weights(matrix, BoardView()))
    assert dropped == ["fairness"]
    assert {model["name"]: model["rank"] for model in rank(matrix).as_dict()["models"]} == {"strong": 1, "weak": 2}
    shown = results(db, blobs, task)[0].robustness
    assert shown is not None
    assert shown["kinds"] == {"zh": 5, "ar": 3, "hi": 4, "de": 6}[language]


def test_a_board_weighs_languages(db: Session, blobs: Blobs, owner: Actor, builder: Actor, tmp_path: Path) -> None:
    """A language has its weight however many data sets it has; without weights each data set counts by its own."""
    put_task(db, owner, f'{TASK}languages = ["de", "en"]\n')
    answers: dict[str, tuple[str, str]] = {}
    for name, language, half in (("a", "en", 0), ("b", "en", 1), ("c", "de", 0)):
        rows = [{**row, "answer": ANSWERS[row["answer"]]} for row in opinions(language, half=half)]
        answers |= {row["text"]: (row["answer"], language) for row in rows}
        file = tmp_path / f"{name}.jsonl"
        pl.DataFrame(rows).write_ndjson(file)
        import_dataset(db, blobs, owner, "mood", name, file, ImportPlan(role="test", language=language))
        let_score(db, owner, f"mood/{name}")
    for name, speaks in (("english", "en"), ("german", "de")):
        model = add_version(db, blobs, builder, tmp_path, name)
        evaluated(
            db, blobs, model,
            lambda row, speaks=speaks: (
                answers[row["text"]][0] if answers[row["text"]][1] == speaks else "positive"
            ),
            perturbed=[],
        )  # fmt: skip
    view = BoardView(weights={"performance": 1.0, "robustness": 0.0, "fairness": 0.0, "throughput": 0.0, "memory": 0.0})

    def leads() -> str:
        matrix = board(db, blobs, owner, "mood")
        return str(rank(matrix, view).as_dict()["models"][0]["name"])

    assert leads() == "english"
    set_board(db, owner, "mood", {"languages": {"de": 3}})
    assert [dataset.weight for dataset in board(db, blobs, owner, "mood").datasets] == [0.5, 0.5, 3.0]
    assert leads() == "german"
    with pytest.raises(BadInput) as refused:
        set_board(db, owner, "mood", {"languages": {"de": 0, "en": 0}})
    assert [fault.field for fault in refused.value.faults] == ["languages"]
