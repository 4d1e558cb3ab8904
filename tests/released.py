"""Judged items for tests of releases: votes stand in the tables at once, so that hundreds cost nothing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
import polars as pl
from sqlalchemy import select, update
from sqlalchemy.orm import Session

from quintain.core.people import Actor
from quintain.services.data.content import scan
from quintain.services.validate.console import manage as validate
from quintain.store.blobs import Blobs
from quintain.store.database import transaction
from quintain.store.tables import Attempt, Judgement, Prompt, Round, Slot, Validation, ValidationItem
from tests.judged_rounds import attempt, key_of, make_round
from tests.validation_support import LABELS, make_judges

MODEL = "mood/m0"
ALL = 'items = "all"'
REF = "mood/1"


@dataclass(frozen=True, slots=True)
class Made:
    """What is to be judged: who wrote it, the model's answer, the five votes, the prompt (None: without one)."""

    text: str
    said: str
    votes: tuple[str, ...]
    writer: int = 0
    prompt: int | None = None
    rating: int | None = None


def mood_items(per_cell: int, *, writers: int = 6, prompts: bool = True) -> list[Made]:
    """Make so many unanimous items of every label and answer, each of a text that is like no other."""
    cells = [cell for cell in product(LABELS, LABELS) for _ in range(per_cell)]
    texts = unlike_texts(len(cells))
    return [
        Made(text, said, (label,) * 5, at % writers, at if prompts else None, 1 + at % 5)
        for at, (text, (label, said)) in enumerate(zip(texts, cells, strict=True))
    ]


def unlike_texts(count: int) -> list[str]:
    """Make texts of made-up words, none like another."""
    letters = np.random.default_rng(11).integers(ord("a"), ord("z"), size=(6 * count, 7))
    words = ["".join(map(chr, row)) for row in letters.tolist()]
    return [" ".join([*words[6 * at : 6 * at + 6], "met"]) for at in range(count)]


def judged_round(db: Session, owner: Actor, items: Sequence[Made], policy: str = ALL) -> None:
    """Make round 1 of these items, with its validation closed and every vote given."""
    writers = make_judges(db, max(one.writer for one in items) + 1, "writer")
    rows = [
        attempt(
            writers[one.writer],
            one.text,
            one.votes[0],
            one.said,
            hash=f"{at:064x}",
            condition="none" if one.prompt is None else "prompt",
            source={} if one.rating is None else {"rating": one.rating},
        )
        for at, one in enumerate(items)
    ]
    make_round(db, owner, rows, policy)
    _give_prompts(db, items)
    judge(db, {one.text: one.votes for one in items})


def judge(db: Session, votes: dict[str, tuple[str, ...]], ref: str = REF, name: str = "judge") -> None:
    """Let five judges, called *name* and a number, give every item its votes, and close the validation."""
    judges = make_judges(db, 5, name)
    with transaction(db):
        found = validate.find_validation(db, ref)
        items = db.scalars(select(ValidationItem).where(ValidationItem.validation_id == found.id)).all()
        db.add_all(
            Judgement(validation_id=found.id, item_id=item.id, user_id=who.user_id, label=vote)
            for item in items
            for who, vote in zip(judges, votes[item.inputs["text"]], strict=True)
        )
        db.execute(update(Slot).where(Slot.validation_id == found.id).values(state="filled"))
        db.execute(update(Validation).where(Validation.id == found.id).values(state="closed"))


def _give_prompts(db: Session, items: Sequence[Made]) -> None:
    with transaction(db):
        round_id = db.scalar(select(Round.id))
        made = {
            one.prompt: Prompt(round_id=round_id, hash=f"p{one.prompt}", inputs={"text": f"p {one.prompt}"}, draw=0)
            for one in items
            if one.prompt is not None
        }
        db.add_all(made.values())
        db.flush()
        for one in items:
            if one.prompt is not None:
                same = Attempt.text_key == key_of(one.text)
                db.execute(update(Attempt).where(same).values(prompt_id=made[one.prompt].id))


def read_split(db: Session, blobs: Blobs, owner: Actor, ref: str) -> list[dict[str, Any]]:
    """Give the examples of a released version, answers too, with `meta` as a table."""
    table = scan(db, blobs, owner, ref, answers=True).collect()
    meta = table["meta"].str.json_decode(
        pl.Struct(
            {
                "writer": pl.String(),
                "label_distribution": pl.Struct(dict.fromkeys((*LABELS, "mixed"), pl.Int64())),
                "predictions": pl.Struct({MODEL: pl.String()}),
                "prompt": pl.Struct({"text": pl.String()}),
                "source": pl.Struct({"rating": pl.Int64()}),
            }
        )
    )
    return table.with_columns(meta=meta).to_dicts()
