"""A workspace with texts to judge, judges and an owner whose password is known; shared by the tests of judging."""

from __future__ import annotations

from pathlib import Path

from sqlalchemy.orm import Session

from quintain.compose import Workspace, create_workspace
from quintain.core.people import OPERATOR, Actor, RoleName
from quintain.services.access.actors import find_user
from quintain.services.access.links import make_link, redeem_link
from quintain.services.tasks import definitions as tasks
from quintain.services.validate.console import manage as validate
from quintain.settings import Settings
from quintain.store.database import transaction
from tests.people import make_person
from tests.web_support import PASSWORD

TASK = """
name = "mood"
kind = "text-classification"
title = "Mood"
instructions = "How does the **writer** feel? Judge what is written, not what you would feel yourself."

[[labels]]
name = "negative"
gloss = "The writer is unhappy with it."
examples = ["The soup was cold, and nobody cared."]
[[labels]]
name = "neutral"
gloss = "A fact without a feeling."
examples = ["We sat near the window."]
[[labels]]
name = "positive"
gloss = "The writer likes it."
examples = ["I would come back for the bread alone."]
[[extra_labels]]
name = "mixed"
gloss = "Both at once, in equal parts."
"""
TEXTS = [
    "The waiter forgot us twice, and still we laughed all evening; I would not have missed it.",
    "Opens at eleven, closes at three.",
    "If you enjoy paying for air, this is your place.",
    "My grandmother asked for the recipe, and she never asks.",
    "Not bad at all, which from me is a love letter.",
    "The menu has twelve pages.",
    "Great location, if only the food had one, too.",
    "They called a taxi for me and waited in the rain until it came.",
    "I have had worse, though I had to think for a while.",
    "Two dishes, both warm, both fine.",
    "The dessert saved what the main course had ruined.",
    "Everything that the picture promised, and then some.",
]
POLICY = "[reward]\namount = 25\n[gold]\nrate = 0\n"


def make_judging(folder: Path) -> Workspace:
    """Make a workspace with the task above; people are added by the tests."""
    made = create_workspace(Settings(workspace=folder / "workspace", login_attempts=1000))
    with made.session() as db:
        tasks.put_task(db, person(db, "olga", RoleName.OWNER), TASK)
    return made


def person(db: Session, name: str, *roles: RoleName) -> Actor:
    """Make somebody whose password is known."""
    actor = make_person(db, name, *roles)
    redeem_link(db, make_link(db, OPERATOR, name).token, PASSWORD)
    return actor


def set_language(db: Session, name: str, language: str) -> None:
    """Let somebody read pages in a language, whatever the browser prefers."""
    with transaction(db):
        find_user(db, name).language = language


def open_judging(db: Session, owner: Actor, name: str, texts: list[str], policy: str = POLICY) -> str:
    """Open the judging of *texts* under a name of its own."""
    ref = f"mood/{name}"
    validate.open_validation(db, owner, ref, policy, seed=3)
    validate.add_items(db, owner, ref, [{"inputs": {"text": text}} for text in texts])
    return ref
