"""Whom a contest tells what: teams of claims and decisions on their pairs, organisers and judges of what waits."""

from __future__ import annotations

from collections.abc import Iterable

from sqlalchemy.orm import Session

from quintain.core.texts import Text
from quintain.services.access.notify import notify_all, notify_unless_unread
from quintain.services.contest.contests import ContestInfo
from quintain.store.queries.access.people import owners
from quintain.store.queries.contest import contests as queries
from quintain.store.queries.contest import judging
from quintain.store.queries.contest import pairs as pair_queries
from quintain.store.queries.contest.pairs import StoredPair


def contest_path(info: ContestInfo) -> str:
    """Return the address of a contest."""
    return f"/tasks/{info.task}/contests/{info.name}"


def notify_contested(db: Session, info: ContestInfo, pair: StoredPair, reason: str) -> None:
    """Tell a team that a pair of theirs is contested, and why; not by whom."""
    text = Text(
        "Pair {pair} of {ref} is contested, and out of the score until that is settled: {reason}",
        pair=pair.row.name,
        ref=info.ref,
        reason=reason,
    )
    people = _members(db, info, [pair.row.team_id])
    notify_all(db, people, "contest.contested", text, f"{contest_path(info)}/pairs/{pair.row.id}")


def notify_ruled(db: Session, info: ContestInfo, pair: StoredPair, outcome: Text, reason: str) -> None:
    """Tell the teams concerned, who wrote a pair or contest it, what the organisers decided, and why; not who."""
    disputes = pair_queries.disputes(db, info.id, [pair.row.id]).get(pair.row.id, ())
    teams = {pair.row.team_id, *(dispute.team_id for dispute in disputes if dispute.team_id is not None)}
    text = Text(
        "The organisers decided about pair {pair} of team {team} in {ref}: {outcome}. {reason}",
        pair=pair.row.name,
        team=pair.team,
        ref=info.ref,
        outcome=outcome,
        reason=reason,
    )
    notify_all(db, _members(db, info, teams), "contest.ruled", text, f"{contest_path(info)}/pairs/{pair.row.id}")


def notify_rest(db: Session, info: ContestInfo, teams: Iterable[int], number: int, reason: str) -> None:
    """Tell teams that what nobody had settled counts as it was written."""
    text = Text(
        "The organisers of {ref} let the {number} pairs that waited for them count as they were written: {reason}",
        ref=info.ref,
        number=number,
        reason=reason,
    )
    notify_all(db, _members(db, info, teams), "contest.ruled", text, f"{contest_path(info)}/results")


def notify_organisers(db: Session, info: ContestInfo) -> None:
    """Tell the organisers that pairs wait for their decision; once, until they have read it."""
    text = Text("Pairs of {ref} wait for your decision: only the organisers can settle their labels.", ref=info.ref)
    for user in owners(db, info.task):
        notify_unless_unread(db, user, "contest.decide", text, f"{contest_path(info)}/decide")


def notify_judges(db: Session, info: ContestInfo) -> None:
    """Tell those who have judged pairs of a contest that there are more; once, until they have read it."""
    text = Text("More pairs of {ref} are there to be judged.", ref=info.ref)
    for user in judging.people(db, info.id):
        notify_unless_unread(db, user, "contest.judge", text, f"{contest_path(info)}/judge")


def _members(db: Session, info: ContestInfo, teams: Iterable[int]) -> list[int]:
    chosen = set(teams)
    return [member.user_id for member in queries.members(db, info.id) if member.team_id in chosen]
