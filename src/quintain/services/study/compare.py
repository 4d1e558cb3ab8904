"""Rounds beside each other and beside harvested sentences: what writers make of prompts, and of a blank page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from sqlalchemy.orm import Session

from quintain.core.errors import BadInput
from quintain.core.people import Actor
from quintain.core.records.report import Report, ReportFact
from quintain.core.task import Task
from quintain.core.texts import Text
from quintain.services.access.permissions import require_owner
from quintain.services.collect.attempts import owned
from quintain.services.collect.checks import as_text
from quintain.services.data import content
from quintain.services.plain.texts import MOST_GROUPS, TextGroup, compare_texts
from quintain.services.plain.work_shares import shares_section
from quintain.services.tasks.definitions import get_task
from quintain.services.validate.validations import find, list_validations
from quintain.store.blobs import Blobs
from quintain.store.queries.study import texts as queries
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
    task = get_task(db, task_name)
    require_owner(actor, task_name)
    if not rounds and not harvests:
        raise BadInput("No round is named.", remedy="Choose one or several rounds.")
    groups: list[TextGroup] = []
    writers: dict[int, int] = {}
    for ref in dict.fromkeys(rounds):
        _require_own(task_name, ref)
        found = queries.of_round(db, owned(db, actor, ref).id)
        groups += _by_condition(task, ref, found)
        for one in found:
            if one.user_id is not None:
                writers[one.user_id] = writers.get(one.user_id, 0) + 1
    for ref in dict.fromkeys(harvests):
        _require_own(task_name, ref)
        groups.append(_beside(db, blobs, actor, task, ref))
    if len(groups) > MOST_GROUPS:
        raise BadInput(
            "These are {n} groups of texts, and {most} can be compared.",
            n=len(groups),
            most=MOST_GROUPS,
            remedy="Name fewer rounds.",
        )
    given = " ".join([*rounds, *(f"--harvest {ref}" for ref in harvests)])
    commands = [f"quintain study compare {given} --seed {seed} --out DIR"]
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
            ReportFact(Text("Texts"), f"{sum(len(one.texts) for one in groups):,}"),
            ReportFact(Text("Seed"), str(seed)),
        ],
        sections=sections,
    )


def _require_own(task: str, ref: str) -> None:
    if ref.partition("/")[0] != task:
        raise BadInput(
            "{ref} is not of task {task}.", ref=ref, task=task, remedy="Texts of one task are compared at a time."
        )


def _by_condition(task: Task, ref: str, found: Sequence[queries.WrittenText]) -> list[TextGroup]:
    own = _own_fields(task)
    parts: dict[str, tuple[list[str], list[str | None]]] = {}
    for one in found:
        name = one.origin if one.origin == HARVESTED else one.condition
        texts, prompts = parts.setdefault(f"{ref}: {name}" if name else ref, ([], []))
        texts.append(_text(own, one.inputs))
        prompts.append(_prompt(own, one.prompt))
    return [TextGroup(name, texts, prompts) for name, (texts, prompts) in parts.items()]


def _beside(db: Session, blobs: Blobs, actor: Actor, task: Task, ref: str) -> TextGroup:
    own = _own_fields(task)
    if ref in list_validations(db, task.name):
        inputs: Sequence[Mapping[str, Any]] = queries.of_validation(db, find(db, ref).id)
    else:
        inputs = content.scan(db, blobs, actor, ref, answers=False).select(own).collect().to_dicts()
    return TextGroup(ref, [_text(own, one) for one in inputs])


def _own_fields(task: Task) -> list[str]:
    """Name the fields that writers write: what is given, such as a passage, is left out."""
    return [item.name for item in kind_of(task).fields(task) if item.editable]


def _text(own: Sequence[str], inputs: Mapping[str, Any]) -> str:
    return "\n".join(as_text(inputs[name]) for name in own if inputs.get(name) is not None)


def _prompt(own: Sequence[str], prompt: Mapping[str, Any] | None) -> str | None:
    """Give what there was to edit; None where a prompt gives only what cannot be changed."""
    return (_text(own, prompt) or None) if prompt else None
