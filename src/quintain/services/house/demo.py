"""The demo: starter tasks with their data, trained baselines, and people who play the parts.

Every step looks first whether its result is there, and is kept by itself. So an interrupted build goes on where it
stopped, and a finished one is only looked through.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from importlib.resources import as_file, files
from pathlib import Path

from sqlalchemy.orm import Session

from quintain.core.contrast import ContrastSpec, Limit
from quintain.core.example import Role
from quintain.core.people import OPERATOR, RoleName
from quintain.data.plan import ImportPlan
from quintain.services.access import accounts
from quintain.services.access.links import Link, make_link
from quintain.services.contrast.projects import get_project, list_projects, put_spec
from quintain.services.contrast.releasing import release_project
from quintain.services.contrast.uploading import add_variants
from quintain.services.data.datasets import import_dataset, list_versions
from quintain.services.models.registry import list_models
from quintain.services.models.train import train
from quintain.services.tasks.definitions import put_task
from quintain.store.blobs import Blobs
from quintain.store.database import transaction

Progress = Callable[[str, float], None]  # what is being done, and the fraction of everything that is done


@dataclass(frozen=True, slots=True)
class Split:
    """One file of a starter task, and what becomes of it."""

    name: str
    role: Role
    description: str
    hidden: bool = False
    unlabelled: bool = False


@dataclass(frozen=True, slots=True)
class Starter:
    """A starter task: its name, its files, and the baselines to train on the first of them."""

    name: str
    splits: tuple[Split, ...]
    baselines: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class DemoPerson:
    """Somebody who plays a part in the demo."""

    name: str
    display_name: str
    role: RoleName


TRAIN = Split("train", Role.TRAIN, "Starter data to train on.")
DEV = Split("dev", Role.DEV, "Starter data to look at while building.")
TEST = Split("test", Role.TEST, "Starter data that scores; its answers are hidden.", hidden=True)
MIXED = Split("mixed", Role.DEV, "Sentences that praise and blame at once, for people to judge.", unlabelled=True)

STARTERS = (
    Starter("sentiment", (TRAIN, DEV, TEST, MIXED), ("majority", "lexicon", "tfidf", "ngram")),
    Starter("nli", (TRAIN, TEST), ("majority", "hypothesis-only", "pair-overlap")),
    Starter("qa", (TRAIN, TEST), ("return-context", "span-overlap")),
    Starter("choice", (TRAIN, TEST), ("majority-choice", "answer-only", "option-overlap")),
    Starter("hate", (TRAIN, DEV, TEST), ("majority", "tfidf")),
)
CONTRAST = ContrastSpec(
    "sentiment",
    "near-misses",
    "Near misses: sentences of dev, turned by a few words",
    "sentiment/dev",
    instructions="Change as few words as you can. What is left should be a sentence that somebody might write.",
    phenomena=("negation", "word choice", "stance"),
    pivots=105,
    limit=Limit(most=10),
    writers="workers",
    drafts=True,
    scouting=3,
)
TO_CHECK = 6  # variants that wait for the visitor
ADMIN = "admin"
PARTS = (
    DemoPerson("demo-owner", "Demo owner", RoleName.OWNER),
    DemoPerson("demo-builder", "Demo builder", RoleName.BUILDER),
    DemoPerson("demo-worker", "Demo worker", RoleName.WORKER),
)


def build_demo(db: Session, blobs: Blobs, *, progress: Progress) -> None:
    """Put everything that is missing of the demo into a workspace, as its operator."""
    with as_file(files("quintain") / "demo_data") as folder:
        steps = list(_steps(db, blobs, folder))
        for number, (what, step) in enumerate(steps):
            progress(what, number / len(steps))
            step()
    progress("Ready", 1.0)


def add_starter_tasks(db: Session, blobs: Blobs, name: str) -> None:
    """Put a starter task and its data into a workspace, as far as they are missing, as its operator."""
    starter = next(one for one in STARTERS if one.name == name)
    with as_file(files("quintain") / "demo_data") as folder:
        add_starter(db, blobs, starter, folder)


def add_starter(db: Session, blobs: Blobs, starter: Starter, folder: Path) -> None:
    """Put a task and its data, which lie in *folder* under its name, into a workspace, as far as they are missing."""
    _task(db, folder / starter.name / "task.toml")
    for split in starter.splits:
        _data(db, blobs, starter, split, folder / starter.name)


def train_starter(db: Session, blobs: Blobs, starter: Starter) -> None:
    """Train the baselines of a starter task that are not there."""
    for baseline in starter.baselines:
        _model(db, blobs, starter, baseline)


def add_people(db: Session) -> None:
    """Make the accounts of the demo that are not there yet; nobody can open one without a link."""
    accounts.first_admin(db)
    known = {person.name for person in accounts.list_people(db, OPERATOR)}
    for part in PARTS:
        if part.name not in known:
            accounts.invite(db, OPERATOR, part.name, display_name=part.display_name, roles=[part.role])


def demo_links(db: Session) -> list[Link]:
    """Make a link for each demo account that nobody has opened yet, the admin's first; older links stop working."""
    names = [ADMIN, *(part.name for part in PARTS)]
    people = {person.name: person for person in accounts.list_people(db, OPERATOR)}
    return [make_link(db, OPERATOR, name) for name in names if name in people and not people[name].opened]


