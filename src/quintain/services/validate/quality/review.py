"""The quality pass: measure every judge, unqualify whom the rules catch, and write down what was found.

It runs after every batch and whenever an owner asks. Slots that it opens are filled by others, the batch ends again,
and the next pass finds nobody: then the round is clean.

It measures outside of any transaction and writes briefly: judges hand in meanwhile, and what they hand in is the next
pass's. Every step can be done again, so that a pass that was interrupted is made up for by the next one.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from sqlalchemy.orm import Session

from quintain.core.errors import Unavailable
from quintain.core.people import OPERATOR, Actor
from quintain.core.records.judging import JudgeReview
from quintain.core.validation import UnqualifyRule
from quintain.engine.loops import Each, straight
from quintain.services.access import audit
from quintain.services.access.permissions import require_owner
from quintain.services.jobs import queue
from quintain.services.jobs.figures import REST
from quintain.services.jobs.running import Handlers, JobRun
from quintain.services.validate.console.manage import find_validation, validation_by_id
from quintain.services.validate.judging.bonuses import settle_bonuses
from quintain.services.validate.quality import validation_figures
from quintain.services.validate.quality.final_labels import final_labels
from quintain.services.validate.quality.judge_figures import Evidence, Figures, evidence_of, gather, measure
from quintain.services.validate.quality.tallies import Tallies, tally
from quintain.services.validate.quality.unqualify import caught_by, end_qualifications, qualified_mask
from quintain.services.validate.types import ValidationInfo
from quintain.store.database import lock, repeated, transaction
from quintain.store.queries.access.people import names as people_names
from quintain.store.queries.validate import judgements as queries
from quintain.store.queries.validate import slots
from quintain.store.tables import ValidationReview
from quintain.store.write_queue import sqlite_write_queue

JOB = "review"  # the kind of job that reviews what is new
ASKED: Mapping[bool | None, str] = {None: "review now", True: "review and apply", False: "review and look"}
TRIES = 3


@dataclass(frozen=True, slots=True)
class _Measured:
    """What a pass has seen: *given* judgements up to the *newest*, the *batches* it is for, and whom rules catch.

    *stand* says which standings, rules and decisions it rests on.
    """

    stand: tuple[int, ...]
    batches: list[int]
    given: int
    newest: int
    evidence: Evidence
    figures: Figures
    caught: Mapping[int, UnqualifyRule]


def catch_up(db: Session, validation: ValidationInfo) -> None:
    """Review where a batch has ended and nobody has seen to it, also because a process ended before it could.

    Where there are many judgements, a worker does it.
    """
    if not _ready(db, validation):
        return
    if validation_figures.is_large(db, validation):
        queue.enqueue(db, JOB, validation.ref, task=validation.task.name, rest=REST)
    else:
        review_new(db, OPERATOR, validation.ref)


def catch_up_all(db: Session, each: Each = straight) -> None:
    """Make up for every review that is due; *each* says what becomes of one that fails."""
    due = queries.due_validations(db)
    each(
        due,
        lambda number: catch_up(db, validation_by_id(db, number)),
        name=lambda number: f"validation {number}",
        undo=db.rollback,
    )


def handlers() -> Handlers:
    """Return what a worker does for each kind of review."""
    return dict.fromkeys((JOB, *ASKED.values()), work)


def work(run: JobRun) -> Mapping[str, Any]:
    """Review as a worker: what somebody asked for, or what is new."""
    with run.sessions() as db:
        ways, asker = [apply for apply, kind in ASKED.items() if kind == run.kind], run.asker(db)
        reviewed = review(db, asker, run.subject, apply=ways[0]) if ways else review_new(db, OPERATOR, run.subject)
    return (
        {}
        if reviewed is None
        else {"judges": reviewed.judges, "caught": len(reviewed.caught), "opened": reviewed.opened}
    )


def ask_review(db: Session, actor: Actor, ref: str, *, apply: bool | None = None) -> JudgeReview:
    """Review all judges at once; where there are many judgements, have a worker do it, and name the job."""
    validation = find_validation(db, ref)
    require_owner(actor, validation.task.name)
    if not validation_figures.is_large(db, validation):
        return review(db, actor, ref, apply=apply)
    job = queue.enqueue(db, ASKED[apply], ref, task=validation.task.name, by=actor)
    return JudgeReview(0, 0, {}, applied=False, opened=0, bonuses=0, clean=True, job=job.id)


def _ready(db: Session, validation: ValidationInfo) -> list[int]:
    """List the batches that are to be reviewed and of which no slot is open or leased."""
    due = queries.due_batches(db, validation.id)
    return [batch for batch in due if slots.batch_is_done(db, validation.id, batch)]


@repeated
def review(db: Session, actor: Actor, ref: str, *, apply: bool | None = None) -> JudgeReview:
    """Review all judges. *apply* unqualifies those who are caught; by default the policy decides."""
    require_owner(actor, find_validation(db, ref).task.name)
    return _review(db, actor, ref, apply)


@repeated
def review_new(db: Session, actor: Actor, ref: str) -> JudgeReview | None:
    """Review all judges, unless the newest review has seen every judgement."""
    validation = find_validation(db, ref)
    require_owner(actor, validation.task.name)
    known = queries.reviews(db, validation.id, limit=1)
    if known and known[0].judgements == queries.count(db, validation.id):
        newest = queries.newest(db, validation.id)
        with sqlite_write_queue(db), transaction(db):
            _clear(db, validation, _ready(db, validation), newest)
        return None
    return _review(db, actor, ref, None)


def _review(db: Session, actor: Actor, ref: str, apply: bool | None) -> JudgeReview:
    for _ in range(TRIES):
        validation = find_validation(db, ref)
        seen = _measure(db, validation)
        applied = validation.policy.automatic if apply is None else apply
        opened = _end(db, actor, validation, seen) if applied and seen.caught else 0
        if opened is None:
            continue  # somebody has changed who counts: measure again
        return _finish(db, actor, validation, seen, applied=applied, opened=opened)
    raise Unavailable("Others keep changing whose judgements count.", remedy="Review again in a moment.")


def _measure(db: Session, validation: ValidationInfo) -> _Measured:
    """Read the judgements, and see whom the policy's rules catch; nothing is written."""
    stand, batches = _stand(db, validation), _ready(db, validation)
    judgements, newest = queries.count(db, validation.id), queries.newest(db, validation.id)
    evidence = gather(db, validation)
    figures = measure(evidence)
    qualified = qualified_mask(db, validation, figures)
    # What an owner has let count again is not held against a judge until there is something new to go by.
    restored = queries.restored(db, validation.id)
    caught: dict[int, UnqualifyRule] = {}
    for rule in validation.policy.every_rule:
        for user in figures.users[caught_by(rule, figures, qualified)].tolist():
            if restored.get(user, rule.least) >= rule.least:
                caught.setdefault(user, rule)
    return _Measured(stand, batches, judgements, newest, evidence, figures, caught)


