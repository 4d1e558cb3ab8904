"""Labels of pairs: contested by other teams, judged by people outside the contest, decided by the organisers.

A contested pair leaves the score until it is settled. It is settled when enough judges agree, who give it their labels,
or when the organisers decide; what organisers decide stands.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

from sqlalchemy.orm import Session

from quintain.core.contests import ContestSpec, PairReason, PairStatus, Phase
from quintain.core.errors import BadInput, Conflict, Fault, Forbidden, NotFound
from quintain.core.people import Actor
from quintain.core.records import contests as records
from quintain.core.task import Task
from quintain.services.access import audit
from quintain.services.access.permissions import require_owner, require_user
from quintain.services.contest.contests import ContestInfo, find, organises, require_phase
from quintain.services.contest.grading import as_cell
from quintain.services.contest.teams import team_of
from quintain.services.tasks.definitions import get_task
from quintain.store.database import lock, transaction
from quintain.store.queries.contest import pairs as queries
from quintain.store.tables import ContestDispute, ContestJudgement, ContestPair, ContestRuling
from quintain.tasks.contract import kind_of

Decision = Literal["keep", "relabel", "drop"]
DECISIONS: tuple[Decision, ...] = get_args(Decision)
JUDGED_IN = (Phase.SCORE, Phase.REVIEW)
MAX_REASON = 2_000
MOST_COUNTED = 200


@dataclass(frozen=True, slots=True)
class PairStanding:
    """Where a pair stands: its *status*, why, and the labels that count."""

    status: PairStatus
    why: PairReason
    original: Any
    modified: Any


def contest_pair(db: Session, actor: Actor, ref: str, pair: int, reason: str) -> None:
    """Say that a label of a pair is wrong, or that it is no minimal pair: by a builder or another breaker."""
    user_id = require_user(actor)
    with transaction(db):
        info = find(db, ref)
        row = _pair(db, info, pair)
        team = team_of(db, actor, info)
        if team is None and not organises(actor, info):
            raise Forbidden("Pairs are contested by the teams of the contest.")
        require_phase(info, Phase.REVIEW)
        if team is not None and team.id == row.team_id:
            raise Conflict("This is a pair of your own team.", remedy="Ask the organisers to drop it.")
        if not reason.strip() or len(reason) > MAX_REASON:
            raise BadInput(
                faults=[Fault("is a text of 1 to {most} characters", most=MAX_REASON, field="reason")],
                remedy="Say what is wrong with the pair.",
            )
        db.add(
            ContestDispute(pair_id=row.id, team_id=team.id if team else None, user_id=user_id, reason=reason.strip())
        )
        audit.record(db, actor, "contest.dispute", info.ref, pair=row.id)


def next_to_judge(db: Session, actor: Actor, ref: str) -> records.PairToJudge | None:
    """Give the next pair that *actor*, who is in no team, is to judge; None where no more wait."""
    info = find(db, ref)
    user_id = _require_judge(db, actor, info)
    require_phase(info, *JUDGED_IN)
    found, left = _waiting(db, info, user_id)
    if not found:
        return None
    row = queries.of_contest(db, info.id, ids=found)[0].row
    return records.PairToJudge(row.id, row.original, row.modified, info.spec.minimality, left)


def judge_pair(
    db: Session, actor: Actor, ref: str, pair: int, original: Any, modified: Any, *, minimal: bool | None = None
) -> None:
    """Give both labels of a pair, as somebody outside the contest, and where asked whether it is minimal."""
    with transaction(db):
        info = find(db, ref)
        user_id = _require_judge(db, actor, info)
        require_phase(info, *JUDGED_IN)
        lock(db, f"judging of {info.ref}")
        row = _pair(db, info, pair)
        if any(one.user_id == user_id for one in queries.judgements(db, info.id, [row.id]).get(row.id, ())):
            raise Conflict("You have judged this pair already.")
        if not _waiting(db, info, user_id, row.id)[0]:  # nobody picks what to add a vote to
            raise Conflict("This pair waits for no judgement.", remedy="Judge the one that is handed out next.")
        task = get_task(db, info.task)
        labels = _labels(task, row, original, modified)
        if info.spec.minimality and minimal is None:
            raise BadInput(faults=[Fault("is missing: say whether the pair is minimal", field="minimal")])
        db.add(
            ContestJudgement(
                pair_id=row.id,
                user_id=user_id,
                original_label=labels[0],
                modified_label=labels[1],
                minimal=minimal if info.spec.minimality else None,
            )
        )


def _waiting(db: Session, info: ContestInfo, user_id: int, pair: int | None = None) -> tuple[list[int], int]:
    """Give the next pair that waits for somebody's judgement, if any, and how many there are."""
    if info.spec.validation == "none" and not info.spec.minimality:
        return [], 0
    only_disputed = not judges_all(info.spec)
    return queries.to_judge(db, info.id, user_id, only_disputed=only_disputed, enough=info.spec.judges, pair=pair)


def count_to_judge(db: Session, info: ContestInfo, user_id: int) -> int:
    """Count the pairs that wait for somebody's judgement."""
    return _waiting(db, info, user_id)[1]


def count_to_rule(db: Session, info: ContestInfo) -> int:
    """Count the contested pairs that only the organisers can settle, of those contested last."""
    ids = queries.disputed_unruled(db, info.id, MOST_COUNTED)
    if not ids:
        return 0
    rows = [one.row for one in queries.of_contest(db, info.id, ids=ids)]
    found = settle(db, info, get_task(db, info.task), rows)
    return sum(one.status is PairStatus.CONTESTED and one.why is not PairReason.JUDGES for one in found.values())


