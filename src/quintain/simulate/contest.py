"""A finished contest at the starter task: teams build with the starter models and break by pairs written for it.

Everything goes through the real services, at the moments at which the phases were open. Every step looks first whether
it was done, so an interrupted contest is played on.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import timedelta
from importlib.resources import files
from pathlib import Path
from typing import Any

from sqlalchemy.orm import Session

from quintain.compose import Workspace
from quintain.core.contests import ContestSpec, HandedState, PairStatus, Phase, TeamRole
from quintain.core.errors import NotFound
from quintain.core.example import Example
from quintain.core.people import OPERATOR, Actor, RoleName
from quintain.data.tables import read_table
from quintain.services.access import accounts
from quintain.services.access.actors import actor_of, find_user
from quintain.services.contest import blind, contests, pairs, rulings, scores, systems, teams
from quintain.services.contest.contests import ContestInfo
from quintain.services.contest.pair_checks import PairDraft
from quintain.services.models.ask import predict
from quintain.store.base import clock, now
from quintain.store.blobs import Blobs

TASK = "sentiment"
NAME = "spring"
BEGAN = timedelta(days=13)  # before now
# Each team with what it does, and the starter model that a builder's answers come from.
TEAMS: Mapping[str, tuple[TeamRole, str]] = {
    "counters": ("builder", "ngram"),
    "weighers": ("builder", "tfidf"),
    "lexicographers": ("both", "lexicon"),
    "negators": ("breaker", ""),
    "wordsmiths": ("breaker", ""),
}
REFERENCE = "majority"
CONTESTED = "When and whether."  # the rationale of the pair that a builder contests


def play_contest(workspace: Workspace) -> None:
    """Play the contest from its first team to its end, as far as that has not been done."""
    with workspace.session() as db, tempfile.TemporaryDirectory(prefix="quintain-contest-") as folder:
        info = _open(db)
        people = {team: _person(db, f"sim-{team}") for team in TEAMS}
        with _in_phase(info, Phase.BUILD):
            _build(db, workspace.blobs, info, people, Path(folder))
        with _in_phase(info, Phase.BREAK):
            _break(db, workspace.blobs, info, people)
        with _in_phase(info, Phase.SCORE):
            _score(db, workspace.blobs, info, people, Path(folder))
        with _in_phase(info, Phase.REVIEW):
            _dispute_and_rule(db, workspace.blobs, info, people)


def written_pairs() -> list[dict[str, Any]]:
    """Return the pairs written for the contest: team, original, modified, its label, tags, strategy, why."""
    text = (files("quintain") / "demo_data" / TASK / "contest.jsonl").read_text(encoding="utf-8")
    return [json.loads(line) for line in text.splitlines()]


@contextmanager
def _in_phase(info: ContestInfo, phase: Phase) -> Iterator[None]:
    """Let it be an hour before *phase* ended."""
    moment = info.schedule.ends[phase] - timedelta(hours=1)
    with clock(lambda: moment):
        yield


def _open(db: Session) -> ContestInfo:
    try:
        return contests.find_contest(db, f"{TASK}/{NAME}")
    except NotFound:
        begin = (now() - BEGAN).replace(minute=0, second=0, microsecond=0, tzinfo=None)
    tags = {tag: None for row in written_pairs() for tag in row["tags"]}
    spec = ContestSpec(
        TASK,
        NAME,
        "Build it, break it: the spring contest",
        f"{TASK}/test",
        begin,
        begin + timedelta(days=6),
        begin + timedelta(days=8),
        description="Five simulated teams. Builders answered with the starter models; breakers wrote pairs by hand.",
        starter=f"{TASK}/dev",
        train=f"{TASK}/train",
        build_ends=begin + timedelta(days=3),
        review_ends=begin + timedelta(days=11),
        tags=tuple(tags),
        pairs=50,
    )
    before = now() - BEGAN - timedelta(days=1)
    with clock(lambda: before):
        return contests.put_spec(db, OPERATOR, spec)


def _person(db: Session, name: str) -> Actor:
    try:
        user = find_user(db, name)
    except NotFound:
        accounts.invite(db, OPERATOR, name, display_name=f"Simulated {name[4:]}", roles=[RoleName.WORKER])
        user = find_user(db, name)
    return actor_of(db, user)


def _build(db: Session, blobs: Blobs, info: ContestInfo, people: Mapping[str, Actor], folder: Path) -> None:
    existing = {team.name for team in teams.list_teams(db, OPERATOR, info.ref)}
    for team, (role, _) in TEAMS.items():
        if team not in existing:
            teams.create_team(db, people[team], info.ref, team, role)
    _answer(db, blobs, info, people, folder, "dev")


def _break(db: Session, blobs: Blobs, info: ContestInfo, people: Mapping[str, Actor]) -> None:
    pairs_by_team = {team.name: team.pairs for team in teams.list_teams(db, OPERATOR, info.ref)}
    rows = written_pairs()
    for team in {row["team"]: None for row in rows}:
        own = [row for row in rows if row["team"] == team]
        for row in own[pairs_by_team[team] or 0 :]:
            draft = PairDraft(
                "",
                {"text": row["original"]},
                {"text": row["modified"]},
                None,
                row["label"],
                row["rationale"],
                row["strategy"],
                tuple(row["tags"]),
            )
            pairs.put_pair(db, blobs, people[team], info.ref, draft)


def _score(db: Session, blobs: Blobs, info: ContestInfo, people: Mapping[str, Actor], folder: Path) -> None:
    _answer(db, blobs, info, people, folder, "pairs")
    if REFERENCE not in {system.name for system in systems.list_systems(db, blobs, OPERATOR, info.ref)}:
        systems.add_reference(db, blobs, OPERATOR, info.ref, "", model=f"{TASK}/{REFERENCE}")


def _answer(db: Session, blobs: Blobs, info: ContestInfo, people: Mapping[str, Actor], folder: Path, part: str) -> None:
    """Let every building team hand in what its model says to a part."""
    states = {system.team: system for system in systems.list_systems(db, blobs, OPERATOR, info.ref)}
    for team, (_, model) in TEAMS.items():
        if not model or (team in states and states[team][part] == HandedState.THERE):
            continue
        asked = folder / f"{team}-{part}.csv"
        blind.export_part(db, blobs, people[team], info.ref, part, asked)
        inputs = [{"text": text} for text in read_table(asked, required=["text"])["text"].to_list()]
        predictions = predict(db, blobs, OPERATOR, f"{TASK}/{model}", inputs)
        lines = [
            "id,prediction",
            *(f"{Example(one).id},{two.answer}" for one, two in zip(inputs, predictions, strict=True)),
        ]
        asked.write_text("\n".join(lines), encoding="utf-8")
        systems.hand_in(db, blobs, people[team], info.ref, asked)


def _dispute_and_rule(db: Session, blobs: Blobs, info: ContestInfo, people: Mapping[str, Actor]) -> None:
    """Let a builder contest a pair, and the organisers keep it."""
    listing = scores.list_pairs(db, blobs, OPERATOR, info.ref, limit=pairs.MAX_PAGE)
    pair = next(pair for pair in listing.pairs if pair.rationale == CONTESTED)
    if not pair.status:
        rulings.contest_pair(
            db, people["counters"], info.ref, pair.id, "Children may ask for something that they like."
        )
    if pair.status != PairStatus.SETTLED:
        rulings.rule_pair(db, OPERATOR, info.ref, pair.id, "keep", reason="Asking whether is doubting.")
