"""The whole quality pass of a round of DynaSent's size: 808,289 responses by 1,978 judges on 121,634 items.

Usage: python benchmarks/quality_pass.py

It measures what `quintain validate review` does (read, measure every judge, unqualify whom the rules catch, open their
slots again, label, write down) and what the owner's console then reads, on SQLite. A quarter of the judges click at
random, as did those whom DynaSent removed.
"""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from sqlalchemy import insert
from sqlalchemy.orm import Session

sys.path.insert(0, str(Path(__file__).parent))

from quintain.core.people import OPERATOR
from quintain.services.tasks import definitions as tasks
from quintain.services.validate.console import manage as validate
from quintain.services.validate.console import status as validation_status
from quintain.services.validate.quality.review import review
from quintain.store.database import connect, transaction
from quintain.store.migrate import upgrade
from quintain.store.tables import Judgement, Slot, User, ValidationItem
from rows import Row, print_rows

ITEMS, JUDGES, RESPONSES = 121_634, 1_978, 808_289
LABELS = ("mixed", "negative", "neutral", "positive")
CHUNK = 50_000
TASK = f'name = "mood"\nkind = "text-classification"\ntitle = "Mood"\nlabels = {list(LABELS)}\n'
POLICY = 'batch_size = 4000\n[[rules]]\nrule = "wilson"\nlimit = 0.5\n'


def draw(seed: int = 1) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Draw who judges what and says what: item, judge, place among the item's judgements, label."""
    rng = np.random.default_rng(seed)
    sizes = np.full(ITEMS, RESPONSES // ITEMS)
    sizes[: RESPONSES - sizes.sum()] += 1
    item = np.repeat(np.arange(ITEMS), sizes)
    place = np.arange(RESPONSES) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    # Neighbouring numbers from a random start: nobody twice on an item.
    judge = (np.repeat(rng.integers(0, JUDGES, ITEMS), sizes) + place * 17) % JUDGES
    truth = rng.integers(0, 4, ITEMS)
    clicker = rng.random(JUDGES) < 0.25
    right = rng.random(RESPONSES) < np.where(clicker[judge], 0.0, 0.85)
    label = np.where(right, truth[item], rng.integers(0, 4, RESPONSES))
    return item, judge, place, label


def prepare(db: Session) -> None:
    """Fill a database; items and judgements are numbered from 1."""
    tasks.put_task(db, OPERATOR, TASK)
    ground = validate.open_validation(db, OPERATOR, "mood/check", POLICY)
    shared = {"validation_id": ground.id}
    with transaction(db):
        db.execute(insert(User), [{"id": number + 1, "name": f"j{number}"} for number in range(JUDGES)])
        for start in range(0, ITEMS, CHUNK):
            numbers = range(start, min(start + CHUNK, ITEMS))
            items = [
                {"id": n + 1, "hash": f"{n:032x}", "inputs": {"text": f"sentence {n}"}, "batch": n // 4000, **shared}
                for n in numbers
            ]
            db.execute(insert(ValidationItem), items)
        item, judge, place, label = draw()
        for start in range(0, RESPONSES, CHUNK):
            columns = [column[start : start + CHUNK].tolist() for column in (item, judge, place, label)]
            rows = list(enumerate(zip(*columns, strict=True), start + 1))
            given = [
                {"id": key, "item_id": i + 1, "user_id": j + 1, "label": LABELS[code], "late": k >= 5, "seconds": 9.0}
                for key, (i, j, k, code) in rows
            ]
            db.execute(insert(Judgement), [{**row, **shared} for row in given])
            filled = {"state": "filled", **shared}
            slots = [
                {"item_id": i + 1, "k": k, "rank": k, "draw": key, "batch": i // 4000, "judgement_id": key, **filled}
                for key, (i, _, k, _) in rows
                if k < 5
            ]
            db.execute(insert(Slot), slots)


def race() -> list[Row]:
    """Time the pass, and the console's figures after it."""
    folder = Path(tempfile.mkdtemp(prefix="quintain-quality-"))
    try:
        engine = connect(f"sqlite:///{folder}/q.db")
        upgrade(engine)
        with Session(engine, expire_on_commit=False) as db:
            prepare(db)
            start, cpu = time.perf_counter(), time.process_time()
            found = review(db, OPERATOR, "mood/check")
            passed, worked = time.perf_counter() - start, time.process_time() - cpu
            assert found is not None
            start = time.perf_counter()
            validation_status.status(db, OPERATOR, "mood/check")
            shown = time.perf_counter() - start
        engine.dispose()
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    caught = f"{len(found.caught)} of {found.judges:,} judges caught, {found.opened:,} slots opened"
    what = f"{found.judgements:,} responses, {caught}"
    load = os.getloadavg()[0]
    return [
        Row("quality_pass", what, f"{passed:.1f} s ({worked:.1f} s of one core, load {load:.1f})", "under 20 s"),
        Row("quality_pass", "all figures of the console", f"{shown:.1f} s"),
    ]


if __name__ == "__main__":
    print_rows(race())
