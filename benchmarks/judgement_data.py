"""Judgements for the races on labels and agreement, and the way to run a peer in an environment of its own."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import venv
from pathlib import Path
from typing import Any

import numpy as np

CLASSES = 4
VOTES = 5
CROWDKIT = "crowd-kit"


def draw(items: int, workers: int, seed: int = 1) -> tuple[Any, Any, Any, Any]:
    """Draw five judgements of each item by workers of differing accuracy: item, worker, label, and the truth."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, CLASSES, items)
    # Steps of a fifth of the workers, so that nobody judges an item twice.
    worker = (rng.integers(0, workers, items)[:, None] + np.arange(VOTES) * (workers // VOTES)) % workers
    right = rng.random(worker.shape) < rng.beta(6, 3, workers)[worker]
    label = np.where(right, truth[:, None], (truth[:, None] + rng.integers(1, CLASSES, worker.shape)) % CLASSES)
    return np.repeat(np.arange(items), VOTES), worker.ravel(), label.ravel(), truth


def judgements(items: int, workers: int, seed: int = 1) -> tuple[Any, Any]:
    """Give the drawn judgements as Quintain takes them, and the truth."""
    from quintain.stats.judgements import Judgements

    item, worker, label, truth = draw(items, workers, seed)
    names = [f"i{n:08}" for n in range(items)], [f"w{n:06}" for n in range(workers)], ["a", "b", "c", "d"]
    return Judgements.from_codes(item, worker, label, *names), truth


def measured(script: str, *arguments: str, python: str = sys.executable) -> dict[str, Any]:
    """Run *script* in a process of its own and read the JSON object on its last line."""
    command = [python, "-W", "ignore", script, *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    lines = done.stdout.strip().splitlines()
    if done.returncode or not lines:
        return {"error": (done.stderr.strip().splitlines() or ["nothing was printed"])[-1][:200]}
    found: dict[str, Any] = json.loads(lines[-1])
    return found


def peak_megabytes() -> float:
    """Give the most memory that this process has had."""
    import resource

    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


class Peers:
    """An environment with crowd-kit, made for the race and thrown away after it; or one that is there already."""

    def __init__(self, python: str | None = None) -> None:
        self.python = python
        self.folder: tempfile.TemporaryDirectory[str] | None = None

    def __enter__(self) -> str:
        if self.python is None:
            self.folder = tempfile.TemporaryDirectory()
            venv.create(self.folder.name, with_pip=True)
            self.python = str(Path(self.folder.name) / "bin" / "python")
            subprocess.run([self.python, "-m", "pip", "install", "-q", CROWDKIT], check=True)
        return self.python

    def __exit__(self, *_: object) -> None:
        if self.folder is not None:
            self.folder.cleanup()
