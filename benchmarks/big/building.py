"""Build the workspace, step by step, and say how long each takes."""

from __future__ import annotations

import json
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from big import boards, judging, pay, rounds
from big.loading import Loader
from big.people import add_people
from big.sizes import TASK, Size
from quintain.compose import Workspace, create_workspace
from quintain.core.people import OPERATOR, RoleName
from quintain.services.access.sign_in import start_session
from quintain.services.evaluate.results import results
from quintain.services.house.job_kinds import figure_kinds, job_handlers
from quintain.services.jobs.figures import rebuild
from quintain.services.jobs.running import run_all
from quintain.services.tasks.definitions import get_task
from quintain.services.validate.review import review_new
from quintain.settings import Settings
from quintain.store.database import refresh_statistics
from tests.people import find_or_make_person

BEGUN = datetime(2023, 1, 1, tzinfo=UTC)
JUDGED = datetime(2024, 1, 1, tzinfo=UTC)
NOTE = "big-workspace.json"


@dataclass(frozen=True, slots=True)
class Place:
    """A workspace that was built, and the cookies of those who look at it."""

    settings: Settings
    size: Size
    cookies: dict[str, str]
    csrf: dict[str, str]


@contextmanager
def step(name: str) -> Iterator[None]:
    """Say what is done, and how long it took."""
    started = time.perf_counter()
    print(f"  {name} …", end=" ", file=sys.stderr, flush=True)
    yield
    print(f"{time.perf_counter() - started:.1f} s", file=sys.stderr, flush=True)


def build(settings: Settings, size: Size, *, judged: bool = True, figures: bool = True) -> None:
    """Make the workspace. Without *judged* nothing is judged yet; without *figures* no result was computed."""
    workspace = create_workspace(settings)
    load = Loader(workspace.engine)
    with step("task, model, rounds"):
        boards.prepare_task(workspace)
        both = rounds.make_rounds(workspace)
    with tempfile.TemporaryDirectory(dir=settings.workspace) as folder, step("data sets"):
        datasets = boards.add_datasets(workspace, size, Path(folder))
    with step("predictions"):
        files = boards.add_predictions(workspace, size, datasets)
    with load.loading():
        with step("people, models, cells"):
            people = add_people(load, size, BEGUN)
            boards.add_models(load, size, people, datasets, files, BEGUN)
        with step("attempts"):
            written = rounds.add_attempts(workspace, load, size, people, both, BEGUN)
    rounds.close_first(workspace)
    if judged:
        with step("gold"):
            validation = judging.begin(workspace, load, size, written, JUDGED)
        with load.loading():
            with step("items and judgements"):
                first = judging.add_items(load, size, validation, written, JUDGED)
                pages = judging.pages_of(load, size, people, JUDGED)
                total = judging.add_judgements(load, size, validation, written, pages, first)
                judging.add_standing(load, validation, people, JUDGED, first + size.judged)
                print(f"{total:,} judgements", end=" ", file=sys.stderr)
            with step("pay"):
                pay.add_pay(load, size, validation, written, pages, BEGUN)
    with step("statistics"):
        refresh_statistics(workspace.engine)
    _compute(workspace, judged=judged, figures=figures)
    workspace.close()


def _compute(workspace: Workspace, *, judged: bool, figures: bool) -> None:
    """Compute what services compute as facts come in."""
    with workspace.session() as db:
        if figures:
            with step("figures of the cells"):
                results(db, workspace.blobs, get_task(db, TASK))
        if judged:
            with step("a review"):
                review_new(db, OPERATOR, judging.REF)
        with step("figures that are kept"):
            rebuild(db, workspace.blobs, OPERATOR, figure_kinds())


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
    return Place(settings, size, cookies, csrf)


def prepare(settings: Settings, share: float, **wanted: bool) -> Place:
    """Build the workspace, or take one that was built before in the same folder."""
    size = Size(share)
    note = settings.workspace / NOTE
    if note.exists():
        assert json.loads(note.read_text())["share"] == share, f"{settings.workspace} has another size"
    else:
        build(settings, size, **wanted)
        note.write_text(json.dumps({"share": share, **wanted}))
    return sign_in(settings, size)
