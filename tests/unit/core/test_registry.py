"""A family of members is whole for everybody, whoever asks for it first."""

from __future__ import annotations

import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from quintain.core.registry import Registry


def test_nobody_sees_half_a_family(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Threads that ask while another one loads wait until all members are there."""
    package = tmp_path / "slow_family"
    package.mkdir()
    (package / "__init__.py").write_text("")
    for name in ("first", "second"):
        (package / f"{name}.py").write_text(
            f"import time\nfrom {__name__} import FAMILY\nFAMILY.register('{name}')(1)\n"
            f"assert '{name}' in FAMILY\ntime.sleep(0.1)\n"
        )
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setitem(sys.modules, __name__, sys.modules[__name__])

    def ask(number: int) -> list[str]:
        time.sleep(0.02 * number)
        return FAMILY.names()

    with ThreadPoolExecutor(8) as threads:
        assert list(threads.map(ask, range(8))) == [["first", "second"]] * 8


FAMILY: Registry[int] = Registry("member", package="slow_family", group="quintain.nothing")
