"""Contrast sets on the board: evaluated at once, scoring when the owner lets them, ranked by consistency if wished."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy.orm import Session

from quintain.core.people import Actor
from quintain.data.contrast.contract import ContrastFiles
from quintain.data.plan import ImportPlan
from quintain.services.board.assemble import board
from quintain.services.board.draws import draw_axes
from quintain.services.board.ranking import rank
from quintain.services.data.contrast import import_contrast
from quintain.services.evaluate.results.compute import results
from quintain.services.tasks.board_settings import let_score
from quintain.services.tasks.definitions import get_task, put_task
from quintain.store.blobs import Blobs
from tests.boards import add_version, evaluated

TASK = """
name = "mood"
kind = "text-classification"
title = "Mood"
labels = ["negative", "positive"]
metrics = ["{metrics}"]
"""


def says_positive(row: Mapping[str, Any]) -> str:
    """Be a model that has seen no edit: it is right on half of everything, and on no set."""
    return "positive"


def reads(row: Mapping[str, Any]) -> str:
    """Be a model that reads."""
    return "negative" if "bad" in row["text"] else "positive"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Sixty reviews, turned from bad to good or the other way round."""
    rows = [(label, f"Film {number} is {word}.") for number in range(60) for label, word in
            [("Negative", "bad"), ("Positive", "good")][:: 1 if number % 2 else -1]]  # fmt: skip
    for name, start in (("original", 0), ("contrast", 1)):
        lines = ["Sentiment\tText", *("\t".join(row) for row in rows[start::2])]
        (tmp_path / f"test_{name}.tsv").write_text("\n".join(lines) + "\n")
    return tmp_path


@pytest.mark.parametrize(("metrics", "expected"), [("accuracy", [1.0, 0.5]), ("consistency", [1.0, 0.0])])
def test_what_scores_and_by_what(
    db: Session, blobs: Blobs, owner: Actor, builder: Actor, folder: Path, metrics: str, expected: list[float]
) -> None:
    """A model that always says the same is right on half of the members, and on no set."""
    put_task(db, owner, TASK.format(metrics=metrics))
    version, _ = import_contrast(db, blobs, owner, "mood", "turned", "imdb", ContrastFiles(folder), ImportPlan())
    for name, says in (("reader", reads), ("constant", says_positive)):
        evaluated(db, blobs, add_version(db, blobs, builder, folder, name), says, perturbed=())
    found = {one.model_version_id: one.metrics for one in results(db, blobs, get_task(db, "mood"))}
    assert sorted(one["consistency"]["value"] for one in found.values()) == [0.0, 1.0]
    assert {row["rank"] for row in rank(board(db, blobs, owner, "mood")).as_dict()["models"]} == {None}
    let_score(db, owner, f"mood/{version.dataset}")
    made = board(db, blobs, owner, "mood")
    ranked = rank(made)
    axis = made.axes[0].name
    values = {model.name: (figure.value if (figure := model.values[axis][0]) else None) for model in made.models}
    assert [values["reader"], values["constant"]] == [pytest.approx(100 * one) for one in expected]
    drawn = draw_axes(db, blobs, ranked, 200)[0][axis].mean(axis=0)
    assert sorted(drawn) == [pytest.approx(100 * one, abs=5) for one in sorted(expected)]
