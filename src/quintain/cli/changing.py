"""Commands that change what holds: what changes is shown from old to new, and asked about, before it is made."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Annotated, TypeVar

import typer

from quintain.cli.output import say
from quintain.core.errors import Conflict
from quintain.core.records.changes import SpecChanges
from quintain.core.spec_changes import ChangesToConfirm, Edit

Changed = TypeVar("Changed")
RemoveOption = Annotated[
    list[str] | None,
    typer.Option("--remove", metavar="OPTION", help="Reset this option, which the file does not mention. Repeatable."),
]
YesOption = Annotated[bool, typer.Option("--yes", "-y", help="Make the changes without being asked.")]


def confirm_changes(change: Callable[[Edit], Changed], remove: Sequence[str] | None, *, yes: bool) -> Changed:
    """Make a *change* once what it changes was shown and agreed to; what is new changes nothing, and is not asked."""
    removed = frozenset(remove or ())
    try:
        return change(Edit(removed, ask="always"))
    except ChangesToConfirm as error:
        seen = error.changes
    change_is_allowed = Edit(removed, ask="always", confirmed=seen.digest)
    _show(seen)
    if not yes:
        _ask()
    return change(change_is_allowed)


def _show(changes: SpecChanges) -> None:
    for one in changes.changes:
        say(f"{one.option}: {one.before or 'nothing'} → {one.after or 'nothing'}")


def _ask() -> None:
    try:
        agreed = typer.confirm("Change this?", err=True)
    except typer.Abort:  # nobody is there to be asked
        agreed = False
    if not agreed:
        raise Conflict("Nothing was changed.", remedy="Say --yes to make the changes without being asked.")
