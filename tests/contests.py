"""A task with data, people, and a contest on it that begins at a known moment."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import polars as pl
from sqlalchemy import select
from sqlalchemy.orm import Session

from quintain.compose import Workspace
from quintain.core.cells import CellState
from quintain.core.contests import MOMENTS
from quintain.core.example import Example
from quintain.core.people import Actor, RoleName
from quintain.data.plan import ImportPlan
from quintain.models.baselines.ngram import Ngram
from quintain.models.card import HEADINGS, write_card
from quintain.services.contest import pairs, systems, teams
from quintain.services.contest.contests import ContestInfo, find_contest, put_contest
from quintain.services.contest.definition import dump_contest
from quintain.services.contest.pair_checks import PairDraft
from quintain.services.data.datasets import import_dataset
from quintain.services.models.registry import register_version
from quintain.services.tasks.definitions import get_task, put_task
from quintain.store.base import clock
from quintain.store.blobs import Blobs
from quintain.store.database import transaction
from quintain.store.tables import Cell, ContestVersion, DatasetVersion
from tests.people import find_or_make_person, make_person

BEGIN = datetime(2024, 5, 1, 9, tzinfo=UTC)
NAMES = ("anna", "ben", "cleo", "dan", "jo", "jim", "jule")
DAYS = {"coming": -1, "build": 1, "break": 3, "score": 5, "review": 7, "over": 9}
REF = "mood/spring"
TASK = """
name = "mood"
kind = "text-classification"
title = "Mood"
labels = ["negative", "positive"]
metrics = ["accuracy", "macro_f1"]
canonical_metric = "accuracy"
"""
CONTEST = """
task = "mood"
name = "spring"
title = "Build it, break it"
dev = "mood/dev"
starter = "mood/starter"
zone = "UTC"
starts = 2024-05-01T09:00:00
build_ends = 2024-05-03T09:00:00
break_ends = 2024-05-05T09:00:00
score_ends = 2024-05-07T09:00:00
review_ends = 2024-05-09T09:00:00
{more}
"""
STARTER = [
    ("I love this film.", "positive"),
    ("The plot is good and the actors are kind.", "positive"),
    ("A dull and bad evening.", "negative"),
    ("I hate the ending.", "negative"),
    ("We had a good time.", "positive"),
    ("It was not worth the money.", "negative"),
]
TERRIFIC = ("Russell is terrific as coach Herb Brooks.", "positive")
DEV = [(f"Film {number} is {word}.", label) for number in range(10) for word, label in
       [("good", "positive"), ("bad", "negative")]]  # fmt: skip
PAIRS = [
    ("I love this film.", "I'm mad for this film.", "positive", "positive", "idiom"),
    ("A dull and bad evening.", "Not a dull and bad evening.", "negative", "positive", "negation"),
    ("We had a good time.", "We had no good time.", "positive", "negative", "negation"),
]


@contextmanager
def during(phase: str, *, seconds: float = 0) -> Iterator[None]:
    """Let it be in the middle of a *phase*, or so many seconds after that."""
    moment = BEGIN + timedelta(days=DAYS[phase], seconds=seconds)
    with clock(lambda: moment):
        yield


@contextmanager
def at(moment: datetime) -> Iterator[None]:
    """Let it be *moment*."""
    with clock(lambda: moment):
        yield


def add_contest_task(
    db: Session, blobs: Blobs, owner: Actor, folder: Path, starter: Sequence[tuple[str, str]] = STARTER
) -> None:
    """Add the task, a blind development set and a starter set."""
    put_task(db, owner, TASK)
    for name, rows, hidden in (("dev", DEV, True), ("starter", starter, False)):
        file = folder / f"{name}.jsonl"
        file.write_text("".join(json.dumps({"text": text, "answer": answer}) + "\n" for text, answer in rows))
        import_dataset(db, blobs, owner, "mood", name, file, ImportPlan(role="dev", hidden=hidden))


def add_contest(db: Session, owner: Actor, more: str = "") -> ContestInfo:
    """Add the contest, before it begins."""
    with during("coming"):
        return put_contest(db, owner, CONTEST.format(more=more))


def with_contest_task(workspace: Workspace, folder: Path) -> None:
    """Begin with a task that has a development set and a starter set, its owner olga, and people."""
    with workspace.session() as db:
        add_contest_task(db, workspace.blobs, make_person(db, "olga", RoleName.OWNER), folder)
        for name in NAMES:
            make_person(db, name, RoleName.BUILDER, RoleName.WORKER)


def with_whole_contest(workspace: Workspace, folder: Path) -> None:
    """Begin with a contest of three teams in which everybody did their part."""
    with_contest_task(workspace, folder)
    blobs = workspace.blobs
    with workspace.session() as db:
        people = {name: find_or_make_person(db, name, RoleName.BUILDER) for name in NAMES}
        add_contest(db, find_or_make_person(db, "olga", RoleName.OWNER), 'tags = ["idiom", "negation"]')
        make_teams(db, people)
        _hand_in_systems(db, blobs, people, folder)
        write_pairs(db, blobs, people)
        _hand_in_answers(db, blobs, people, folder)


def make_teams(db: Session, people: Mapping[str, Actor]) -> None:
    """Let anna build, ben break, and cleo do both."""
    with during("build"):
        teams.create_team(db, people["anna"], REF, "words", "builder")
        teams.create_team(db, people["ben"], REF, "knots", "breaker")
        teams.create_team(db, people["cleo"], REF, "mixed", "both")


def write_pairs(db: Session, blobs: Blobs, people: Mapping[str, Actor]) -> None:
    """Let the breakers write the pairs above."""
    with during("break"):
        for number in range(2):
            pairs.put_pair(db, blobs, people["ben"], REF, draft(number))
        pairs.put_pair(db, blobs, people["cleo"], REF, draft(2))


def _hand_in_systems(db: Session, blobs: Blobs, people: Mapping[str, Actor], folder: Path) -> None:
    """Let the builders hand in answers to the development set: one has all of them right, one half."""
    dev = [text for text, _ in DEV]
    with during("build"):
        good = write_answers(folder / "words.csv", {"bad": "negative"}, dev)
        systems.hand_in(db, blobs, people["anna"], REF, good)
        systems.hand_in(db, blobs, people["cleo"], REF, write_answers(folder / "mixed.csv", {}, dev))


def _hand_in_answers(db: Session, blobs: Blobs, people: Mapping[str, Actor], folder: Path) -> None:
    says = {"mad": "negative", "bad": "negative", "no ": "negative"}
    with during("score"):
        systems.hand_in(db, blobs, people["anna"], REF, write_answers(folder / "words2.csv", says, pair_texts()))
        systems.hand_in(db, blobs, people["cleo"], REF, write_answers(folder / "mixed2.csv", {}, pair_texts()))


def draft(number: int, **changes: Any) -> PairDraft:
    """Give one of the pairs above."""
    original, modified, first, second, tag = PAIRS[number]
    values = {
        "name": f"p{number}",
        "original": {"text": original},
        "modified": {"text": modified},
        "original_label": first,
        "modified_label": second,
        "rationale": "It should not notice.",
        "tags": (tag,),
    }
    return PairDraft(**{**values, **changes})


def write_answers(path: Path, says: Mapping[str, str], texts: list[str]) -> Path:
    """Write a file of predictions: what is said of a text, or of one that contains a word."""
    rows = ["id,prediction"]
    for text in texts:
        answer = says.get(text) or next((label for word, label in says.items() if word in text), "positive")
        rows.append(f"{Example({'text': text}).id},{answer}")
    path.write_text("\n".join(rows) + "\n")
    return path


def pair_texts() -> list[str]:
    """List the sentences of the pairs, each once."""
    return list(dict.fromkeys(text for pair in PAIRS for text in pair[:2]))


def run_cells(db: Session, blobs: Blobs, says: Mapping[str, str]) -> int:
    """Finish what waits to be run: models say of a text what its words make them say."""
    done = 0
    with transaction(db):
        for cell in db.scalars(select(Cell).where(Cell.state == CellState.QUEUED.value)):
            version = db.get_one(DatasetVersion, cell.dataset_version_id)
            table = pl.read_parquet(blobs.path(version.blob))
            said = [next((label for word, label in says.items() if word in text), "positive") for text in table["text"]]
            with blobs.scratch(suffix=".parquet") as target:
                pl.DataFrame({"id": table["id"], "prediction": said}).write_parquet(target)
                cell.predictions = blobs.put_file(target)
            cell.state, cell.done = CellState.DONE.value, table.height
            done += 1
    return done


def ask_otherwise(db: Session, **changes: Any) -> ContestInfo:
    """Let the contest ask something else, which nobody may change once it has begun."""
    info = find_contest(db, REF)
    with transaction(db):
        spec = replace(info.spec, **changes)
        db.add(ContestVersion(contest_id=info.id, number=info.version + 1, toml=dump_contest(spec)))
    return find_contest(db, REF)


def move_to(db: Session, phase: str, ref: str = REF) -> None:
    """Let a contest be in the middle of *phase* by the clock of everybody: all of its moments are moved together."""
    info = find_contest(db, ref)
    schedule = info.schedule
    moments = [schedule.starts, *schedule.ends.values()]
    names = ["coming", *(one.value for one in schedule.ends), "over"]
    place = names.index(phase)
    day = timedelta(days=1)
    borders = [moments[0] - 2 * day, *moments, moments[-1] + 2 * day]
    middle = borders[place] + (borders[place + 1] - borders[place]) / 2
    moved = datetime.now(UTC).replace(microsecond=0) - middle
    spec = replace(
        info.spec,
        **{
            name: (getattr(info.spec, name) + moved).replace(microsecond=0)
            for name in MOMENTS
            if getattr(info.spec, name) is not None
        },
    )
    with transaction(db):
        db.add(ContestVersion(contest_id=info.id, number=info.version + 1, toml=dump_contest(spec)))


def add_word_model(db: Session, blobs: Blobs, owner: Actor, folder: Path) -> str:
    """Add a built-in model that hangs on the word "terrific", and give its name."""
    rows = [("is terrific as", "positive"), ("a terrific one", "positive"), ("is late as", "negative")]
    rows += [("a grey one", "negative"), ("as it is", "negative"), ("coach one", "negative")]
    table = pl.DataFrame({"text": [text for text, _ in rows] * 5, "answer": [label for _, label in rows] * 5})
    Ngram.train(get_task(db, "mood"), table).save(folder / "word-model")
    card = write_card("A model that hangs on a word", dict.fromkeys(HEADINGS, "Some words."))
    return register_version(
        db, blobs, owner, "mood", "words", adapter="builtin", folder=folder / "word-model", card=card
    ).ref
