"""Labels of pairs: contested by other teams, and decided by the organisers.

A contested pair leaves the score until it is settled, so that contesting costs: a team needs answers of its own, a
reason, and one of the few claims that it has; a claim that turns out to be right is given back.
"""

from __future__ import annotations

from typing import Any, Literal, get_args

from sqlalchemy.orm import Session

from quintain.core.contests import HandedState, PairReason, PairStatus, Phase
from quintain.core.errors import BadInput, Conflict, Fault, Forbidden
from quintain.core.people import Actor
from quintain.core.records import contests as records
from quintain.core.task import Task
from quintain.core.texts import Text
from quintain.services.access import audit
from quintain.services.access.permissions import require_owner, require_signed_in
from quintain.services.contest.answers import given_answers
from quintain.services.contest.contests import ContestInfo, find_contest, organises, require_phase
from quintain.services.contest.grading import as_cell
from quintain.services.contest.notices import (
    notify_contested,
    notify_judges,
    notify_organisers,
    notify_rest,
    notify_ruled,
)
from quintain.services.contest.pair_labels import find_pair, read_labels
from quintain.services.contest.pair_outcomes import PairOutcome, judges_all, labels_changed, pair_outcomes, rules_of
from quintain.services.contest.teams import team_of
from quintain.services.events import ServiceEvent, announce
from quintain.services.tasks.definitions import get_task
from quintain.store.database import lock, transaction
from quintain.store.queries.contest import contests as contest_queries
from quintain.store.queries.contest import pairs as queries
from quintain.store.queries.contest.pairs import StoredPair
from quintain.store.tables import ContestDispute, ContestPair, ContestRuling, ContestTeam

Decision = Literal["keep", "relabel", "drop"]
DECISIONS: tuple[Decision, ...] = get_args(Decision)
OUTCOMES = {
    "keep": Text("it stays as it was written"),
    "relabel": Text("its labels were changed"),
    "drop": Text("it was dropped from the score"),
}
MAX_REASON = 2_000
LEAST_LETTERS = 12  # of a reason to contest: "x" says nothing, and "The evening is blamed." does
LEAST_DIFFERENT = 5
ANSWERED = (HandedState.THERE, HandedState.WAITING)


def contest_pair(db: Session, actor: Actor, ref: str, pair: int, reason: str) -> None:
    """Contest a label of a pair, or that it is minimal: for a team that has answered the pairs.

    A team has so many claims as the contest allows; those in which it was found right are given back. What judges or
    organisers have settled is not contested any more: the organisers can decide anew.
    """
    require_signed_in(actor)
    with transaction(db):
        info = find_contest(db, ref)
        stored = find_pair(db, info, pair)
        team = _contesting_team(db, actor, info, stored)
        require_phase(info, Phase.REVIEW)
        reason = _substantial(reason)
        lock(db, f"contesting in {info.ref}")
        if team is not None:
            _require_answers(db, info, team)
        task = get_task(db, info.task)
        _refuse_settled(db, info, task, stored)
        if team is not None:
            _refuse_too_many(db, info, task, team, stored.row.id)
        db.add(
            ContestDispute(
                pair_id=stored.row.id, team_id=team.id if team else None, user_id=actor.user_id, reason=reason
            )
        )
        queries.bump(db, info.id)
        audit.record(db, actor, "contest.dispute", info.ref, pair=stored.row.id)
        db.flush()
        notify_contested(db, info, stored, reason)
        outcome = pair_outcomes(db, info, task, [stored.row])[stored.row.id]
        if rules_of(info, task).waits(outcome):
            notify_organisers(db, info)
        elif outcome.why is PairReason.JUDGES:
            notify_judges(db, info)
        announce(db, ServiceEvent.PAIR_DECIDED, info)


def list_disputes(db: Session, actor: Actor, ref: str) -> records.PairDisputes:
    """List what one's own team contests, with how many claims it has; everything for the organisers."""
    info = find_contest(db, ref)
    team = team_of(db, actor, info)
    if team is None and not organises(actor, info):
        raise Forbidden("This is for the teams of {ref}.", ref=info.ref, remedy="Make a team, or join one.")
    task = get_task(db, info.task)
    rows = queries.disputed_by(db, info.id, team.id if team else None)
    pairs = {one.row.id: one for one in queries.of_contest(db, info.id, ids=[dispute.pair_id for dispute, _ in rows])}
    standings = pair_outcomes(db, info, task, [pair.row for pair in pairs.values()])
    described = [
        _described(task, dispute, name, pairs[dispute.pair_id], standings[dispute.pair_id]) for dispute, name in rows
    ]
    if team is None:
        return records.PairDisputes(described, None, None)
    return records.PairDisputes(described, sum(not one.upheld for one in described), info.spec.disputes)


