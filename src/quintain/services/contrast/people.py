"""How people do on a contrast set: pairs of original and variant, judged by those who wrote neither.

The pairs are items of a validation of their own, so that judging, pay and rules are those of every other one. Who
wrote a variant is not asked about it, nor about its original, whose answer they were shown.
"""

from __future__ import annotations

import hashlib

from sqlalchemy.orm import Session

from quintain.core.errors import BadInput, Conflict, Fault
from quintain.core.people import Actor
from quintain.core.records.contrasting import HumanContrast
from quintain.services.access.permissions import require_owner
from quintain.services.contrast.projects import ProjectInfo, find_project
from quintain.services.validate.console.manage import find_validation, list_validations, open_validation, take_rows
from quintain.services.validate.labels import meets_aim
from quintain.stats.contrast import Members, contrast_estimates
from quintain.store.database import transaction
from quintain.store.queries.contrast import people as judged
from quintain.store.queries.contrast import variants as queries

ENOUGH = 100  # pairs, as in the paper's own measurements
POLICY = "judgements = 1\nminimum = 1\n"


def open_people(db: Session, actor: Actor, ref: str, *, pairs: int = ENOUGH, seed: int = 0) -> HumanContrast:
    """Let people judge *pairs* of original and accepted variant, one of each set, drawn by *seed*. For owners."""
    info = find_project(db, ref)
    require_owner(actor, info.task)
    if not 1 <= pairs <= 100_000:
        raise BadInput(faults=[Fault("{pairs} is not a number from 1 to 100000", pairs=pairs, field="pairs")])
    chosen = _pairs(db, info, pairs, seed)
    if not chosen:
        raise Conflict("No variant of {ref} is accepted yet.", ref=ref, remedy="Write some, and let others check them.")
    rows = []
    for pair in chosen:
        answer = pair.variant.answer if pair.variant.settled is None else pair.variant.settled
        author = pair.variant.author_id
        rows.append({"inputs": pair.pivot.inputs, "answer": pair.pivot.answer, "author_id": author})
        rows.append({"inputs": pair.variant.inputs, "answer": answer, "author_id": author})
    name = validation_of(info)
    with transaction(db):
        if name not in list_validations(db, info.task):
            open_validation(db, actor, name, POLICY)
        take_rows(db, actor, name, rows)
    return people_figures(db, actor, ref)


def people_figures(db: Session, actor: Actor, ref: str) -> HumanContrast:
    """Return how people do on the pairs that were judged (owners): the score of an item is the share who are right."""
    info = find_project(db, ref)
    require_owner(actor, info.task)
    name = validation_of(info)
    if name not in list_validations(db, info.task):
        return HumanContrast(name, 0, 0, 0, False, None)
    validation = find_validation(db, name)
    sets = judged.sets_of(db, info.id)
    pairs = len({sets[item][0] for item in judged.items_of(db, validation.id) if item in sets})
    judgements = judged.judged_members(db, validation.id)
    votes: dict[str, list[bool]] = {}
    for judgement in judgements:
        if judgement.hash in sets:
            votes.setdefault(judgement.hash, []).append(meets_aim(validation.task, judgement.label, judgement.aim))
    whole = _whole_sets(sets, votes)
    shares = {vote: sum(votes[vote]) / len(votes[vote]) for vote in votes if sets[vote][0] in whole}
    figures = None
    if shares:
        members = Members.of(
            list(shares.values()),
            [share > 0.5 for share in shares.values()],
            [sets[share][0] for share in shares],
            [sets[share][1] for share in shares],
        )
        figures = contrast_estimates(members)
    judges = len({judgement.user_id for judgement in judgements})
    return HumanContrast(name, pairs, len(whole), judges, len(whole) >= ENOUGH, figures)


def validation_of(info: ProjectInfo) -> str:
    """Return the name of the validation in which people judge the pairs of a project."""
    return f"{info.task}/contrast-{info.name}"


def _whole_sets(sets: dict[str, tuple[int, bool]], votes: dict[str, list[bool]]) -> set[int]:
    """Name the sets of which the original and a variant were judged."""
    originals = {sets[vote][0] for vote in votes if sets[vote][1]}
    return originals & {sets[vote][0] for vote in votes if not sets[vote][1]}


def _pairs(db: Session, info: ProjectInfo, pairs: int, seed: int) -> list[queries.WrittenVariant]:
    """Draw one accepted variant of each set, and so many sets."""

    def place(written: queries.WrittenVariant) -> str:
        return hashlib.sha256(f"{seed}/{written.variant.hash}".encode()).hexdigest()

    first: dict[int, queries.WrittenVariant] = {}
    for written in sorted(queries.accepted(db, info.id), key=place):
        first.setdefault(written.pivot.id, written)
    return list(first.values())[:pairs]
