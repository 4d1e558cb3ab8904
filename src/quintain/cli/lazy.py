"""Commands that are imported when they are called, so that a small one starts fast."""

from __future__ import annotations

import importlib
from collections.abc import Mapping, Sequence
from typing import Any

import typer
from typer.core import TyperGroup
from typer.main import get_command, get_group

# Name → where it is: the module and attribute of a Typer application or of one function, then modules that add to it.
COMMANDS: dict[str, tuple[str, ...]] = {
    "demo": ("quintain.cli.demo:demo",),
    "init": ("quintain.cli.init:init",),
    "serve": ("quintain.cli.serve:serve",),
    "worker": ("quintain.cli.worker:worker",),
    "status": ("quintain.cli.status:status",),
    "task": ("quintain.cli.task:app", "quintain.cli.quiz"),
    "data": ("quintain.cli.data:app", "quintain.cli.perturb", "quintain.cli.overlap"),
    "model": ("quintain.cli.model:app", "quintain.cli.submit"),
    "train": ("quintain.cli.train:train",),
    "evaluate": (
        "quintain.cli.evaluate:app",
        "quintain.cli.cells",
        "quintain.cli.evaluate_results",
        "quintain.cli.evaluate_answers",
        "quintain.cli.evaluate_local",
    ),
    "board": ("quintain.cli.board:app", "quintain.cli.board_keep", "quintain.cli.board_verify"),
    "harvest": ("quintain.cli.harvest:harvest",),
    "validate": ("quintain.cli.validate:app", "quintain.cli.validate_console"),
    "labels": ("quintain.cli.labels:app",),
    "study": ("quintain.cli.study:app",),
    "round": ("quintain.cli.round:app", "quintain.cli.round_console", "quintain.cli.eligible", "quintain.cli.flags"),
    "user": ("quintain.cli.user:app", "quintain.cli.qualification"),
    "backup": ("quintain.cli.backup:backup",),
    "restore": ("quintain.cli.backup:restore",),
    "upgrade": ("quintain.cli.backup:upgrade",),
}
# Subcommands that people wait for, with the parts of their group that suffice: the others import the whole platform.
ALONE: Mapping[tuple[str, str], tuple[str, ...]] = {
    ("evaluate", "local"): ("quintain.cli.evaluate:app", "quintain.cli.evaluate_local"),
    ("evaluate", "score"): ("quintain.cli.evaluate:app",),
}


class LazyGroup(TyperGroup):
    """The commands of `COMMANDS`, each imported on its first use."""

    def list_commands(self, ctx: Any) -> list[str]:
        """List the names, in the order in which a newcomer would want to read them."""
        return list(COMMANDS)

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Find the command that *args* begin with, importing no more than a subcommand in `ALONE` needs."""
        few = ALONE.get((args[0], args[1])) if len(args) > 1 else None
        if few is not None and args[0] not in self.commands:
            return args[0], _load(args[0], few), args[1:]
        return super().resolve_command(ctx, args)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """Import the command called *cmd_name*; None where there is none."""
        if cmd_name not in COMMANDS:
            return None
        if cmd_name not in self.commands:
            self.commands[cmd_name] = _load(cmd_name, COMMANDS[cmd_name])
        return self.commands[cmd_name]


def _load(name: str, places: Sequence[str]) -> Any:
    module, _, attribute = places[0].partition(":")
    found = getattr(importlib.import_module(module), attribute)
    for addition in places[1:]:
        importlib.import_module(addition)
    if isinstance(found, typer.Typer):
        command: Any = get_group(found)
    else:
        alone = typer.Typer(pretty_exceptions_enable=False, add_completion=False)
        alone.command(name)(found)
        command = get_command(alone)
    command.name = name
    return command
