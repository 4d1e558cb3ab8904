"""`quintain round release`: looking, releasing, and what a bad file is told."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import Result
from sqlalchemy.orm import Session

from quintain.compose import Workspace
from quintain.core.people import Actor
from quintain.services.data.datasets import list_versions
from tests.released import REF, judged_round, mood_items

SPEC = 'dev = 9\ntest = 9\nwriters = "any"\n'


def test_a_round_is_looked_at_and_then_released(
    workspace: Workspace,
    db: Session,
    owner: Actor,
    tmp_path: Path,
    cli: Callable[..., Result],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A dry run prints the report and writes nothing; then the same is released, and found again."""
    monkeypatch.setenv("QUINTAIN_DATABASE_URL", workspace.settings.database_url)
    judged_round(db, owner, mood_items(15))
    db.rollback()
    (file := tmp_path / "release.toml").write_text(SPEC)
    command = ["--workspace", workspace.settings.workspace, "round", "release", REF, "--spec", file]
    looked = cli(*command, "--dry-run")
    assert looked.exit_code == 0, looked.stderr
    assert "Nothing was written." in looked.stderr
    assert "0.333" in looked.stdout
    assert list_versions(db, owner) == []
    db.rollback()
    made = json.loads(cli(*command, "--json").stdout)
    assert made["versions"] == {name: f"mood/round-1-{name}@1" for name in ("train", "dev", "test")}
    assert [one["rows"] for one in made["report"]["splits"]] == [117, 9, 9]
    assert "was there already" in cli(*command).stderr


def test_a_bad_specification_is_said_with_its_place(
    workspace: Workspace, tmp_path: Path, cli: Callable[..., Result]
) -> None:
    """The file and the key are named, and nothing of the workspace is asked for."""
    (file := tmp_path / "release.toml").write_text("dev = 'many'\n")
    done = cli("--workspace", workspace.settings.workspace, "round", "release", REF, "--spec", file)
    assert done.exit_code != 0
    assert "release.toml, field 'dev'" in done.stderr
