"""A family of members is whole for everybody, whoever asks for it first."""

from __future__ import annotations

import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from quintain.core.errors import NotFound
from quintain.core.registry import Registry
from quintain.models.contract import BASELINES


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


def test_one_member_is_loaded_without_the_others() -> None:
    """A process that runs one model imports that family's one module, and a strange name imports nothing."""
    code = (
        "import sys; from quintain.models.contract import BASELINES; BASELINES.get('majority');"
        "print('quintain.models.baselines.tfidf' in sys.modules);"
        "print(len(BASELINES.names()) > 10, 'quintain.models.baselines.tfidf' in sys.modules)"
    )
    printed = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert printed.split() == ["False", "True", "True"]
    for name in ("../os", "os.path", "", "no_such_member"):
        with pytest.raises(NotFound):
            BASELINES.get(name)
