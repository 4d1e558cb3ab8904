"""`quintain labels`: from judgements to labels, on plain files."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, cast

import typer

from quintain.cli import output
from quintain.cli.names import split_names
from quintain.cli.streams import in_file, named, out_option
from quintain.data.tables import parse_columns, table_format, write_table
from quintain.labels.contract import AGGREGATORS
from quintain.library import labels as library
from quintain.services.plain.labels.aggregation import aggregation_methods

app = typer.Typer(name="labels", help="Turn judgements into labels one can trust.", no_args_is_help=True)

FileArgument = Annotated[Path, in_file("A table item,worker,label: CSV, JSONL or Parquet.")]
OutOption = Annotated[Path, out_option("Where to write the result.", "--out")]
ColumnOption = Annotated[
    list[str] | None, typer.Option("--column", help="Map a name: item=example_id; repeat.", show_default=False)
]
LabelsOption = Annotated[
    list[str] | None, typer.Option("--labels", help="The set of labels, by commas; others are named as wrong.")
]
RepeatsOption = Annotated[
    str, typer.Option("--repeats", help="Where a worker gave an item two labels: refuse, first or last.")
]
AllOption = Annotated[bool, typer.Option("--all", help="Count also the rows that a column `kept` marks as set aside.")]
SeedOption = Annotated[int, typer.Option("--seed", help="Decides ties and draws.")]


def reading(
    column: list[str] | None, labels: list[str] | None, repeats: str, everything: bool = False
) -> dict[str, Any]:
    """Read the options that every command on judgements has, as arguments of the library's functions."""
    return {
        "columns": parse_columns(column or []),
        "labels": split_names(labels),
        "repeats": repeats,
        "everything": everything,
    }


@app.command()
def aggregate(
    file: FileArgument,
    out: OutOption,
    method: Annotated[str, typer.Option(help="See `quintain labels methods`.")] = "majority",
    gold: Annotated[str | None, typer.Option(help="Known labels: a column, or a file item,label.")] = None,
    writer: Annotated[str | None, typer.Option(help="The writers' labels: a column, or a file item,label.")] = None,
    minimum: Annotated[int | None, typer.Option(help="Votes that a majority needs; by default over half.")] = None,
    sample: Annotated[int | None, typer.Option(help="Judgements that writer-vote draws; by default 4.")] = None,
    restarts: Annotated[int | None, typer.Option(help="Random starts of mace; by default 10.")] = None,
    mixed: Annotated[str | None, typer.Option(help="The label that mixed-as-two splits.")] = None,
    into: Annotated[list[str] | None, typer.Option(help="Into which labels, by commas.")] = None,
    seed: SeedOption = 0,
    column: ColumnOption = None,
    labels: LabelsOption = None,
    repeats: RepeatsOption = "refuse",
    everything: AllOption = False,
    json: output.JsonFlag = False,
) -> None:
    """Make one label for every item, with its confidence and a column per class.

    Example: quintain labels aggregate judgements.csv --method dawid-skene --out labels.csv
    """
    options: dict[str, Any] = {
        "minimum": minimum,
        "sample": sample,
        "restarts": restarts,
        "mixed": mixed,
        "into": tuple(split_names(into)) or None,
    }
    table_format(out)
    with output.bar() as show:
        aggregation = library.aggregate(
            file,
            method,
            gold=gold,
            writer=writer,
            seed=seed,
            progress=show,
            **reading(column, labels, repeats, everything),
            **options,
        )
        show("Writing", 0, aggregation.report.judgements)
        write_table(aggregation.table, out)
        show("Writing", aggregation.report.judgements, aggregation.report.judgements)
    figures = aggregation.to_dict()
    _say_notes(figures)
    if json:
        output.print_json(figures)
        return
    output.print_table(["label", "items"], [*figures["labels"].items(), ("(none)", figures["no_label"])])
    if figures["no_label"] and (remedy := AGGREGATORS.get(method).without_label):
        output.say(f"Items without a majority: {figures['no_label']:,}; {remedy}.")
    output.say(f"Wrote {named(out)}.")


@app.command()
def expand(
    file: FileArgument,
    out: OutOption,
    mixed: Annotated[str | None, typer.Option(help="A label whose judgements become one copy of each --into.")] = None,
    into: Annotated[list[str] | None, typer.Option(help="Labels by commas; by default positive,negative.")] = None,
    times: Annotated[int, typer.Option(help="How often everything is repeated.")] = 1,
    column: ColumnOption = None,
    labels: LabelsOption = None,
    repeats: RepeatsOption = "refuse",
    everything: AllOption = False,
    json: output.JsonFlag = False,
) -> None:
    """Write one training row per judgement: distributional labels.

    Example: quintain labels expand judgements.csv --mixed mixed --into positive,negative --out train.csv
    """
    table_format(out)
    pair = split_names(into) or ("positive", "negative")
    expansion = library.expand(
        file, mixed=mixed, into=pair, times=times, **reading(column, labels, repeats, everything)
    )
    write_table(expansion.table, out)
    figures = expansion.to_dict()
    _say_notes(figures)
    if json:
        output.print_json(figures)
        return
    output.print_table(["label", "rows"], figures["labels"].items())
    output.say(f"Wrote {named(out)}.")


