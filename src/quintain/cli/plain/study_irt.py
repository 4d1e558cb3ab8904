"""`quintain study irt`: how hard items are and how able respondents, on plain files."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from quintain.cli import output
from quintain.cli.plain.study import app
from quintain.cli.streams import in_file, out_option
from quintain.data.tables import parse_columns
from quintain.services.plain.irt import ResponseReading, item_responses, write_items

SHOWN = 30


@app.command()
def irt(
    file: Annotated[Path, in_file("Responses: respondent,item,correct, or a column for each item.")],
    model: Annotated[Literal["1pl", "2pl", "3pl"], typer.Option(help="With one, two or three parameters.")] = "2pl",
    out: Annotated[Path | None, out_option("Where the items go.", "--out", "-o")] = None,
    abilities: Annotated[Path | None, out_option("Where the respondents go.", "--abilities")] = None,
    no_respondent: Annotated[
        bool, typer.Option("--no-respondent", help="Every column of a wide table is an item.")
    ] = False,
    frequency: Annotated[
        str, typer.Option(help="Column of how often a row of a wide table occurs.", show_default="each once")
    ] = "",
    column: Annotated[
        list[str] | None, typer.Option(help="Name of a column in the file, such as item=example_id.")
    ] = None,
    json: output.JsonFlag = False,
) -> None:
    """Estimate discrimination, difficulty and guessing of items, and ability of respondents.

    Example: quintain study irt responses.csv --model 3pl --out items.csv --abilities abilities.csv
    """
    reading = ResponseReading(parse_columns(column or ()), not no_respondent, frequency)
    found = item_responses(file, model, reading)
    write_items(found, out, abilities)
    for note in found.notes:
        output.say(note)
    if json:
        output.print_json(found.as_dict())
        return
    table = found.items()
    rows = [(name, *(f"{value:.3f}" for value in figures)) for name, *figures in table.head(SHOWN).iter_rows()]
    output.print_table(table.columns, rows, title=f"Log-likelihood {found.fit.loglik:.3f}")
    if table.height > SHOWN:
        output.say(f"{table.height - SHOWN:,} more items: --out writes all of them.")
