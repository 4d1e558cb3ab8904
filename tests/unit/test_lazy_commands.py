"""Commands that are imported only when they are called: what is listed is true, and a small one stays small."""

from __future__ import annotations

import inspect
import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest
from typer.testing import CliRunner

from quintain.cli.app import app
from quintain.cli.lazy import ALONE, COMMANDS, load

HEAVY = ("alembic", "fastapi", "httpx2", "jinja2", "scipy.sparse", "scipy.special", "scipy.stats", "sqlalchemy")
# What each command imports, which is run in a process of its own: a child of one that has imported what it may.
IMPORTED = """
import json, os, sys, traceback
for name in {before!r}:
    __import__(name)
found = {{}}
for arguments in {commands!r}:
    reading, writing = os.pipe()
    if not os.fork():
        sys.argv = ["quintain", *arguments]
        sys.stdout = sys.stderr
        try:
            from quintain.cli.app import main
            main()
        except SystemExit as ended:
            code = ended.code
        except BaseException:
            code = traceback.format_exc()
        with os.fdopen(writing, "w") as file:
            json.dump([code, sorted(sys.modules)], file)
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading) as file:
        found[" ".join(arguments)] = json.load(file)
    os.wait()
print(json.dumps(found))
"""
ON_FILES = [
    ["labels", "agreement", "labels.csv"],
    ["labels", "methods"],
    ["study", "human", "--help"],
    ["contrast", "score", "--help"],
    ["contrast", "formats"],
    ["contest", "score", "--help"],
    ["evaluate", "score", "--help"],
    ["board", "rank", "--help"],
    ["data", "perturb", "--help"],
    ["data", "perturbations"],
    ["data", "check", "--help"],
    ["data", "presets"],
    ["data", "overlap", "labels.csv", "labels.csv", "--field", "item"],
    ["task", "check", "--help"],
    ["task", "kinds"],
    ["task", "new", "--kind", "text-classification"],
    ["model", "baselines"],
    ["model", "recipes"],
    ["model", "learners"],
    ["model", "init", "--help"],
    ["model", "check", "--help"],
    ["model", "predict", "--help"],
    ["board", "verify", "--help"],
    ["contrast", "import", "--help"],
    ["evaluate", "local", "--help"],
    ["harvest", "--help"],
    ["study", "compare", "--help"],
    ["study", "irt", "--help"],
    ["study", "preference", "--help"],
    ["train", "--help"],
]
PLATFORM = ("alembic", "fastapi", "httpx2", "quintain.compose", "quintain.store", "sqlalchemy")
# Commands that do their work, one after the other in one folder: none of them needs a workspace.
AT_WORK = [
    ["task", "new", "--kind", "text-classification", "task.toml"],
    ["train", "ngram", "--task", "task.toml", "--data", "train.csv", "--out", "model"],
    ["model", "predict", "--dir", "model", "A fine day."],
    ["harvest", "corpus.csv", "--model", "model", "--size", "2", "--where", "length > 0", "--out", "sample.jsonl"],
    ["study", "irt", "responses.csv", "--model", "1pl"],
]


def imported(commands: Sequence[Sequence[str]], folder: Path, *before: str) -> dict[str, set[str]]:
    """Run commands in processes of their own, and give the names of all modules that each imported.

    Modules to import *before* are named where a command may need them: they take longest, and are imported once.
    """
    code = IMPORTED.format(before=before, commands=[list(one) for one in commands])
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=folder, check=True)
    found = json.loads(ran.stdout)
    assert {name: code for name, (code, _) in found.items() if code not in (0, None)} == {}
    return {name: set(modules) for name, (_, modules) in found.items()}


@pytest.fixture(scope="module")
def modules(tmp_path_factory: pytest.TempPathFactory) -> dict[str, set[str]]:
    """What each command on plain files imports."""
    folder = tmp_path_factory.mktemp("lazy")
    (folder / "labels.csv").write_text("item,worker,label\na,x,1\na,y,1\nb,x,2\nb,y,1\n")
    return imported(ON_FILES, folder, "typer", "pydantic", "numpy", "polars")


