"""All that can be said of a data set, of a round or of a trial, as one report.

Of a data set: what gives its answers away, how hard its examples are for the models that were run on it, and where
those err. Of a round: its texts by condition; once they are judged, how labels came out and who did the work; once they
are released, what gives answers away and how hard they are. Of a trial: how its arms compare.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial

from sqlalchemy.orm import Session

from quintain.core.errors import BadInput
from quintain.core.people import Actor
from quintain.core.records.report import Report, ReportFact, ReportSection
from quintain.core.task import Task
from quintain.core.texts import Text
from quintain.services.access.permissions import require_owner
from quintain.services.data.datasets import list_versions
from quintain.services.plain.files.checkpoints import Checkpoints
from quintain.services.plain.files.recipe_learner import RecipeLearner
from quintain.services.plain.reports.artefacts import LEAST_EXAMPLES, ArtefactOptions, artefact_sections
from quintain.services.plain.reports.irt import study_responses
from quintain.services.plain.reports.irt_report import irt_sections
from quintain.services.release.releases import list_releases
from quintain.services.study.compare import compare_report
from quintain.services.study.errors import error_sections
from quintain.services.study.judged import relabel_report, workers_report
from quintain.services.study.stored import (
    LEAST_MODELS,
    StoredSet,
    examples_of,
    joined,
    responses_of,
    stored_set,
)
from quintain.services.tasks.definitions import get_task
from quintain.services.trial.reporting import report
from quintain.services.trial.trials import is_trial
from quintain.services.validate.console.manage import list_validations
from quintain.services.validate.labels import shows_answer
from quintain.stats.irt.responses import Responses
from quintain.store.blobs import Blobs

Done = Callable[[float], None]


def _quiet(_share: float) -> None:
    """Report progress to nobody."""


def whole_report(
    db: Session,
    blobs: Blobs,
    actor: Actor,
    ref: str,
    *,
    seed: int = 0,
    done: Done = _quiet,
    checkpoints: Checkpoints | None = None,
    learner: RecipeLearner | None = None,
) -> Report:
    """Tell of the data set (`task/name`, `task/name@2`), round (`task/number`) or trial (`task/name`). For owners.

    Where a data set and a trial have the same name, the data set is meant. *done* is told how far it is; parts
    are kept in *checkpoints*, so that who was interrupted goes on. A *learner* tries parts of inputs in the place
    of the linear one; a trial, whose report learns nothing, is refused with one.
    """
    task_name, _, rest = ref.partition("/")
    if not rest:
        raise BadInput(
            "{ref} is neither a data set nor a round or a trial.",
            ref=ref,
            remedy="Name it as task/name, or as task/number.",
        )
    task = get_task(db, task_name)
    require_owner(actor, task_name)
    checkpoints = checkpoints or Checkpoints()
    asked = _Asked(ref, seed, f"quintain study report {ref} --seed {seed}{recipe_option(learner)} --out DIR", learner)
    if rest.isdecimal():
        whole = _round(db, blobs, actor, task, asked, done=done, checkpoints=checkpoints)
    elif rest in {version.dataset for version in list_versions(db, actor, task_name)} or not is_trial(
        db, task_name, rest
    ):
        whole = _dataset(db, blobs, actor, task, asked, done=done, checkpoints=checkpoints)
    else:
        whole = _trial(db, blobs, actor, asked)
    done(1.0)
    return whole


@dataclass(frozen=True, slots=True)
class _Asked:
    """What the report is about, with which seed, and the command that makes it again."""

    ref: str
    seed: int
    command: str
    learner: RecipeLearner | None = None


def recipe_option(learner: RecipeLearner | None) -> str:
    """Return how the command names the recipe of *learner*, with a blank before it; nothing where there is none.

    >>> recipe_option(None)
    ''
    """
    return " --recipe RECIPE.toml" if learner else ""


def refuse_recipe(source: str) -> BadInput:
    """Return what is said where a recipe is given for a report that learns nothing."""
    return BadInput(
        "The report on {source} learns nothing, and takes no recipe.",
        source=source,
        remedy="Recipes are for data sets, rounds and comparisons of data sets.",
    )


def _trial(db: Session, blobs: Blobs, actor: Actor, asked: _Asked) -> Report:
    if asked.learner is not None:
        raise refuse_recipe(asked.ref)
    task, _, name = asked.ref.partition("/")
    trial = report(db, blobs, actor, task, name, seed=asked.seed)
    return _report(asked, Text("All about trial {ref}", ref=asked.ref), list(trial.facts), list(trial.sections))


def _round(
    db: Session, blobs: Blobs, actor: Actor, task: Task, asked: _Asked, *, done: Done, checkpoints: Checkpoints
) -> Report:
    texts = compare_report(db, blobs, actor, task.name, [asked.ref], seed=asked.seed)
    sections = list(texts.sections)
    if asked.ref in list_validations(db, task.name):
        if task.label_names and not shows_answer(task):
            sections += relabel_report(db, actor, asked.ref, seed=asked.seed).sections
        known = {section.key for section in sections}
        sections += [section for section in workers_report(db, actor, asked.ref).sections if section.key not in known]
        known = {section.key for section in sections}
        released = _released(db, blobs, actor, task, asked)
        studied = _studied(released, asked, done=done, checkpoints=checkpoints) if released else []
        sections += [one for one in studied if one.key not in known]
    facts = [ReportFact(Text("Round"), asked.ref), *texts.facts[2:]]
    return _report(asked, Text("All about round {ref}", ref=asked.ref), facts, sections)


def _released(db: Session, blobs: Blobs, actor: Actor, task: Task, asked: _Asked) -> list[StoredSet]:
    """Return the splits of a round's newest release; none where nothing is released."""
    releases = list_releases(db, actor, asked.ref).releases
    return [stored_set(db, blobs, actor, task, ref) for ref in releases[0].versions.values()] if releases else []


