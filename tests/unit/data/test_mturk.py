"""Result files of Mechanical Turk: judgements out of them and into them, and what a batch paid."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest
from typer.testing import Result

from quintain.core.errors import BadInput
from quintain.core.rounds import Money
from quintain.services.plain.labels.mturk import read_batch, write_batch

BATCH = """HITId,AssignmentId,WorkerId,AssignmentStatus,WorkTimeInSeconds,Reward,Input.text,Answer.mood
H1,A1,W1,Approved,30,$0.25,Fine.,positive
H1,A2,W2,Rejected,60,$0.25,Fine.,negative
H2,A3,W1,Submitted,90,$0.25,Bad.,negative
"""


def test_a_batch_becomes_judgements_and_back(tmp_path: Path, cli: Callable[..., Result]) -> None:
    """Every assignment is a judgement, rejected or not; pay and the hourly wage are those of the file."""
    file, out, back = tmp_path / "batch.csv", tmp_path / "judged.csv", tmp_path / "back.csv"
    file.write_text(BATCH)
    told = cli("labels", "from-mturk", file, "--out", out)
    assert "3 judgements by 2 workers; 0.75 USD paid, 15.00 USD an hour at 60 seconds." in told.stderr
    assert pl.read_csv(out).rows() == [
        ("Fine.", "W1", "positive"),
        ("Fine.", "W2", "negative"),
        ("Bad.", "W1", "negative"),
    ]
    assert cli("labels", "to-mturk", out, "--reward", "25", "--out", back).exit_code == 0
    again = read_batch(pl.read_csv(back))
    assert again.judgements.rows() == pl.read_csv(out).rows()
    assert (again.paid, again.rejected, again.hourly) == (Money(75), 0, None)


def test_what_is_wrong_is_named() -> None:
    """Missing columns, two columns of answers, a reward that is none."""
    table = pl.DataFrame({"HITId": ["H"], "WorkerId": ["W"], "Answer.a": ["x"], "Answer.b": ["y"]})
    with pytest.raises(BadInput, match=r"2 columns 'Answer\.…'"):
        read_batch(table)
    assert read_batch(table, label="b").judgements.rows() == [("H", "W", "y")]
    with pytest.raises(BadInput, match=r"Answer\.c.; there are"):
        read_batch(table, label="c")
    with pytest.raises(BadInput, match="HITId"):
        read_batch(pl.DataFrame({"WorkerId": ["W"]}))
    with pytest.raises(BadInput, match="no reward"):
        read_batch(table.with_columns(pl.lit("much").alias("Reward")), label="a")
    assert (
        write_batch(pl.DataFrame({"item": [1], "worker": ["w"], "label": ["x"]}), title="T", reward=Money(5)).height
        == 1
    )
