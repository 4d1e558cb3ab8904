"""Commands that change what holds: what changes is shown from old to new, and asked about, before it is made."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Annotated, TypeVar

import typer

from quintain.cli.output import say
from quintain.core.editing import EditOrigin
from quintain.core.errors import Conflict
from quintain.core.records.changes import SpecChanges
from quintain.core.spec_changes import ChangesToConfirm

Changed = TypeVar("Changed")
RemoveOption = Annotated[
    list[str] | None,
    typer.Option("--remove", metavar="OPTION", help="Reset this option, which the file does not mention. Repeatable."),
]
YesOption = Annotated[bool, typer.Option("--yes", "-y", help="Make the changes without being asked.")]


def confirm_changes(
    change: Callable[[EditOrigin], Changed], remove: Sequence[str] | None, revision: str, *, yes: bool
) -> Changed:
    """Make a *change* once what it changes was shown and agreed to; what is new changes nothing, and is not asked."""
    edit = EditOrigin(revision, remove=frozenset(remove or ()), ask="always")
    try:
        return change(edit)
    except ChangesToConfirm as error:
        seen = error.changes
    _show(seen)
    if not yes:
        _ask()
    return change(replace(edit, confirmed=seen.digest))


def _show(changes: SpecChanges) -> None:
    for change in changes.changes:
        say(f"{change.option}: {change.before or 'nothing'} → {change.after or 'nothing'}")


def _ask() -> None:
    try:
        agreed = typer.confirm("Change this?", err=True)
    except typer.Abort:  # nobody is there to be asked
        agreed = False
    if not agreed:
        raise Conflict("Nothing was changed.", remedy="Say --yes to make the changes without being asked.")
