"""Rounds beside each other and beside harvested sentences: what writers make of prompts, and of a blank page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from sqlalchemy.orm import Session

from quintain.core.errors import BadInput
from quintain.core.people import OPERATOR, Actor
from quintain.core.records.report import Report, ReportFact
from quintain.core.task import Task
from quintain.core.texts import Text
from quintain.services.access.permissions import require_owner
from quintain.services.collect.writing.checks import as_text
from quintain.services.collect.writing.list_attempts import owned_round
from quintain.services.data import content
from quintain.services.data.datasets import VersionInfo, get_version
from quintain.services.plain.labels.work_shares import shares_section
from quintain.services.plain.reports.texts import MOST_GROUPS, TextGroup, compare_texts
from quintain.services.tasks.definitions import get_task
from quintain.services.validate.console.manage import find_validation, list_validations
from quintain.services.validate.quality.validation_figures import VALIDATION
from quintain.services.validate.types import ValidationInfo
from quintain.store.blobs import Blobs
from quintain.store.queries.collect import round_facts
from quintain.store.queries.study import texts as queries
from quintain.store.queries.validate import items as item_queries
from quintain.tasks.contract import kind_of

HARVESTED = "harvested"


def compare_report(
    db: Session,
    blobs: Blobs,
    actor: Actor,
    task_name: str,
    rounds: Sequence[str],
    harvests: Sequence[str] = (),
    *,
    seed: int = 0,
) -> Report:
    """Compare the texts of *rounds* (`task/number`) by condition, and beside them those of *harvests*. For owners.

    A harvest is a validation of harvested sentences (`task/name`), or a data set (`task/name`, `task/name@2`).
    """
    task = require_comparable(db, actor, task_name, rounds, harvests)
    groups: list[TextGroup] = []
    writers: dict[int, int] = {}
    for ref in dict.fromkeys(rounds):
        written = queries.of_round(db, owned_round(db, actor, ref).id)
        groups += _by_condition(task, ref, written)
        for text in written:
            if text.user_id is not None:
                writers[text.user_id] = writers.get(text.user_id, 0) + 1
    for ref in dict.fromkeys(harvests):
        groups.append(_beside(db, blobs, actor, task, ref))
    if len(groups) > MOST_GROUPS:
        raise BadInput(
            "These are {n} groups of texts, and {most} can be compared.",
            n=len(groups),
            most=MOST_GROUPS,
            remedy="Name fewer rounds.",
        )
    arguments = " ".join([*rounds, *(f"--harvest {ref}" for ref in harvests)])
    commands = [f"quintain study compare {arguments} --seed {seed} --out DIR"]
    sections = compare_texts(groups, seed=seed, commands=commands)
    if writers:
        counts = np.array(list(writers.values()), dtype=np.int64)
        sections.append(shares_section("writers", counts, commands, writers=True))
    return Report(
        key="compare",
        title=Text("Prompts, blank pages, harvests: the texts of {task}", task=task_name),
        lead=Text("How texts differ with what their writers were given."),
        facts=[
            ReportFact(Text("Rounds"), ", ".join(rounds) or "–"),
            ReportFact(Text("Beside them"), ", ".join(harvests) or "–"),
            ReportFact(Text("Texts"), f"{sum(len(group.texts) for group in groups):,}"),
            ReportFact(Text("Seed"), str(seed)),
        ],
        sections=sections,
    )


def require_comparable(
    db: Session, actor: Actor, task_name: str, rounds: Sequence[str], harvests: Sequence[str]
) -> Task:
    """Return the task whose texts are to be compared (owners); refuse what cannot be, before any is read."""
    task = get_task(db, task_name)
    require_owner(actor, task_name)
    if not rounds and not harvests:
        raise BadInput("No round is named.", remedy="Choose one or several rounds.")
    for ref in (*rounds, *harvests):
        _require_own(task_name, ref)
    for ref in rounds:
        owned_round(db, actor, ref)
    for ref in harvests:
        _harvest(db, actor, ref)
    return task


def resting_on(db: Session, task_name: str, rounds: Sequence[str], harvests: Sequence[str]) -> list[str]:
    """Return what a comparison would rest on now, by the ends of indices."""
    basis = [*_own_fields(get_task(db, task_name))]
    basis += [round_facts.newest_facts(db, owned_round(db, OPERATOR, ref).id) for ref in rounds]
    for ref in harvests:
        source = _harvest(db, OPERATOR, ref)
        basis.append(VALIDATION.basis(db, ref) if isinstance(source, ValidationInfo) else source.ref)
    return basis


def count_texts(db: Session, rounds: Sequence[str], harvests: Sequence[str], most: int) -> int:
    """Count the texts of a comparison, as far as it matters: no further than *most* of each."""
    number = sum(round_facts.count_to(db, owned_round(db, OPERATOR, ref).id, most) for ref in rounds)
    for ref in harvests:
        source = _harvest(db, OPERATOR, ref)
        if isinstance(source, ValidationInfo):
            number += item_queries.count_items_to(db, source.id, most)
        else:
            number += source.rows
    return number


def _harvest(db: Session, actor: Actor, ref: str) -> ValidationInfo | VersionInfo:
    """Find the validation or, where there is none, the data set that *ref* means."""
    return (
        find_validation(db, ref) if ref in list_validations(db, ref.partition("/")[0]) else get_version(db, actor, ref)
    )


def _require_own(task: str, ref: str) -> None:
    if ref.partition("/")[0] != task:
        raise BadInput(
            "{ref} is not of task {task}.", ref=ref, task=task, remedy="Texts of one task are compared at a time."
        )


def _by_condition(task: Task, ref: str, written: Sequence[queries.WrittenText]) -> list[TextGroup]:
    own = _own_fields(task)
    parts: dict[str, tuple[list[str], list[str | None]]] = {}
    for text in written:
        name = text.origin if text.origin == HARVESTED else text.condition
        texts, prompts = parts.setdefault(f"{ref}: {name}" if name else ref, ([], []))
        texts.append(_text(own, text.inputs))
        prompts.append(_prompt(own, text.prompt))
    return [TextGroup(name, texts, prompts) for name, (texts, prompts) in parts.items()]


def _beside(db: Session, blobs: Blobs, actor: Actor, task: Task, ref: str) -> TextGroup:
    own = _own_fields(task)
    source = _harvest(db, actor, ref)
    if isinstance(source, ValidationInfo):
        inputs: Sequence[Mapping[str, Any]] = queries.of_validation(db, source.id)
    else:
        inputs = content.scan(db, blobs, actor, ref, answers=False).select(own).collect().to_dicts()
    return TextGroup(ref, [_text(own, one) for one in inputs])


def _own_fields(task: Task) -> list[str]:
    """Name the fields that writers write: what is given, such as a passage, is left out."""
    return [item.name for item in kind_of(task).fields(task) if item.editable]


def _text(own: Sequence[str], inputs: Mapping[str, Any]) -> str:
    return "\n".join(as_text(inputs[name]) for name in own if inputs.get(name) is not None)


def _prompt(own: Sequence[str], prompt: Mapping[str, Any] | None) -> str | None:
    """Return what there was to edit; None where a prompt gives only what cannot be changed."""
    return (_text(own, prompt) or None) if prompt else None
