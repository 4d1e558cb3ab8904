"""A small round with prompts and a model that can be fooled, for tests of collecting."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from sqlalchemy.orm import Session

from quintain.core.editing import EditOrigin
from quintain.core.people import Actor, RoleName
from quintain.core.records.collect import Verdict
from quintain.models.contract import Batch
from quintain.services.collect.rounds.manage import RoundInfo, open_round, put_round
from quintain.services.collect.rounds.prompts import import_prompts
from quintain.services.collect.writing.submit_attempt import submit_attempt
from quintain.services.models.ask import AdapterRunner
from quintain.services.models.registry import ModelVersionInfo, register_version
from quintain.services.tasks.definitions import put_task
from quintain.store.blobs import Blobs
from quintain.store.database import transaction
from quintain.store.tables import Attempt, AttemptNote
from tests.evaluation import CARD
from tests.people import make_person

TASK = """
name = "mood"
kind = "text-classification"
title = "Mood"
labels = ["negative", "neutral", "positive"]
"""
ROUND = """
task = "mood"
title = "Fool the word counter"
consent = ""
{more}

[targets]
{targets}

[reward]
amount = 30
bonus = 20
currency = "USD"
{tables}
"""
ONE = 'models = ["mood/counter"]'


def answer(text: str) -> dict[str, float]:
    """Be a model that counts two words, and is sure of it."""
    score = text.lower().count("good") - text.lower().count("bad")
    if score == 0:
        return {"negative": 0.2, "neutral": 0.6, "positive": 0.2}
    sign, other = ("positive", "negative") if score > 0 else ("negative", "positive")
    return {sign: 0.8, "neutral": 0.15, other: 0.05}


def counter(version: ModelVersionInfo, blobs: Blobs, batch: Batch) -> list[Any]:
    """Run the word counter."""
    return [answer(str(one.get("text", ""))) for one in batch]


def contrarian(version: ModelVersionInfo, blobs: Blobs, batch: Batch) -> list[Any]:
    """Run a model that always says neutral."""
    return ["neutral" for _ in batch]


RUNNERS: Mapping[str, AdapterRunner] = {"handler": counter, "sklearn": contrarian}


def add_models(db: Session, blobs: Blobs, builder: Actor, folder: Path, *names: str, adapter: str = "handler") -> None:
    """Register models that `RUNNERS` run."""
    for name in names or ("counter",):
        place = folder / f"model-{name}"
        place.mkdir(exist_ok=True)
        (place / "handler.py").write_text(f"# {name}\ndef predict(batch): return ['neutral'] * len(batch)\n")
        register_version(db, blobs, builder, "mood", name, adapter=adapter, folder=place, card=CARD)


def write_prompts(folder: Path, texts: Sequence[str], name: str = "prompts.jsonl", **more: Any) -> Path:
    """Write a file of prompts."""
    path = folder / name
    path.write_text("".join(json.dumps({"text": text, **more}) + "\n" for text in texts))
    return path


def sentences(count: int, start: int = 0) -> list[str]:
    """Make sentences that are no near-duplicates of each other."""
    words = ("amber", "birch", "cobalt", "dune", "ember", "fjord", "glade", "heron", "islet", "jasper")
    return [
        f"{words[i % 10]} {words[i // 10 % 10]} {words[i // 100 % 10]} met {words[(7 * i + 3) % 10]} number {i}."
        for i in range(start, start + count)
    ]


def add_round(
    db: Session,
    blobs: Blobs,
    owner: Actor,
    folder: Path,
    *,
    prompts: int = 20,
    more: str = "",
    targets: str = ONE,
    tables: str = "",
) -> RoundInfo:
    """Add an open round, with its task and model where they are missing."""
    put_task(db, owner, TASK, edit=EditOrigin(whole=True))
    add_models(db, blobs, owner, folder)
    info = put_round(db, owner, ROUND.format(more=more, targets=targets, tables=tables))
    if prompts:
        import_prompts(db, owner, info.ref, write_prompts(folder, sentences(prompts)))
    return open_round(db, owner, info.ref)


def submit(
    db: Session,
    blobs: Blobs,
    actor: Actor,
    key: str,
    text: str,
    *,
    target: str = "negative",
    token: str = "",
    **more: Any,
) -> Verdict:
    """Submit a text; each gets a token of its own unless one is given."""
    return submit_attempt(
        db,
        blobs,
        actor,
        key,
        {"text": text},
        target=target,
        token=token or f"t-{text}"[:80],
        **{"runners": RUNNERS, **more},
    )


def agreed(db: Session, verdict: Verdict) -> Verdict:
    """Note that the writer of an attempt said that others would give its label, in a session that lasts."""
    agree(db, verdict.attempt_id)
    return verdict


def agree(db: Session, attempt_id: int) -> None:
    """Note that the writer of an attempt said that others would give its label."""
    with transaction(db):
        writer = db.get_one(Attempt, attempt_id).user_id
        db.add(AttemptNote(attempt_id=attempt_id, user_id=writer, kind="confirmed", yes=True))


def writers(db: Session, count: int) -> list[Actor]:
    """Make people who write."""
    return [make_person(db, f"writer-{number}", RoleName.WORKER) for number in range(count)]
