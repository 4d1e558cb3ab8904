"""`quintain evaluate results|compare`: what came out, and which of two is better."""

from __future__ import annotations

from typing import Annotated

import typer

from quintain.cli import output
from quintain.cli.context import workspace_of
from quintain.cli.evaluate.local import figure_cells, measured_lines, metric_lines
from quintain.cli.output import JsonFlag
from quintain.cli.plain.score import app
from quintain.core.cells import PLAIN
from quintain.core.people import OPERATOR
from quintain.core.records.results import ModelResults
from quintain.reports.words import Wording
from quintain.services.evaluate.results import compare as comparing
from quintain.services.evaluate.results.compute import model_results
from quintain.services.evaluate.results.dataset_results import StoredResult
from quintain.services.models.registry import get_model

Ref = Annotated[str, typer.Argument(metavar="MODEL", help="task/name or task/name@version.", show_default=False)]


@app.command()
def results(context: typer.Context, model: Ref, json: JsonFlag = False) -> None:
    """Show the results of a model on every data set, on all five axes.

    Example: quintain evaluate results sentiment/tfidf --json
    """
    workspace = workspace_of(context)
    with workspace.session() as db:
        kept_results = model_results(db, workspace.blobs, OPERATOR, model)
        ref = get_model(db, OPERATOR, model).version.ref
    if json:
        output.print_json(ModelResults(ref, [result.record() for result in kept_results]))
        return
    if not kept_results:
        output.say("Nothing has been run yet; `quintain evaluate run` computes what is missing.")
    rows = [[f"{result.dataset}@{result.number}", *line] for result in kept_results for line in _axes(result)]
    output.print_table(["data set", "examples", "axis", "value", "95 % interval"], rows)


def _axes(result: StoredResult) -> list[list[object]]:
    """Return a line for each figure: on how many examples it rests, its axis, value and interval."""
    measured = result.measurements
    lines: list[list[object]] = [
        [result.examples, *line]
        for name, value in result.metrics.items()
        for line in metric_lines(name, value, result.bounds.get(name))
    ]
    uneven = {axis: why for axis, why in result.gaps.items() if why.kind in {"uneven", "slower"}}
    lines += [[measured.get("examples"), *line] for line in measured_lines(measured, uneven)]
    for name, share in (("robustness", result.robustness), ("fairness", result.fairness)):
        if share:
            lines.append([share["examples"], name, *figure_cells(share["share"])])
    if result.failed.get(PLAIN):
        lines.append([result.examples, "examples that it failed on", str(result.failed[PLAIN]), ""])
    shown = {line[1] for line in lines} | ({"performance"} if result.metrics else set())
    lines += [["", name, "–", why.text] for name, why in result.gaps.items() if name not in shown]
    return lines


@app.command()
def compare(
    context: typer.Context,
    first: Annotated[str, typer.Argument(metavar="A", help="task/name or task/name@version.", show_default=False)],
    second: Annotated[str, typer.Argument(metavar="B", help="The model to compare it with.", show_default=False)],
    json: JsonFlag = False,
) -> None:
    """Compare two models on every data set that both were run on: McNemar's test and a paired bootstrap.

    Example: quintain evaluate compare sentiment/tfidf sentiment/ngram
    """
    workspace = workspace_of(context)
    with workspace.session() as db:
        comparison = comparing.compare(db, workspace.blobs, OPERATOR, first, second, wait=True)
    if json:
        output.print_json(comparison)
        return
    rows = []
    for dataset in comparison.datasets:
        needed = dataset.more_examples_needed
        more = "–" if needed is None else "enough" if dataset.separated else f"{needed} more"
        rows.append(
            [
                dataset.dataset,
                dataset.rows,
                dataset.metric,
                _number(dataset.first),
                _number(dataset.second),
                *figure_cells(dataset.difference.as_dict()),
                Wording().cell(dataset.difference.p_value, "chance"),
                Wording().cell(dataset.mcnemar.p_value, "chance"),
                more,
            ]
        )
    columns = ["data set", "examples", "metric", "A", "B", "A − B", "95 % interval", "p", "p (McNemar)", "to separate"]
    output.print_table(columns, rows, title=f"A = {comparison.first}, B = {comparison.second}")


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:.4f}"
