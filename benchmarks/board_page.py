"""Time the board as the server gives it: 1,000 models × 20 data sets × 6 metrics as JSON, cold and warm.

    python benchmarks/board_page.py [--models 1000] [--datasets 20]

The board is filled with made-up figures and put where a board that was computed would be; what is timed is writing it
as JSON once (cold) and answering from memory (warm), through the whole application.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
from starlette.testclient import TestClient

from quintain.compose import create_workspace
from quintain.core.people import OPERATOR
from quintain.core.records.figures import Figure
from quintain.core.task import Task
from quintain.services.board import cache as board_cache
from quintain.services.board.parts import Axis, BoardMatrix, BoardPart, MatrixDataset, MatrixModel
from quintain.services.board.ranking import rank
from quintain.services.tasks.board_spec import BoardSpec
from quintain.services.tasks.definitions import put_task
from quintain.settings import Settings
from quintain.tasks.starter import starter
from quintain.web.app import create_app

ROUNDS = 20
AXES = ("performance", "throughput", "memory", "fairness", "robustness", "sixth")


def made_up(task: Task, models: int, datasets: int) -> BoardMatrix:
    """Make a board full of figures."""
    rng = np.random.default_rng(0)

    def cell() -> Figure:
        value = float(rng.random() * 100)
        return Figure(value, value - 1, value + 1, 1000, "2026-01-01T00:00:00+00:00")

    moment = datetime(2026, 1, 1, tzinfo=UTC)
    return BoardMatrix(
        task=task,
        metric=task.canonical_metric,
        axes=tuple(Axis(name, name.title(), "%") for name in AXES),
        datasets=tuple(
            MatrixDataset(f"t/d{place}@1", f"d{place}", "0" * 32, "test", "en", 1000, 1.0) for place in range(datasets)
        ),
        models=tuple(
            MatrixModel(
                ref=f"t/m{place}@1",
                name=f"m{place}",
                number=1,
                hash="0" * 32,
                owner="ada",
                visibility="public",
                adapter="handler",
                predictions_only=False,
                family=None,
                created_at=moment,
                values={name: [cell() for _ in range(datasets)] for name in AXES},
            )
            for place in range(models)
        ),
        spec=BoardSpec(),
        part=BoardPart(),
        tags=(),
        languages=("en",),
        rounds=(),
        frozen_at=None,
        made_at=moment,
    )


def timed(call: Any) -> float:
    """Give how long *call* takes, in milliseconds."""
    started = time.perf_counter()
    call()
    return 1000 * (time.perf_counter() - started)


def main() -> None:
    """Print the times."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--models", type=int, default=1000)
    parser.add_argument("--datasets", type=int, default=20)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        workspace = create_workspace(Settings(workspace=Path(folder)))
        with workspace.session() as db:
            task = put_task(db, OPERATOR, starter("text-classification"))
        large = made_up(task, options.models, options.datasets)
        client = TestClient(create_app(workspace))
        address = f"/api/v1/tasks/{task.name}/board"
        with patch.object(board_cache, "board", lambda *_: large):
            cold = timed(lambda: client.get(address))
            answer = client.get(address)
            warm = [timed(lambda: client.get(address)) for _ in range(ROUNDS)]
            headers = {"if-none-match": answer.headers["etag"]}
            known = [timed(lambda: client.get(address, headers=headers)) for _ in range(ROUNDS)]
        ranking = [timed(lambda: rank(large)) for _ in range(5)]
        workspace.engine.dispose()
    size = len(answer.content) / 2**20
    print(f"{options.models} models × {options.datasets} data sets × {len(AXES)} metrics, {size:.1f} MiB of JSON")
    print(f"cold {cold:8.1f} ms   (written once)")
    print(f"warm {statistics.median(warm):8.1f} ms   (median of {ROUNDS})")
    print(f"304  {statistics.median(known):8.1f} ms   (the browser has it)")
    print(f"rank {statistics.median(ranking):8.1f} ms   (in Python)")


if __name__ == "__main__":
    main()
