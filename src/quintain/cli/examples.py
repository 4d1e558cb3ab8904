"""`--example`: a command on plain files, run on files that come with the program.

`examples/commands.toml` says with which. The command is shown as one would type it, its files are read where they lie,
and what it writes is written where one is.
"""

from __future__ import annotations

import shlex
import tomllib
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import typer
from typer.main import get_command

from quintain.cli import output

FLAG = "--example"
_PACKAGE = Path(__file__).parent.parent
WITH_VALUE = ("-w", "--workspace")  # options before the command that take a value


def examples_folder() -> Path:
    """Return where the examples lie: within the package or, in a clone, at its root."""
    inside = _PACKAGE / "examples"
    return inside if inside.is_dir() else _PACKAGE.parent.parent / "examples"


@cache
def example_commands() -> Mapping[tuple[str, str], str]:
    """Return the arguments of each command's example, by group and command."""
    path = examples_folder() / "commands.toml"
    if not path.is_file():
        return {}
    groups = tomllib.loads(path.read_text(encoding="utf-8"))
    return {(group, name): line for group, lines in groups.items() for name, line in lines.items()}


def with_example(args: Sequence[str]) -> list[str]:
    """Put the example's arguments in place of `--example` and show the command; what else was typed comes after."""
    if FLAG not in args:
        return list(args)
    at = _first_word(args)
    words = tuple(args[at : at + 2])
    line = example_commands().get((words[0], words[1])) if len(words) == 2 else None
    if line is None:
        return list(args)  # the command itself says that it has no such option
    rest = [arg for arg in args[at + 2 :] if arg != FLAG]
    arguments = [_in_folder(word) for word in shlex.split(line)]
    output.say(shlex.join(["quintain", *words, *arguments, *rest]))
    return [*args[:at], *words, *arguments, *rest]


def _first_word(args: Sequence[str]) -> int:
    at = 0
    while at < len(args) and args[at].startswith("-"):
        at += 2 if args[at] in WITH_VALUE else 1
    return at


def _in_folder(word: str) -> str:
    """Return a file of the examples with where it lies; anything else as it is."""
    path = examples_folder() / word
    return _short(path) if not word.startswith("-") and path.exists() else word


def _short(path: Path) -> str:
    try:
        return str(path.relative_to(Path.cwd()))
    except ValueError:
        return str(path)


def offer_examples(command: Any, group: str) -> Any:
    """Add the option `--example` to those of *group*'s commands that have one; return *command*."""
    for name, below in getattr(command, "commands", {}).items():
        if (group, name) in example_commands() and not any(FLAG in param.opts for param in below.params):
            last = next((at for at, param in enumerate(below.params) if "--json" in param.opts), len(below.params))
            below.params.insert(last, _option())
    return command


@cache
def _option() -> Any:
    """Make the option as typer makes those of a command's function; it is taken before the command is looked for."""

    def command(
        example: bool = typer.Option(False, FLAG, help="Run it on files that come with it.", expose_value=False),
    ) -> None:
        """Do nothing: it is there for its option."""

    app = typer.Typer(add_completion=False)
    app.command()(command)
    return get_command(app).params[0]
