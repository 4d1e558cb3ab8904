"""`quintain data split`: train, dev and test of judged texts in a plain file, under declared constraints."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from quintain.cli import output
from quintain.cli.names import split_names
from quintain.cli.plain.data_files import app
from quintain.cli.streams import in_file, in_option, named, out_option
from quintain.core.toml import parse_toml, read_text
from quintain.data.tables import parse_columns, table_format, write_table
from quintain.library import releasing as library


@app.command()
def split(
    file: Annotated[Path, in_file("A table: text, label; id, share, writer, prompt, review, rating, predicted.")],
    out: Annotated[Path, out_option("Where the items go, with their split.", "--out")],
    judgements: Annotated[
        Path | None, in_option("Judgements item,worker,label, which set labels.", "--judgements")
    ] = None,
    spec: Annotated[Path | None, in_option("TOML file of a release; other options win.", "--spec")] = None,
    classes: Annotated[list[str] | None, typer.Option("--labels", help="Labels that score, by commas.")] = None,
    dev: Annotated[int | None, typer.Option(help="Items in dev; else a tenth.", min=0)] = None,
    test: Annotated[int | None, typer.Option(help="Items in test; by default a tenth.", min=0)] = None,
    seed: Annotated[int | None, typer.Option(help="Decides between splits that are as good.", min=0)] = None,
    column: Annotated[list[str] | None, typer.Option(help="Map a name: text=review.")] = None,
    everything: Annotated[bool, typer.Option("--all", help="Count also judgements that were set aside.")] = False,
    json: output.JsonFlag = False,
) -> None:
    """Divide judged texts into train, dev and test: classes balanced, the model at chance, one item of a prompt.

    Example: quintain data split items.csv --judgements votes.csv --dev 100 --test 100 --out split.csv
    """
    table_format(out)
    settings: dict[str, Any] = dict(parse_toml(read_text(spec), file=str(spec))) if spec else {}
    settings |= {name: value for name, value in (("dev", dev), ("test", test), ("seed", seed)) if value is not None}
    divided = library.release(
        file,
        judgements=judgements,
        classes=split_names(classes),
        columns=parse_columns(column or []),
        everything=everything,
        **settings,
    )
    write_table(divided.table, out)
    figures = divided.to_dict()
    if json:
        output.print_json(figures)
        return
    labels = list(next(iter(figures["splits"].values()))["labels"])
    rows = [
        (name, one["rows"], *one["labels"].values(), one["undecided"], _figures(one.get("model_f1")))
        for name, one in figures["splits"].items()
    ]
    output.print_table(["split", "items", *labels, "undecided", "model's F1"], rows)
    for reason, count in figures["left_out"].items():
        if count:
            output.say(f"Left out: {count:,}, because the {reason}.")
    output.say(f"Wrote {named(out)}.")


def _figures(by_class: dict[str, float] | None) -> str:
    return ", ".join(f"{name} {value:.2f}" for name, value in (by_class or {}).items())
