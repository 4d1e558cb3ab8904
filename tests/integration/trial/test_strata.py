"""Arms are alike in what they get: contexts of each genre, and people of each stratum, drawn again from the record."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest
from sqlalchemy import select
from sqlalchemy.orm import Session

from quintain.core.errors import BadInput
from quintain.core.people import Actor, RoleName
from quintain.data.plan import ImportPlan
from quintain.protocols.assignment import Draw
from quintain.services.data.datasets import import_dataset
from quintain.services.tasks.definitions import put_task
from quintain.services.trial.participation import enter
from quintain.services.trial.trials import OpenTrial, find_trial, open_trial, put_trial
from quintain.services.work.qualify import state_fact
from quintain.store.blobs import Blobs
from quintain.store.tables import CrowdArm, CrowdMember, CrowdRound, Prompt
from tests.collecting import TASK
from tests.integration.trial.life import PLAIN, TRAINED, WHERE
from tests.people import make_person

GENRES = ("fiction", "news", "travel")
BY_COUNTRY = 'strata = ["country"]\n'


def _texts(db: Session, blobs: Blobs, owner: Actor, folder: Path) -> None:
    """Make a data set of 36 texts of three genres."""
    put_task(db, owner, TASK)
    file = folder / "texts.jsonl"
    rows = [
        {"text": f"Text {number} of the library.", "label": "neutral", "genre": GENRES[number % 3]}
        for number in range(36)
    ]
    file.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    plan = ImportPlan(role="train", columns={"answer": "label"}, tag_columns=("genre",))
    import_dataset(db, blobs, owner, "mood", "texts", file, plan)


def test_every_round_gets_as_much_of_each_genre(db: Session, blobs: Blobs, owner: Actor, tmp_path: Path) -> None:
    """Of 36 texts of three genres each round gets what it needs, as much of each; the first three are one of each."""
    _texts(db, blobs, owner, tmp_path)
    put_trial(db, owner, *WHERE, [PLAIN, TRAINED])
    with pytest.raises(BadInput, match="no text of mood/texts@1 has a tag 'register:…'"):
        open_trial(db, blobs, owner, *WHERE, OpenTrial("mood/texts", genre="register"))
    open_trial(db, blobs, owner, *WHERE, OpenTrial("mood/texts"))
    for round_ in db.scalars(select(CrowdRound)):
        tags = [
            one.tags
            for one in db.scalars(select(Prompt).where(Prompt.round_id == round_.round_id).order_by(Prompt.draw))
        ]
        counts = Counter(tag for one in tags for tag in one)
        each = [counts[f"genre:{genre}"] for genre in GENRES]
        assert max(each) - min(each) <= 1
        assert len({tag for one in tags[:3] for tag in one}) == min(3, len(tags))


def test_people_of_each_country_are_shared_out_evenly(db: Session, blobs: Blobs, owner: Actor) -> None:
    """Of each stratum, both arms have as many; each draw on record gives the same arm again, from what was before."""
    put_task(db, owner, TASK)
    with pytest.raises(BadInput, match="'strata' must be the same"):
        put_trial(db, owner, *WHERE, [BY_COUNTRY + PLAIN, TRAINED])
    with pytest.raises(BadInput, match="nothing called 'shoes' is known of people"):
        put_trial(db, owner, *WHERE, ['strata = ["shoes"]\n' + PLAIN])
    put_trial(db, owner, *WHERE, [BY_COUNTRY + PLAIN, BY_COUNTRY + TRAINED])
    open_trial(db, blobs, owner, *WHERE)
    for number, country in enumerate(["DE", "DE", "", "FR", "DE", "", "FR", "DE"]):
        person = make_person(db, f"p{number}", RoleName.WORKER)
        if country:
            state_fact(db, person, "country", country)
        enter(db, person, *WHERE)
    names = {one.id: one.name for one in db.scalars(select(CrowdArm))}
    seed, before = find_trial(db, *WHERE).seed, Counter[tuple[str, str]]()
    for one in db.scalars(select(CrowdMember).order_by(CrowdMember.id)):
        draw = Draw(**(one.drawn or {}))
        assert dict(draw.taken) == {arm: n for (stratum, arm), n in before.items() if stratum == one.stratum}
        assert draw.pick(seed) == names[one.arm_id]
        before[one.stratum, names[one.arm_id]] += 1
    assert sorted(before.values()) == [1, 1, 1, 1, 2, 2]
