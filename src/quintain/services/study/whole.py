"""All that can be said of a data set, or of a round, as one report.

Of a data set: what gives its answers away, and how hard its examples are for the models that were run on it. Of a
round: its texts by condition and, once they are judged, how labels came out and who did the work.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
import polars as pl
from sqlalchemy.orm import Session

from quintain.core.errors import BadInput
from quintain.core.people import Actor
from quintain.core.records.report import Report, ReportFact, ReportSection
from quintain.core.task import Task
from quintain.core.texts import Text
from quintain.metrics.flips import same_answers
from quintain.services.access.permissions import require_owner
from quintain.services.data import content
from quintain.services.data.datasets import VersionInfo, get_version
from quintain.services.evaluate.results import read_predictions
from quintain.services.plain.artefacts import LEAST_EXAMPLES, ArtefactOptions, artefact_sections
from quintain.services.plain.irt import study_responses
from quintain.services.plain.irt_report import irt_sections
from quintain.services.study.compare import compare_report
from quintain.services.study.judged import relabel_report, workers_report
from quintain.services.tasks.definitions import get_task
from quintain.services.validate.labels import shows_answer
from quintain.services.validate.validations import list_validations
from quintain.stats.artefacts.examples import Examples
from quintain.stats.irt.responses import Responses
from quintain.store.blobs import Blobs
from quintain.store.queries.evaluate import cells as cell_queries
from quintain.tasks.contract import kind_of

LEAST_MODELS = 3
LEAST_ITEMS = 20
Done = Callable[[float], None]


def _quiet(_share: float) -> None:
    """Say nothing of the progress."""


def whole_report(db: Session, blobs: Blobs, actor: Actor, ref: str, *, seed: int = 0, done: Done = _quiet) -> Report:
    """Tell of the data set (`task/name`, `task/name@2`) or the round (`task/number`) that *ref* names. For owners."""
    task_name, _, rest = ref.partition("/")
    if not rest:
        raise BadInput(
            "{ref} is neither a data set nor a round.", ref=ref, remedy="Name it as task/name, or as task/number."
        )
    task = get_task(db, task_name)
    require_owner(actor, task_name)
    command = f"quintain study report {ref} --seed {seed} --out DIR"
    if rest.isdecimal():
        found = _round(db, blobs, actor, task, _Asked(ref, seed, command))
    else:
        found = _dataset(db, blobs, actor, task, _Asked(ref, seed, command), done)
    done(1.0)
    return found


@dataclass(frozen=True, slots=True)
class _Asked:
    """What the report is about, with which seed, and the command that makes it again."""

    ref: str
    seed: int
    command: str


def _round(db: Session, blobs: Blobs, actor: Actor, task: Task, asked: _Asked) -> Report:
    texts = compare_report(db, blobs, actor, task.name, [asked.ref], seed=asked.seed)
    sections = list(texts.sections)
    if asked.ref in list_validations(db, task.name):
        if task.label_names and not shows_answer(task):
            sections += relabel_report(db, actor, asked.ref, seed=asked.seed).sections
        known = {one.key for one in sections}
        sections += [one for one in workers_report(db, actor, asked.ref).sections if one.key not in known]
    facts = [ReportFact(Text("Round"), asked.ref), *texts.facts[2:]]
    return _report(asked, Text("All about round {ref}", ref=asked.ref), facts, sections)


def _dataset(db: Session, blobs: Blobs, actor: Actor, task: Task, asked: _Asked, done: Done) -> Report:
    version = get_version(db, actor, asked.ref)
    table = content.scan(db, blobs, actor, asked.ref, answers=True).filter(pl.col("answer").is_not_null()).collect()
    examples = _examples(task, table)
    sections: list[ReportSection] = []
    if examples is not None and len(examples) >= LEAST_EXAMPLES:
        options = ArtefactOptions(seed=asked.seed, commands=[asked.command])
        sections += artefact_sections(examples, options, lambda share: done(0.7 * share))
    responses = _responses(db, blobs, task, version, table)
    if responses is not None:
        sections += irt_sections(study_responses(responses, "2pl", seed=asked.seed), [asked.command])
    if not sections:
        raise BadInput(
            "There is nothing to study in {ref} yet.",
            ref=version.ref,
            remedy="It takes {examples} examples with labels or options, or {models} models that were run on it.",
            examples=LEAST_EXAMPLES,
            models=LEAST_MODELS,
        )
    facts = [
        ReportFact(Text("Data set"), version.ref),
        ReportFact(Text("Examples"), f"{table.height:,}"),
        ReportFact(Text("Models"), f"{len(responses.respondents):,}" if responses is not None else "–"),
        ReportFact(Text("Seed"), str(asked.seed)),
    ]
    return _report(asked, Text("All about data set {ref}", ref=version.ref), facts, sections)


def _report(asked: _Asked, title: Text, facts: list[ReportFact], sections: list[ReportSection]) -> Report:
    lead = Text("What was written, judged and measured, with the command that makes this report again.")
    again = [replace(one, commands=[asked.command]) for one in sections]
    return Report(key="whole", title=title, lead=lead, facts=facts, sections=again)


def _examples(task: Task, table: pl.DataFrame) -> Examples | None:
    """Take the examples for a look at artefacts; None where answers are neither labels nor options."""
    fields = [one.name for one in kind_of(task).fields(task) if one.name in table.columns]
    texts = {name: table[name].fill_null("").to_list() for name in fields if table.schema[name] == pl.String()}
    context = table["group"].fill_null(table["id"]).to_list() if "group" in table.columns else []
    lists = [name for name in fields if table.schema[name] == pl.List(pl.String())]
    if table.schema["answer"].is_integer() and len(lists) == 1:
        options = table[lists[0]].to_list()
        most = max((len(one) for one in options), default=0)
        answer = table["answer"].to_numpy().astype(np.int64)
        return Examples(texts, answer, [str(at + 1) for at in range(most)], options, context)
    if table.schema["answer"] != pl.String() or not task.label_names or not texts:
        return None
    labels = list(task.label_names)
    codes = table["answer"].replace_strict(labels, range(len(labels)), default=None, return_dtype=pl.Int64())
    known = codes.is_not_null().to_numpy()
    kept = np.flatnonzero(known).tolist()
    return Examples(
        {name: [values[at] for at in kept] for name, values in texts.items()},
        codes.drop_nulls().to_numpy().astype(np.int64),
        labels,
        (),
        [context[at] for at in kept] if context else (),
    )


def _responses(db: Session, blobs: Blobs, task: Task, version: VersionInfo, table: pl.DataFrame) -> Responses | None:
    """Say which model got which example right; None where there are too few of either."""
    rows = cell_queries.rows(db, dataset_version_id=version.id, variant=cell_queries.PLAIN)
    answer_type = kind_of(task).answer_type
    names: list[str] = []
    right: list[np.ndarray] = []
    for row in rows:
        if not row.cell.predictions:
            continue
        said = table.select("id", "answer").join(
            read_predictions(blobs, row).select("id", "prediction"), on="id", how="left", maintain_order="left"
        )
        names.append(f"{row.model.name}@{row.model_version.number}")
        right.append(same_answers(answer_type, said["answer"], said["prediction"]).astype(np.float64))
    if len(names) < LEAST_MODELS or table.height < LEAST_ITEMS:
        return None
    return Responses(names, table["id"].to_list(), np.stack(right), np.ones(len(names)))
