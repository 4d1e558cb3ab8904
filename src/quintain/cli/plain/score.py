"""`quintain evaluate score`: score a file of predictions against a file of gold answers, without a workspace."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from quintain.cli import output
from quintain.cli.names import split_names
from quintain.cli.streams import in_file
from quintain.data.tables import parse_columns
from quintain.library import scores as library
from quintain.metrics.evaluate import MetricResult
from quintain.services.plain.files.score import ScoreReport

app = typer.Typer(name="evaluate", help="Score predictions and run models.", no_args_is_help=True)


@app.callback()
def evaluate() -> None:
    """Score predictions and run models."""


@app.command()
def score(
    gold: Annotated[Path, in_file("Gold answers: a table id,answer (or label), or SQuAD JSON.")],
    predictions: Annotated[Path, in_file("Predictions: a table id,prediction, or JSON from id to text.")],
    metric: Annotated[list[str] | None, typer.Option(help="Metrics by commas, such as f1,accuracy.")] = None,
    by: Annotated[list[str] | None, typer.Option(help="Slice by tag or by columns of the gold file.")] = None,
    column: Annotated[list[str] | None, typer.Option(help="Map a name: answer=gold_label.")] = None,
    type_: Annotated[
        str | None, typer.Option("--type", help="label, choice, choices, span, token or text; told from the data.")
    ] = None,
    cluster: Annotated[str | None, typer.Option(help="Resample by this column; by default `group`, if there.")] = None,
    allow_missing: Annotated[bool, typer.Option(help="Count missing predictions as wrong.")] = False,
    allow_unknown: Annotated[bool, typer.Option(help="Leave out predictions without a gold answer.")] = False,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the intervals.")] = 0,
    resamples: Annotated[int, typer.Option(min=0, help="Bootstrap samples; 0 leaves intervals out.")] = 1000,
    json: output.JsonFlag = False,
) -> None:
    """Score a file of predictions against a file of gold answers, with 95 % intervals.

    Example: quintain evaluate score gold.csv predictions.csv --metric f1,accuracy --by tag --json
    """
    scored = library.score(
        gold,
        predictions,
        split_names(metric),
        by=split_names(by),
        columns=parse_columns(column or []),
        answer_type=type_,
        cluster=cluster,
        allow_missing=allow_missing,
        allow_unknown=allow_unknown,
        seed=seed,
        resamples=resamples,
    )
    report = scored.report
    output.warn(scored.warnings)
    for note in scored.notes:
        output.say(note)
    if report.missing:
        output.say(f"{report.missing} missing predictions were counted as wrong.")
    if report.unknown:
        output.say(f"Predictions left out because they have no gold answer: {report.unknown}.")
    if json:
        output.print_json(scored.to_dict())
    else:
        _print_report(report)


def _print_report(report: ScoreReport) -> None:
    evaluation = report.evaluation
    rows = [["all", evaluation.examples, *_cells(name, result)] for name, result in evaluation.metrics.items()]
    for part in evaluation.slices:
        rows += [
            [f"{part.by}: {part.value}", part.examples, *_cells(name, result)] for name, result in part.metrics.items()
        ]
    for name, result in evaluation.metrics.items():
        rows += [["", "", *_cells(f"{name}: {inner}", MetricResult(value))] for inner, value in result.parts.items()]
    output.print_table(["examples", "n", "metric", "value", "95 % interval"], rows)


def _cells(name: str, result: MetricResult) -> list[str]:
    estimate = result.estimate
    if estimate.value is None:
        return [name, "–", estimate.reason or ""]
    between = "" if estimate.low is None or estimate.high is None else f"{estimate.low:.4f} – {estimate.high:.4f}"
    return [name, f"{estimate.value:.4f}", between]
