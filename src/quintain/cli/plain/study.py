"""`quintain study`: what data and people are worth, on plain files."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from quintain.cli import output
from quintain.cli.names import split_names
from quintain.cli.plain.labels import (
    AllOption,
    ColumnOption,
    FileArgument,
    LabelsOption,
    RepeatsOption,
    SeedOption,
    reading,
)
from quintain.library import labels as library

app = typer.Typer(name="study", help="Study data and the people behind it.", no_args_is_help=True)

_SLICES = {"all": "all", "at_least_4_of_5": "at least 4 of 5 agree", "unanimous": "unanimous"}


@app.callback()
def study() -> None:
    """Study data and the people behind it."""


@app.command()
def human(
    file: FileArgument,
    gold: Annotated[
        str | None,
        typer.Option(help="Gold labels: a column, or a file item,label.", show_default="the majority"),
    ] = None,
    writer: Annotated[
        str | None, typer.Option(help="The writers' labels (a column or a file): adds the held-out majority.")
    ] = None,
    sample: Annotated[int, typer.Option(help="Judgements that set the gold label beside the writer's.")] = 4,
    exclude: Annotated[list[str] | None, typer.Option(help="Gold labels that discard an item, by commas.")] = None,
    seeds: Annotated[int, typer.Option(help="How often to draw.", min=1)] = 100,
    seed: SeedOption = 0,
    column: ColumnOption = None,
    labels: LabelsOption = None,
    repeats: RepeatsOption = "refuse",
    everything: AllOption = False,
    json: output.JsonFlag = False,
) -> None:
    """Estimate human performance from judgements, over many draws, with 95 % intervals.

    Example: quintain study human judgements.csv --gold gold.csv --seeds 200 --json
    """
    figures = library.human(
        file,
        gold=gold,
        writer=writer,
        sample=sample,
        exclude=split_names(exclude),
        seeds=seeds,
        seed=seed,
        **reading(column, labels, repeats, everything),
    ).to_dict()
    output.warn(figures.get("warnings", ()))
    for note in figures["notes"]:
        output.say(note)
    if json:
        output.print_json(figures)
        return
    _print(figures)


def _print(human: dict[str, Any]) -> None:
    rows = []
    for name, scores in human["synthetic_annotators"].items():
        rows.append((_SLICES[name], scores["items"], "mean", *(_percent(scores[kind]) for kind in _KINDS)))
        rows += [
            ("", "", label, *(_percent(figures[kind]) for kind in _KINDS))
            for label, figures in scores["classes"].items()
        ]
    output.print_table(
        ["items that", "items", "class", *_KINDS],
        rows,
        title=_SYNTHETIC,
    )
    if "held_out_majority" in human:
        held = [
            (_SLICES[name], f"{one['items']['value']:.1f}", _percent(one["accuracy"]), _percent(one["undecided"]))
            for name, one in human["held_out_majority"].items()
        ]
        output.print_table(
            ["items that", "items", "accuracy", "tied"],
            held,
            title=_HELD_OUT,
        )


_SYNTHETIC = "Synthetic annotators against gold, with 95 % intervals over items"
_HELD_OUT = "Majority of the held-out votes, with 95 % intervals over items"
_KINDS = ("precision", "recall", "f1")


def _percent(figure: dict[str, Any]) -> str:
    """Write a share with its interval; the spread over draws is no measure of how sure it is, and stays in --json."""
    if figure["value"] is None:
        return "–"
    shown = f"{100 * figure['value']:.1f}%"
    return shown if figure["low"] is None else f"{shown} ({100 * figure['low']:.1f}%–{100 * figure['high']:.1f}%)"
