"""Reports on a validation: old labels against new ones, and who did how much of the judging, how well."""

from __future__ import annotations

import numpy as np
from sqlalchemy.orm import Session

from quintain.core.errors import BadInput
from quintain.core.people import Actor
from quintain.core.records.report import Report, ReportFact
from quintain.core.texts import Text
from quintain.services.access.permissions import require_owner
from quintain.services.access.pseudonyms import pseudonyms
from quintain.services.plain.labels.relabelling import LEAD, Relabelled, relabel_facts, relabel_sections
from quintain.services.plain.labels.work_shares import JudgeWork, agreement_section, shares_section
from quintain.services.validate.console.manage import find_validation
from quintain.services.validate.labels import shows_answer
from quintain.services.validate.quality.final_labels import FinalLabels, final_labels
from quintain.services.validate.quality.judge_figures import gather, measure
from quintain.services.validate.types import ValidationInfo
from quintain.stats.bootstrap import IntArray
from quintain.stats.judgements import NONE
from quintain.store.queries.study import texts as queries


def relabel_report(db: Session, actor: Actor, ref: str, *, seed: int = 0) -> Report:
    """Compare the labels that the items of validation *ref* came with, and what people say of them. For owners.

    The items of a data set come with its answers; those of a round with the label that the writer aimed at.
    """
    validation = require_judged(db, actor, ref, labels=True)
    task = validation.task
    final = final_labels(db, validation)
    positions = final.by_item()
    items = [one for one in queries.aimed(db, validation.id) if one.id in positions]
    where = np.array([positions[item.id] for item in items], dtype=np.int64)
    labels = task.judgement_labels
    code = {name: at for at, name in enumerate(labels)}
    names = final.names()
    relabelled = Relabelled(
        labels=labels,
        names=[item.hash for item in items],
        texts=[" · ".join(str(value) for value in item.inputs.values()) for item in items],
        old=np.array([code.get(item.aim, NONE) for item in items], dtype=np.int64),
        new=np.array([code.get(names[at] or "", NONE) for at in where.tolist()], dtype=np.int64),
        votes=_votes(final, where, labels),
    )
    return Report(
        key="relabel",
        title=Text("Old and new labels of {name}", name=ref),
        lead=LEAD,
        facts=[ReportFact(Text("Validation"), ref), *relabel_facts(relabelled, seed)],
        sections=relabel_sections(relabelled, [f"quintain study relabel {ref} --seed {seed} --out DIR"], seed),
    )


def require_judged(db: Session, actor: Actor, ref: str, *, labels: bool = False) -> ValidationInfo:
    """Return a validation that can be reported on (owners), by its *labels* where it is to have any."""
    validation = find_validation(db, ref)
    task = validation.task
    require_owner(actor, task.name)
    if labels and (shows_answer(task) or not task.label_names):
        raise BadInput("Task {task} has no labels to compare.", task=task.name)
    return validation


def _votes(final: FinalLabels, where: IntArray, labels: tuple[str, ...]) -> IntArray:
    column = {name: at for at, name in enumerate(final.classes)}
    votes = np.zeros((len(where), len(labels)), dtype=np.int64)
    for at, name in enumerate(labels):
        if name in column:
            votes[:, at] = final.votes[where, column[name]]
    return votes


def workers_report(db: Session, actor: Actor, ref: str) -> Report:
    """Return who judged how much in validation *ref*, and how often with the label; of a round, also who wrote.

    For owners. People are under the names that they have in exports.
    """
    validation = require_judged(db, actor, ref)
    evidence = gather(db, validation)
    figures = measure(evidence)
    final = final_labels(db, validation, evidence, figures)
    aliases = pseudonyms(db, (int(user) for user in evidence.users), validation.task.name)
    work = JudgeWork(
        judgements=evidence.counted,
        label=final.label,
        names=[aliases[int(user)] for user in evidence.users],
        gold_seen=figures.gold_seen,
        gold_right=figures.gold_right,
    )
    commands = [f"quintain study workers {ref} --out DIR"]
    sections = [
        shares_section("judges", figures.judgements, commands, writers=False),
        agreement_section(work, commands),
    ]
    if validation.round_id is not None:
        sections.insert(0, shares_section("writers", _written(db, validation), commands, writers=True))
    return Report(
        key="workers",
        title=Text("Who did the work of {name}", name=ref),
        lead=Text("How work is shared out, and how often people agree."),
        facts=[
            ReportFact(Text("Validation"), ref),
            ReportFact(Text("Items with judgements"), f"{len(evidence.items):,}"),
            ReportFact(Text("Judgements that count"), f"{len(evidence.counted):,}"),
        ],
        sections=sections,
    )


def _written(db: Session, validation: ValidationInfo) -> IntArray:
    """Count what each writer of the validation's round wrote."""
    written = queries.of_round(db, int(validation.round_id or 0))
    writers = np.array([one.user_id for one in written if one.user_id is not None], dtype=np.int64)
    return np.unique(writers, return_counts=True)[1]
