"""A contest that is over, on a task of its own: many pairs, systems that answered them, and what judges said."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

from big.boards import DATA, LABELS, texts
from big.loading import Loader, packed
from big.sizes import Size
from quintain.compose import Workspace
from quintain.core.example import Example, Role
from quintain.core.people import OPERATOR, Actor, RoleName
from quintain.data.plan import ImportPlan
from quintain.services.contest.contests import find_contest, put_contest
from quintain.services.contest.freeze import freeze
from quintain.services.contest.systems import hand_in
from quintain.services.contest.teams import create_team
from quintain.services.data.datasets import import_dataset
from quintain.services.tasks.definitions import put_task
from quintain.store.base import clock
from quintain.store.database import transaction
from quintain.store.queries.contest.pairs import bump
from quintain.store.tables import ContestDispute, ContestJudgement, ContestPair, ContestTeam
from tests.people import find_or_make_person

TASK, NAME = "duel", "spring"
REF = f"{TASK}/{NAME}"
BEGIN = datetime(2023, 5, 1, 9, tzinfo=UTC)
TEAMS = 4
JUDGES = 3
ROWS = 200  # of the sets that everybody gets
CONTEST = f"""
task = "{TASK}"
name = "{NAME}"
title = "Build it, break it"
dev = "{TASK}/dev"
starter = "{TASK}/starter"
zone = "UTC"
starts = 2023-05-01T09:00:00
build_ends = 2023-05-03T09:00:00
break_ends = 2023-05-05T09:00:00
score_ends = 2023-05-07T09:00:00
review_ends = 2023-05-09T09:00:00
pairs = 100000
"""


def make_contest(workspace: Workspace, load: Loader, size: Size) -> int:
    """Hold a contest from its beginning to its end; give how many pairs there are."""
    sides = list(zip(texts(90, size.pairs), texts(91, size.pairs), strict=True))
    dev = texts(92, ROWS)
    with workspace.session() as db, workspace.blobs.scratch(suffix=".csv") as path:
        _add_task(workspace, dev)
        builders = [find_or_make_person(db, f"team-{number}", RoleName.BUILDER) for number in range(TEAMS)]
        with _day(-1):
            put_contest(db, OPERATOR, CONTEST)
        with _day(1):
            for number, one in enumerate(builders):
                create_team(db, one, REF, f"team-{number}", "both")
                hand_in(db, workspace.blobs, one, REF, _answers(path, dev, number))
        db.rollback()  # what is loaded elsewhere is to be seen
        with load.loading():
            _add_pairs(load, sides)
        with _day(5):
            freeze(db, workspace.blobs, REF)
            said = list(dict.fromkeys(text for pair in sides for text in pair))
            for number, one in enumerate(builders):
                hand_in(db, workspace.blobs, one, REF, _answers(path, said, number))
    _judge(load, builders)
    with workspace.session() as db, transaction(db):
        bump(db, find_contest(db, REF).id, len(range(1, len(sides) + 1, 5)) * (1 + JUDGES))
    return len(sides)


@contextmanager
def _day(number: int) -> Iterator[None]:
    moment = BEGIN + timedelta(days=number)
    with clock(lambda: moment):
        yield


def _add_task(workspace: Workspace, dev: list[str]) -> None:
    with workspace.session() as db, workspace.blobs.scratch(suffix=".jsonl") as path:
        put_task(db, OPERATOR, (DATA / "task.toml").read_text(encoding="utf-8").replace('"sentiment"', f'"{TASK}"', 1))
        for name, rows, hidden in (("dev", dev, True), ("starter", texts(93, ROWS), False)):
            lines = [{"text": text, "answer": LABELS[place % 3]} for place, text in enumerate(rows)]
            path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
            import_dataset(db, workspace.blobs, OPERATOR, TASK, name, path, ImportPlan(role=Role.DEV, hidden=hidden))


def _answers(path: Path, rows: list[str], number: int) -> Path:
    lines = [f"{Example({'text': text}).id},{LABELS[(len(text) + number) % 3]}" for text in rows]
    path.write_text("\n".join(["id,prediction", *lines]) + "\n", encoding="utf-8")
    return path


def _add_pairs(load: Loader, sides: list[tuple[str, str]]) -> None:
    contest = load.one("SELECT max(id) FROM contests")
    first, at = load.next_id(ContestTeam) - TEAMS, load.when(BEGIN + timedelta(days=3))
    columns = ("contest_id", "team_id", "name", "original", "modified", "original_hash", "modified_hash")
    rows = (
        (
            contest,
            first + place % TEAMS,
            f"p{place}",
            *(packed({"text": text}) for text in pair),
            *(Example({"text": text}).id for text in pair),
            *(packed(LABELS[(place + side) % 3]) for side in (0, 1)),
            "It should not notice.",
            "",
            packed(["negation" if place % 2 else "idiom"]),
            3,
            at,
        )
        for place, pair in enumerate(sides)
    )
    rest = ("original_gold", "modified_gold", "rationale", "strategy", "tags", "words", "created_at")
    load.add(ContestPair, (*columns, *rest), rows)


def _judge(load: Loader, judges: list[Actor]) -> None:
    """Let every fifth pair be contested, and judged by three."""
    with load.loading():
        top, at = load.next_id(ContestPair), load.when(BEGIN + timedelta(days=7))
        contested = range(1, top, 5)
        load.add(
            ContestDispute,
            ("pair_id", "user_id", "reason", "created_at"),
            ((pair, judges[0].user_id, "It is not so.", at) for pair in contested),
        )
        load.add(
            ContestJudgement,
            ("pair_id", "user_id", "original_label", "modified_label", "created_at"),
            (
                (pair, judge.user_id, packed(LABELS[pair % 3]), packed(LABELS[(pair + 1) % 3]), at)
                for pair in contested
                for judge in judges[:JUDGES]
            ),
        )
