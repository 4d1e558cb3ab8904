"""`quintain study irt`: how hard items are and how able respondents, on plain files."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from quintain.cli import output
from quintain.cli.names import split_numbers
from quintain.cli.plain.labels import SeedOption
from quintain.cli.plain.study import app
from quintain.cli.reporting import again
from quintain.cli.streams import in_file, out_folder, out_option
from quintain.data.tables import parse_columns
from quintain.library import item_response as library
from quintain.reports.folder import write_folder
from quintain.services.plain.reports.irt import IrtStudy, write_items

SHOWN = 30


@app.command()
def irt(
    context: typer.Context,
    files: Annotated[
        list[Path], in_file("Responses: respondent,item,correct, or a column for each item.", metavar="FILE...")
    ],
    model: Annotated[Literal["1pl", "2pl", "3pl"], typer.Option(help="With one, two or three parameters.")] = "2pl",
    method: Annotated[
        Literal["mml", "vi"], typer.Option(help="Marginal likelihood, or variational inference with its priors.")
    ] = "mml",
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
    guessing_prior: Annotated[
        str,
        typer.Option(
            metavar="CHANCE,SPREAD",
            help="Of 3pl: the middle of the prior of guessing, and the spread of its logit.",
            show_default="of the method",
        ),
    ] = "",
    subset: Annotated[
        int, typer.Option(help="Also choose so many items that together tell most.", min=0, show_default="none")
    ] = 0,
    report: Annotated[
        Path | None,
        out_folder("Folder for a report with charts.", "--report"),
    ] = None,
    seed: SeedOption = 0,
    json: output.JsonFlag = False,
) -> None:
    """Estimate discrimination, difficulty and guessing of items, and ability of respondents.

    Example: quintain study irt responses.csv --model 3pl --out items.csv --abilities abilities.csv

    Example: quintain study irt race.csv rte.csv --model 3pl --method vi --report report
    """
    estimated = library.irt(
        files,
        model,
        method=method,
        subset=subset,
        named=not no_respondent,
        frequency=frequency,
        columns=parse_columns(column or ()),
        guessing_prior=split_numbers(guessing_prior, "--guessing-prior"),
        seed=seed,
    )
    study = estimated.study
    write_items(study, out, abilities)
    if report is not None:
        name = ", ".join(file.stem for file in files)
        page = write_folder(estimated.report(name, [again(context, "--report")]), report)
        output.say(f"{page} shows it with its charts.")
    for note in study.notes:
        output.say(note)
    if json:
        output.print_json(estimated.to_dict())
        return
    _show(study)


def _show(study: IrtStudy) -> None:
    """Print the first items, labels that want a second look, and the subset that was asked for."""
    table = study.items()
    rows = [
        (name, *("–" if value is None else f"{value:.3f}" for value in figures))
        for name, *figures in table.head(SHOWN).iter_rows()
    ]
    output.print_table(table.columns, rows, title=f"Log-likelihood {study.fit.loglik:.3f}")
    if table.height > SHOWN:
        output.say(f"{table.height - SHOWN:,} more items: --out writes all of them.")
    doubtful = study.suspicious()
    if doubtful.height:
        rows = [(row[0], f"{row[1]:.1f}", *(f"{100 * one:.0f} %" for one in row[2:])) for row in doubtful.iter_rows()]
        columns = ["item", "z", "wrong among the strongest", "right among the weakest"]
        output.print_table(columns, rows[:SHOWN], title="Labels that want a second look")
    if study.subset:
        names = ", ".join(study.responses.items[at] for at in study.subset)
        output.print_line(f"Together the following tell most: {names}")
