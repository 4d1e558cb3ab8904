"""Automatic drafts of an example: by rules, or by a search that turns a named model. None counts by itself."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy.orm import Session

from quintain.core.errors import BadInput, Conflict
from quintain.core.people import Actor
from quintain.core.records.contrasting import ContrastDraft, ContrastDrafts
from quintain.core.task import Task
from quintain.perturbations.drafts.contract import make_drafts
from quintain.perturbations.drafts.search import RULE, SearchLimits, flip_search
from quintain.services.access import audit
from quintain.services.contrast.authoring import get_pivot
from quintain.services.contrast.projects import find_project
from quintain.services.models.ask import MAX_INPUTS, RUNNERS, AdapterRunner, predict
from quintain.services.models.registry import get_model
from quintain.services.tasks.definitions import get_task
from quintain.store.blobs import Blobs
from quintain.store.database import transaction
from quintain.tasks.contract import kind_of

MOST_DRAFTS = 30
LIMITS = SearchLimits(beam=4, swaps=2, words=8, asked=500)


def list_drafts(db: Session, actor: Actor, ref: str, pivot_id: int) -> ContrastDrafts:
    """Return the drafts that rules make of an example in somebody's hands, where the project offers any."""
    task, inputs = _pivot_in_hand(db, actor, ref, pivot_id)
    drafts = [
        ContrastDraft(draft.rule, name, draft.text, draft.size.tokens, draft.size.characters)
        for name in _texts(task, inputs)
        for draft in make_drafts(str(inputs[name]), most=MOST_DRAFTS)
    ]
    return ContrastDrafts(drafts[:MOST_DRAFTS])


def search_drafts(
    db: Session,
    blobs: Blobs,
    actor: Actor,
    ref: str,
    pivot_id: int,
    model: str,
    *,
    runners: Mapping[str, AdapterRunner] = RUNNERS,
) -> ContrastDrafts:
    """Search for small edits of an example that turn what *model* says. Who asked, and of which model, is logged."""
    task, inputs = _pivot_in_hand(db, actor, ref, pivot_id)
    if not kind_of(task).needs_labels and not kind_of(task).fixed_labels:
        raise Conflict("A search needs a model that says how likely each label is, and this task has no labels.")
    version = get_model(db, actor, model).version
    if version.task != task.name:
        raise BadInput("'{ref}' is a model of task '{task}'.", ref=version.ref, task=version.task)
    drafts = []
    for name in _texts(task, inputs):

        def ask(texts: Sequence[str], name: str = name) -> list[Mapping[str, float]]:
            variants = [{**inputs, name: text} for text in texts]
            parts = [variants[start : start + MAX_INPUTS] for start in range(0, len(variants), MAX_INPUTS)]
            predictions = [
                one for part in parts for one in predict(db, blobs, actor, version.ref, part, runners=runners)
            ]
            return [prediction.probabilities or {str(prediction.answer): 1.0} for prediction in predictions]

        for flip in flip_search(str(inputs[name]), ask, model=version.ref, limits=LIMITS):
            size = flip.size
            drafts.append(ContrastDraft(RULE, name, flip.text, size.tokens, size.characters, flip.model, flip.label))
    db.rollback()
    with transaction(db):
        audit.record(db, actor, "contrast.search", ref, pivot=pivot_id, model=version.ref)
    return ContrastDrafts(drafts[:MOST_DRAFTS])


def _pivot_in_hand(db: Session, actor: Actor, ref: str, pivot_id: int) -> tuple[Task, Mapping[str, Any]]:
    info = find_project(db, ref)
    pivot = get_pivot(db, actor, ref, pivot_id)
    if not info.spec.drafts:
        raise Conflict(
            "{ref} offers no automatic drafts.",
            ref=ref,
            remedy="Its owner can switch them on (`drafts`).",
            code="drafts_off",
        )
    return get_task(db, info.task), pivot.inputs


def _texts(task: Task, inputs: Mapping[str, Any]) -> list[str]:
    """Name the fields that a rule may edit: texts that are there and not fixed."""
    return [
        item.name
        for item in kind_of(task).fields(task)
        if item.type in {"text", "long_text"} and not item.fixed and inputs.get(item.name)
    ]
