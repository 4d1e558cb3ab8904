"""What processes need resident is seen without a control group, too."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from quintain.engine.sandbox.memory import MemoryMeter

SIZE = 32 << 20
TOUCH = f"""
import mmap, os, sys
held = mmap.mmap(os.open(sys.argv[1], os.O_RDONLY), {SIZE}, prot=mmap.PROT_READ)
print(flush=True); sys.stdin.readline()
for place in range(0, {SIZE}, 4096): held[place]
if sys.argv[2] == "lets go": held.madvise(mmap.MADV_DONTNEED)
print(flush=True); sys.stdin.readline()
"""


@pytest.mark.parametrize("then", ["keeps", "lets go"])
def test_mapped_pages_count_without_a_group(tmp_path: Path, then: str) -> None:
    """File pages that a process touched count, also where it let go of them before the next look, and then no more."""
    file = tmp_path / "weights"
    with file.open("wb") as stream:
        stream.truncate(SIZE)
    command = [sys.executable, "-c", TOUCH, str(file), then]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdout.readline()
        meter = MemoryMeter(None, process.pid, own_scratch=False)  # others write there meanwhile
        before = meter.read()
        process.stdin.write(b"\n")
        process.stdin.flush()
        process.stdout.readline()
        during, after = meter.read(), meter.read()
        process.stdin.close()
    assert during - before > 0.9 * SIZE
    assert (after - before > 0.9 * SIZE) == (then == "keeps")
