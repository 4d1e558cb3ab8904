"""Settings come from the environment, with defaults that work and refusals that name the variable."""

from __future__ import annotations

import os
from dataclasses import fields
from pathlib import Path

import pytest

from quintain.core.errors import BadInput
from quintain.settings import Settings, describe, read_settings, settings_environment, spare_threads, unless_set

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


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("QUINTAIN_PUBLIC_URL", "bench.example.org"),
        ("QUINTAIN_PUBLIC_URL", "https://host/bench"),
        ("QUINTAIN_PUBLIC_URL", "https://"),
        ("QUINTAIN_BLOBS_ENDPOINT", "minio:9000"),
        ("QUINTAIN_SMTP_URL", "mail.example.org:25"),
        ("QUINTAIN_SMTP_URL", "http://user:secret@mail"),
        ("QUINTAIN_SMTP_URL", "smtp://mail:port"),
        ("QUINTAIN_ENGINE", "head:6379"),
        ("QUINTAIN_PORT", "80800"),
    ],
)
def test_an_address_that_is_none_is_refused(name: str, value: str) -> None:
    """Without a scheme, a host or a port that can be, nothing would be reached: said at the start, and no password."""
    with pytest.raises(BadInput, match=name) as caught:
        read_settings({name: value})
    assert "secret" not in str(caught.value)


def test_addresses_as_people_write_them_are_taken() -> None:
    """A slash at the end, a port, a user: all of these are addresses."""
    environment = {
        "QUINTAIN_PUBLIC_URL": "https://bench.example.org/",
        "QUINTAIN_SMTP_URL": "smtps://quintain:p%40ss@mail.example.org",
        "QUINTAIN_ENGINE": "ray://head:10001",
        "QUINTAIN_BLOBS_ENDPOINT": "http://[::1]:9000",
    }
    assert read_settings(environment).engine == "ray://head:10001"


def test_an_unknown_variable_is_refused_with_what_was_meant() -> None:
    """A slip of the pen would otherwise be a setting that nobody follows; all of them are named at once."""
    with pytest.raises(BadInput) as caught:
        read_settings({"QUINTAIN_PUBLICURL": "https://q", "QUINTAIN_XYZZY": "1", "OTHER": "1", "QUINTAIN_VENV": "/v"})
    assert [(fault.field, str(fault.reason)) for fault in caught.value.faults] == [
        ("QUINTAIN_PUBLICURL", "no such setting; did you mean PUBLIC_URL?"),
        ("QUINTAIN_XYZZY", "no such setting"),
    ]


def test_a_secret_may_be_in_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As containers are given theirs; other processes of a server read what it held, and a file for both is refused."""
    path = tmp_path / "smtp"
    path.write_text("smtp://user:secret@mail\n")
    environment = {"QUINTAIN_SMTP_URL_FILE": str(path)}
    settings = read_settings(environment)
    assert settings.smtp_url == "smtp://user:secret@mail"
    assert unless_set(settings, environment, smtp_url="").smtp_url == settings.smtp_url
    monkeypatch.setenv("QUINTAIN_SMTP_URL_FILE", str(path))
    assert read_settings(settings_environment(settings)) == settings
    with pytest.raises(BadInput, match="both set"):
        read_settings({**environment, "QUINTAIN_SMTP_URL": "smtp://mail"})
    with pytest.raises(BadInput, match="cannot be read"):
        read_settings({"QUINTAIN_SMTP_URL_FILE": str(tmp_path / "none")})
    with pytest.raises(BadInput, match="no such setting"):
        read_settings({"QUINTAIN_HOST_FILE": str(path)})


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
