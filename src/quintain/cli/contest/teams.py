"""`quintain contest upload`, `hand-in`, `withdraw`: for the people of a team, through the server, with their token."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from quintain.cli.contest.contests import ContestRef
from quintain.cli.context import settings_of
from quintain.cli.output import JsonFlag, print_json, say
from quintain.cli.plain.contest import app
from quintain.cli.streams import in_file
from quintain.client import Client
from quintain.data.tables import parse_columns

UrlOption = Annotated[str, typer.Option("--url", help="Address of the server.", show_default=False)]
TokenOption = Annotated[str, typer.Option("--token", help="API token; by default that of QUINTAIN_TOKEN.")]


def team_client(context: typer.Context, url: str, token: str) -> Client:
    """Connect as somebody of a team."""
    return Client(url, token or settings_of(context).token or None)


@app.command()
def upload(
    context: typer.Context,
    ref: ContestRef,
    file: Annotated[Path, in_file("The pairs: a table with two rows for each, or a file of another form.")],
    url: UrlOption,
    token: TokenOption = "",
    preset: Annotated[
        str, typer.Option("--preset", help="The form of the file: table, or bibi-2017 as released.")
    ] = "table",
    dispute: Annotated[
        bool, typer.Option("--dispute", help="Other labels of originals dispute the starter set's.")
    ] = False,
    column: Annotated[list[str] | None, typer.Option(help="Map a name: text=sentence.", show_default=False)] = None,
    json: JsonFlag = False,
) -> None:
    """Add the pairs of a file to your team's; all of them, or nothing and every fault by its row.

    Example: quintain contest upload sentiment/spring pairs.csv --url https://bench.example.org
    """
    with team_client(context, url, token) as client:
        added = client.upload_pairs(ref, file, columns=parse_columns(column or []), preset=preset, dispute=dispute)
    disputed = f"; {added.disputed} of them dispute a label of the starter set" if added.disputed else ""
    say(f"{added.added} pairs added{disputed}. Your team has {added.pairs}.")
    if json:
        print_json(added)


@app.command("hand-in")
def hand_in(
    context: typer.Context,
    ref: ContestRef,
    file: Annotated[Path, in_file("A table id,prediction.")],
    url: UrlOption,
    token: TokenOption = "",
    system: Annotated[str, typer.Option("--system", help="Which of your team's systems; a new name adds one.")] = "",
    json: JsonFlag = False,
) -> None:
    """Hand in your team's answers: to the development set while building, and to the pairs while scoring.

    Example: quintain contest hand-in sentiment/spring pcnn.csv --system pcnn --url https://bench.example.org
    """
    with team_client(context, url, token) as client:
        system_now = client.hand_in_answers(ref, file, system=system)
    say(f"The answers of {system_now.name} are taken.")
    if json:
        print_json(system_now)


@app.command()
def withdraw(
    context: typer.Context,
    ref: ContestRef,
    system: Annotated[str, typer.Argument(help="The system of your team.")],
    url: UrlOption,
    token: TokenOption = "",
    json: JsonFlag = False,
) -> None:
    """Take a system of your team out again, while building lasts.

    Example: quintain contest withdraw sentiment/spring pcnn --url https://bench.example.org
    """
    with team_client(context, url, token) as client:
        client.withdraw_contest_system(ref, system)
    say(f"{system} is taken out.")
    if json:
        print_json({"system": system, "withdrawn": True})
