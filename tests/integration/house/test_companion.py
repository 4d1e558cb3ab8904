"""A process that is started again when it dies."""

from __future__ import annotations

import logging
import os
import sys
import time
from pathlib import Path

import pytest

from quintain.engine import companion
from quintain.engine.companion import Companion

# Dies at once three times, then lives for a while, then dies at once again.
SCRIPT = """
import pathlib, sys, time
runs = pathlib.Path(sys.argv[1])
runs.write_text(runs.read_text() + "x")
time.sleep(1.2 if len(runs.read_text()) == 4 else 0)
sys.exit(3)
"""


def test_the_pause_before_a_new_start_shrinks_after_a_quiet_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """It doubles while the process dies at once, and begins anew when it has run long enough."""
    monkeypatch.setattr(companion, "FIRST_PAUSE", 0.05)
    monkeypatch.setattr(companion, "QUIET_SECONDS", 1.0)
    runs = tmp_path / "runs"
    runs.write_text("")
    command = [sys.executable, "-c", SCRIPT, str(runs)]
    with caplog.at_level(logging.WARNING, "quintain.companion"), Companion(command, os.environ):
        end = time.monotonic() + 60
        while len(caplog.records) < 5 and time.monotonic() < end:
            time.sleep(0.05)
    pauses = [record.args[1] for record in caplog.records[:5] if isinstance(record.args, tuple)]
    assert pauses == [0.05, 0.1, 0.2, 0.05, 0.1]
