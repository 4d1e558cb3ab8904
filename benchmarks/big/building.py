"""Build the workspace, step by step; one that was ended goes on where it was."""

from __future__ import annotations

import json
import shutil
import sys
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial

from sqlalchemy.orm import Session

from big import around, boards, contests, judging, pay, rounds
from big.loading import Loader
from big.people import People, add_people
from big.sizes import DATASETS, Size
from big.steps import Steps, timed
from quintain.compose import Workspace, create_workspace
from quintain.core.people import OPERATOR, RoleName
from quintain.services.access.sign_in import start_session
from quintain.services.data.datasets import VersionInfo
from quintain.services.house.job_kinds import count_kinds, figure_kinds, job_handlers
from quintain.services.jobs.counts import repair
from quintain.services.jobs.figures import refresh
from quintain.services.jobs.running import run_all
from quintain.services.validate.quality.review import review_new
from quintain.services.validate.types import ValidationInfo
from quintain.settings import Settings
from quintain.store.database import refresh_statistics
from tests.people import find_or_make_person

BEGUN = datetime(2023, 1, 1, tzinfo=UTC)
JUDGED = datetime(2024, 1, 1, tzinfo=UTC)
NOTE = "big-workspace.json"
STEPS = "big-workspace-steps"


@dataclass(frozen=True, slots=True)
class Place:
    """A workspace that was built, and the names and cookies of those who look at it."""

    settings: Settings
    size: Size
    cookies: dict[str, str]
    csrf: dict[str, str]
    names: dict[str, str]


def build(settings: Settings, size: Size, *, judged: bool = True, figures: bool = True) -> None:
    """Make the workspace, or go on where making it was ended.

    Without *judged* nothing is judged yet; without *figures* no result of a cell was computed.
    """
    folder = settings.workspace / STEPS
    steps = Steps(folder)
    if not steps.begun and not settings.database_url:
        shutil.rmtree(settings.workspace, ignore_errors=True)  # what came before the end of the first step
    workspace = create_workspace(settings)
    both = steps.do("task, model, rounds", lambda: _begin(workspace))
    datasets = [
        steps.do(f"data set {number}", partial(boards.add_dataset, workspace, size, number))
        for number in range(DATASETS)
    ]
    steps.do("weights", lambda: boards.weigh(workspace, datasets))
    files = steps.do("predictions", lambda: boards.add_predictions(settings, size, datasets))
    load = Loader(workspace.engine)
    people = steps.do("people, models, cells", lambda: _people(load, size, datasets, files))
    steps.do("messages, a quiz", lambda: _around(workspace, load, size, people))
    steps.do("a contest", lambda: contests.make_contest(workspace, load, size))
    if figures:
        steps.do("figures of the cells", lambda: boards.add_figures(settings))
    written = steps.do("attempts", lambda: _attempts(workspace, load, size, people, both))
    steps.do("closing a round", lambda: rounds.close_first(workspace))
    if judged:
        validation = steps.do("gold", lambda: judging.begin(workspace, load, size, written, JUDGED))
        pages = steps.do("items and judgements", lambda: _judge(load, size, validation, written, people))
        steps.do("pay", lambda: _pay(load, size, validation, written, pages))
    with timed("statistics"):
        refresh_statistics(workspace.engine)
    with workspace.session() as db:
        if judged:
            steps.do("a review", lambda: _review(db))
        kept = [(kind, subject) for kind in figure_kinds() for subject in kind.subjects(db)]
        for kind, subject in kept:
            steps.do(f"{kind.name} {subject}", lambda: len(refresh(db, workspace.blobs, kind, subject)))  # noqa: B023
        steps.do("counts", lambda: sum(len(repair(db, kind)) for kind in count_kinds()))
    workspace.close()
    shutil.rmtree(folder)


def _begin(workspace: Workspace) -> tuple[int, int]:
    boards.prepare_task(workspace)
    return rounds.make_rounds(workspace)


def _people(load: Loader, size: Size, datasets: list[VersionInfo], files: list[list[str]]) -> People:
    with load.loading():
        people = add_people(load, size, BEGUN)
        boards.add_models(load, size, people, datasets, files, BEGUN)
    return people


def _around(workspace: Workspace, load: Loader, size: Size, people: People) -> None:
    around.make_quiz(workspace)
    with load.loading():
        around.add_messages(load, size, people, BEGUN)
        around.add_tries(load, people, BEGUN)


def _attempts(workspace: Workspace, load: Loader, size: Size, people: People, both: tuple[int, int]) -> rounds.Written:
    with load.loading():
        return rounds.add_attempts(workspace, load, size, people, both, BEGUN)


def _judge(
    load: Loader, size: Size, validation: ValidationInfo, written: rounds.Written, people: People
) -> list[judging.Page]:
    with load.loading():
        first = judging.add_items(load, size, validation, written, JUDGED)
        pages = judging.pages_of(load, size, people, JUDGED)
        total = judging.add_judgements(load, size, validation, written, pages, first)
        judging.add_standing(load, validation, people, JUDGED, first + size.judged)
    print(f"{total:,} judgements", end=" ", file=sys.stderr)
    return pages


def _pay(
    load: Loader, size: Size, validation: ValidationInfo, written: rounds.Written, pages: list[judging.Page]
) -> None:
    with load.loading():
        pay.add_pay(load, size, validation, written, pages, BEGUN)


def _review(db: Session) -> None:
    review_new(db, OPERATOR, judging.REF)


def do_jobs(settings: Settings) -> None:
    """Do what a worker would: what somebody has asked for and nobody has computed."""
    workspace = create_workspace(settings)
    run_all(workspace.session, workspace.blobs, job_handlers())
    workspace.close()


def sign_in(settings: Settings, size: Size) -> Place:
    """Open browsers for an admin, a writer and a judge."""
    workspace = create_workspace(settings)
    cookies, csrf = {}, {}
    with workspace.session() as db:
        admin = find_or_make_person(db, "admin", RoleName.ADMIN)
        names = {"admin": "admin"}
        first = db.connection().exec_driver_sql("SELECT min(id) FROM users WHERE name LIKE 'person-%%'").scalar_one()
        names["writer"] = f"person-{first}"
        names["judge"] = f"person-{first + size.writers}"
        for who, name in names.items():
            person = admin if who == "admin" else find_or_make_person(db, name, RoleName.WORKER)
            started = start_session(db, person)
            cookies[who], csrf[who] = started.token, started.csrf
    workspace.close()
    return Place(settings, size, cookies, csrf, names)


def prepare(settings: Settings, size: Size, **wanted: bool) -> Place:
    """Build the workspace, or take one that was built before in the same folder."""
    note, this = settings.workspace / NOTE, {"share": size.share, "judging": size.judging}
    if note.exists():
        known = {"judging": 1.0, **json.loads(note.read_text())}
        assert all(known[name] == value for name, value in this.items()), f"{settings.workspace} has another size"
    else:
        build(settings, size, **wanted)
        note.write_text(json.dumps({**this, **wanted}))
    return sign_in(settings, size)
