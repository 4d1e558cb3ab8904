"""A wheel that simulated people have turned twice: made once, looked at by many."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass

import pytest

from quintain.compose import Workspace, create_workspace
from quintain.core.records.wheel import WheelReport
from quintain.settings import Settings
from quintain.simulate.wheel import simulate_rounds

SEED = 1


@dataclass(frozen=True, slots=True)
class TurnedWheel:
    """A workspace in which the wheel was turned, what came of it, and the processor seconds that it took."""

    workspace: Workspace
    report: WheelReport
    seconds: float


@pytest.fixture(scope="session")
def turned(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TurnedWheel]:
    """The wheel of seed 1."""
    workspace = create_workspace(Settings(workspace=tmp_path_factory.mktemp("wheel") / "workspace"))
    begun = time.process_time()
    report = simulate_rounds(workspace, SEED)
    yield TurnedWheel(workspace, report, time.process_time() - begun)
    workspace.close()
