"""`quintain study texts`: groups of texts beside each other, on plain files."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from quintain.cli import output
from quintain.cli.plain.labels import SeedOption
from quintain.cli.plain.study import app
from quintain.cli.reporting import FolderOption, give_report
from quintain.cli.streams import in_file
from quintain.services.plain.reports.texts import TextColumns, text_report


@app.command()
def texts(
    file: Annotated[Path, in_file("Texts, one a row: CSV, TSV, JSONL or Parquet.")],
    text: Annotated[str, typer.Option(help="Column of the texts.")] = "text",
    group: Annotated[str, typer.Option(help="Column of the groups to compare.", show_default="one group")] = "",
    prompt: Annotated[str, typer.Option(help="Column of what each text was made of.", show_default="none")] = "",
    seed: SeedOption = 0,
    out: FolderOption = None,
    json: output.JsonFlag = False,
) -> None:
    """Compare groups of texts: distance from their prompts, lengths, and vocabulary in draws of the same size.

    Example: quintain study texts round-2.csv --group condition --prompt prompt_text --out report
    """
    give_report(text_report(file, TextColumns(text, group, prompt), seed=seed), out, json=json)
