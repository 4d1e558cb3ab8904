"""A small trial whose items are judged, with two built-in baselines that can be run on them."""

from __future__ import annotations

import json
import threading
from itertools import count
from pathlib import Path
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session

from quintain.compose import Workspace
from quintain.core.people import Actor
from quintain.data.plan import ImportPlan
from quintain.engine.jobs import LocalEngine
from quintain.services.collect.writing.sessions import start_session
from quintain.services.collect.writing.submit_attempt import submit_attempt
from quintain.services.data.datasets import import_dataset
from quintain.services.evaluate.cells.worker import work
from quintain.services.models.train import train
from quintain.services.tasks.definitions import put_task
from quintain.services.trial.participation import enter, trial_part
from quintain.services.trial.reporting import open_pool
from quintain.services.trial.trials import open_trial, put_trial
from quintain.store.blobs import Blobs
from quintain.store.tables import CrowdArm, CrowdMember
from tests.collecting import writers
from tests.evaluated import CONDITIONS
from tests.validation_support import judge_all, make_judges

TASK = """
name = "mood"
kind = "text-classification"
title = "Mood"
labels = ["negative", "positive"]
[[extra_labels]]
name = "unclear"
"""
ARM = """
name = "{name}"
workers = 4
[[stages]]
name = "writing"
writing = {{items = 2, sessions = 2, final = true, pay = 100}}
[validation]
votes = 2
many = 5
sample = 100
setting = 4
"""
WHERE = ("mood", "words")
# On plain words a counter of words is right; the turns of the other arm mislead it.
TEXTS = {
    "easy": ("The {thing} was wonderful and great.", "The {thing} was awful and boring."),
    "hard": ("The {thing} was awful to leave, so much did I want more.", "The {thing} was wonderful, said nobody."),
}
LABELS = ("positive", "negative")
THINGS = ("lantern", "orchard", "viola", "harbour", "saddle", "glacier", "kettle", "archive", "meadow", "quarry")
UNCLEAR = THINGS[3]  # judges cannot say what is meant of it
_numbers = count(1)


def truth(inputs: dict[str, Any]) -> str:
    """Say what all judges say of a text."""
    text = str(inputs["text"])
    if UNCLEAR in text:
        return "unclear"
    return next(
        LABELS[place] for lines in TEXTS.values() for place, line in enumerate(lines) if line.partition("}")[2] in text
    )


def import_training(db: Session, blobs: Blobs, owner: Actor, folder: Path) -> None:
    """Add a little data that a model can be trained on."""
    file = folder / "train.jsonl"
    rows = [("great and wonderful", "positive")] * 4 + [("awful and boring", "negative")] * 3
    file.write_text(
        "".join(json.dumps({"text": f"{text} {n}", "answer": said}) + "\n" for n, (text, said) in enumerate(rows))
    )
    import_dataset(db, blobs, owner, "mood", "train", file, ImportPlan(role="train"))


def begin(db: Session, blobs: Blobs, owner: Actor, folder: Path) -> list[Actor]:
    """Open the trial, train two models, and let four people write; give them."""
    put_task(db, owner, TASK)
    import_training(db, blobs, owner, folder)
    for baseline in ("majority", "lexicon"):
        train(db, blobs, owner, "mood", baseline, ["mood/train"])
    put_trial(db, owner, *WHERE, [ARM.format(name=name) for name in TEXTS], title="Words of mood")
    open_trial(db, blobs, owner, *WHERE)
    people = writers(db, 4)
    for one in people:
        enter(db, one, *WHERE)
        write(db, blobs, one)
    return people


def write(db: Session, blobs: Blobs, actor: Actor) -> None:
    """Do all sessions that the trial wants, each with one text of either label."""
    arm = db.scalars(select(CrowdArm.name).join(CrowdMember).where(CrowdMember.user_id == actor.user_id)).one()
    while (part := trial_part(db, actor, *WHERE)).what == "work":
        session = start_session(db, blobs, actor, f"mood/{part.round}")
        for place in range(session.attempts_left):
            number = next(_numbers)
            thing = f"{THINGS[number % 10]} of the {THINGS[number // 10 % 10]} number {number}"
            text = TEXTS[arm][place % 2].format(thing=thing)
            submit_attempt(db, blobs, actor, session.key, {"text": text}, target=LABELS[place % 2], token=f"t{number}")


def judge(db: Session, owner: Actor, name: str = "judge") -> None:
    """Let the pool be judged, by five who agree on everything."""
    open_pool(db, owner, *WHERE)
    judge_all(db, make_judges(db, 5, name), truth, ref="mood/trial-words")


def run_all(db: Session, workspace: Workspace, folder: Path) -> None:
    """Let a worker do all runs that wait."""
    db.rollback()
    work(
        workspace.session,
        workspace.blobs,
        LocalEngine(folder / "locks"),
        CONDITIONS,
        threading.Event(),
        until_empty=True,
        variant="plain",
    )
