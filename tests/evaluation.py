"""A small task with data and models, for tests of evaluation."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Sequence
from pathlib import Path

from sqlalchemy.orm import Session

from quintain.core.people import Actor
from quintain.data.plan import ImportPlan
from quintain.models.card import HEADINGS
from quintain.services.data.datasets import VersionInfo, import_dataset
from quintain.services.evaluate.cells.run_cell import PERTURBATIONS_KEY
from quintain.services.models.registry import ModelVersionInfo, register_version
from quintain.services.tasks.definitions import put_task
from quintain.store.blobs import Blobs
from quintain.store.database import transaction
from quintain.store.tables import Secret

TASK = """
name = "mood"
kind = "text-classification"
title = "Mood"
labels = ["negative", "positive"]
metrics = ["accuracy", "macro_f1"]
canonical_metric = "accuracy"
"""
SENTENCES = [
    ("I do not like it, James.", "negative"),
    ("She's a wonderful actress.", "positive"),
    ("What an awful, awful evening!", "negative"),
    ("We loved every minute of it.", "positive"),
    ("He won't go there again.", "negative"),
    ("They were kind and quick.", "positive"),
]
CARD = "# A model\n\n" + "\n\n".join(f"## {heading}\n\nSaid here." for heading in HEADINGS)
CONSTANT = "def predict(batch): return ['positive'] * len(batch)"


def add_task(db: Session, owner: Actor) -> None:
    """Add the task, in a workspace whose perturbed texts are the same in every run of the tests.

    What is changed is drawn by a secret of the workspace, and among few rows nothing may be drawn that changes an
    answer.
    """
    with transaction(db):
        if db.get(Secret, PERTURBATIONS_KEY) is None:
            db.add(Secret(name=PERTURBATIONS_KEY, value="0" * 64))
    put_task(db, owner, TASK)


def add_data(
    db: Session,
    blobs: Blobs,
    owner: Actor,
    folder: Path,
    *,
    name: str = "test",
    rows: Sequence[tuple[str, str]] = tuple(SENTENCES),
    hidden: bool = True,
    role: str = "test",
) -> VersionInfo:
    """Add a version of data set *name*."""
    file = folder / f"{name}.jsonl"
    file.write_text("".join(json.dumps({"text": text, "answer": answer}) + "\n" for text, answer in rows))
    plan = ImportPlan(role=role, hidden=hidden)
    return import_dataset(db, blobs, owner, "mood", name, file, plan, score=role == "test")


def add_model(
    db: Session, blobs: Blobs, builder: Actor, folder: Path, *, name: str = "constant", code: str = CONSTANT
) -> ModelVersionInfo:
    """Add a model whose handler is *code*."""
    model = folder / f"model-{name}"
    model.mkdir(exist_ok=True)
    (model / "handler.py").write_text(textwrap.dedent(code))
    return register_version(db, blobs, builder, "mood", name, adapter="handler", folder=model, card=CARD)
