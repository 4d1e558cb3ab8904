"""Settings come from the environment, with defaults that work and refusals that name the variable."""

from __future__ import annotations

import os
from dataclasses import fields
from pathlib import Path

import pytest

from quintain.core.errors import BadInput
from quintain.settings import Settings, describe, read_settings, spare_threads, unless_set

OPERATIONS = Path(__file__).parents[3] / "docs" / "operations.md"


def test_defaults_live_in_the_workspace() -> None:
    """Without any variable the database and the blobs are in the workspace's folder."""
    settings = read_settings({})
    assert settings == Settings()
    assert settings.database == "sqlite:///quintain-workspace/quintain.db"
    assert settings.blobs == "quintain-workspace/blobs"
    assert settings.address == "http://127.0.0.1:8000"


def test_variables_and_overrides_win_in_order() -> None:
    """A variable beats the default, an argument beats the variable, None is no argument."""
    environment = {"QUINTAIN_PORT": "9000", "QUINTAIN_WORKSPACE": "w", "QUINTAIN_OPEN_REGISTRATION": "yes"}
    settings = read_settings(environment, port=9001, workspace=None)
    assert (settings.port, settings.workspace, settings.open_registration) == (9001, Path("w"), True)
    assert read_settings({"QUINTAIN_PUBLIC_URL": "https://q"}).address == "https://q"


@pytest.mark.parametrize(
    ("name", "value"),
    [("QUINTAIN_PORT", "eighty"), ("QUINTAIN_OPEN_REGISTRATION", "maybe"), ("QUINTAIN_MODEL_CALLS", "-1")],
)
def test_wrong_values_name_their_variable(name: str, value: str) -> None:
    """What cannot be read is refused with the variable and the value."""
    with pytest.raises(BadInput, match=f"{name} is '{value}'"):
        read_settings({name: value})


def test_every_setting_is_documented() -> None:
    """The table in docs/operations.md lists each variable with its default and meaning, and no other."""
    rows = [line for line in OPERATIONS.read_text().splitlines() if line.startswith("| `QUINTAIN_")]
    expected = [
        f"| `{name}` | {f'`{default}`' if default else 'empty'} | {text} |" for name, default, text in describe()
    ]
    assert rows == expected
    assert len(rows) == len(fields(Settings))


def test_matrices_have_one_thread_unless_somebody_says_otherwise(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is set stays; where nothing is, one thread does not wait for others."""
    monkeypatch.setenv("OPENBLAS_NUM_THREADS", "4")
    spare_threads()
    assert os.environ["OPENBLAS_NUM_THREADS"] == "4"
    monkeypatch.delenv("OPENBLAS_NUM_THREADS")
    spare_threads()
    assert os.environ["OPENBLAS_NUM_THREADS"] == "1"


def test_a_value_is_put_in_only_where_nobody_set_one() -> None:
    """The demo is quiet by default, and as loud as somebody asked for."""
    settings = read_settings({"QUINTAIN_LOG_LEVEL": "debug"})
    found = unless_set(settings, {"QUINTAIN_LOG_LEVEL": "debug"}, log_level="warning", log_format="brief")
    assert (found.log_level, found.log_format) == ("debug", "brief")