@app.command()
def agreement(
    file: FileArgument,
    level: Annotated[str, typer.Option(help="nominal, ordinal or interval.")] = "nominal",
    order: Annotated[list[str] | None, typer.Option(help="The labels from low to high, by commas (ordinal).")] = None,
    by: Annotated[list[str] | None, typer.Option(help="Columns by whose values to slice, by commas.")] = None,
    pairs: Annotated[int, typer.Option(help="Cohen's κ for so many pairs of workers.", min=0)] = 10,
    resamples: Annotated[int, typer.Option(help="Samples for the intervals; 0 for none.", min=0)] = 1000,
    seed: SeedOption = 0,
    column: ColumnOption = None,
    labels: LabelsOption = None,
    repeats: RepeatsOption = "refuse",
    everything: AllOption = False,
    json: output.JsonFlag = False,
) -> None:
    """Measure how much the workers agree, with intervals over resampled items.

    Example: quintain labels agreement judgements.csv --by round --json
    """
    figures = library.agreement(
        file,
        level=cast("Any", level),
        order=split_names(order),
        by=split_names(by),
        pairs=pairs,
        resamples=resamples,
        seed=seed,
        **reading(column, labels, repeats, everything),
    ).to_dict()
    _say_notes(figures)
    if json:
        output.print_json(figures)
        return
    _print_agreement(
        figures, f"{figures['items']:,} items, {figures['workers']:,} workers, {figures['judgements']:,} judgements"
    )
    for part in figures["slices"]:
        _print_agreement(part, f"{part['by']} = {part['value']}: {part['items']:,} items")
    if figures.get("pairs"):
        names = {"cohen_kappa": "Cohen's κ", "weighted_kappa": "weighted κ"}
        shown = [name for name in names if name in figures["pairs"][0]]
        rows = [
            (" – ".join(pair["workers"]), pair["items"], *(cell for name in shown for cell in _cells(pair[name])))
            for pair in figures["pairs"]
        ]
        output.print_table(["pair", "items", *(head for name in shown for head in (names[name], "low", "high"))], rows)


@app.command()
def workers(
    file: FileArgument,
    column: ColumnOption = None,
    labels: LabelsOption = None,
    repeats: RepeatsOption = "refuse",
    everything: AllOption = False,
    json: output.JsonFlag = False,
) -> None:
    """Describe each worker: agreement with the majority of the others, accuracy, time, suspicious patterns.

    Example: quintain labels workers judgements.csv --column seconds=duration
    """
    figures = library.workers(file, **reading(column, labels, repeats, everything)).to_dict()
    _say_notes(figures)
    if json:
        output.print_json(figures)
        return
    rows = [
        (
            worker["worker"],
            worker["judgements"],
            *_cells(worker["agreement"]),
            _percent(worker["accuracy"]["value"]),
            "" if worker["median_seconds"] is None else f"{worker['median_seconds']:.1f}",
            ", ".join(worker["patterns"]).replace("_", " "),
        )
        for worker in figures["workers"]
    ]
    head = ["worker", "judgements", "agreement", "low", "high", "accuracy", "median seconds", "patterns"]
    output.print_table(head, rows)


@app.command()
def methods(json: output.JsonFlag = False) -> None:
    """List the ways to make labels from judgements.

    Example: quintain labels methods
    """
    known = aggregation_methods()
    if json:
        output.print_json({"methods": known})
        return
    output.print_table(
        ["method", "needs", "what it does"], [(one["method"], ", ".join(one["needs"]), one["title"]) for one in known]
    )


def _say_notes(figures: dict[str, Any]) -> None:
    output.warn(figures.get("warnings", ()))
    for note in figures["notes"]:
        output.say(note)


def _percent(value: float | None) -> str:
    return "–" if value is None else f"{100 * value:.1f} %"


def _cells(estimate: dict[str, Any]) -> tuple[str, str, str]:
    return _figure(estimate["value"]), _figure(estimate["low"]), _figure(estimate["high"])


def _figure(value: float | None) -> str:
    return "–" if value is None else f"{value:.3f}"


def _print_agreement(statistics: dict[str, Any], title: str) -> None:
    names = [name for name, value in statistics.items() if isinstance(value, dict)]
    rows = [(name.replace("_", " "), *_cells(statistics[name]), statistics[name].get("reason", "")) for name in names]
    output.print_table(["statistic", "value", "low", "high", "why undefined"], rows, title=title)