def _studied(sets: Sequence[StoredSet], asked: _Asked, *, done: Done, checkpoints: Checkpoints) -> list[ReportSection]:
    """Return what gives answers away in all of the *sets*, and how hard those are that models were run on."""
    own = checkpoints.keyed(_content(sets, asked))
    examples_and_rows = examples_of(joined(sets))
    examples = None if examples_and_rows is None else examples_and_rows[0]
    sections: list[ReportSection] = []
    if examples is not None and len(examples) >= LEAST_EXAMPLES:
        options = ArtefactOptions(seed=asked.seed, commands=[asked.command])
        if asked.learner is not None:  # may take hours: each part of the input is kept as soon as it was tried
            options = replace(options, learner=asked.learner, checkpoints=own)
        make = partial(artefact_sections, examples, options, lambda share: done(0.7 * share))
        sections += own.sections("artefacts", make)
    run = [one for one in sets if one.said]
    responses = responses_of(joined(run)) if run else None
    if responses is not None:
        sections += own.sections("difficulty", partial(_difficulty, responses, asked))
    return sections


def _content(sets: Sequence[StoredSet], asked: _Asked) -> list[object]:
    """Tell what parts of a report rest on: versions, which never change, and the models that were run on them."""
    learner = [] if asked.learner is None else [asked.learner.digest]
    return [asked.seed, *learner, *((one.version.hash, sorted(one.said)) for one in sets)]


def _dataset(
    db: Session, blobs: Blobs, actor: Actor, task: Task, asked: _Asked, *, done: Done, checkpoints: Checkpoints
) -> Report:
    stored = stored_set(db, blobs, actor, task, asked.ref)
    version = stored.version
    sections = _studied([stored], asked, done=done, checkpoints=checkpoints)
    own = checkpoints.keyed(_content([stored], asked))
    sections += own.sections("errors", partial(error_sections, stored, asked.seed, [asked.command]))
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
        ReportFact(Text("Examples"), f"{stored.table.height:,}"),
        ReportFact(Text("Models"), f"{len(stored.said):,}" if stored.said else "–"),
        ReportFact(Text("Seed"), str(asked.seed)),
    ]
    return _report(asked, Text("All about data set {ref}", ref=version.ref), facts, sections)


def _difficulty(responses: Responses, asked: _Asked) -> list[ReportSection]:
    return irt_sections(study_responses(responses, "2pl", seed=asked.seed), [asked.command])


def _report(asked: _Asked, title: Text, facts: list[ReportFact], sections: list[ReportSection]) -> Report:
    lead = Text("What was written, judged and measured, with the command that makes this report again.")
    again = [replace(section, commands=[asked.command]) for section in sections]
    return Report(key="whole", title=title, lead=lead, facts=facts, sections=again)