def _stand(db: Session, validation: ValidationInfo) -> tuple[int, ...]:
    """Return which standings and decisions there are: what a pass must not overlook."""
    current = find_validation(db, validation.ref)
    return queries.count_standings(db, current.id), current.revision, hash(current.policy)


def _end(db: Session, actor: Actor, validation: ValidationInfo, seen: _Measured) -> int | None:
    """End the qualifications of those who were caught, and give how many slots that opens; None where it is outrun."""
    with sqlite_write_queue(db), transaction(db):
        lock(db, f"review {validation.id}")
        if _stand(db, validation) != seen.stand:
            return None
        return end_qualifications(
            db, actor, validation, {user: (rule.rule, str(rule)) for user, rule in seen.caught.items()}
        )


def _finish(
    db: Session, actor: Actor, validation: ValidationInfo, seen: _Measured, *, applied: bool, opened: int
) -> JudgeReview:
    """Label what is left, pay what follows from it, and write the pass down."""
    evidence, figures = seen.evidence, seen.figures
    if applied and seen.caught:  # what has just been set aside counts no more
        aside = queries.set_aside(db, validation.id)
        left = evidence_of(evidence.table, aside, evidence.counted.classes, evidence.anew)
        tallies = tally(db, validation, final_labels(db, validation, left))
    else:
        tallies = tally(db, validation, final_labels(db, validation, evidence, figures))
    settled = settle_bonuses(db, validation, tallies)
    names = people_names(db, seen.caught)
    reviewed = JudgeReview(
        judgements=len(evidence.table),
        judges=len(figures.users),
        caught={names[user]: str(rule) for user, rule in seen.caught.items()},
        applied=applied,
        opened=opened,
        bonuses=settled.paid,
        clean=not seen.caught,
    )
    summary = {**_summary(reviewed, seen, tallies), "writers": settled.writers}
    row = ValidationReview(validation_id=validation.id, judgements=seen.given, summary=summary, by=actor.user_id)
    estimates = _estimates(figures)
    with sqlite_write_queue(db), transaction(db):
        lock(db, f"review {validation.id}")
        queries.add_review(db, row, estimates)
        _clear(db, validation, seen.batches, seen.newest)
        audit.record(db, actor, "validation.review", validation.ref, caught=len(seen.caught), opened=opened)
    return reviewed


def _clear(db: Session, validation: ValidationInfo, batches: list[int], newest: int) -> None:
    """Note that batches were seen to; not those in which somebody has judged since."""
    since = queries.batches_since(db, validation.id, newest)
    queries.clear_due(db, validation.id, [batch for batch in batches if batch not in since])


def _summary(reviewed: JudgeReview, seen: _Measured, tallies: Tallies) -> dict[str, Any]:
    compared, agreed = seen.figures.agreement_of_all()
    shown = asdict(reviewed)
    shown.pop("job")
    return {
        **shown,
        "caught": {f"user:{user}": rule.rule for user, rule in seen.caught.items()},
        "vmer": tallies.error_counts(),
        "agreement": agreed / compared if compared else None,
        "compared": compared,
    }


def _estimates(figures: Figures) -> list[dict[str, Any]]:
    columns = {
        "user_id": figures.users,
        "judgements": figures.judgements,
        "compared": figures.compared,
        "agreed": figures.agreed,
        "gold_seen": figures.gold_seen,
        "gold_right": figures.gold_right,
        "right": figures.right,
        "wrong": figures.wrong,
    }
    rows = zip(*(values.tolist() for values in columns.values()), strict=True)
    return [dict(zip(columns, row, strict=True)) for row in rows]
