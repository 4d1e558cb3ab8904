"""`quintain backup`, `restore` and `upgrade`: keeping a workspace safe."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from quintain.cli import output
from quintain.cli.context import settings_of, workspace_of
from quintain.cli.output import JsonFlag
from quintain.cli.streams import in_file, out_file
from quintain.compose import workspace_to_fill
from quintain.core.people import OPERATOR
from quintain.services.house import backup as service
from quintain.services.house.backup_file import BackupInfo

Verify = Annotated[
    bool,
    typer.Option("--verify/--no-verify", help="Restore the file on trial and compare all of it, before it counts."),
]


def backup(
    context: typer.Context,
    file: Annotated[Path | None, out_file("ZIP file to write; by default one in the workspace.")] = None,
    verify: Verify = True,
    json: JsonFlag = False,
) -> None:
    """Write all rows and blobs to one file, also while the server runs, and restore it on trial.

    Example: quintain backup monday.zip
    """
    workspace = workspace_of(context, check=False)
    target = file or service.default_file(workspace.settings.workspace / "backups")
    with workspace.session() as db, output.bar() as progress:
        # A file that is named was looked at already: it is free, or may be overwritten.
        saved = service.create_backup(
            db, workspace.blobs, OPERATOR, target, force=file is not None, verify=verify, progress=progress
        )
    _show(saved, json=json)


def restore(
    context: typer.Context,
    file: Annotated[Path, in_file("A file that `quintain backup` wrote.")],
    force: Annotated[bool, typer.Option("--force", help="Replace a workspace that is not empty.")] = False,
    json: JsonFlag = False,
) -> None:
    """Put what a backup holds into the workspace, made where there is none; a refusal leaves nothing behind.

    The database may be of the other kind than the one that was backed up.
    Example: quintain --workspace copy restore monday.zip
    """
    with output.bar() as progress, workspace_to_fill(settings_of(context)) as workspace, workspace.session() as db:
        done = service.restore_backup(db, workspace.blobs, OPERATOR, file, force=force, progress=progress)
    _show(done, json=json)


def upgrade(context: typer.Context, verify: Verify = True, json: JsonFlag = False) -> None:
    """Bring the database to what this version needs, after a copy of all rows; blobs stay as they are.

    Example: quintain upgrade
    """
    workspace = workspace_of(context, check=False)
    folder = workspace.settings.workspace / "backups"
    with workspace.session() as db, output.bar() as progress:
        done = service.upgrade_workspace(db, workspace.blobs, OPERATOR, folder, verify=verify, progress=progress)
    if json:
        output.print_json({"migrations": done.migrations, "backup": done.backup})
    elif done.migrations:
        output.print_line(f"Ran the migrations {', '.join(done.migrations)}.")
        if done.backup:
            output.print_line(f"The rows that were there before are in {done.backup.file}.")
    else:
        output.print_line("The database is up to date; nothing was done.")


def _show(info: BackupInfo, *, json: bool) -> None:
    if json:
        output.print_json(info)
        return
    rows = sum(info.rows.values())
    verified = "verified" if info.verified else "not verified"
    output.print_line(f"{info.file}: {rows} rows, {info.blobs} blobs, {output.size(info.size)}, {verified}.")
