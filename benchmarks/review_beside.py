"""What claiming and handing in a page costs a judge while a worker reviews all judges and counts everything anew.

    python benchmarks/review_beside.py                                       # a tenth of the big workspace, SQLite
    python benchmarks/review_beside.py --size 1 --database postgresql
    python benchmarks/review_beside.py --size 1 --keep /tmp/beside           # kept, and taken again the next time

The judging is that of `big_workspace.py`: at full size 200,000 items with 1.1 million judgements by 2,000 judges. One
process reviews and recounts without a pause; another one is the judges, one after the other. The time of a call is
that of the whole service: its processor time and what it waits for locks and the disk. What a loaded machine makes it
wait for a processor (as the kernel counts it, PostgreSQL's process included) is not in it.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from multiprocessing.synchronize import Event
from pathlib import Path
from typing import Any

import numpy as np
from sqlalchemy import select, text
from sqlalchemy.orm import Session

sys.path.insert(0, str(Path(__file__).parent.parent))

from big import boards, judging, rounds
from big.building import BEGUN, JUDGED
from big.loading import Loader
from big.people import add_people
from big.sizes import Size
from big_workspace import database
from quintain.compose import create_workspace
from quintain.core.people import OPERATOR, Actor, Grant, RoleName
from quintain.services.jobs.figures import refresh
from quintain.services.validate.judging.claim_page import claim_page
from quintain.services.validate.judging.submit_page import Answer, submit_page
from quintain.services.validate.quality.review import review
from quintain.services.validate.quality.validation_figures import VALIDATION
from quintain.settings import Settings
from quintain.store.database import refresh_statistics
from quintain.store.tables import JudgePlace

NOTE = "review-beside.json"
WARM = 10
JUDGE = frozenset({Grant(RoleName.WORKER)})


def build(settings: Settings, size: Size) -> None:
    """Make a task with one round that people wrote in, and its judging."""
    workspace = create_workspace(settings)
    load = Loader(workspace.engine)
    boards.prepare_task(workspace)
    both = rounds.make_rounds(workspace)
    with load.loading():
        people = add_people(load, size, BEGUN)
        written = rounds.add_attempts(workspace, load, size, people, both, BEGUN)
    rounds.close_first(workspace)
    validation = judging.begin(workspace, load, size, written, JUDGED)
    with load.loading():
        first = judging.add_items(load, size, validation, written, JUDGED)
        pages = judging.pages_of(load, size, people, JUDGED)
        judging.add_judgements(load, size, validation, written, pages, first)
        judging.add_standing(load, validation, people, JUDGED, first + size.judged)
    refresh_statistics(workspace.engine)
    workspace.close()
    (settings.workspace / NOTE).write_text(json.dumps({"share": size.share}))


def work(settings: Settings, begun: Event, over: Event) -> None:
    """Review and recount, again and again, until it is over; a pass that has begun is ended."""
    workspace = create_workspace(settings)
    with workspace.session() as db:
        while not over.is_set():
            begun.set()
            review(db, OPERATOR, judging.REF, apply=False)
            refresh(db, None, VALIDATION, judging.REF)
    workspace.close()


def waited(process: int | str) -> float:
    """Give how long a process has waited for a processor, in seconds."""
    return int(Path(f"/proc/{process}/schedstat").read_text().split()[1]) / 1e9


class Clock:
    """Times calls without what others on the machine take away."""

    def __init__(self, db: Session) -> None:
        server = db.get_bind().dialect.name == "postgresql"
        self._processes: list[int | str] = ["thread-self"]
        self._processes += [int(db.scalar(text("SELECT pg_backend_pid()")))] if server else []

    def time(self, call: Callable[[], Any]) -> tuple[float, Any]:
        """Call, and give the milliseconds and what it gave."""
        before, start = sum(map(waited, self._processes)), time.perf_counter()
        found = call()
        wall = time.perf_counter() - start
        return max(wall - (sum(map(waited, self._processes)) - before), 0.0) * 1000, found


def judge(db: Session, judges: list[int], wanted: int) -> tuple[list[float], list[float]]:
    """Let judges claim a page each and hand it in; give the times of both."""
    claims, submits = [], []
    clock = Clock(db)
    for number, user in enumerate(judges):
        if len(claims) >= wanted + WARM:
            break
        actor = Actor(user, f"person-{user}", JUDGE)
        taken, page = clock.time(lambda actor=actor: claim_page(db, actor, judging.REF))
        if page is None:
            continue
        answers = [Answer(item.id, item.labels[number % len(item.labels)].name) for item in page.items]
        handed, _ = clock.time(lambda actor=actor, page=page, said=answers: submit_page(db, actor, page.token, said))
        claims.append(taken)
        submits.append(handed)
    return claims[WARM:], submits[WARM:]


@contextmanager
def reviewing(settings: Settings) -> Iterator[None]:
    """Have a worker at work."""
    context = multiprocessing.get_context("spawn")
    begun, over = context.Event(), context.Event()
    worker = context.Process(target=work, args=(settings, begun, over))
    worker.start()
    begun.wait()
    try:
        yield
    finally:
        over.set()
        worker.join()


def measure(settings: Settings, wanted: int) -> None:
    """Print what claims and submits cost alone, then beside a review."""
    workspace = create_workspace(settings)
    with workspace.session() as db:
        judges = list(db.scalars(select(JudgePlace.user_id).order_by(JudgePlace.user_id)))
        half = len(judges) // 2
        print(f"{'':24} {'calls':>6} {'p50 ms':>8} {'p95 ms':>8} {'p99 ms':>8} {'max ms':>8}", flush=True)
        tell("alone", *judge(db, judges[:half], wanted))
        with reviewing(settings):
            tell("beside a review", *judge(db, judges[half:], wanted))
    workspace.close()


def tell(when: str, claims: list[float], submits: list[float]) -> None:
    """Print a line for claims and one for submits."""
    for what, taken in (("claim", claims), ("submit", submits)):
        figures = " ".join(f"{value:8.1f}" for value in np.percentile(taken, [50, 95, 99, 100]))
        print(f"{what + ', ' + when:24} {len(taken):6} {figures}", flush=True)


def main() -> None:
    """Build what is asked for, or take it as it is, and measure."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--size", type=float, default=0.1, help="share of the full size")
    parser.add_argument("--database", default="sqlite", help="sqlite, postgresql, or the address of a database")
    parser.add_argument("--keep", type=Path, help="folder in which the workspace stays")
    parser.add_argument("--pages", type=int, default=60, help="pages that are claimed and handed in each time")
    options = parser.parse_args()
    folder = options.keep or Path(tempfile.mkdtemp(prefix="quintain-beside-"))
    try:
        with database(options.database, folder) as url:
            settings = Settings(workspace=folder / "workspace", database_url=url)
            if not (settings.workspace / NOTE).exists():
                build(settings, Size(options.size))
            measure(settings, options.pages)
    finally:
        if options.keep is None:
            shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