def rule_pair(
    db: Session,
    actor: Actor,
    ref: str,
    pair: int,
    decision: str,
    *,
    original: Any = None,
    modified: Any = None,
    reason: str = "",
) -> None:
    """Decide about a pair: *keep* it as it is, *relabel* it or *drop* it from the score (organisers).

    The teams that wrote or contest it are told the *reason*.
    """
    with transaction(db):
        info = find_contest(db, ref)
        require_owner(actor, info.task)
        require_phase(info, Phase.SCORE, Phase.REVIEW, Phase.OVER)
        stored = find_pair(db, info, pair)
        if decision not in DECISIONS:
            known = ", ".join(DECISIONS)
            raise BadInput(
                faults=[Fault("'{decision}' is not one of {known}", decision=decision, known=known, field="decision")]
            )
        reason = _given_reason(reason)
        labels = (None, None)
        if decision == "relabel":
            labels = read_labels(get_task(db, info.task), stored.row, original, modified)
        db.add(
            ContestRuling(
                pair_id=stored.row.id,
                decision=decision,
                original_label=labels[0],
                modified_label=labels[1],
                reason=reason,
                created_by=actor.user_id,
            )
        )
        queries.bump(db, info.id)
        audit.record(db, actor, "contest.rule", info.ref, pair=stored.row.id, decision=decision)
        notify_ruled(db, info, stored, OUTCOMES[decision], reason)
        announce(db, ServiceEvent.PAIR_DECIDED, info)


def rule_rest(db: Session, actor: Actor, ref: str, reason: str) -> records.RestDecided:
    """Let every pair that waits for the organisers count as it was written, and tell the teams why (organisers)."""
    info = find_contest(db, ref)
    require_owner(actor, info.task)
    require_phase(info, Phase.REVIEW, Phase.OVER)
    reason = _given_reason(reason)
    waiting = _waiting(db, info)
    with transaction(db):
        lock(db, f"contesting in {info.ref}")
        ruled = queries.rulings(db, info.id, waiting)
        rows = [one.row for one in queries.of_contest(db, info.id, ids=[pair for pair in waiting if pair not in ruled])]
        db.add_all(
            ContestRuling(
                pair_id=row.id,
                decision="keep",
                original_label=None,
                modified_label=None,
                reason=reason,
                created_by=actor.user_id,
            )
            for row in rows
        )
        if rows:
            queries.bump(db, info.id, len(rows))
            audit.record(db, actor, "contest.rule-rest", info.ref, pairs=len(rows))
            disputes = queries.disputes(db, info.id, [row.id for row in rows])
            claims = {dispute.team_id for every in disputes.values() for dispute in every}
            teams = {row.team_id for row in rows} | {team for team in claims if team is not None}
            notify_rest(db, info, teams, len(rows), reason)
            announce(db, ServiceEvent.PAIR_DECIDED, info)
    return records.RestDecided(len(rows))


def opinions(db: Session, actor: Actor, info: ContestInfo, stored: StoredPair) -> records.PairOpinions:
    """Return what was said of one pair: objections to all who see it, the rest to whom it concerns; names to nobody."""
    pair, team, organiser = stored.row.id, team_of(db, actor, info), organises(actor, info)
    disputes = queries.disputes(db, info.id, [pair]).get(pair, [])
    task = get_task(db, info.task)
    ruling = queries.rulings(db, info.id, [pair]).get(pair)
    concerned = {stored.row.team_id, *(dispute.team_id for dispute in disputes)}
    shows_ruling = ruling is not None and (organiser or (team is not None and team.id in concerned))
    votes = queries.judgements(db, info.id, [pair]).get(pair, []) if organiser else []
    return records.PairOpinions(
        objections=tuple(dispute.reason for dispute in disputes),
        ruling=records.PairRuling(ruling.decision, ruling.reason, ruling.created_at)
        if ruling and shows_ruling
        else None,
        votes=tuple(
            records.PairVote(
                as_cell(task, vote.original_label), as_cell(task, vote.modified_label), vote.minimal, vote.late
            )
            for vote in votes
        ),
    )


