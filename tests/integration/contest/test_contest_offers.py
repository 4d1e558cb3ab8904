"""What a contest has for each person waits at home, phase by phase, and leads to where it is done."""

from __future__ import annotations

from pathlib import Path

import pytest
from sqlalchemy.orm import Session

from quintain.compose import Workspace
from quintain.core.people import Actor, RoleName
from quintain.core.records.house import WaitingKind
from quintain.services.contest import judging, pairs, rulings, scores, systems, teams
from quintain.services.house.waiting import waiting_for
from quintain.store.blobs import Blobs
from tests.beginnings import Build
from tests.contests import DEV, REF, add_contest, add_contest_task, draft, during, pair_texts, write_answers
from tests.people import find_or_make_person, make_person

NAMES = ("anna", "ben", "jo")
PLACE = f"/tasks/{REF.replace('/', '/contests/')}"


def _begin(workspace: Workspace, folder: Path) -> None:
    with workspace.session() as db:
        owner = make_person(db, "olga", RoleName.OWNER)
        add_contest_task(db, workspace.blobs, owner, folder)
        for name in NAMES:
            make_person(db, name, RoleName.BUILDER, RoleName.WORKER)


@pytest.fixture
def beginning() -> Build:
    """A task with a development set and a starter set, its owner olga, and people."""
    return _begin


def _waits(db: Session, actor: Actor) -> list[tuple[WaitingKind, str, int | None]]:
    """List what contests have for somebody at home."""
    return [(one.kind, one.url.removeprefix(PLACE), one.count) for one in waiting_for(db, actor) if PLACE in one.url]


def test_each_phase_tells_everybody_what_is_theirs(db: Session, blobs: Blobs, owner: Actor, tmp_path: Path) -> None:
    """Join, build, break, answer, decide: what is done waits no longer, and nobody is asked for another's part."""
    anna, ben, jo = (find_or_make_person(db, name, RoleName.WORKER) for name in NAMES)
    add_contest(db, owner, 'validation = "none"')
    with during("build"):
        assert _waits(db, anna) == [(WaitingKind.CONTEST, "", None)]
        teams.create_team(db, anna, REF, "words", "builder")
        teams.create_team(db, ben, REF, "knots", "breaker")
        assert _waits(db, anna) == [(WaitingKind.BUILD, "/build", None)]
        answers = write_answers(tmp_path / "dev.csv", {"bad": "negative"}, [text for text, _ in DEV])
        systems.hand_in(db, blobs, anna, REF, answers)
        assert (_waits(db, anna), _waits(db, ben), _waits(db, owner)) == ([], [], [])
    with during("break"):
        assert _waits(db, ben) == [(WaitingKind.BREAK, "/break", None)]
        for number in range(3):
            pairs.put_pair(db, blobs, ben, REF, draft(number))
    with during("score"):
        scores.list_pairs(db, blobs, owner, REF)
        assert _waits(db, anna) == [(WaitingKind.ANSWER_PAIRS, "/build", None)]
        systems.hand_in(db, blobs, anna, REF, write_answers(tmp_path / "pairs.csv", {}, pair_texts()))
        assert (_waits(db, anna), _waits(db, jo)) == ([], [])
    with during("review"):
        pair = scores.list_pairs(db, blobs, owner, REF).pairs[0].id
        rulings.contest_pair(db, anna, REF, pair, "It still blames the evening.")
        assert _waits(db, owner) == [(WaitingKind.RULE, "/decide", 1)]
        rulings.rule_pair(db, owner, REF, pair, "keep", reason="It does not.")
        assert _waits(db, owner) == []
    with during("over"):
        assert all(_waits(db, one) == [] for one in (anna, ben, jo, owner))


def test_pairs_wait_for_people_outside_the_contest(db: Session, blobs: Blobs, owner: Actor) -> None:
    """Who is in no team judges what waits, and is done with it once they have."""
    ben, jo = (find_or_make_person(db, name, RoleName.WORKER) for name in ("ben", "jo"))
    add_contest(db, owner, 'validation = "all"')
    with during("build"):
        teams.create_team(db, ben, REF, "knots", "breaker")
    with during("break"):
        for number in range(2):
            pairs.put_pair(db, blobs, ben, REF, draft(number))
    with during("score"):
        scores.list_pairs(db, blobs, owner, REF)
        assert (_waits(db, ben), _waits(db, jo)) == ([], [(WaitingKind.JUDGE_PAIRS, "/judge", 2)])
        for _ in range(2):
            waiting = judging.next_to_judge(db, jo, REF)
            assert waiting is not None
            judging.judge_pair(db, jo, REF, waiting.id, "negative", "positive")
        assert _waits(db, jo) == []
