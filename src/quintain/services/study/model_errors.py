"""Errors of one model or of two on a data set: where they are, what the two disagree on, whether people are as unsure.

Whoever may see the answers of the data set may see the report: everybody where labels are open, the owners where they
are hidden. The task's owners and a model's may have it made.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy.orm import Session

from quintain.core.errors import BadInput, Forbidden
from quintain.core.people import Actor, RoleName
from quintain.core.records.report import Report, ReportFact, ReportSection
from quintain.core.texts import Text
from quintain.services.data.datasets import get_version
from quintain.services.data.inputs import closed
from quintain.services.evaluate.results.dataset_results import sees_all
from quintain.services.models.registry import get_model
from quintain.services.plain.reports.errors.reading import LEAST_EXAMPLES, AnsweredSet
from quintain.services.plain.reports.errors.report import calibration_section, disagreement_section, slices_section
from quintain.services.study.errors import answered_set
from quintain.services.study.stored import stored_set
from quintain.services.tasks.definitions import get_task
from quintain.store.blobs import Blobs

MOST_MODELS = 2


@dataclass(frozen=True, slots=True)
class ErrorOptions:
    """One model or two on a data set, each with its version, and whether who asked may have the report made."""

    task: str
    dataset: str
    models: tuple[str, ...]
    may_start: bool


def error_options(db: Session, actor: Actor, task: str, dataset: str, models: Sequence[str]) -> ErrorOptions:
    """Find the data set and the models; refuse who may not see the answers, since errors tell of them."""
    if not 1 <= len(set(models)) <= MOST_MODELS:
        raise BadInput("Errors are those of one model or of two, and {n} were named.", n=len(set(models)))
    version = get_version(db, actor, f"{task}/{dataset}")
    if not sees_all(actor, task, version.hidden):
        raise Forbidden(
            "The labels of {dataset} are hidden, and errors on them are shown to the owners of the task only.",
            dataset=version.ref,
        )
    if not version.readable:
        raise closed(f"{version.task}/{version.dataset}")
    named = [get_model(db, actor, f"{task}/{one}") for one in dict.fromkeys(models)]
    names = tuple(dict.fromkeys(f"{one.version.model}@{one.version.number}" for one in named))
    may = actor.has(RoleName.OWNER, task) or any(one.may_edit for one in named)
    return ErrorOptions(task, f"{version.dataset}@{version.number}", names, may)


def errors_report(db: Session, blobs: Blobs, actor: Actor, ref: str, models: Sequence[str], *, seed: int = 0) -> Report:
    """Tell where a model errs on the data set *ref*, or what two disagree on, from the answers that they gave."""
    task, _, dataset = ref.partition("/")
    asked = error_options(db, actor, task, dataset, models)
    stored = stored_set(db, blobs, actor, get_task(db, task), f"{task}/{asked.dataset}", only=asked.models)
    for model in asked.models:
        if model not in stored.said:
            raise BadInput(
                "{model} has not been run on {dataset}.",
                model=model,
                dataset=asked.dataset,
                remedy="See its runs, and wait for this one.",
            )
    answered = answered_set(stored)
    if answered is None:
        raise BadInput(
            "Errors are looked for among labels, and {dataset} has fewer than {least} examples with one.",
            dataset=asked.dataset,
            least=LEAST_EXAMPLES,
        )
    command = f"quintain study errors {task}/{asked.dataset} {' '.join(asked.models)} --seed {seed} --out DIR"
    return Report(
        key="errors",
        title=_title(asked),
        lead=Text("Where errors are, with how sure that is, and examples."),
        facts=[
            ReportFact(Text("Data set"), f"{task}/{asked.dataset}"),
            ReportFact(Text("Examples"), f"{len(answered):,}"),
            ReportFact(Text("Models"), ", ".join(asked.models)),
            ReportFact(Text("Seed"), str(seed)),
        ],
        sections=_sections(answered, asked.models, seed, [command]),
    )


def _title(asked: ErrorOptions) -> Text:
    if len(asked.models) == 1:
        return Text("Where {model} errs on {dataset}", model=asked.models[0], dataset=asked.dataset)
    first, second = asked.models
    return Text("What {first} and {second} disagree on in {dataset}", first=first, second=second, dataset=asked.dataset)


def _sections(answered: AnsweredSet, models: Sequence[str], seed: int, commands: list[str]) -> list[ReportSection]:
    if len(models) == MOST_MODELS:
        return [disagreement_section(answered, commands)[0]]
    return [slices_section(answered, models[0], commands)[0], _calibrated(answered, models[0], seed, commands)]


def _calibrated(answered: AnsweredSet, model: str, seed: int, commands: list[str]) -> ReportSection:
    """Hold confidence against people's disagreement, or say what is missing for it."""
    try:
        return calibration_section(answered, model, seed, commands)[0]
    except BadInput:
        finding = Text(
            "This takes {least} examples with votes of people and probabilities of the model; there are too few.",
            least=LEAST_EXAMPLES,
        )
        return ReportSection("calibration", Text("Is {model} as unsure as people?", model=model), [finding])
