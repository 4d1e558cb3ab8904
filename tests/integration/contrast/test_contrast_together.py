"""Several experts at once, on both databases: nobody takes what somebody else has."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest

from quintain.compose import Workspace
from quintain.core.people import Actor
from quintain.services.contrast import authoring, checking
from tests.beginnings import Build
from tests.contrasting import build, expert, project, write

pytestmark = pytest.mark.both_databases
REF = "mood/near"


@pytest.fixture
def beginning() -> Build:
    """A task with a test set of eight sentences."""
    return build


def test_six_who_ask_at_once_get_six_examples(workspace: Workspace, owner: Actor) -> None:
    """And who asks twice at once has one."""
    with workspace.session() as db:
        project(db, workspace.blobs, owner)
        people = [expert(db, f"writer{number}") for number in range(6)]

    def take(who: Actor) -> tuple[str, int]:
        with workspace.session() as db:
            return who.name, authoring.take_pivot(db, who, REF).id

    with ThreadPoolExecutor(6) as pool:
        taken = set(pool.map(take, [*people, *people]))
    assert len(taken) == 6
    assert len({pivot for _, pivot in taken}) == 6


def test_two_who_check_at_once_get_two_variants(workspace: Workspace, owner: Actor) -> None:
    """A variant is with one person at a time."""
    with workspace.session() as db:
        project(db, workspace.blobs, owner)
        write(db, expert(db, "xenia"), number=2)
        people = [expert(db, name) for name in ("yann", "zoe")]

    def ask(who: Actor) -> int | None:
        with workspace.session() as db:
            found = checking.next_check(db, who, REF)
            return found.id if found else None

    with ThreadPoolExecutor(2) as pool:
        asked = list(pool.map(ask, people))
    assert None not in asked
    assert len(set(asked)) == 2
