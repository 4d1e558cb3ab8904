"""Judgements that were set aside stay out of what is computed from a file, and labels have one form of Unicode."""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest
from sqlalchemy.orm import Session
from typer.testing import Result

from quintain.core.people import Actor
from quintain.data.tables import write_table
from quintain.services.plain.labels.judgements import read_judgements
from quintain.services.tasks import definitions as tasks
from quintain.services.validate.console import export as judged_export
from quintain.services.validate.console import manage as validate
from quintain.services.validate.judging import claim_page, submit_page
from quintain.services.validate.judging.submit_page import Answer
from quintain.services.validate.quality import gold
from quintain.services.validate.quality.vmer import error_rates
from quintain.tasks.definition import parse_task
from tests.validation_support import REF, judge_all, make_ground, make_judges, truth

GOOD, BAD = "génial", "nul"
SPLIT = unicodedata.normalize("NFD", GOOD)
TASK = f"""
name = "mood"
kind = "text-classification"
title = "Mood"
labels = ["{SPLIT}", "{BAD}"]
"""
Cli = Callable[..., Result]


def judged(path: Path) -> Path:
    """Write three honest workers on ten items, and one who is wrong everywhere and was set aside."""
    rows = [
        {"item": f"i{item}", "worker": worker, "label": "b" if worker == "w3" else "a", "kept": worker != "w3"}
        for item in range(10)
        for worker in ("w0", "w1", "w2", "w3")
    ]
    write_table(pl.DataFrame(rows), path)
    return path


@pytest.mark.parametrize("suffix", [".csv", ".jsonl", ".parquet"])
@pytest.mark.parametrize(
    "command",
    [("labels", "aggregate", "--out", "OUT"), ("labels", "agreement"), ("labels", "workers"), ("study", "human")],
)
def test_commands_leave_out_what_was_set_aside(cli: Cli, tmp_path: Path, command: tuple[str, ...], suffix: str) -> None:
    """They say how many rows that is, on the side and in JSON; --all counts them."""
    path = judged(tmp_path / f"judgements{suffix}")
    words = [str(tmp_path / "out.csv") if word == "OUT" else word for word in command]
    short = cli(*words, path, "--json")
    assert short.exit_code == 0
    found = json.loads(short.stdout)
    assert (found["judgements"], found["set_aside"]) == (30, 10)
    assert "set aside (kept is false): 10; --all counts them" in short.stderr
    again = ["--force"] if "OUT" in command else []
    every = json.loads(cli(*words, path, "--json", "--all", *again).stdout)
    assert (every["judgements"], every["set_aside"]) == (40, 0)


def test_expanding_leaves_them_out_too(cli: Cli, tmp_path: Path) -> None:
    """Training rows are made of the judgements that count."""
    path, out = judged(tmp_path / "judgements.csv"), tmp_path / "out.csv"
    found = json.loads(cli("labels", "expand", path, "--out", out, "--json").stdout)
    assert (found["rows"], found["labels"], found["set_aside"]) == (30, {"a": 30}, 10)


def test_a_validation_that_is_exported_and_measured_leaves_out_its_random_clicker(
    cli: Cli, db: Session, owner: Actor, tmp_path: Path
) -> None:
    """Human performance is that of the judges who count."""
    make_ground(db, owner, 20, "judgements = 4\nminimum = 2\n")
    judge_all(db, make_judges(db, 6), [lambda inputs: "mixed", *[truth] * 5])
    path = tmp_path / "judgements.csv"
    judged_export.export_judgements(db, owner, REF, path)
    found = json.loads(cli("study", "human", path, "--json").stdout)
    assert found["set_aside"] == 20
    assert found["synthetic_annotators"]["all"]["f1"]["value"] == 1.0
    every = json.loads(cli("study", "human", path, "--json", "--all").stdout)
    assert every["synthetic_annotators"]["all"]["f1"]["value"] < 1.0


def test_a_column_kept_that_means_something_else_is_named(cli: Cli, tmp_path: Path) -> None:
    """Neither true nor false is refused with its row and the way around it; nothing kept is said, too."""
    path = tmp_path / "judgements.csv"
    path.write_text("item,worker,label,kept\ni1,w1,a,perhaps\ni1,w2,b,\n")
    refused = cli("labels", "workers", path)
    assert refused.exit_code == 1
    assert "judgements.csv, row 2, field 'kept': 'perhaps' is neither true nor false" in refused.stderr
    assert cli("labels", "workers", path, "--all").exit_code == 0
    path.write_text("item,worker,label,kept\ni1,w1,a,false\n")
    assert "every row is set aside" in cli("labels", "workers", path).stderr


def test_labels_that_look_the_same_are_the_same_in_tables(tmp_path: Path) -> None:
    """Judgements, the set of labels and gold labels may come in either form."""
    assert GOOD != SPLIT
    path = tmp_path / "judgements.csv"
    path.write_text(f"item,worker,label,truth\ni1,w1,{GOOD},{SPLIT}\ni1,w2,{SPLIT},{SPLIT}\ni2,w1,{BAD},{BAD}\n")
    table = read_judgements(path)
    assert table.judgements.classes == (GOOD, BAD)


def test_labels_of_tasks_judgements_gold_and_predictions_have_one_form(db: Session, owner: Actor) -> None:
    """A task written in one form is judged, tested and predicted in the other."""
    assert parse_task(TASK).label_names == (GOOD, BAD)
    tasks.put_task(db, owner, TASK)
    validate.open_validation(db, owner, REF, "judgements = 1\nminimum = 1\n[gold]\nrate = 0\n")
    rows = [{"inputs": {"text": "ah"}, "answer": GOOD, "predictions": [{"model": "m", "answer": SPLIT}]}]
    validate.add_items(db, owner, REF, rows)
    gold.add_gold(db, owner, REF, [{"inputs": {"text": "oh"}, "label": SPLIT}])
    (actor,) = make_judges(db, 1)
    page = claim_page.claim_page(db, actor, REF)
    assert page is not None
    assert submit_page.submit_page(db, actor, page.token, [Answer(page.items[0].id, SPLIT)]).judged == 1
    rates = error_rates(db, owner, REF)
    assert rates["vmer"]["value"] == 0.0
