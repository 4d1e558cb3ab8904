"""`quintain user export|delete`: all that is kept about somebody, and its end."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from quintain.cli import output
from quintain.cli.access.user import Name, app
from quintain.cli.context import workspace_of
from quintain.cli.output import JsonFlag
from quintain.cli.streams import out_file
from quintain.core.people import OPERATOR
from quintain.services.house import personal_data


@app.command()
def export(
    context: typer.Context,
    name: Name,
    file: Annotated[Path, out_file("ZIP file to write.")],
    json: JsonFlag = False,
) -> None:
    """Write all that is kept about somebody to a ZIP file.

    Example: quintain user export wilma wilma.zip
    """
    with workspace_of(context).session() as db:
        personal_data.export_person(db, OPERATOR, file, name)
    size = file.stat().st_size
    if json:
        output.print_json({"name": name, "file": file, "size": size})
    else:
        output.print_line(f"{file}: {output.size(size)}.")


@app.command()
def delete(
    context: typer.Context,
    name: Name,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
    give_up_pay: Annotated[
        bool, typer.Option("--give-up-pay", help="They said that they give up what they are not paid yet.")
    ] = False,
    json: JsonFlag = False,
) -> None:
    """Erase somebody's name, address, password, tokens and messages; what they contributed keeps counting.

    Whose work is not paid yet is not erased, unless they give it up.

    Example: quintain user delete wilma --yes
    """
    workspace = workspace_of(context)
    with workspace.session() as db:
        owed = personal_data.open_pay_of(db, OPERATOR, name)
    if not yes:
        gone = f", who gives up {', '.join(map(str, owed.open))}" if owed.open and give_up_pay else ""
        typer.confirm(f"Erase {name}{gone} for good?", abort=True, err=True)
    with workspace.session() as db:
        personal_data.delete_person(db, OPERATOR, name, give_up_pay=give_up_pay)
    if json:
        output.print_json({"deleted": name, "given_up": owed.open if give_up_pay else ()})
    else:
        output.print_line(f"{name} has been erased.")
