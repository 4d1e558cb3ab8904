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
    "demo": ("quintain.cli.house.demo:demo",),
    "init": ("quintain.cli.house.init:init",),
    "serve": ("quintain.cli.house.serve:serve",),
    "worker": ("quintain.cli.evaluate.worker:worker",),
    "status": ("quintain.cli.house.status:status",),
    "task": ("quintain.cli.tasks.task:app", "quintain.cli.work.quiz"),
    "data": ("quintain.cli.data.data:app", "quintain.cli.plain.perturb", "quintain.cli.evaluate.overlap"),
    "model": ("quintain.cli.models.model:app", "quintain.cli.evaluate.submit"),
    "train": ("quintain.cli.models.train:train",),
    "evaluate": (
        "quintain.cli.evaluate.evaluate:app",
        "quintain.cli.evaluate.cells",
        "quintain.cli.evaluate.results",
        "quintain.cli.evaluate.answers",
        "quintain.cli.evaluate.local",
    ),
    "board": ("quintain.cli.board.board:app", "quintain.cli.board.keep", "quintain.cli.board.verify"),
    "harvest": ("quintain.cli.harvest.harvest:harvest",),
    "validate": (
        "quintain.cli.validate.validate:app",
        "quintain.cli.validate.console",
        "quintain.cli.validate.gold",
        "quintain.cli.validate.judges",
    ),
    "labels": ("quintain.cli.plain.labels:app",),
    "study": ("quintain.cli.plain.study:app",),
    "round": (
        "quintain.cli.collect.round:app",
        "quintain.cli.collect.console",
        "quintain.cli.collect.eligible",
        "quintain.cli.collect.flags",
    ),
    "user": ("quintain.cli.access.user:app", "quintain.cli.work.qualification"),
    "backup": ("quintain.cli.house.backup:backup",),
    "restore": ("quintain.cli.house.backup:restore",),
    "upgrade": ("quintain.cli.house.backup:upgrade",),
}
# Subcommands that people wait for, with the parts of their group that suffice: the others import the whole platform.
ALONE: Mapping[tuple[str, str], tuple[str, ...]] = {
    ("evaluate", "local"): ("quintain.cli.evaluate.evaluate:app", "quintain.cli.evaluate.local"),
    ("evaluate", "score"): ("quintain.cli.evaluate.evaluate:app",),
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
