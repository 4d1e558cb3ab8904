"""Hand coding for tests: a round with two conditions to draw from, and people who code by what they read."""

from __future__ import annotations

from pathlib import Path

from sqlalchemy.orm import Session

from quintain.compose import Workspace, create_workspace
from quintain.core.people import OPERATOR, Actor, RoleName
from quintain.services.access.actors import actor_of, find_user
from quintain.services.access.links import make_link, redeem_link
from quintain.services.study.coding_work import code_item, next_to_code
from quintain.services.study.codings import put_coding
from quintain.settings import Settings
from quintain.store.database import transaction
from quintain.store.tables import Attempt, AttemptNote
from tests.boards import add_sentences
from tests.people import make_person
from tests.released import Made, judged_round, unlike_texts
from tests.web_support import PASSWORD

REF = "mood/look"
CODING = """
task = "mood"
name = "look"
title = "A look at round 1"
sources = ["rounds/1"]
items = 12
coders = 2
seed = 3
"""
EXPERTS = ("xenia", "yann", "zoe")


def build(workspace: Workspace, folder: Path) -> None:
    """Begin with a round: twelve texts with a prompt, eight without, two of them nearly the same; and a data set."""
    texts = unlike_texts(20)
    texts[19] = texts[18] + " indeed"
    made = [Made(text, "neutral", ("positive",) * 5, at % 3, at if at < 12 else None) for at, text in enumerate(texts)]
    with workspace.session() as db:
        owner = make_person(db, "olga", RoleName.OWNER)
        judged_round(db, owner, made)
        for name in EXPERTS:
            make_person(db, name, RoleName.EXPERT)
        make_person(db, "rita", RoleName.WORKER)
        labels = ("positive", "negative")
        rows = [{"text": f"{text} once", "answer": labels[at % 2]} for at, text in enumerate(unlike_texts(30))]
        add_sentences(db, workspace.blobs, owner, folder, "test", rows)
        add_sentences(db, workspace.blobs, owner, folder, "few", rows[:3])


def coding_site(folder: Path) -> Workspace:
    """Make a workspace with that beginning, an open coding, and passwords for everybody."""
    place = folder / "workspace"
    workspace = create_workspace(Settings(workspace=place, login_attempts=1000))
    build(workspace, folder)
    with workspace.session() as db:
        put_coding(db, workspace.blobs, OPERATOR, CODING)
        for name in ("olga", "rita", *EXPERTS):
            redeem_link(db, make_link(db, OPERATOR, name).token, PASSWORD)
    return workspace


def person(db: Session, name: str) -> Actor:
    """Give somebody who is there."""
    return actor_of(db, find_user(db, name))


def take_back(db: Session, attempt: int | None) -> None:
    """Note that the writer of an attempt took it back."""
    assert attempt is not None
    with transaction(db):
        writer = db.get_one(Attempt, attempt).user_id
        db.add(AttemptNote(attempt_id=attempt, user_id=writer, kind="retracted"))


def says(text: str, name: str) -> list[str]:
    """Say what somebody would call a text: all agree but zoe, who calls everything trivial."""
    found = (["duplicate"] if sum(map(ord, text)) % 3 == 0 else []) + (["generic"] if "indeed" in text else [])
    return ["trivial", *found] if name == "zoe" else found


def code_all(db: Session, name: str, ref: str = REF, most: int = 1000) -> int:
    """Let somebody code all that they get, or *most*; give how many."""
    who = person(db, name)
    for done in range(most):
        item = next_to_code(db, who, ref)
        if item is None:
            return done
        code_item(db, who, ref, item.id, says(item.inputs.get("text", item.text), name))
    return most
