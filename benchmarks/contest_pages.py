"""What the first look at a contest of many pairs costs: its figures computed meanwhile, and kept by a worker.

Usage: python benchmarks/contest_pages.py [--pairs 20000]

A contest that is over, with four systems, a fifth of its pairs contested and judged by three. Its results and the
pairs that broke a system are opened as somebody without an account does, for the first time (cold: the application has
just begun) and then again. Beside it stands what the first look costs where its figures are computed while somebody
waits, as they were until they were kept. The time is the server's own on the processor.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from statistics import median

from starlette.testclient import TestClient

sys.path.insert(0, str(Path(__file__).parent.parent))

from big.contests import NAME, REF, TASK, make_contest
from big.loading import Loader
from big.sizes import Size
from quintain.compose import Workspace, create_workspace
from quintain.services.contest import figures
from quintain.services.jobs.figures import refresh
from quintain.settings import Settings
from quintain.store.database import transaction
from quintain.store.queries.jobs.figures import drop
from tests.web_support import browser_of

FULL = 20_000
AGAIN = 20
OK = 200
PAGES = {
    "results": f"/tasks/{TASK}/contests/{NAME}/results",
    "pairs that broke a system": f"/tasks/{TASK}/contests/{NAME}/pairs?broke=team-1",
    "pairs with a tag": f"/tasks/{TASK}/contests/{NAME}/pairs?label=negation",
}


def first_look(settings: Settings, path: str) -> float:
    """Open a page of an application that has just begun and shown another page; give the milliseconds."""
    workspace = create_workspace(settings)
    try:
        client = browser_of(workspace)
        client.get(f"/tasks/{TASK}/contests")
        return _cost(client, path)
    finally:
        workspace.close()


def later_looks(settings: Settings, path: str) -> float:
    """Open a page again and again; give the median of the milliseconds."""
    workspace = create_workspace(settings)
    try:
        client = browser_of(workspace)
        return median(_cost(client, path) for _ in range(AGAIN))
    finally:
        workspace.close()


@contextmanager
def computed_meanwhile(settings: Settings) -> Iterator[None]:
    """Throw the kept figures away, and let them be computed for whoever looks first."""
    kinds = {name: getattr(figures, name) for name in ("SCORE", "LISTED")}
    workspace = create_workspace(settings)
    with workspace.session() as db, transaction(db):
        for kind in kinds.values():
            drop(db, kind.name)
    workspace.close()
    for name, kind in kinds.items():
        setattr(figures, name, replace(kind, at_once=FULL * 10))
    try:
        yield
    finally:
        for name, kind in kinds.items():
            setattr(figures, name, kind)


def _cost(client: TestClient, path: str) -> float:
    begun = time.process_time()
    answer = client.get(path)
    spent = (time.process_time() - begun) * 1000
    if answer.status_code != OK:
        raise SystemExit(f"{path} answered {answer.status_code}: {answer.text[:500]}")
    return spent


def _keep(workspace: Workspace) -> float:
    """Compute the figures as a worker does; give the seconds."""
    begun = time.process_time()
    with workspace.session() as db:
        for kind in (figures.LISTED, figures.SCORE):
            refresh(db, workspace.blobs, kind, REF)
    return time.process_time() - begun


def main() -> None:
    """Build the contest, look at it both ways, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pairs", type=int, default=FULL, help="how many pairs the contest has")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="quintain-contest-") as folder:
        settings = Settings(workspace=Path(folder) / "workspace")
        workspace = create_workspace(settings)
        pairs = make_contest(workspace, Loader(workspace.engine), Size(options.pairs / FULL))
        seconds = _keep(workspace)
        workspace.close()
        print(f"{pairs} pairs; a worker computes their figures in {seconds:.1f} s\n")
        print(f"{'page':28} {'computed, first':>16} {'kept, first':>12} {'ratio':>7} {'kept, again':>12}   (ms)")
        for name, path in PAGES.items():
            kept, again = first_look(settings, path), later_looks(settings, path)
            with computed_meanwhile(settings):
                before = first_look(settings, path)
            print(f"{name:28} {before:16.0f} {kept:12.0f} {before / kept:6.1f}× {again:12.0f}", flush=True)
            workspace = create_workspace(settings)
            _keep(workspace)
            workspace.close()


if __name__ == "__main__":
    main()
