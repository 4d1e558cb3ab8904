"""The examples that come along: commands on plain files run on them, and documents name files that are there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from typer.testing import CliRunner

from quintain.cli.app import app
from quintain.cli.examples import example_commands, examples_folder
from quintain.cli.guide import GUIDE
from quintain.cli.lazy import ALONE, COMMANDS, load

ROOT = Path(__file__).resolve().parents[2]
# What a command that is listed as one on plain files needs that does not come along.
WITHOUT = {
    "board verify": "a snapshot, which a server signs",
    "contest convert": "the files of 2017",
    "contrast import": "a published contrast set",
    "model init": "writes a model to start from",
    "model predict": "a model of the workspace",
    "trial report": "judged items of arms",
    "trial tables": "judged items of arms",
}
LISTS = {
    "baselines",
    "learners",
    "recipes",
    "formats",
    "presets",
    "perturbations",
    "protocols",
    "kinds",
    "methods",
    "new",
}
LONG = {("evaluate", "local"), ("model", "check"), ("study", "artefacts"), ("study", "compare")}


def marked() -> list[object]:
    """List the examples; those that start a sandbox or learn are slow."""
    return [pytest.param(*words, marks=[pytest.mark.slow] if words in LONG else []) for words in example_commands()]


@pytest.mark.parametrize(("group", "name"), marked())
def test_an_example_runs(group: str, name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It shows the command as one would type it, does it, and writes where one is; its help offers it."""
    monkeypatch.chdir(tmp_path)
    done = CliRunner().invoke(app, [group, name, "--example"])
    assert done.exit_code == 0, done.output
    assert f"quintain {group} {name}" in done.stderr
    written = re.findall(r"--out (\S+)", example_commands()[group, name])
    assert all(Path(file).is_file() for file in written)
    assert "--example" in [option for param in load(group).commands[name].params for option in param.opts]


def test_every_command_on_plain_files_has_one() -> None:
    """Whoever adds such a command gives it an example, or says what it needs that does not come along."""
    missing = {" ".join(words) for words in ALONE if words[1] not in LISTS} - {
        " ".join(words) for words in example_commands()
    }
    assert missing - set(WITHOUT) == set()
    assert all(group in COMMANDS for group, _ in example_commands())


def test_options_come_after_the_examples_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is typed beside it holds; a command without an example says that it has no such option."""
    monkeypatch.chdir(tmp_path)
    done = CliRunner().invoke(app, ["evaluate", "score", "--example", "--metric", "accuracy", "--json"])
    assert done.exit_code == 0
    assert '"accuracy"' in done.stdout
    assert CliRunner().invoke(app, ["data", "list", "--example"]).exit_code == 2


def test_files_that_documents_name_are_there() -> None:
    """README, the first page of the documents and the list of examples name no file that is not there."""
    for page in ("README.md", "docs/getting-started.md"):
        for name in re.findall(r"examples/([\w./-]+)", (ROOT / page).read_text(encoding="utf-8")):
            assert (examples_folder() / name).exists(), (page, name)
    listed = set(re.findall(r"`([\w.-]+\.\w+|\w+/)`", (examples_folder() / "README.md").read_text(encoding="utf-8")))
    there = {f"{path.name}/" if path.is_dir() else path.name for path in examples_folder().iterdir()}
    assert there - {"README.md", "commands.toml"} <= listed


def test_the_guide_names_commands_that_exist() -> None:
    """What `quintain` alone says at a terminal can be typed."""
    for line in re.findall(r"quintain (\w+) (\w+)", GUIDE):
        assert line[1] in load(line[0]).commands, line


@pytest.mark.parametrize("column", ["tag", "tags"])
@pytest.mark.parametrize("by", ["tag", "tags"])
def test_tags_are_found_under_either_name(column: str, by: str, tmp_path: Path) -> None:
    """`--by tag` takes the column that is there; where there is none, the refusal names what was typed."""
    gold, said = tmp_path / "gold.csv", tmp_path / "said.csv"
    gold.write_text(f'id,label,{column}\n1,a,"x,y"\n2,b,x\n')
    said.write_text("id,prediction\n1,a\n2,a\n")
    done = CliRunner().invoke(app, ["evaluate", "score", str(gold), str(said), "--by", by])
    assert done.exit_code == 0, done.output
    assert f"{by}: y" in done.output
    refused = CliRunner().invoke(app, ["evaluate", "score", str(gold), str(said), "--by", "topic"])
    assert "there is no column 'topic' to slice by" in refused.output
