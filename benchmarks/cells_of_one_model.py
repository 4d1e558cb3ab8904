"""Seconds that a worker takes for all cells of one model on one data set, and how much of them is getting it ready.

    python benchmarks/cells_of_one_model.py [--mib 256] [--rows 200]

One model is a handler that comes with so many MiB of weights, the other a baseline of our own. The variants of the data
set are made before, by a first model: what is timed is leasing, unpacking, loading, asking and storing.
"""

from __future__ import annotations

import argparse
import json
import os
import tempfile
import threading
import time
from pathlib import Path

from quintain.compose import Workspace, create_workspace
from quintain.core.people import OPERATOR
from quintain.data.plan import ImportPlan
from quintain.engine.jobs import LocalEngine
from quintain.models.card import HEADINGS
from quintain.services.data.datasets import import_dataset
from quintain.services.evaluate.cells.conditions import Conditions
from quintain.services.evaluate.cells.worker import work
from quintain.services.models.registry import register_version
from quintain.services.models.train import train
from quintain.services.tasks.definitions import put_task
from quintain.settings import Settings

TASK = """
name = "mood"
kind = "text-classification"
title = "Mood"
labels = ["negative", "positive"]
metrics = ["accuracy"]
canonical_metric = "accuracy"
"""
CARD = "# A model\n\n" + "\n\n".join(f"## {heading}\n\nSaid here." for heading in HEADINGS)
HANDLER = """
from pathlib import Path
WEIGHTS = Path(__file__).with_name("weights").read_bytes()
def predict(batch): return ["positive"] * len(batch)
"""


def main() -> None:
    """Time both models and print one line for each."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--mib", type=int, default=256)
    parser.add_argument("--rows", type=int, default=200)
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        workspace = create_workspace(Settings(workspace=folder / "workspace"))
        _prepare(workspace, folder, chosen.rows)
        _time(workspace, folder, "the variants, made once")
        _add_handler(workspace, folder, chosen.mib)
        _time(workspace, folder, f"a handler with {chosen.mib} MiB")
        with workspace.session() as db:
            train(db, workspace.blobs, OPERATOR, "mood", "tfidf", ["mood/train"])
        _time(workspace, folder, "a baseline of our own")


def _prepare(workspace: Workspace, folder: Path, rows: int) -> None:
    with workspace.session() as db:
        put_task(db, OPERATOR, TASK)
        for role in ("train", "test"):
            file = folder / f"{role}.jsonl"
            texts = (f"She didn't like film {role} {n}, and James loved its 3 actors." for n in range(rows))
            labels = ("negative", "positive")
            lines = (json.dumps({"text": text, "answer": labels[n % 2]}) for n, text in enumerate(texts))
            file.write_text("\n".join(lines))
            import_dataset(db, workspace.blobs, OPERATOR, "mood", role, file, ImportPlan(role=role))
    _add_handler(workspace, folder, 0)


def _add_handler(workspace: Workspace, folder: Path, mib: int) -> None:
    model = folder / f"model-{mib}"
    model.mkdir()
    (model / "handler.py").write_text(HANDLER)
    (model / "weights").write_bytes(os.urandom(1 << 20) * mib)
    name = f"handler-{mib}"
    with workspace.session() as db:
        register_version(db, workspace.blobs, OPERATOR, "mood", name, adapter="handler", folder=model, card=CARD)


def _time(workspace: Workspace, folder: Path, what: str) -> None:
    engine = LocalEngine(folder / "locks")
    began = time.perf_counter()
    used = time.process_time()
    cells = work(workspace.session, workspace.blobs, engine, Conditions(), threading.Event(), until_empty=True)
    wall, own = time.perf_counter() - began, time.process_time() - used
    print(f"{what:32} {cells} cells  {wall:6.1f} s  ({own:.1f} s processor of the worker itself)", flush=True)


if __name__ == "__main__":
    main()
