"""Whatever a model says, the worker goes on, the cell fails as the model's fault, and our memory stays as it was."""

from __future__ import annotations

import textwrap
import threading
import tracemalloc
from contextlib import nullcontext
from pathlib import Path

import pytest
from sqlalchemy.orm import Session

from quintain.compose import Workspace
from quintain.core.people import Actor
from quintain.engine.jobs import LocalEngine
from quintain.engine.sandbox.limits import MIB, AnswersLost, Limits, Outcome
from quintain.engine.session import ModelSession
from quintain.services.access.notify import list_notifications
from quintain.services.evaluate.cells import lifecycle as evaluate
from quintain.services.evaluate.cells.conditions import Conditions
from quintain.services.evaluate.cells.worker import work
from quintain.services.evaluate.submissions.submit import SubmissionRules, quota_left
from quintain.store.blobs import Blobs
from quintain.store.database import transaction
from quintain.store.queries.evaluate import cells as queries
from quintain.store.tables import Cell
from tests.evaluation import add_data, add_model, add_task

CONDITIONS = Conditions(Limits(memory_bytes=512 * MIB, wall_seconds=60, call_seconds=20))
FORGING = """
import sys
main = sys.modules["__main__"]
write = main.Pipe.write
def forge(**said):
    main.Pipe.write = lambda pipe, message: write(pipe, {**message, **said})
"""
HOSTILE = {
    "half a surrogate": 'def predict(batch): raise ValueError("\\ud800")',
    "NUL": 'def predict(batch): raise ValueError("a\\x00b")',
    "surrogates printed": 'def predict(batch):\n    print("\\x00")\n    raise KeyError("\\udfff" * 100_000)',
    "no words": "class E(Exception):\n    def __str__(self): raise E\ndef predict(batch): raise E",
    "huge probability": 'def predict(batch): return [{"positive": 10**400}] * len(batch)',
    "deep answer": (
        "x = []\nfor _ in range(500): x = [x]\ndef predict(batch): return [x] * len(batch)"
    ),
    "surrogate answer": 'def predict(batch): return ["\\ud800"] * len(batch)',
    "wrong types": f"{FORGING}\nforge(ns=[1], times=7, answers={{}}, failures=3, network=[['x']])\n"
    "def predict(batch): return ['positive'] * len(batch)",
    "forged error": f"{FORGING}\nforge(error=['\\ud800'] * 50, traceback={{'a': 1}})\n"
    "def predict(batch): return ['positive'] * len(batch)",
    "no object": "import sys\nmain = sys.modules['__main__']\nwrite = main.Pipe.write\n"
    "def predict(batch):\n    main.Pipe.write = lambda pipe, _: write(pipe, [1])\n    return ['positive'] * len(batch)",
}  # fmt: skip


@pytest.mark.parametrize("code", HOSTILE.values(), ids=HOSTILE.keys())
def test_a_worker_outlives_what_a_model_says(
    workspace: Workspace, db: Session, blobs: Blobs, owner: Actor, builder: Actor, tmp_path: Path, code: str
) -> None:
    """The cell fails at once as the model's fault, its builder hears of it, and the submission counts as one."""
    add_task(db, owner)
    add_data(db, blobs, owner, tmp_path)
    add_model(db, blobs, builder, tmp_path, name="hostile", code=code)
    evaluate.fill(db)
    with transaction(db):
        for row in queries.rows(db):
            row.cell.state = "queued" if row.cell.variant == "plain" else "cancelled"
    engine = LocalEngine(tmp_path / "locks")
    assert work(workspace.session, blobs, engine, CONDITIONS, threading.Event(), until_empty=True) == 0
    db.rollback()
    (cell,) = db.query(Cell).where(Cell.variant == "plain")
    assert (cell.state, cell.attempts) == ("failed", 1)
    assert cell.reason.startswith((Outcome.CRASHED.value, Outcome.BAD_ANSWER.value)), cell.reason
    assert len(cell.reason) < 3000
    assert any("hostile failed on test" in note.text for note in list_notifications(db, builder))
    assert quota_left(db, builder, "mood", SubmissionRules(per_day=5)) == 4


def test_a_fault_of_ours_excuses_only_what_was_never_scored(
    db: Session, blobs: Blobs, owner: Actor, builder: Actor, tmp_path: Path
) -> None:
    """One cell that failed through us gives the place back, unless a score on the labels was seen all the same."""
    add_task(db, owner)
    add_data(db, blobs, owner, tmp_path)
    add_model(db, blobs, builder, tmp_path)
    evaluate.fill(db)
    with transaction(db):
        rows = {row.cell.variant: row.cell for row in queries.rows(db)}
        rows["measure"].state, rows["measure"].reason = "failed", f"{Outcome.PLATFORM}: the disk was full"
    assert quota_left(db, builder, "mood", SubmissionRules(per_day=5)) == 5
    with transaction(db):
        rows["plain"].state = "done"
    assert quota_left(db, builder, "mood", SubmissionRules(per_day=5)) == 4


@pytest.mark.parametrize(
    ("code", "inputs", "refused"),
    [
        ("def predict(batch): return [[[]] * 15_500_000]", 1, True),
        ("def predict(batch): return [[[]] * 20_000 for _ in batch]", 256, True),
        ("def predict(batch): return ['x' * 60_000 for _ in batch]", 256, False),
    ],
    ids=["63 MB of tiny lists", "tiny lists within the size", "long texts within the size"],
)
def test_a_reply_cannot_fill_our_memory(tmp_path: Path, code: str, inputs: int, refused: bool) -> None:
    """What is too long is not kept, what has too many members is not built, and the model can be asked again."""
    (tmp_path / "handler.py").write_text(
        textwrap.dedent(f"first = []\n{code}\nhuge = predict\ndef predict(batch):\n"
        "    if len(batch) == 1 and first: return ['fine']\n    first.append(1)\n    return huge(batch)\n")
    )  # fmt: skip
    limits = Limits(memory_bytes=2048 * MIB, call_seconds=60)
    with ModelSession(tmp_path, adapter="handler", limits=limits) as session:
        tracemalloc.start()
        with pytest.raises(AnswersLost, match="cannot be used") if refused else nullcontext():
            assert len(session.predict([{"text": "one"}] * inputs).answers) == inputs
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        assert session.predict([{"text": "again"}]).answers == ["fine"]
    assert peak < 160 * MIB
