"""What a process uses is looked at now and then, and when somebody asks."""

from __future__ import annotations

import sys
from types import SimpleNamespace
from typing import Any

from quintain.engine.sandbox.limits import Limits
from quintain.engine.sandbox.process import SandboxedProcess


class Looked(SandboxedProcess):
    """A process of which only the looks are tried: it is not started."""

    def __init__(self) -> None:
        super().__init__([sys.executable], mounts=[], limits=Limits(), metered=True)
        self._process: Any = SimpleNamespace(poll=lambda: None)

    def sample(self) -> int:
        """Give the same memory always."""
        return 1 << 20

    def cpu_seconds(self) -> float:
        """Give no processor time."""
        return 0.0

    def pass_by(self) -> None:
        """Look as the watch does."""
        self._sample_memory()


def test_a_look_that_is_asked_for_stands_apart() -> None:
    """A quick repeat has memory of its own, though the watch looked just before it began."""
    process = Looked()
    process.observe()
    process.pass_by()
    before = len(process.usage.samples)
    process.observe()
    assert len(process.usage.samples) == before + 1
    process.pass_by()
    process.pass_by()
    assert len(process.usage.samples) == before + 2
