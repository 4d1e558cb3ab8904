"""What a TOML text would change, of everything that one replaces: the verb itself looks, and changes nothing."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from sqlalchemy.orm import Session

from quintain.core.editing import EditOrigin
from quintain.core.errors import BadInput, Fault
from quintain.core.people import Actor
from quintain.core.records.changes import SpecChanges
from quintain.core.spec_changes import ChangesToConfirm
from quintain.core.toml import parse_toml
from quintain.services.collect.rounds.manage import put_round
from quintain.services.contest.contests import put_contest
from quintain.services.contrast.projects import put_project
from quintain.services.pay.policy import put_policy
from quintain.services.study.codings import put_coding
from quintain.services.tasks.board_settings import set_board
from quintain.services.tasks.definitions import put_task
from quintain.services.trial.panel_entry import put_doors
from quintain.services.trial.trials import put_trial
from quintain.services.validate.console.manage import set_policy
from quintain.services.work.quiz_files import parse_quiz
from quintain.services.work.quizzes import put_quiz
from quintain.store.blobs import Blobs

Put = Callable[[Session, Blobs, Actor, str, Sequence[str], EditOrigin], Any]


def _named(ref: str) -> tuple[str, str]:
    task, _, name = ref.partition("/")
    return task, name


# Everything that a TOML text replaces, by what it is; *ref* is a task, or task/name.
PUTS: Mapping[str, Put] = {
    "task": lambda db, _, actor, ref, texts, edit: put_task(db, actor, texts[0], edit=edit),
    "board": lambda db, _, actor, ref, texts, edit: set_board(db, actor, ref, parse_toml(texts[0]), edit=edit),
    "pay policy": lambda db, _, actor, ref, texts, edit: put_policy(db, actor, ref, texts[0], edit=edit),
    "quiz": lambda db, _, actor, ref, texts, edit: put_quiz(db, actor, *_named(ref), parse_quiz(texts[0]), edit=edit),
    "round": lambda db, _, actor, ref, texts, edit: put_round(db, actor, texts[0], task=_named(ref)[0], edit=edit),
    "judging": lambda db, _, actor, ref, texts, edit: set_policy(db, actor, ref, texts[0], edit=edit),
    "contest": lambda db, _, actor, ref, texts, edit: put_contest(db, actor, texts[0], task=_named(ref)[0], edit=edit),
    "contrast project": lambda db, blobs, actor, ref, texts, edit: put_project(
        db, blobs, actor, texts[0], task=_named(ref)[0], edit=edit
    ),
    "coding": lambda db, blobs, actor, ref, texts, edit: put_coding(
        db, blobs, actor, texts[0], task=_named(ref)[0], edit=edit
    ),
    "trial": lambda db, _, actor, ref, texts, edit: put_trial(db, actor, *_named(ref), texts, edit=edit),
    "doors": lambda db, _, actor, ref, texts, edit: put_doors(
        db, actor, *_named(ref), texts[0], base_url="", edit=edit
    ),
}


def preview(db: Session, blobs: Blobs, actor: Actor, what: str, ref: str, texts: Sequence[str]) -> SpecChanges:
    """Return what *texts* would change of what holds for *ref*, and change nothing; of what is new, nothing changes.

    Who may change it may look; faults in the texts are raised as they would be then.
    """
    if what not in PUTS:
        fault = Fault("is '{what}', not one of {known}", what=what, known=", ".join(PUTS), field="what")
        raise BadInput(faults=[fault])
    if not texts:
        raise BadInput(faults=[Fault("is missing", field="toml")])
    try:
        PUTS[what](db, blobs, actor, ref, texts, EditOrigin(look=True))
    except ChangesToConfirm as error:
        db.rollback()
        return error.changes
    raise AssertionError(what)  # every verb looks before it writes
