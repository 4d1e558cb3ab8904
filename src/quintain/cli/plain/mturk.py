"""`quintain labels from-mturk|to-mturk`: result files of Mechanical Turk, for old studies."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from quintain.cli import output
from quintain.cli.plain.labels import ColumnOption, FileArgument, OutOption, app
from quintain.cli.streams import in_file
from quintain.core.rounds import Money
from quintain.data.tables import parse_columns, read_table, write_table
from quintain.services.plain.labels import mturk

BatchArgument = Annotated[Path, in_file("A result file of Mechanical Turk (CSV).")]


@app.command("from-mturk")
def from_mturk(
    file: BatchArgument,
    out: OutOption,
    label: Annotated[str, typer.Option(help="The column of answers; the only `Answer.…` by default.")] = "",
    item: Annotated[str, typer.Option(help="The column of items; the only `Input.…`, or `HITId`, by default.")] = "",
    json: output.JsonFlag = False,
) -> None:
    """Make judgements of a result file of Mechanical Turk, and say what the batch paid for an hour.

    Example: quintain labels from-mturk Batch_results.csv --label Answer.sentiment --out judgements.csv
    """
    batch = mturk.read_batch(
        read_table(file, required=mturk.NEEDED, mapped=False), label=label, item=item, file=file.name
    )
    write_table(batch.judgements, out)
    if json:
        about = {"assignments": batch.assignments, "workers": batch.workers, "rejected": batch.rejected}
        output.print_json({**about, "paid": batch.paid, "hourly": batch.hourly, "seconds": batch.median_seconds})
        return
    wage = f", {batch.hourly} an hour at {batch.median_seconds:g} seconds" if batch.hourly else ""
    output.say(f"{batch.judgements.height} judgements by {batch.workers} workers; {batch.paid} paid{wage}.")


@app.command("to-mturk")
def to_mturk(
    file: FileArgument,
    out: OutOption,
    title: Annotated[str, typer.Option(help="What the batch is called.")] = "Judge a text",
    reward: Annotated[int, typer.Option(help="What an assignment paid, in cents.", min=0)] = 0,
    column: ColumnOption = None,
    json: output.JsonFlag = False,
) -> None:
    """Write judgements as a result file of Mechanical Turk, for tools of old studies.

    Example: quintain labels to-mturk judgements.csv --reward 25 --out Batch_results.csv
    """
    table = read_table(file, required=("item", "worker", "label"), columns=parse_columns(column or []))
    batch = mturk.write_batch(table, title=title, reward=Money(reward, "USD"))
    write_table(batch, out)
    if json:
        output.print_json({"assignments": batch.height})
    else:
        output.say(f"{batch.height} assignments.")
