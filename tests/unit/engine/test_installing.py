"""What an installer inside the sandbox hands out is read back within limits, whoever writes the replies."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

import pytest

from quintain.core.errors import BadInput
from quintain.core.untrusted import Bounds
from quintain.engine import installing
from quintain.engine.installing import PART
from quintain.engine.sandbox.process import Called, SandboxedProcess

LIMIT = 1 << 20


class TakenOver:
    """Replies as a build script would that has got hold of the installer's pipe."""

    def __init__(self, size: Any, data: Any = "") -> None:
        self.size = size
        self.data = data
        self.calls = 0

    def call(self, message: Mapping[str, Any], bounds: Bounds) -> Called:
        """Reply with what was prepared."""
        self.calls += 1
        assert self.calls < 10, "it reads on and on"
        return Called({"size": self.size} if message["op"] == "install" else {"data": self.data}, 0)


@pytest.mark.parametrize("size", [10**12, LIMIT + 1, -1, "many", None, True, 1.5])
def test_a_size_beyond_the_limit_is_refused(size: Any, tmp_path: Path) -> None:
    """Nothing is read at all."""
    process = TakenOver(size)
    with pytest.raises(BadInput, match="would take more than 1 MiB"):
        installing._collect(cast(SandboxedProcess, process), [], tmp_path / "p.tar", LIMIT)
    assert process.calls == 1


@pytest.mark.parametrize(
    "data",
    [base64.b64encode(bytes(PART + 1)).decode(), base64.b64encode(bytes(2000)).decode(), "", "!!", 7, ["x"]],
    ids=["part too long", "beyond its size", "nothing", "no base64", "number", "list"],
)
def test_more_than_was_said_is_not_written(data: Any, tmp_path: Path) -> None:
    """What is written never passes the size that was allowed."""
    target = tmp_path / "p.tar"
    with pytest.raises(BadInput, match="could not be read back"):
        installing._collect(cast(SandboxedProcess, TakenOver(1000, data)), [], target, LIMIT)
    assert target.stat().st_size <= 1000


def test_what_was_said_is_read(tmp_path: Path) -> None:
    """An honest installer's file arrives whole."""
    process = TakenOver(6, base64.b64encode(b"abc").decode())
    found = installing._collect(cast(SandboxedProcess, process), [], tmp_path / "p.tar", LIMIT)
    assert found.read_bytes() == b"abcabc"
