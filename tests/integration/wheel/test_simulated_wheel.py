"""The whole wheel with simulated people, twice round, through the services: what moves, and what stays at chance."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from click.testing import Result
from sqlalchemy.orm import Session

from quintain.compose import Workspace, create_workspace
from quintain.core.errors import Conflict
from quintain.core.people import OPERATOR
from quintain.core.records.wheel import WheelReport
from quintain.services.board.assemble import board
from quintain.services.collect.rounds.manage import list_rounds
from quintain.services.house.demo import add_starter_tasks
from quintain.services.validate.console.manage import open_validation
from quintain.services.validate.quality.judges import judge_table
from quintain.settings import Settings
from quintain.simulate.people import draw_people
from quintain.simulate.stations import Sizes
from quintain.simulate.wheel import simulate_rounds
from tests.integration.wheel.conftest import SEED, TurnedWheel

CHANCE = 1 / 3
MOST_SECONDS = 30.0


def moves(report: WheelReport) -> None:
    """Say that the post moved: each model is at chance where it was the target, and the next one is better there."""
    for target in (0, 1):
        here = report.score(target, target + 1)
        assert list(here.classes.values()) == pytest.approx([CHANCE] * 3, abs=1e-12)
        assert report.score(target + 1, target + 1).macro_f1 > here.macro_f1 + 0.1


def test_the_post_moves(turned: TurnedWheel) -> None:
    """Model 0 is at chance on round 1, Model 1 improves there and is at chance on round 2, where Model 2 improves."""
    moves(turned.report)
    assert [one.collected for one in turned.report.rounds] == [400, 300]
    assert all(one.vmer is not None and 0 < one.vmer < 1 for one in turned.report.rounds)


def test_it_takes_less_than_half_a_minute(turned: TurnedWheel) -> None:
    """Processor time, so that a busy machine changes nothing."""
    assert turned.seconds < MOST_SECONDS


def test_the_board_shows_it(turned: TurnedWheel) -> None:
    """Both test sets score, and the board has the same figures for all three models."""
    report, workspace = turned.report, turned.workspace
    with workspace.session() as db:
        found = board(db, workspace.blobs, OPERATOR, report.task)
    scoring = {one.ref for one in found.datasets if one.weight > 0}
    assert scoring >= {one.test for one in report.rounds}
    assert {one.ref for one in found.models} >= set(report.models)


def test_the_lazy_are_found_out(turned: TurnedWheel) -> None:
    """The judges who do not read are unqualified by the round's own rules, and others judge in their place."""
    with turned.workspace.session() as db:
        judges = judge_table(db, OPERATOR, turned.report.rounds[0].ref)
    sizes = Sizes()
    people = draw_people(np.random.default_rng([SEED, 0]), sizes.judges, name=f"sim{SEED}-judge", crowd=sizes.crowd)
    assert {one.worker for one in judges if not one.qualified} == {one.name for one in people if one.laziness >= 0.5}


def test_turning_again_changes_nothing(turned: TurnedWheel) -> None:
    """What is there is found: the same seed gives the same report, and no second round."""
    assert simulate_rounds(turned.workspace, SEED) == turned.report
    with turned.workspace.session() as db:
        assert [one.kind for one in list_rounds(db, OPERATOR, turned.report.task)] == ["harvest", "writing"]


def test_real_people_are_not_mixed_with(workspace: Workspace, db: Session) -> None:
    """A task with a validation of real people is refused, with a remedy, before anything is written."""
    add_starter_tasks(db, workspace.blobs, "sentiment")
    open_validation(db, OPERATOR, "sentiment/check")
    with pytest.raises(Conflict, match="sentiment/check"):
        simulate_rounds(workspace, SEED)
    assert list_rounds(db, OPERATOR) == []


@pytest.mark.slow
@pytest.mark.parametrize("seed", [2, 3, 4, 5])
def test_the_post_moves_by_other_seeds(seed: int, tmp_path: Path) -> None:
    """Nothing is aimed at: other reviews, people and draws give other figures, and the same movement."""
    workspace = create_workspace(Settings(workspace=tmp_path / "workspace"))
    try:
        report = simulate_rounds(workspace, seed)
        moves(report)
        assert [one.collected for one in report.rounds] == [400, 300]
    finally:
        workspace.close()


def test_an_interrupted_wheel_is_turned_on(tmp_path: Path) -> None:
    """Stopped in the middle of the judging, and of the writing, it goes on where it stopped."""
    workspace = create_workspace(Settings(workspace=tmp_path / "workspace"))
    sizes = Sizes(reviews=600, harvested=150, written=100, judges=8, writers=8)
    seen: list[str] = []

    def stop_at(station: str, share: float) -> Callable[[str, int, int], None]:
        def progress(what: str, done: int, total: int) -> None:
            seen.append(what)
            if what == station and done >= share * total:
                raise KeyboardInterrupt

        return progress

    try:
        for station in ("Judging", "Writing"):
            with pytest.raises(KeyboardInterrupt):
                simulate_rounds(workspace, 3, sizes, progress=stop_at(station, 0.5))
        assert seen.count("Harvest") == 2  # begun and ended once
        with workspace.session() as db:
            assert len(list_rounds(db, OPERATOR, "sentiment")) == 2
    finally:
        workspace.close()


def test_the_command_refuses_a_folder_without_a_workspace(tmp_path: Path, cli: Callable[..., Result]) -> None:
    """It says how to make one."""
    done = cli("--workspace", tmp_path / "none", "simulate", "wheel")
    assert done.exit_code == 1
    assert "quintain init" in done.stderr


def test_the_command_prints_what_came_of_it(turned: TurnedWheel, cli: Callable[..., Result]) -> None:
    """The rounds with their vMER, and every model on both."""
    done = cli("--workspace", turned.workspace.settings.workspace, "simulate", "wheel", "--seed", SEED)
    assert done.exit_code == 0, done.stderr
    assert "sentiment/1" in done.stdout
    assert "0.333" in done.stdout
