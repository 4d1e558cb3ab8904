"""Studies: the whole report of a data set, a round or a trial, of data sets side by side, or of the errors of models.

A report is made by a worker when an owner asks for it (see `making`), kept, and shown with its time until they ask
again. Errors of models on open labels are for everybody to see, and a model's owner may ask for them, too. A report on
a round or a trial quotes what people wrote: once somebody takes a text back, or an owner withholds one, the report is
not shown until it is made again.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from sqlalchemy.orm import Session

from quintain.core.errors import BadInput, Conflict, Forbidden, NotFound
from quintain.core.people import Actor
from quintain.core.records.report import Report
from quintain.core.records.studies import KeptStudy
from quintain.core.records.study import MOST_SETS
from quintain.reports.plain import from_plain
from quintain.services.access.permissions import require_owner
from quintain.services.collect.writing.list_attempts import owned_round
from quintain.services.data.datasets import get_version
from quintain.services.jobs import queue
from quintain.services.plain.files.recipe_learner import parse_learner
from quintain.services.study.model_errors import error_options
from quintain.services.study.whole import refuse_recipe
from quintain.services.tasks.definitions import find_row
from quintain.services.trial.trials import find_trial
from quintain.store.queries.jobs import figures as kept_queries
from quintain.store.queries.jobs import jobs as job_queries
from quintain.store.queries.study.texts import taken_back_since

KIND = "study"
LEARNING = ("data", "rounds", "compared")  # whose reports try what can be learned
BESIDE = "+"  # between the names of data sets that are compared
QUOTING = ("rounds", "trials")  # what is studied as people wrote it; a data set's version stays as it is
LONGEST = 200  # of the name of what is studied


def start_study(
    db: Session,
    actor: Actor,
    task: str,
    source: str,
    *,
    seed: int = 0,
    recipe: str = "",
    checkpoints: Path | None = None,
) -> KeptStudy:
    """Have a worker make the report of *source* (owners).

    It is `data/NAME`, `rounds/NUMBER`, `trials/NAME`, for data sets side by side `compared/NAME+NAME`, and for the
    errors of a model, or of two, `errors/DATASET+MODEL+MODEL`, which a model's owner may ask for, too. *recipe* is TOML
    whose `learner` and `options` take the place of the linear learner, in data sets, rounds and comparisons; folders
    in it are names of those in *checkpoints*. What is wrong with it is refused now, and so is another recipe than that
    of a job that waits already.
    """
    pinned, may_start = _pinned(db, actor, task, source)
    if not may_start:
        raise Forbidden("Only the owners of the task and of a model may have its errors studied.")
    if recipe:
        if pinned.partition("/")[0] not in LEARNING:
            raise refuse_recipe(pinned)
        parse_learner(recipe, checkpoints=checkpoints)
    subject = _subject(task, pinned)
    waiting = job_queries.waiting(db, KIND, subject)
    if waiting is not None and waiting.params.get("recipe", "") != recipe:
        raise Conflict(
            "A report on {source} waits already, with another recipe.",
            source=pinned,
            remedy="Wait for it, or cancel it: `quintain jobs list` has its number.",
            page="Wait for it, or cancel it on the page of jobs.",
        )
    queue.enqueue(db, KIND, subject, task=task, by=actor, params={"seed": seed, "recipe": recipe})
    return _study(db, task, pinned)


def get_study(db: Session, actor: Actor, task: str, source: str) -> KeptStudy:
    """Return the last report of *source*, and how far the next one is (owners; errors on open labels: everybody)."""
    pinned, may_start = _pinned(db, actor, task, source)
    return replace(_study(db, task, pinned), may_start=may_start)


def kept_report(db: Session, actor: Actor, task: str, source: str) -> Report:
    """Return the last report of *source*, to be sent as a file (owners); NotFound without one."""
    study = get_study(db, actor, task, source)
    if study.report is None:
        raise NotFound(
            "No report of {source} has been made yet.",
            source=study.source,
            remedy="Ask for one: `quintain study start {task} {source}`.",
            task=task,
            page="Ask for one on its page.",
        )
    return study.report


def _study(db: Session, task: str, source: str) -> KeptStudy:
    subject = _subject(task, source)
    figure = kept_queries.figure(db, KIND, subject)
    job = queue.newest(db, KIND, subject)
    room, _, name = source.partition("/")
    if (
        figure
        and room in QUOTING
        and taken_back_since(db, task, int(name) if room == "rounds" else None, figure.computed_at)
    ):
        return KeptStudy(task, source, report=None, at=figure.computed_at, seconds=None, job=job, taken_back=True)
    return KeptStudy(
        task=task,
        source=source,
        report=from_plain(figure.value) if figure else None,
        at=figure.computed_at if figure else None,
        seconds=figure.seconds if figure else None,
        job=job,
    )


def _subject(task: str, source: str) -> str:
    return f"{task} {source}"


def _pinned(db: Session, actor: Actor, task: str, source: str) -> tuple[str, bool]:
    """Return *source* with its versions, and whether *actor* may have it studied; NotFound without it."""
    find_row(db, task)
    room, _, name = source.partition("/")
    if room == "errors":
        dataset, *models = name.split(BESIDE)
        asked = error_options(db, actor, task, dataset, models)
        return _fitting(f"errors/{BESIDE.join([asked.dataset, *asked.models])}"), asked.may_start
    require_owner(actor, task)
    return _owned(db, actor, task, source), True


def _owned(db: Session, actor: Actor, task: str, source: str) -> str:
    """Return the name with its version of what only owners may study."""
    room, _, name = source.partition("/")
    if room == "data":
        version = get_version(db, actor, f"{task}/{name}")
        return f"data/{version.dataset}@{version.number}"
    if room == "rounds":
        return f"rounds/{owned_round(db, actor, f'{task}/{name}').number}"
    if room == "trials":
        return f"trials/{find_trial(db, task, name).name}"
    if room == "compared":
        return _beside(db, actor, task, name.split(BESIDE))
    raise NotFound(
        "There is no '{source}' to study.",
        source=source,
        remedy="Name data/NAME, rounds/NUMBER, trials/NAME, compared/NAME+NAME or errors/DATASET+MODEL.",
    )


def _beside(db: Session, actor: Actor, task: str, names: Sequence[str]) -> str:
    """Name data sets that are to be compared, each with its version and once."""
    versions = [get_version(db, actor, f"{task}/{name}") for name in names]
    pinned = list(dict.fromkeys(f"{version.dataset}@{version.number}" for version in versions))
    if not 2 <= len(pinned) <= MOST_SETS:
        raise BadInput(
            "Data sets are compared, and {n} was named.", n=len(pinned), remedy="Name 2 to {most}.", most=MOST_SETS
        )
    return _fitting(f"compared/{BESIDE.join(pinned)}")


def _fitting(source: str) -> str:
    if len(source) > LONGEST:
        raise BadInput("These names are too long together.", remedy="Compare fewer at a time.")
    return source
