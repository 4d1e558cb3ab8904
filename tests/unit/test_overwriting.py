"""No command overwrites what is there unless it is told to: one rule, for every command that writes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, get_args, get_type_hints

import pytest
from typer.testing import Result

from quintain.cli.lazy import COMMANDS, load
from quintain.cli.streams import read_path, write_folder, write_path, writes

# Paths that are read, and not by `-`.
READ = {
    "contest convert source",
    "evaluate local folder",
    "harvest corpus",
    "labels estimate predictions",
    "model check folder",
    "model predict file",
    "model predict folder",
    "model submit folder",
    "pay policy file",
    "study artefacts recipe",
    "study compare recipe",
    "study compare responses",
    "study report recipe",
    "study start recipe",
    "trial doors file",
    "validate adaptive policy",
}
# Folders that a command makes or goes on in; each refuses what it did not make.
WORKED_IN = {"demo workspace", "init folder", "model init folder", "train folder"}


def commands() -> Iterator[tuple[str, Any]]:
    """Go through every command, by its full name."""
    for name in COMMANDS:
        yield from _below(name, load(name))


def _below(name: str, command: Any) -> Iterator[tuple[str, Any]]:
    below = getattr(command, "commands", None)
    if below is None:
        yield name, command
    for inner, one in (below or {}).items():
        yield from _below(f"{name} {inner}", one)


ALL = dict(commands())
WRITING = [(name, parameter) for name, command in ALL.items() for parameter in writes(command)]


def _parser(hint: Any) -> Any:
    return next((note.parser for note in getattr(hint, "__metadata__", ()) if hasattr(note, "parser")), None)


def _is_path(hint: Any) -> bool:
    return hint is Path or any(_is_path(one) for one in get_args(hint) if isinstance(one, type) or get_args(one))


def _call(name: str, parameter: str, path: Path) -> list[str]:
    """Give the words that name *path* as what a command is to write, and nothing that comes after it."""
    command = ALL[name]
    words = name.split()
    for one in command.params:
        argument = one.param_type_name == "argument"
        if one.name == parameter:
            return [*words, str(path)] if argument else [*words, one.opts[0], str(path)]
        if argument:
            words.append("1")
    raise AssertionError(f"{name} has no {parameter}")


def test_many_commands_write() -> None:
    """The rule is looked for where it matters."""
    assert len(WRITING) > 35
    assert ("user export", "file") in WRITING
    assert ("study irt", "report") in WRITING


@pytest.mark.parametrize(("name", "parameter"), WRITING, ids=[f"{name} {one}" for name, one in WRITING])
def test_what_is_there_is_not_overwritten(
    cli: Callable[..., Result], tmp_path: Path, name: str, parameter: str
) -> None:
    """A file, or a folder that holds something, is refused by name before anything is done, unless by force."""
    path = tmp_path / "there"
    folder = _parser(get_type_hints(ALL[name].callback, include_extras=True)[parameter]) is write_folder
    held = path / "notes.txt" if folder else path
    held.parent.mkdir(exist_ok=True)
    held.write_text("mine")
    words = _call(name, parameter, path)
    refused = cli("--workspace", tmp_path / "none", *words)
    assert refused.exit_code == 1
    assert f"{path} is there already" in refused.stderr.replace("\n", "")
    option = "--overwrite" if name == "train" else "--force"
    assert option in refused.stderr
    assert held.read_text() == "mine"
    forced = cli("--workspace", tmp_path / "none", *words, option)
    assert "is there already" not in forced.stderr


def test_every_path_says_whether_it_is_read_or_written() -> None:
    """A command takes a path by one of the ways that know the rule, so that the next one that writes keeps to it."""
    strange = [
        f"{name} {parameter}"
        for name, command in ALL.items()
        for parameter, hint in get_type_hints(command.callback, include_extras=True).items()
        if _is_path(hint) and _parser(hint) not in {read_path, write_path, write_folder}
    ]
    assert sorted(strange) == sorted(READ | WORKED_IN)
