"""Commands that are imported only when they are called: what is listed is true, and a small one stays small."""

from __future__ import annotations

import inspect
import json
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from quintain.cli.app import app
from quintain.cli.lazy import ALONE, COMMANDS, load

HEAVY = ("alembic", "fastapi", "httpx2", "jinja2", "scipy.sparse", "scipy.special", "scipy.stats", "sqlalchemy")
IMPORTED = """
import atexit, json, sys
atexit.register(lambda: open({file!r}, "w").write(json.dumps(sorted(sys.modules))))
sys.argv = ["quintain", *{arguments!r}]
from quintain.cli.app import main
main()
"""


def imported(arguments: list[str], tmp_path: Path) -> set[str]:
    """Run a command in a process of its own and give the names of all modules that it imported."""
    file = tmp_path / "modules.json"
    code = IMPORTED.format(file=str(file), arguments=arguments)
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=tmp_path, check=False)
    assert ran.returncode == 0, ran.stderr
    return set(json.loads(file.read_text()))


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
    modules = imported(["--help"], tmp_path)

    assert not {"numpy", "polars", *HEAVY} & modules
    places = {place.partition(":")[0] for one in COMMANDS.values() for place in one.places}
    assert not places & modules


@pytest.mark.parametrize(
    "arguments",
    [
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
    ],
    ids=" ".join,
)
def test_a_command_on_files_leaves_the_platform_alone(arguments: list[str], tmp_path: Path) -> None:
    """Commands on plain files import no database, no server and no client, and of SciPy only what they compute with."""
    (tmp_path / "labels.csv").write_text("item,worker,label\na,x,1\na,y,1\nb,x,2\nb,y,1\n")

    assert not set(HEAVY) & imported(arguments, tmp_path) - ({"scipy.special"} if "agreement" in arguments else set())


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
