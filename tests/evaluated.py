"""A workspace in which two models have been run on an open and a hidden data set."""

from __future__ import annotations

import threading
from pathlib import Path

from sqlalchemy.orm import Session

from quintain.compose import Workspace, create_workspace
from quintain.core.people import OPERATOR, Actor, RoleName
from quintain.engine.jobs import LocalEngine
from quintain.engine.sandbox.limits import MIB, Limits
from quintain.services.access.links import make_link, redeem_link
from quintain.services.evaluate.cells import lifecycle as evaluate
from quintain.services.evaluate.cells.conditions import Conditions
from quintain.services.evaluate.cells.worker import work
from quintain.settings import Settings
from quintain.store.database import transaction
from quintain.store.queries.evaluate import cells as queries
from tests.evaluation import SENTENCES, add_data, add_model, add_task
from tests.people import make_person
from tests.web_support import PASSWORD

CONDITIONS = Conditions(Limits(memory_bytes=512 * MIB, wall_seconds=60, call_seconds=20))
CASE_SENSITIVE = """
    def predict(batch):
        return [{"positive": 0.9, "negative": 0.1} if "w" in item["text"] else "negative" for item in batch]
"""
VARIANTS = {"plain", "measure", "word_case", "typos", "gender_words"}
MORE = [
    ("It was a dull show.", "negative"),
    ("Her speech was witty.", "positive"),
    ("The waiter lost his patience.", "negative"),
    ("A warm and lovely place.", "positive"),
    ("Nobody would want this.", "negative"),
    ("The food is great.", "positive"),
]


def build(db: Session, workspace: Workspace, owner: Actor, builder: Actor, folder: Path) -> None:
    """Add the task `mood` with the data sets `open` and `secret` and two models, and run some of the variants."""
    folder.mkdir(exist_ok=True)
    add_task(db, owner)
    add_data(db, workspace.blobs, owner, folder, name="open", rows=[*SENTENCES, *MORE], hidden=False)
    add_data(db, workspace.blobs, owner, folder, name="secret", rows=SENTENCES, hidden=True)
    add_model(db, workspace.blobs, builder, folder)
    add_model(db, workspace.blobs, builder, folder, name="brittle", code=CASE_SENSITIVE)
    evaluate.fill(db)
    with transaction(db):
        for row in queries.rows(db):
            if row.cell.variant.partition(".v")[0] not in VARIANTS:
                row.cell.state = "cancelled"
    db.rollback()
    engine = LocalEngine(folder / "locks")
    work(workspace.session, workspace.blobs, engine, CONDITIONS, threading.Event(), until_empty=True)


def evaluated_workspace(folder: Path) -> Workspace:
    """Make a workspace in *folder* with all that, and with an owner, a builder and another one who have passwords."""
    workspace = create_workspace(Settings(workspace=folder, login_attempts=1000))
    with workspace.session() as db:
        owner = make_person(db, "olga", RoleName.OWNER)
        builder = make_person(db, "bert", RoleName.BUILDER)
        make_person(db, "boris", RoleName.BUILDER)
        for name in ("olga", "bert", "boris"):
            redeem_link(db, make_link(db, OPERATOR, name).token, PASSWORD)
        build(db, workspace, owner, builder, folder.parent / "files")
    return workspace