def _contesting_team(db: Session, actor: Actor, info: ContestInfo, stored: StoredPair) -> ContestTeam | None:
    """Return the team that contests a pair, None for the organisers; nobody contests their own."""
    team = team_of(db, actor, info)
    if team is None and not organises(actor, info):
        raise Forbidden("Pairs are contested by the teams of the contest.")
    if team is not None and team.id == stored.row.team_id:
        raise Conflict("This is a pair of your own team.", remedy="Ask the organisers to drop it.")
    return team


def _substantial(reason: str) -> str:
    """Return a reason that says something; refuse another."""
    text = reason.strip()
    letters = [letter for letter in text.casefold() if letter.isalnum()]
    if len(text) > MAX_REASON:
        fault = Fault("is longer than {most} characters", most=MAX_REASON, field="reason")
    elif len(letters) < LEAST_LETTERS or len(set(letters)) < LEAST_DIFFERENT:
        fault = Fault("says too little: write at least {least} letters", least=LEAST_LETTERS, field="reason")
    else:
        return text
    raise BadInput(faults=[fault], remedy="Say which label is wrong, and why.")


def _given_reason(reason: str) -> str:
    text = reason.strip()
    if not text or len(text) > MAX_REASON:
        raise BadInput(
            faults=[Fault("is a text of 1 to {most} characters", most=MAX_REASON, field="reason")],
            remedy="Say why: the teams concerned read it.",
        )
    return text


def _require_answers(db: Session, info: ContestInfo, team: ContestTeam) -> None:
    """Let only teams contest whose own system is measured by the pairs."""
    own = [system for system in contest_queries.systems(db, info.id) if system.team_id == team.id]
    submitted = given_answers(db, info, own)
    if any(part == "pairs" and answers.state in ANSWERED for (_, part), answers in submitted.items()):
        return
    raise Forbidden(
        "Team '{team}' has handed in no answers to the pairs: those contest them whose systems are measured by them.",
        team=team.name,
        remedy="Tell the organisers what is wrong with the pair: they can decide about it.",
        code="no_answers",
    )


def _refuse_settled(db: Session, info: ContestInfo, task: Task, stored: StoredPair) -> None:
    """Refuse to contest what has been decided: it would change nothing."""
    pair, rules = stored.row.id, rules_of(info, task)
    judged = queries.judgements(db, info.id, [pair]).get(pair, ())
    contested = rules.outcome(stored.row, True, judged, queries.rulings(db, info.id, [pair]).get(pair))
    if contested.decided:
        by_organisers = contested.why is PairReason.RULED
        raise Conflict(
            "The organisers have decided about this pair already."
            if by_organisers
            else "Judges have settled this pair already: contesting it would change nothing.",
            remedy="Ask the organisers, who can decide anew.",
            code="pair_settled",
        )


def _refuse_too_many(db: Session, info: ContestInfo, task: Task, team: ContestTeam, pair: int) -> None:
    """Refuse a second claim on the same pair, and more claims than the contest allows."""
    claims = [dispute.pair_id for dispute, _ in queries.disputed_by(db, info.id, team.id)]
    if pair in claims:
        raise Conflict("Your team contests this pair already.", code="contested_already")
    rows = [one.row for one in queries.of_contest(db, info.id, ids=claims)]
    standings = pair_outcomes(db, info, task, rows)
    used = sum(not _upheld(task, row, standings[row.id]) for row in rows)
    if used >= info.spec.disputes:
        raise Conflict(
            "Your team has contested {n} pairs, which is all that this contest allows.",
            n=used,
            remedy="A pair that is then dropped or relabelled does not count.",
            code="too_many_disputes",
        )


def _upheld(task: Task, row: ContestPair, outcome: PairOutcome) -> bool:
    return outcome.decided and (outcome.status is PairStatus.DROPPED or labels_changed(task, row, outcome))


def _waiting(db: Session, info: ContestInfo) -> list[int]:
    """Return the pairs that only the organisers can settle."""
    task = get_task(db, info.task)
    rules = rules_of(info, task)
    ids = queries.unruled(db, info.id, disputed=not judges_all(info.spec))
    rows = [one.row for one in queries.of_contest(db, info.id, ids=ids)]
    return [pair for pair, standing in pair_outcomes(db, info, task, rows).items() if rules.waits(standing)]


def _described(
    task: Task, dispute: ContestDispute, by: str | None, stored: StoredPair, outcome: PairOutcome
) -> records.PairDispute:
    return records.PairDispute(
        pair=stored.row.id,
        name=stored.row.name,
        team=stored.team,
        by=by or "",
        reason=dispute.reason,
        at=dispute.created_at,
        status=outcome.status.value,
        why=outcome.why.value,
        upheld=_upheld(task, stored.row, outcome),
    )
