"""`quintain evaluate results|compare|local`: what came out, which of two is better, and your own model at home."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.progress import Progress

from quintain.cli import output
from quintain.cli.context import settings_of, workspace_of
from quintain.cli.evaluate import app
from quintain.cli.output import JsonFlag
from quintain.cli.streams import in_option
from quintain.compose import conditions_of
from quintain.core.people import OPERATOR
from quintain.data.plan import ImportPlan
from quintain.data.tables import parse_columns
from quintain.services import compare as comparing
from quintain.services import local_evaluation
from quintain.services.results import DatasetResult, missing_layers, model_results
from quintain.store.queries.cells import PLAIN

Ref = Annotated[str, typer.Argument(metavar="MODEL", help="task/name or task/name@version.", show_default=False)]


@app.command()
def results(context: typer.Context, model: Ref, json: JsonFlag = False) -> None:
    """Show the results of a model on every data set, on all five axes.

    Example: quintain evaluate results sentiment/tfidf --json
    """
    workspace = workspace_of(context)
    with workspace.session() as db:
        found = model_results(db, workspace.blobs, OPERATOR, model)
    if json:
        output.print_json({"model": model, "datasets": [one.as_dict() for one in found]})
        return
    if not found:
        output.say("Nothing has been run yet; `quintain evaluate run` computes what is missing.")
    rows = [[f"{one.dataset}@{one.number}", *line] for one in found for line in _axes(one)]
    output.print_table(["data set", "examples", "axis", "value", "95 % interval"], rows)


def _axes(found: DatasetResult) -> list[list[object]]:
    """Give a line for each figure: on how many examples it rests, its axis, value and interval."""
    measured = found.measurements
    lines: list[list[object]] = [[found.examples, name, *_figure(value)] for name, value in found.metrics.items()]
    lines += [[measured.get("examples"), *line] for line in _measured(measured)]
    for name, share in (("robustness", found.robustness), ("fairness", found.fairness)):
        if share:
            lines.append([share["examples"], name, *_figure(share["share"])])
    if found.failed.get(PLAIN):
        lines.append([found.examples, "examples that it failed on", str(found.failed[PLAIN]), ""])
    shown = {line[1] for line in lines} | ({"performance"} if found.metrics else set())
    lines += [["", name, "–", why["text"]] for name, why in found.gaps.items() if name not in shown]
    return lines


def _measured(measured: Mapping[str, Any]) -> list[list[str]]:
    lines = []
    if measured.get("throughput") is not None:
        lines.append(["throughput", f"{measured['throughput']:.1f}/s", f"± {measured['throughput_spread']:.1f}"])
    if measured.get("memory") is not None:
        lines.append(["memory", f"{measured['memory']:.3f} GiB", f"peak {measured['memory_peak']:.3f} GiB"])
    for name, words in (("unstable", "answers that changed when asked again"), ("failed", "failures while measured")):
        if measured.get(name):
            lines.append([words, str(measured[name]), ""])
    if lacked := missing_layers(measured):
        lines.append(["measured without", ", ".join(lacked), ""])
    return lines


def _figure(estimate: Mapping[str, Any]) -> list[str]:
    if estimate["value"] is None:
        return ["–", str(estimate.get("reason", ""))]
    low, high = estimate.get("low"), estimate.get("high")
    return [f"{estimate['value']:.4f}", "" if low is None or high is None else f"{low:.4f} – {high:.4f}"]


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
        found = comparing.compare(db, workspace.blobs, OPERATOR, first, second)
    if json:
        output.print_json(found.as_dict())
        return
    rows = []
    for one in found.datasets:
        difference = one.difference.difference
        more = "–" if one.separation.more is None else "enough" if one.separated else f"{one.separation.more} more"
        rows.append(
            [
                one.dataset,
                one.rows,
                one.metric,
                _number(one.first),
                _number(one.second),
                *_figure(difference.as_dict()),
                f"{one.difference.p_value:.3f}",
                f"{one.mcnemar.p_value:.3f}",
                more,
            ]
        )
    columns = ["data set", "examples", "metric", "A", "B", "A − B", "95 % interval", "p", "p (McNemar)", "to separate"]
    output.print_table(columns, rows, title=f"A = {found.first}, B = {found.second}")


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:.4f}"


@app.command()
def local(
    context: typer.Context,
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="The model's folder.", show_default=False)],
    data: Annotated[Path, in_option("Your examples: CSV, TSV, JSONL, Parquet, SQuAD JSON.")],
    task: Annotated[
        str | None, typer.Option("--task", "-t", help="Task file, or the name of a starter task.", show_default=False)
    ] = None,
    column: Annotated[list[str] | None, typer.Option(help="Map a name: answer=gold_label.")] = None,
    quick: Annotated[bool, typer.Option(help="Leave robustness and fairness out.")] = False,
    json: JsonFlag = False,
) -> None:
    """Run your own model on your own file as a server would, on all five axes; needs no workspace.

    Example: quintain evaluate local my-model --data reviews.csv --task sentiment
    """
    plan = ImportPlan(role="test", duplicates="first", columns=parse_columns(column or []))
    wanted = local_evaluation.find_task(task, folder)
    with Progress(console=output.err, transient=True, disable=not output.err.is_terminal) as bar:
        bars: dict[str, Any] = {}

        def show(variant: str, done: int, total: int) -> None:
            if variant not in bars:
                for one in bars.values():
                    bar.update(one, visible=False)
                bars[variant] = bar.add_task(variant, total=total)
            bar.update(bars[variant], completed=done)

        conditions = conditions_of(settings_of(context))
        found = local_evaluation.evaluate_locally(
            folder,
            data,
            wanted,
            conditions,
            plan=plan,
            quick=quick,
            progress=show,
            warn=lambda expected: output.say(f"This makes {expected}."),
        )
    for hint in found.hints:
        output.say(hint)
    if json:
        output.print_json(found.as_dict())
        return
    output.print_table(["what", "value", "95 % interval"], _local_lines(found))


def _local_lines(found: local_evaluation.LocalReport) -> Sequence[Sequence[str]]:
    metrics: Mapping[str, Any] = found.scored.get("metrics", {})
    lines = [[name, *_figure(value)] for name, value in metrics.items()]
    lines += _measured(found.measurements)
    if found.measurements.get("batch_differs"):
        lines.append(["answers that differ in a batch", str(found.measurements["batch_differs"]), ""])
    lines += _asked(found.asking)
    for name, share in (("robustness", found.robustness), ("fairness", found.fairness)):
        if share:
            lines.append([name, *_figure(share["share"])])
            failed = dict.fromkeys(share.get("broken", ()), " (the model failed)")
            families = share["families"].items()
            lines += [[f"  {family}{failed.get(family, '')}", *_figure(value)] for family, value in families]
    return lines


def _asked(asking: Mapping[str, float]) -> list[list[str]]:
    """Give a line for each thing that calls to a server took."""
    if not asking:
        return []
    lines = [
        ["requests", f"{asking['requests']:,}", f"{asking['cached']:,} more replies from the cache"],
        ["tokens sent", f"{asking['input_tokens']:,}", ""],
        ["tokens received", f"{asking['output_tokens']:,}", ""],
        ["cost", f"{asking['cost']:.4f}", f"{asking['spent']:.4f} of it now"],
    ]
    return [*lines, ["replies that could not be read", f"{asking['unread']:,}", ""]] if asking["unread"] else lines
