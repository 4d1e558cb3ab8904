"""Libraries that are imported when they are first used."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from quintain.core.lazy import UnusedModule, import_when_used

ANSWERS = """
import sys
from quintain.adapters.builtin import open_model

predict = open_model(sys.argv[1], {})
print(predict([{"text": "fine"}])[0]["good"], "polars.dataframe" in sys.modules)
"""
MODEL = (
    '{"format": 1, "baseline": "majority", "state": {"labels": ["good", "bad"]},'
    ' "task": {"name": "t", "kind": "text-classification", "labels": ["good", "bad"], "options": {}}}'
)


def test_a_library_is_imported_when_something_of_it_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """Until then it is an empty module; then it has everything."""
    monkeypatch.delitem(sys.modules, "this", raising=False)
    monkeypatch.delitem(sys.modules, "colorsys", raising=False)
    import_when_used("colorsys")
    shell = sys.modules["colorsys"]
    assert isinstance(shell, UnusedModule)
    import colorsys

    assert colorsys is shell
    assert colorsys.rgb_to_hls(0.0, 0.0, 0.0) == (0.0, 0.0, 0.0)
    assert not isinstance(sys.modules["colorsys"], UnusedModule)
    assert "hls_to_rgb" in vars(shell)


def test_what_is_there_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    """A library that was imported is not taken away, and one that does not exist says so when it is used."""
    import json

    import_when_used("json")
    assert sys.modules["json"] is json
    monkeypatch.setitem(sys.modules, "no_such_library", UnusedModule("no_such_library"))
    with pytest.raises(ModuleNotFoundError):
        _ = sys.modules["no_such_library"].anything


def test_a_baseline_answers_without_the_library_for_tables(tmp_path: Path) -> None:
    """A process that is started to be timed need not wait for it."""
    (tmp_path / "model.json").write_text(MODEL)
    np.savez(tmp_path / "arrays.npz", allow_pickle=False, shares=np.array([0.75, 0.25]))
    printed = subprocess.run([sys.executable, "-c", ANSWERS, tmp_path], capture_output=True, text=True, check=True)
    assert printed.stdout.split() == ["0.75", "False"]
