"""`quintain data perturb` and `quintain data perturbations`: robustness and fairness variants of plain files."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from quintain.cli import output
from quintain.cli.plain.data_files import app
from quintain.cli.streams import in_file, in_option, named, out_option
from quintain.data.tables import table_format, write_table
from quintain.library import perturbed as library
from quintain.services.plain.files.perturb import list_perturbations


@app.command()
def perturb(
    file: Annotated[Path, in_file("CSV, TSV, JSONL or Parquet.")],
    kind: Annotated[
        list[str],
        typer.Option("--kind", help="Perturbations by commas, or robustness or fairness for all.", show_default=False),
    ],
    out: Annotated[Path, out_option("Where the changed rows go.", "--out")],
    seed: Annotated[int, typer.Option("--seed", help="Another seed gives other variants.")] = 0,
    severity: Annotated[float, typer.Option("--severity", help="Multiplies the share of edited words.")] = 1.0,
    field: Annotated[
        list[str] | None, typer.Option("--field", help="Column with texts; repeat.", show_default="the text column")
    ] = None,
    task: Annotated[Path | None, in_option("Task file: its fields are perturbed, gold spans kept.", "--task")] = None,
    language: Annotated[
        str | None,
        typer.Option("--language", help="Language of the texts.", show_default="the task's, or en"),
    ] = None,
    json: output.JsonFlag = False,
) -> None:
    """Perturb the texts of a file and write the rows that change, with where they come from.

    Example: quintain data perturb reviews.csv --kind typos,ocr --seed 0 --out perturbed.csv
    Example: quintain data perturb meinungen.csv --kind robustness --language de --out perturbed.csv
    """
    table_format(out)
    perturbed = library.perturb(
        file, kind, seed=seed, severity=severity, fields=field or [], task=task, language=language
    )
    write_table(perturbed.table, out)
    if json:
        output.print_json(perturbed.to_dict() | {"out": out.name})
        return
    rows = [
        (
            tally.name,
            tally.family,
            tally.rows,
            tally.changed,
            "" if tally.share is None else f"{100 * tally.share:.1f} %",
        )
        for tally in perturbed.report.tallies
    ]
    output.print_table(["perturbation", "family", "rows", "changed", "words edited"], rows)
    output.say(f"Wrote {named(out)}.")


@app.command()
def perturbations(json: output.JsonFlag = False) -> None:
    """List the perturbations with the share of words that each edits.

    Example: quintain data perturbations --json
    """
    known = list_perturbations()
    if json:
        output.print_json({"perturbations": known})
        return
    rows = [
        (one["name"], one["family"], "yes" if one["in_paper"] else "", f"{100 * one['rate']:.0f} %", one["title"])
        for one in known
    ]
    output.print_table(["perturbation", "family", "in paper", "rate", "what it does"], rows)