@pytest.mark.parametrize("name", COMMANDS)
def test_the_listed_sentence_is_the_commands_own(name: str) -> None:
    """The list of `quintain --help` is written down apart from the commands; it says what they say themselves."""
    own = inspect.cleandoc(load(name).help or "").split("\n\n")[0]

    assert COMMANDS[name].help == " ".join(own.split())


@pytest.mark.parametrize(("group", "name"), ALONE)
def test_a_subcommand_alone_is_the_same_as_in_its_group(group: str, name: str) -> None:
    """What `ALONE` imports for a subcommand suffices, and gives the command that the whole group has."""
    alone, whole = load(group, name).commands[name], load(group).commands[name]

    assert (alone.help, [one.opts for one in alone.params]) == (whole.help, [one.opts for one in whole.params])


def test_a_group_lists_its_commands_in_one_order() -> None:
    """Whether a part of the group was imported first or not, its help lists the commands by their places."""
    load("data", "perturb")

    assert list(load("data").commands)[:3] == ["check", "presets", "import"]


def test_help_imports_no_command(tmp_path: Path) -> None:
    """`quintain --help` reads the list: no command, no table library and no database is imported."""
    modules = imported([["--help"]], tmp_path)["--help"]

    assert not {"numpy", "polars", *HEAVY} & modules
    places = {place.partition(":")[0] for one in COMMANDS.values() for place in one.places}
    assert not places & modules


@pytest.mark.parametrize("command", [" ".join(one) for one in ON_FILES])
def test_a_command_on_files_leaves_the_platform_alone(command: str, modules: dict[str, set[str]]) -> None:
    """Commands on plain files import no database, no server and no client, and of SciPy only what they compute with."""
    assert not set(HEAVY) & modules[command] - ({"scipy.special"} if "agreement" in command else set())


def test_commands_do_their_work_on_files_without_the_platform(tmp_path: Path) -> None:
    """Training, asking, harvesting and item response theory run to their end, and import neither store nor server."""
    (tmp_path / "train.csv").write_text(
        "text,label\nA fine day.,positive\nA bad day.,negative\nFine.,positive\nIt is.,neutral\n"
    )
    (tmp_path / "corpus.csv").write_text("text,rating\nA fine day it was.,5\nBad food and bad service.,1\n")
    rows = [f"p{person},i{item},{int(person > item)}" for person in range(6) for item in range(5)]
    (tmp_path / "responses.csv").write_text("\n".join(["respondent,item,correct", *rows]))

    found = imported(AT_WORK, tmp_path, "typer", "pydantic", "numpy", "polars")

    assert {name: sorted(modules & set(PLATFORM)) for name, modules in found.items() if modules & set(PLATFORM)} == {}
    assert (tmp_path / "sample.jsonl").read_text()


@pytest.mark.parametrize(("typed", "meant"), [("labls", "labels"), ("evalute", "evaluate"), ("upgrad", "upgrade")])
def test_a_mistyped_command_gets_a_suggestion(typed: str, meant: str) -> None:
    """At the top level as below it."""
    result = CliRunner().invoke(app, [typed])

    assert result.exit_code == 2
    assert "Did you mean" in result.output
    assert f"'{meant}'" in result.output


def test_shells_complete_commands_and_what_is_below_them(tmp_path: Path) -> None:
    """Completion lists the names with their sentences, and goes on below a command that it has to import."""

    def complete(line: str) -> str:
        shell = {"_QUINTAIN_COMPLETE": "complete_zsh", "_TYPER_COMPLETE_ARGS": line, "PATH": ""}
        code = "import sys; sys.argv = ['quintain']; from quintain.cli.app import main; main()"
        ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=shell, check=False)
        return ran.stdout

    assert COMMANDS["labels"].help in complete("quintain la")
    assert "agreement" in complete("quintain labels ag")
