"""`quintain data` from end to end."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import Result

from quintain.compose import Workspace
from quintain.core.people import OPERATOR
from quintain.services.tasks.definitions import put_task

Cli = Callable[..., Result]
TOML = 'name = "sentiment"\nkind = "text-classification"\nlabels = ["negative", "neutral", "positive"]\n'


@pytest.fixture
def data(cli: Cli, workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> Cli:
    """A function that runs a data command in the workspace, where there is a task."""
    with workspace.session() as db:
        put_task(db, OPERATOR, TOML)
    monkeypatch.setenv("QUINTAIN_WORKSPACE", str(workspace.settings.workspace))
    if workspace.settings.database_url:
        monkeypatch.setenv("QUINTAIN_DATABASE_URL", workspace.settings.database_url)
    return lambda *arguments: cli("data", *arguments)


def test_from_import_to_export(data: Cli, tmp_path: Path) -> None:
    """A file goes in with mapped columns and labels, is listed, shown and compared, and comes out again."""
    reviews = tmp_path / "reviews.csv"
    reviews.write_text("body,stars\nGood,5\nBad,1\n")
    common = ["--task", "sentiment", "--name", "reviews", "--role", "test", "--column", "text=body"]
    common += ["--column", "answer=stars", "--label", "1=negative", "--label", "5=positive"]
    first = data("import", reviews, *common, "--json")
    assert first.exit_code == 0, first.output
    made = json.loads(first.stdout)
    assert (made["version"]["ref"], made["version"]["rows"], made["new"]) == ("sentiment/reviews@1", 2, True)
    again = data("import", reviews, *common)
    assert "there already as sentiment/reviews@1" in again.stderr
    reviews.write_text("body,stars\nGood,1\nFine,5\n")
    assert data("import", reviews, *common).exit_code == 0
    listed = json.loads(data("list", "--json").stdout)
    assert [one["ref"] for one in listed["datasets"]] == ["sentiment/reviews@2", "sentiment/reviews@1"]
    shown = json.loads(data("show", "sentiment/reviews@1", "--label", "negative", "--json").stdout)
    assert ([one["text"] for one in shown["preview"]["examples"]], shown["labels"]) == (
        ["Bad"],
        {"negative": 1, "positive": 1},
    )
    assert "sentiment/reviews@1  2 rows" in data("show", "sentiment/reviews@1").stdout
    found = json.loads(data("diff", "sentiment/reviews@1", "sentiment/reviews@2", "--json").stdout)
    assert [found[key]["count"] for key in ("added", "removed", "changed")] == [1, 1, 1]
    assert "1 added, 1 removed, 1 answers changed" in data("diff", "sentiment/reviews@1", "sentiment/reviews@2").stdout
    assert data("export", "sentiment/reviews@1", tmp_path / "out.jsonl").exit_code == 0
    assert [json.loads(line)["answer"] for line in (tmp_path / "out.jsonl").read_text().splitlines()] == [
        "positive",
        "negative",
    ]


def test_bad_rows_are_listed_and_refused(data: Cli, tmp_path: Path) -> None:
    """Exit code 1, every fault on stderr with file, row and field, nothing imported; --skip-bad takes the rest."""
    path = tmp_path / "a.jsonl"
    path.write_text(
        '{"text": "a", "label": "postive"}\n{"text": "", "label": "neutral"}\n{"text": "c", "label": "neutral"}\n'
    )
    common = ["--task", "sentiment", "--name", "a", "--role", "dev"]
    refused = data("import", path, *common)
    assert refused.exit_code == 1
    assert "a.jsonl, row 1, field 'label': " in refused.stderr
    assert "a.jsonl, row 2, field 'text': is empty" in refused.stderr
    assert "--skip-bad" in refused.stderr
    assert json.loads(data("list", "--json").stdout) == {"datasets": []}
    taken = data("import", path, *common, "--skip-bad")
    assert taken.exit_code == 0
    assert "Imported 1 examples" in taken.stderr


def test_a_plan_file_and_a_preset_give_the_mapping(data: Cli, tmp_path: Path) -> None:
    """Options go on top of a plan; a preset is a plan that comes with the program."""
    path = tmp_path / "dev.txt"
    path.write_text("(3 (2 It) (4 works))\n")
    result = data(
        "import", path, "--task", "sentiment", "--name", "sst", "--role", "train", "--preset", "sst-trees", "--json"
    )
    assert json.loads(result.stdout)["rows"] == 3
    plan = tmp_path / "plan.toml"
    plan.write_text('role = "dev"\nformat = "fasttext"\n[labels]\n1 = "negative"\n')
    path.write_text("__label__1 bad\n__label__5 good\n")
    result = data(
        "import", path, "--task", "sentiment", "--name", "ft", "--plan", plan, "--label", "5=positive", "--json"
    )
    assert json.loads(result.stdout)["version"]["role"] == "dev"
    assert data("import", path, "--task", "sentiment", "--name", "x", "--preset", "ssst").exit_code == 1


def test_check_needs_no_workspace(run_cli: Callable[..., subprocess.CompletedProcess[str]], tmp_path: Path) -> None:
    """A file is checked against a task file alone; the result is on stdout, complaints on stderr, no traceback."""
    (tmp_path / "task.toml").write_text(TOML)
    (tmp_path / "a.jsonl").write_text('{"text": "a", "label": "neutral"}\n')
    good = run_cli("data", "check", "a.jsonl", "--task", "task.toml")
    assert (good.returncode, good.stdout) == (0, "a.jsonl: 1 good examples.\n")
    (tmp_path / "a.jsonl").write_bytes(b'{"text": "a", "label": "neutral"}\n{"text": "\xff"}\n')
    bad = run_cli("data", "check", "a.jsonl", "--task", "task.toml", "--json")
    assert bad.returncode == 1
    found = json.loads(bad.stdout)
    assert (found["ok"], found["total_faults"], found["faults"][0]["row"]) == (False, 1, 2)
    worse = run_cli("data", "check", "none.jsonl", "--task", "task.toml")
    assert (worse.returncode, worse.stdout) == (1, "")
    assert "There is no file none.jsonl" in worse.stderr
    assert "Traceback" not in worse.stderr
    assert run_cli("data", "check").returncode == 2


def test_presets_are_listed(cli: Cli) -> None:
    """Every mapping with its format and what it reads."""
    listed = json.loads(cli("data", "presets", "--json").stdout)["presets"]
    assert {"snli", "squad", "hatecheck"} <= {one["name"] for one in listed}
    assert "sst-trees" in cli("data", "presets").stdout


def test_an_old_encoding_is_named(data: Cli, tmp_path: Path) -> None:
    """A file whose letters cannot be told is refused with what to do, and read once its encoding is named."""
    old = tmp_path / "old.csv"
    old.write_bytes("text,answer\n\x81,neutral\nGrüße,positive\n".encode("latin-1"))
    common = ["--task", "sentiment", "--name", "old", "--role", "test"]
    refused = data("import", old, *common)
    assert refused.exit_code == 1
    assert "row 2: not UTF-8: byte 0x81" in refused.stderr
    assert "--encoding" in refused.stderr
    assert data("import", old, *common, "--encoding", "latin-1").exit_code == 0
    assert "Grüße" in data("show", "sentiment/old").stdout
