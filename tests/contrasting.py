"""A small contrast project, for tests: a task, its test set, and a project over it."""

from __future__ import annotations

from pathlib import Path

from sqlalchemy.orm import Session

from quintain.compose import Workspace
from quintain.core.people import Actor, RoleName
from quintain.services.contrast.authoring import Edit, add_variant, finish_pivot, take_pivot
from quintain.services.contrast.projects import ProjectInfo, put_project
from quintain.store.blobs import Blobs
from tests.boards import add_sentences
from tests.evaluation import add_task
from tests.people import find_or_make_person

PROJECT = """
task = "mood"
name = "near"
title = "Near misses"
dataset = "mood/test"
phenomena = ["negation", "wording"]
pivots = 6
[limit]
most = 4
"""
PAIRS = [
    ("I liked the soup.", "positive", "I hated the soup.", "negative"),
    ("The film is dull.", "negative", "The film is not dull.", "positive"),
    ("We loved every minute.", "positive", "We loathed every minute.", "negative"),
    ("A rude waiter served us.", "negative", "A kind waiter served us.", "positive"),
    ("It works well.", "positive", "It works badly.", "negative"),
    ("The room was filthy.", "negative", "The room was spotless.", "positive"),
    ("Her voice is warm.", "positive", "Her voice is shrill.", "negative"),
    ("They lost my bag.", "negative", "They found my bag.", "positive"),
]
EDITS = {before: (after, label) for before, _, after, label in PAIRS}


def begin(db: Session, blobs: Blobs, owner: Actor, folder: Path) -> None:
    """Add the task and its test set."""
    add_task(db, owner)
    rows = [
        {"text": text, "answer": label, "tags": ["food" if place == 0 else "other"]}
        for place, (text, label, _, _) in enumerate(PAIRS)
    ]
    add_sentences(db, blobs, owner, folder, "test", rows, hidden=False)


def build(workspace: Workspace, folder: Path) -> None:
    """Begin with the task, its test set and people: olga owns the task, xenia, yann and zoe are experts."""
    with workspace.session() as db:
        owner = find_or_make_person(db, "olga", RoleName.OWNER)
        for name in ("xenia", "yann", "zoe"):
            find_or_make_person(db, name, RoleName.EXPERT)
        begin(db, workspace.blobs, owner, folder)


def expert(db: Session, name: str) -> Actor:
    """Give an expert."""
    return find_or_make_person(db, name, RoleName.EXPERT)


def project(db: Session, blobs: Blobs, owner: Actor, more: str = "") -> ProjectInfo:
    """Open the project, with *more* options."""
    return put_project(db, blobs, owner, more + PROJECT)


def write(db: Session, who: Actor, ref: str = "mood/near", number: int = 1) -> list[int]:
    """Take *number* examples and write the edit of each; give the ids of the variants."""
    made = []
    for _ in range(number):
        pivot = take_pivot(db, who, ref)
        after, label = EDITS[pivot.inputs["text"]]
        tag = "negation" if " not " in after else "wording"
        made.append(add_variant(db, who, ref, pivot.id, Edit({"text": after}, label, [tag])).id)
        finish_pivot(db, who, ref, pivot.id)
    return made
