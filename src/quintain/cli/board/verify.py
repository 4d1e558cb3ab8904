"""`quintain board verify|keys`: whether a snapshot is what it claims to be, and whose."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from quintain.cli import output
from quintain.cli.context import settings_of, workspace_of
from quintain.cli.plain.rank import app
from quintain.cli.streams import in_file
from quintain.core.errors import Forbidden, NotFound, QuintainError, Unavailable
from quintain.core.people import OPERATOR
from quintain.core.records.board import SigningKeys
from quintain.data.signatures import read_public
from quintain.services.board.verify import Verified, compare_with_server, verify_snapshot
from quintain.services.plain.files.signed import Check, KeySource

SECONDS = 10.0  # how long a server may take to answer
MARKS = {"passed": "✓", "failed": "✗", "unknown": "?"}


@app.command()
def verify(
    context: typer.Context,
    file: Annotated[Path, in_file("A snapshot of a board.")],
    key: Annotated[str, typer.Option(help="Public key that must have signed it: base64, or a file with it.")] = "",
    server: Annotated[str, typer.Option(help="Server whose key must have signed it, and that keeps the same.")] = "",
    offline: Annotated[bool, typer.Option("--offline", help="Do not ask the server that the snapshot names.")] = False,
    json: output.JsonFlag = False,
) -> None:
    """Check a snapshot: that nothing was changed, that its figures give its ranking, and who signed it.

    No workspace is needed. Without a key that is known, only that it fits together is proven, and that is said.
    Example: quintain board verify board.json --server https://quintain.example
    """
    try:
        data = file.read_bytes()
    except OSError as error:
        raise NotFound("{file} cannot be read: {strerror}.", file=file, strerror=error.strerror) from error
    sources = [_key_from(key)] if key else []
    if not key and not server:
        sources += _own(context)
    verified = verify_snapshot(data, file.name, sources=sources)
    where = (server or ("" if offline else verified.server)).rstrip("/")
    if where.startswith(("http://", "https://")):
        verified = _ask(data, file.name, sources, where, asked_for=bool(server))
    elif server:
        raise typer.BadParameter("it begins with http:// or https://", param_hint="--server")
    _show(verified, file.name, json=json)
    if verified.problems:
        raise typer.Exit(1)


def _key_from(key: str) -> KeySource:
    path = Path(key)
    text = path.read_text(encoding="utf-8", errors="replace") if len(key) < 1000 and path.is_file() else key
    return KeySource("the one that was given", {read_public(text): None}, required=True)


def _own(context: typer.Context) -> list[KeySource]:
    """Return the keys of the workspace here, if there is one that can be opened."""
    settings = settings_of(context)
    if not settings.database_url and not (settings.workspace / "quintain.db").exists():
        return []
    from quintain.compose import open_workspace  # only where there is a workspace to open
    from quintain.services.access import signing

    try:
        with open_workspace(settings).session() as db:
            keys = {key.public_key: key.replaced_at for key in signing.published_keys(db)}
    except QuintainError as error:
        output.say(f"The keys of the workspace {settings.workspace} cannot be read: {error}")
        return []
    return [KeySource(f"this workspace's own ({settings.workspace})", keys, required=False)]


def _ask(data: bytes, name: str, sources: list[KeySource], where: str, *, asked_for: bool) -> Verified:
    """Verify with what the server at *where* says: its keys, and its own copy. One not asked for may be away."""
    from quintain.client import Client

    before = verify_snapshot(data, name, sources=sources)
    withheld: Forbidden | None = None
    try:
        with Client(where, timeout=SECONDS) as client:
            keys = {key.public_key: key.replaced_at for key in client.signing_keys()}
            try:
                copy = client.snapshot(before.task, before.hash)
            except NotFound:
                copy = None
            except Forbidden as error:  # it keeps one, and a model in it is not public any more
                copy, withheld = None, error
    except QuintainError as error:
        if asked_for:
            raise Unavailable(
                "{where} cannot be asked: {error}",
                where=where,
                error=error,
                remedy="Leave --server out, or give --key.",
            ) from error
        return before.with_check(Check("server", "unknown", f"{where} could not be asked: {error}"))
    published = KeySource(f"published by {where}", keys, required=True)
    verified = verify_snapshot(data, name, sources=[*sources, published])
    if withheld is not None:
        return verified.with_check(Check("server", "unknown", f"{where} does not show its own: {withheld}"))
    return compare_with_server(verified, copy, where)


def _show(verified: Verified, name: str, *, json: bool) -> None:
    if json:
        output.print_json(verified.as_dict())
        return
    output.print_line(f"{name}: {verified.models} models of {verified.task}, {verified.hash}")
    if verified.provisional:
        output.say(f"{name}: its order is provisional; runs were still to come when it was taken.")
    for check in verified.checks:
        (output.say if check.state == "failed" else output.print_line)(f"{MARKS[check.state]} {check.text}")
    if verified.problems:
        output.say(f"{name} is not to be trusted.")
    elif verified.origin:
        output.print_line("It is what it claims to be.")
    else:
        output.print_line(
            "Only that it fits together is proven: a copy that was changed and hashed anew would look the same. "
            "Give --server, or --key with the public key of who is said to have made it."
        )


@app.command()
def keys(
    context: typer.Context,
    new: Annotated[bool, typer.Option("--new", help="Sign with a new key from now on.")] = False,
    json: output.JsonFlag = False,
) -> None:
    """List the public keys that snapshots are signed with, the newest first; they are for everybody.

    Example: quintain board keys
    """
    from quintain.services.access import signing

    workspace = workspace_of(context)
    with workspace.session() as db:
        if new:
            signing.replace_key(db, OPERATOR)
        published = signing.published_keys(db)
    if json:
        output.print_json(SigningKeys(published))
        return
    rows = [
        [one.key_id, one.public_key, f"{one.created_at:%Y-%m-%d}", "no longer used" if one.replaced_at else "signs"]
        for one in published
    ]
    output.print_table(["key", "public key", "since", ""], rows)