def _steps(db: Session, blobs: Blobs, folder: Path) -> Iterator[tuple[str, Callable[[], object]]]:
    yield "Making accounts", partial(add_people, db)
    for starter in STARTERS:
        home = folder / starter.name
        yield f"Adding task {starter.name}", partial(_task, db, home / "task.toml")
        for split in starter.splits:
            yield f"Importing {starter.name}/{split.name}", partial(_data, db, blobs, starter, split, home)
    yield "Adding contrast sets", partial(_contrast, db, blobs, folder)
    for starter in STARTERS:
        for baseline in starter.baselines:
            yield f"Training {baseline} on {starter.name}", partial(_model, db, blobs, starter, baseline)


def _task(db: Session, path: Path) -> None:
    put_task(db, OPERATOR, path.read_text(encoding="utf-8"), file=path.name)


def _data(db: Session, blobs: Blobs, starter: Starter, split: Split, home: Path) -> None:
    if any(version.dataset == split.name for version in list_versions(db, OPERATOR, starter.name)):
        return
    plan = ImportPlan(role=split.role, hidden=split.hidden, unlabelled=split.unlabelled, description=split.description)
    file = home / f"{split.name}.jsonl"
    import_dataset(db, blobs, OPERATOR, starter.name, split.name, file, plan, score=split.role in {"test", "contrast"})


def _contrast(db: Session, blobs: Blobs, folder: Path) -> None:
    """Open the project over dev, whose labels are open, with what was written for it; the last few wait for a check."""
    ref = f"{CONTRAST.task}/{CONTRAST.name}"
    if not any(project.ref == ref for project in list_projects(db, OPERATOR, CONTRAST.task).projects):
        put_spec(db, blobs, OPERATOR, CONTRAST)
    if not get_project(db, OPERATOR, ref).progress.variants:
        text = (folder / CONTRAST.task / "contrast.jsonl").read_text(encoding="utf-8")
        rows = [json.loads(line) for line in text.splitlines()]
        with transaction(db):
            add_variants(db, OPERATOR, ref, rows[:-TO_CHECK], checked=True)
            add_variants(db, OPERATOR, ref, rows[-TO_CHECK:])
    if not any(version.dataset == CONTRAST.name for version in list_versions(db, OPERATOR, CONTRAST.task)):
        release_project(db, blobs, OPERATOR, ref)


def _model(db: Session, blobs: Blobs, starter: Starter, baseline: str) -> None:
    if any(model.name == baseline for model in list_models(db, OPERATOR, starter.name)):
        return
    dev = [f"{starter.name}/{DEV.name}"] if DEV in starter.splits else []
    train(db, blobs, OPERATOR, starter.name, baseline, [f"{starter.name}/{TRAIN.name}"], dev_refs=dev)
