"""Temporary folders: gone with the block, swept when their process is gone, and nobody else's touched."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from quintain.engine.scratch import PREFIX, scratch, sweep

HOLD = """
import sys, time
from quintain.engine.scratch import scratch
with scratch("cell") as folder:
    (folder / "model").mkdir()
    (folder / "model" / "weights").write_bytes(b"x" * 100)
    print(folder, flush=True)
    time.sleep(60)
"""


@pytest.fixture(autouse=True)
def _own_place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr(tempfile, "tempdir", None)


def test_a_folder_lasts_as_long_as_its_block(tmp_path: Path) -> None:
    """It is there for the block, stays through a sweep, and is gone afterwards."""
    with scratch("cell") as folder:
        assert folder.parent == tmp_path
        (folder / "file").write_text("x")
        assert sweep() == 0
        assert (folder / "file").exists()
    assert list(tmp_path.iterdir()) == []


def test_what_a_killed_process_left_is_swept_and_not_what_a_living_one_has(tmp_path: Path) -> None:
    """Two processes hold a folder each; one is killed: only its folder goes."""
    both = [subprocess.Popen([sys.executable, "-c", HOLD], stdout=subprocess.PIPE, text=True) for _ in range(2)]
    try:
        dead, alive = (Path(one.stdout.readline().strip()) for one in both if one.stdout)
        assert sweep() == 0
        os.kill(both[0].pid, signal.SIGKILL)
        both[0].wait()
        assert sweep() == 1
        assert not dead.exists()
        assert (alive / "model" / "weights").exists()
    finally:
        for one in both:
            one.kill()
            one.wait()
    assert sweep() == 1
    assert list(tmp_path.iterdir()) == []


def test_nothing_else_is_swept(tmp_path: Path) -> None:
    """Neither folders of another name, nor links, nor files, nor what belongs to somebody else."""
    (tmp_path / "quintain-locks").mkdir()
    (tmp_path / "target").mkdir()
    (tmp_path / f"{PREFIX}cell-link").symlink_to(tmp_path / "target")
    (tmp_path / f"{PREFIX}cell-file").write_text("x")
    kept = {"quintain-locks", "target", f"{PREFIX}cell-link", f"{PREFIX}cell-file"}
    if os.geteuid() == 0:
        other = tmp_path / f"{PREFIX}cell-other"
        other.mkdir()
        os.chown(other, 65534, 65534)
        kept.add(other.name)
    assert sweep() == 0
    assert {one.name for one in tmp_path.iterdir()} == kept