def rule(
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
    """Decide about a pair: *keep* it as it is, *relabel* it or *drop* it from the score (organisers)."""
    with transaction(db):
        info = find(db, ref)
        require_owner(actor, info.task)
        require_phase(info, Phase.SCORE, Phase.REVIEW, Phase.OVER)
        row = _pair(db, info, pair)
        if decision not in DECISIONS:
            known = ", ".join(DECISIONS)
            raise BadInput(
                faults=[Fault("'{decision}' is not one of {known}", decision=decision, known=known, field="decision")]
            )
        labels = (None, None)
        if decision == "relabel":
            labels = _labels(get_task(db, info.task), row, original, modified)
        db.add(
            ContestRuling(
                pair_id=row.id,
                decision=decision,
                original_label=labels[0],
                modified_label=labels[1],
                reason=reason.strip()[:MAX_REASON],
                created_by=actor.user_id,
            )
        )
        audit.record(db, actor, "contest.rule", info.ref, pair=row.id, decision=decision)


def settle(db: Session, info: ContestInfo, task: Task, rows: Sequence[ContestPair]) -> dict[int, PairStanding]:
    """Say where each of *rows* stands."""
    ids = [row.id for row in rows]
    disputed = queries.disputes(db, info.id, ids)
    judged = queries.judgements(db, info.id, ids)
    ruled = queries.rulings(db, info.id, ids)
    return {
        row.id: standing(task, info.spec, row, bool(disputed.get(row.id)), judged.get(row.id, ()), ruled.get(row.id))
        for row in rows
    }


def standing(
    task: Task,
    spec: ContestSpec,
    row: ContestPair,
    disputed: bool,
    judged: Sequence[ContestJudgement],
    ruling: ContestRuling | None,
) -> PairStanding:
    """Say where one pair stands, by what was said of it."""
    own = (row.original_gold, row.modified_gold)
    if ruling is not None:
        labels = (ruling.original_label, ruling.modified_label) if ruling.decision == "relabel" else own
        return PairStanding(
            PairStatus.DROPPED if ruling.decision == "drop" else PairStatus.SETTLED, PairReason.RULED, *labels
        )
    if not (disputed or judges_all(spec)):
        return PairStanding(PairStatus.WRITTEN, PairReason.NONE, *own)
    if spec.validation == "none" and not spec.minimality:
        return PairStanding(PairStatus.CONTESTED, PairReason.ORGANISERS, *own)
    return _judged(task, spec, own, disputed, judged)


def _judged(
    task: Task, spec: ContestSpec, own: tuple[Any, Any], disputed: bool, judged: Sequence[ContestJudgement]
) -> PairStanding:
    if len(judged) < spec.judges:
        return PairStanding(PairStatus.CONTESTED, PairReason.JUDGES, *own)
    if spec.minimality and 2 * sum(one.minimal is False for one in judged) > len(judged):
        return PairStanding(PairStatus.DROPPED, PairReason.NOT_MINIMAL, *own)
    if spec.validation == "none":
        if disputed:
            return PairStanding(PairStatus.CONTESTED, PairReason.ORGANISERS, *own)
        return PairStanding(PairStatus.SETTLED, PairReason.JUDGES, *own)
    found = [_majority(task, [getattr(one, name) for one in judged]) for name in ("original_label", "modified_label")]
    if any(one is None for one in found):
        return PairStanding(PairStatus.CONTESTED, PairReason.NO_MAJORITY, *own)
    return PairStanding(PairStatus.SETTLED, PairReason.JUDGES, *found)


def judges_all(spec: ContestSpec) -> bool:
    """Say whether every pair is judged, contested or not."""
    return spec.validation == "all" or spec.minimality


def reasons(db: Session, info: ContestInfo, pair: int) -> list[str]:
    """List what was said against a pair."""
    return [one.reason for one in queries.disputes(db, info.id, [pair]).get(pair, ())]


def _majority(task: Task, labels: Sequence[Any]) -> Any:
    """Give the label that more than half of the judges gave; None where there is none."""
    counted = Counter(str(as_cell(task, one)) for one in labels)
    [(most, number)] = counted.most_common(1)
    return next(one for one in labels if str(as_cell(task, one)) == most) if 2 * number > len(labels) else None


def _labels(task: Task, row: ContestPair, original: Any, modified: Any) -> tuple[Any, Any]:
    found, faults = [], []
    for name, inputs, raw in (("original", row.original, original), ("modified", row.modified, modified)):
        kind = kind_of(task)
        if raw is None or raw == "":
            faults.append(Fault("is missing", field=f"{name}_label"))
            continue
        try:
            answer = kind.answers.stored(kind.parse_answer(task, inputs, raw).answer)
        except BadInput as error:
            faults.append(Fault(error.message, field=f"{name}_label"))
            continue
        faults += [fault.at(field=f"{name}_label") for fault in kind.check(task, inputs, answer)]
        found.append(answer)
    if faults:
        raise BadInput(faults=faults)
    return found[0], found[1]


def _require_judge(db: Session, actor: Actor, info: ContestInfo) -> int:
    user_id = require_user(actor)
    if team_of(db, actor, info) is not None or queries.wrote_some(db, info.id, user_id):
        raise Forbidden("Labels are validated by people who are in no team of the contest.")
    return user_id


def _pair(db: Session, info: ContestInfo, pair: int) -> ContestPair:
    found = queries.of_contest(db, info.id, ids=[pair])
    if not found:
        raise NotFound("There is no pair {pair} in {ref}.", pair=pair, ref=info.ref)
    return found[0].row
