"""`quintain task`, as people and programs use it."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import Result

from quintain.compose import Workspace
from quintain.tasks.contract import KINDS

Cli = Callable[..., Result]

GOOD = 'name = "sentiment"\nkind = "text-classification"\nlabels = ["bad", "good"]\ninstructions = "Judge **it**."\n'


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """A good task file."""
    path = tmp_path / "sentiment.toml"
    path.write_text(GOOD)
    return path


@pytest.fixture
def database() -> str:
    """Commands are tried on SQLite; the services behind them on both databases."""
    return "sqlite"


@pytest.fixture
def task(cli: Cli, workspace: Workspace) -> Callable[..., Any]:
    """A function that runs `quintain task … --json` in a workspace and gives what it printed."""

    def run(*arguments: str | Path) -> Any:
        result = cli("--workspace", workspace.settings.workspace, "task", *arguments, "--json")
        assert result.exit_code == 0, result.output
        return json.loads(result.stdout)

    return run


def test_check_of_a_good_file(cli: Cli, file: Path) -> None:
    """A good file is called good, without any workspace, for people and for programs."""
    result = cli("task", "check", file)
    assert result.exit_code == 0
    assert "a good task file ('sentiment', text-classification)" in result.stdout
    shown = json.loads(cli("task", "check", file, "--json").stdout)
    assert shown["ok"] is True
    assert shown["task"]["labels"][0] == {"name": "bad", "gloss": "", "examples": []}


def test_check_of_a_bad_file(cli: Cli, file: Path) -> None:
    """Every fault is told with its line on stderr, and the exit code is 1."""
    file.write_text(GOOD + 'lables = ["x"]\nmetrics = ["f1"]\n')
    result = cli("task", "check", file)
    assert result.exit_code == 1
    assert result.stdout == ""
    assert "line 5, field 'lables': no such key; did you mean 'labels'?" in result.stderr
    assert "line 6, field 'metrics': there is no metric 'f1'" in result.stderr


def test_check_of_a_bad_file_as_json(cli: Cli, file: Path) -> None:
    """Programs get the faults as a list with file, line, field and reason."""
    file.write_text(GOOD + "[options]\ncolour = 1\n")
    result = cli("task", "check", file, "--json")
    assert result.exit_code == 1
    (fault,) = json.loads(result.stdout)["faults"]
    assert (fault["file"], fault["line"], fault["field"]) == (str(file), 5, "options")


def test_missing_file(cli: Cli, tmp_path: Path) -> None:
    """A file that is not there is named, with how to start one."""
    result = cli("task", "check", tmp_path / "none.toml")
    assert result.exit_code == 1
    assert "task new" in result.stderr


def test_add_list_show(task: Callable[..., Any], file: Path) -> None:
    """A task that was added is listed and shown with its fields."""
    assert task("list") == {"tasks": []}
    assert task("add", file)["version"] == 1
    (listed,) = task("list")["tasks"]
    assert (listed["name"], listed["kind"], listed["archived"]) == ("sentiment", "text-classification", False)
    shown = task("show", "sentiment")
    assert [field["name"] for field in shown["task"]["fields"]] == ["text"]
    assert shown["task"]["instructions"] == {"en": "Judge **it**."}


def test_change_and_history(task: Callable[..., Any], file: Path) -> None:
    """Adding a changed file makes a version, and the history keeps both."""
    task("add", file)
    file.write_text(GOOD + "# changed\n")
    assert task("add", file)["version"] == 2
    assert [one["number"] for one in task("history", "sentiment")["versions"]] == [2, 1]


def test_archive_and_restore(task: Callable[..., Any], file: Path) -> None:
    """An archived task leaves the list and comes back."""
    task("add", file)
    assert task("archive", "sentiment") == {"name": "sentiment", "archived": True}
    assert task("list")["tasks"] == []
    assert len(task("list", "--archived")["tasks"]) == 1
    task("archive", "sentiment", "--restore")
    assert len(task("list")["tasks"]) == 1


def test_for_people(cli: Cli, workspace: Workspace, file: Path) -> None:
    """Without --json there are tables and sentences, and --toml gives the file back exactly."""
    base = ("--workspace", workspace.settings.workspace, "task")
    assert "no tasks yet" in cli(*base, "list").stderr
    assert "version 1" in cli(*base, "add", file).stderr
    assert "sentiment" in cli(*base, "list").stdout
    shown = cli(*base, "show", "sentiment").stdout
    assert "macro_f1 *" in shown
    assert "Judge **it**." in shown
    assert cli(*base, "show", "sentiment", "--toml").stdout == GOOD
    assert "operator" in cli(*base, "history", "sentiment").stdout
    assert "archived" in cli(*base, "archive", "sentiment").stderr
    unknown = cli(*base, "show", "sentimant")
    assert unknown.exit_code == 1
    assert "Did you mean sentiment?" in unknown.stderr


def test_kinds_are_listed(cli: Cli) -> None:
    """All kinds are listed with their fields and an example."""
    listed = json.loads(cli("task", "kinds", "--json").stdout)["kinds"]
    assert [one["name"] for one in listed] == KINDS.names()
    assert all(one["example"] for one in listed)
    assert "premise, hypothesis" in cli("task", "kinds").stdout


@pytest.mark.parametrize("kind", KINDS.names())
def test_new_file_is_good(cli: Cli, tmp_path: Path, kind: str) -> None:
    """A new file of any kind passes the check, metrics included."""
    path = tmp_path / "new.toml"
    assert cli("task", "new", "--kind", kind, "--name", "fresh", path).exit_code == 0
    assert cli("task", "check", path).exit_code == 0
    assert cli("task", "new", "--kind", kind, "--name", "fresh").stdout == path.read_text()


def test_new_refuses(cli: Cli, tmp_path: Path, file: Path) -> None:
    """A file that is there is not written over; an unknown kind is answered with those there are."""
    assert "is there already" in cli("task", "new", "--kind", "free-text", file).stderr
    assert file.read_text() == GOOD
    assert "text-classification" in cli("task", "new", "--kind", "poetry").stderr
    assert cli("task", "new").exit_code == 2
    bad = cli("task", "new", "--kind", "free-text", "--name", "No Name", tmp_path / "x.toml")
    assert bad.exit_code == 1
    assert not (tmp_path / "x.toml").exists()


def test_no_workspace(cli: Cli, tmp_path: Path) -> None:
    """A command that needs a workspace says how to make one."""
    result = cli("--workspace", tmp_path / "nowhere", "task", "list")
    assert result.exit_code == 1
    assert "quintain init" in result.stderr
