"""The quality pass: measure every judge, unqualify whom the rules catch, and write down what was found.

It runs after every batch and whenever an owner asks. Slots that it opens are filled by others, the batch ends again,
and the next pass finds nobody: then the round is clean.
"""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from sqlalchemy.orm import Session

from quintain.core.people import OPERATOR, Actor
from quintain.core.records.judging import JudgeReview
from quintain.core.validation import UnqualifyRule
from quintain.services.access import audit
from quintain.services.access.permissions import require_owner
from quintain.services.validate.final_labels import final_labels
from quintain.services.validate.judge_figures import Figures, evidence_of, gather, measure
from quintain.services.validate.unqualify import caught_by, end, qualified_mask
from quintain.services.validate.validation import ValidationInfo
from quintain.services.validate.validations import find
from quintain.services.validate.vmer import error_counts, settle_bonuses
from quintain.store.database import lock, repeated, transaction
from quintain.store.queries.validate import judgements as queries
from quintain.store.queries.validate import slots
from quintain.store.queries.validate import validation as validation_queries
from quintain.store.tables import ValidationReview


def catch_up(db: Session, validation: ValidationInfo) -> None:
    """Review where a batch has ended and nobody has seen to it, also because a process ended before it could."""
    if _ready(db, validation):
        review_new(db, OPERATOR, validation.ref)


def catch_up_all(db: Session) -> None:
    """Make up for every review that is due."""
    for validation_id in queries.due_validations(db):
        catch_up(db, find(db, "/".join(validation_queries.place_of(db, validation_id))))


def _ready(db: Session, validation: ValidationInfo) -> list[int]:
    """List the batches that are to be reviewed and of which no slot is open or leased."""
    due = queries.due_batches(db, validation.id)
    return [batch for batch in due if slots.batch_is_done(db, validation.id, batch)]


@repeated
def review(db: Session, actor: Actor, ref: str, *, apply: bool | None = None) -> JudgeReview:
    """Review all judges. *apply* unqualifies those who are caught; by default the policy decides."""
    with transaction(db):
        return _review(db, actor, _begun(db, actor, ref), apply)


@repeated
def review_new(db: Session, actor: Actor, ref: str) -> JudgeReview | None:
    """Review all judges, unless the newest review has seen every judgement."""
    with transaction(db):
        validation = _begun(db, actor, ref)
        known = queries.reviews(db, validation.id, limit=1)
        if known and known[0].judgements == queries.count(db, validation.id):
            return None
        return _review(db, actor, validation, None)


def _begun(db: Session, actor: Actor, ref: str) -> ValidationInfo:
    """Let nobody else review a validation until the transaction ends, and note what this review sees to."""
    validation = find(db, ref)
    require_owner(actor, validation.task.name)
    lock(db, f"review {validation.id}")
    queries.clear_due(db, validation.id, _ready(db, validation))
    return validation


def _review(db: Session, actor: Actor, validation: ValidationInfo, apply: bool | None) -> JudgeReview:
    given = queries.count(db, validation.id)
    evidence = gather(db, validation)
    figures = measure(evidence)
    standing = qualified_mask(db, validation, figures)
    # What an owner has let count again is not held against a judge until there is something new to go by.
    restored = queries.restored(db, validation.id)
    caught: dict[int, UnqualifyRule] = {}
    for rule in validation.policy.every_rule:
        for user in figures.users[caught_by(rule, figures, standing)].tolist():
            if restored.get(user, rule.least) >= rule.least:
                caught.setdefault(user, rule)
    applied = validation.policy.automatic if apply is None else apply
    ended = {user: (rule.rule, str(rule)) for user, rule in caught.items()}
    opened = end(db, actor, validation, ended) if applied else 0
    if applied and caught:  # what has just been set aside counts no more
        aside = queries.set_aside(db, validation.id)
        left = evidence_of(evidence.table, aside, validation.task.judgement_labels, evidence.anew)
        final = final_labels(db, validation, left)
    else:
        final = final_labels(db, validation, evidence, figures)
    settled = settle_bonuses(db, validation, final)
    names = queries.names(db, caught)
    found = JudgeReview(
        judgements=len(evidence.table),
        judges=len(figures.users),
        caught={names[user]: str(rule) for user, rule in caught.items()},
        applied=applied,
        opened=opened,
        bonuses=settled.paid,
        clean=not caught,
    )
    summary = {**asdict(found), "caught": {f"user:{user}": rule.rule for user, rule in caught.items()}}
    summary["writers"] = settled.writers
    summary["vmer"] = error_counts(db, validation, final)
    compared = int(figures.compared.sum())
    summary["agreement"] = float(figures.agreed.sum() / compared) if compared else None
    summary["compared"] = compared
    row = ValidationReview(validation_id=validation.id, judgements=given, summary=summary, by=actor.user_id)
    queries.add_review(db, row, _estimates(figures))
    audit.record(db, actor, "validation.review", validation.ref, caught=len(caught), opened=opened)
    return found


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
