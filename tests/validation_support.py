"""Validations for tests: a small task, items, judges, and pages answered by rule."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sqlalchemy.orm import Session

from quintain.core.errors import Forbidden
from quintain.core.people import Actor, RoleName
from quintain.core.records.judging import Receipt
from quintain.services.tasks import definitions as tasks
from quintain.services.validate.console import manage as validate
from quintain.services.validate.judging import claim_page, submit_page
from quintain.services.validate.judging.claim_page import ClaimedPage
from quintain.services.validate.judging.submit_page import Answer
from quintain.services.validate.types import ValidationInfo
from tests.people import make_person

TASK = """
name = "mood"
kind = "text-classification"
title = "Mood"

[[labels]]
name = "negative"
[[labels]]
name = "neutral"
[[labels]]
name = "positive"
[[extra_labels]]
name = "mixed"
"""
REF = "mood/check"
LABELS = ("negative", "neutral", "positive")


def make_ground(db: Session, owner: Actor, items: int = 20, policy: str = "", *, ref: str = REF) -> ValidationInfo:
    """Open a validation of *items* texts whose true label is the last word of the text."""
    tasks.put_task(db, owner, TASK)
    validate.open_validation(db, owner, ref, policy, seed=7)
    validate.add_items(db, owner, ref, [{"inputs": {"text": text_of(number)}} for number in range(items)])
    return validate.find_validation(db, ref)


def text_of(number: int) -> str:
    """Give the text of an item; its last word is its label."""
    return f"item {number} feels {LABELS[number % 3]}"


def truth(inputs: dict[str, Any]) -> str:
    """Give the true label of an item."""
    return str(inputs["text"]).rsplit(" ", 1)[-1]


def make_judges(db: Session, count: int, name: str = "judge") -> list[Actor]:
    """Make people who may judge."""
    return [make_person(db, f"{name}{number}", RoleName.WORKER) for number in range(count)]


def answer_page(
    db: Session, actor: Actor, page: ClaimedPage, say: Callable[[dict[str, Any]], str] = truth, **options: Any
) -> Receipt:
    """Answer every item of a page by rule, at a second an item: the most that a page of no age believes."""
    answers = [Answer(item.id, say(item.inputs), seconds=1.0) for item in page.items if not item.done]
    return submit_page.submit_page(db, actor, page.token, answers, **options)


def judge_all(db: Session, judges: list[Actor], say: Any = truth, *, ref: str = REF) -> int:
    """Let judges answer until nothing is left for anybody; *say* may be one rule or one for each judge."""
    rules = dict(zip((one.name for one in judges), say, strict=True)) if isinstance(say, list) else {}
    pages = 0
    while True:
        before = pages
        for actor in judges:
            try:
                page = claim_page.claim_page(db, actor, ref)
            except Forbidden:  # unqualified meanwhile
                continue
            if page is not None:
                answer_page(db, actor, page, rules.get(actor.name, say if callable(say) else truth))
                pages += 1
        if pages == before:
            return pages
