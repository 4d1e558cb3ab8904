"""`quintain evaluate local`: your own model at home. It starts fast: nothing is imported here that it does not need."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.progress import Progress

from quintain.cli import output
from quintain.cli.context import settings_of
from quintain.cli.output import JsonFlag
from quintain.cli.plain.score import app
from quintain.cli.server_task import Handed
from quintain.cli.streams import in_option
from quintain.conditions import as_served, conditions_here
from quintain.core.records.figures import Gap
from quintain.data.plan import ImportPlan
from quintain.data.tables import parse_columns
from quintain.engine.sandbox.layers import missing_layers
from quintain.services.evaluate.results.measurement_gaps import share_disturbed
from quintain.services.evaluate.submissions import local as local_evaluation
from quintain.services.evaluate.submissions.model_files import opened_model
from quintain.services.tasks.board_spec import APART, WRONG


@app.command()
def local(
    context: typer.Context,
    folder: Handed,
    data: Annotated[Path, in_option("Your examples: CSV, TSV, JSONL, Parquet, SQuAD JSON.")],
    task: Annotated[
        str | None, typer.Option("--task", "-t", help="Task file, or the name of a starter task.", show_default=False)
    ] = None,
    column: Annotated[list[str] | None, typer.Option(help="Map a name: answer=gold_label.")] = None,
    quick: Annotated[bool, typer.Option(help="Leave robustness and fairness out.")] = False,
    fresh: Annotated[bool, typer.Option(help="Ask a server again also where its reply is kept.")] = False,
    refusals_apart: Annotated[
        bool, typer.Option(help="Leave what a model refuses to answer out of the metrics; it is wrong otherwise.")
    ] = False,
    json: JsonFlag = False,
) -> None:
    """Run your own model on your own file as a server would, on all five axes; needs no workspace.

    Example: quintain evaluate local my-model --data reviews.csv --task sentiment
    """
    plan = ImportPlan(role="test", duplicates="first", columns=parse_columns(column or []))
    with (
        opened_model(folder) as model,
        Progress(console=output.err, transient=True, disable=not output.err.is_terminal) as bar,
    ):
        definition = local_evaluation.find_task(task, model)
        bars: dict[str, Any] = {}

        def show(variant: str, done: int, total: int) -> None:
            if variant not in bars:
                for shown in bars.values():
                    bar.update(shown, visible=False)
                bars[variant] = bar.add_task(variant, total=total)
            bar.update(bars[variant], completed=done)

        conditions = conditions_here(as_served(settings_of(context)))
        conditions = replace(conditions, outside=replace(conditions.outside, fresh=fresh))
        report = local_evaluation.evaluate_locally(
            model,
            data,
            definition,
            conditions,
            plan=plan,
            quick=quick,
            progress=show,
            warn=lambda expected: output.say(f"This makes {expected}."),
            refusals=APART if refusals_apart else WRONG,
        )
    for hint in report.hints:
        output.say(hint)
    if json:
        output.print_json(report.as_dict())
        return
    output.print_table(["what", "value", "95 % interval"], _local_lines(report))


COUNTED = (("lost", "calls without a whole reply"),)
OUTCOMES = (
    ("refused", "replies that refuse", ""),
    ("cut", "replies cut off before the answer", "raise max_tokens"),
    ("unreadable", "replies that could not be read", "see read, pattern and after"),
    ("failed", "calls that failed", ""),
)


def _local_lines(report: local_evaluation.LocalReport) -> Sequence[Sequence[str]]:
    metrics: Mapping[str, Any] = report.scored.get("metrics", {})
    bounds: Mapping[str, Any] = report.scored.get("bounds", {})
    lines = [line for name, value in metrics.items() for line in metric_lines(name, value, bounds.get(name))]
    lines += measured_lines(report.measurements, report.gaps)
    if report.measurements.get("batch_differs"):
        lines.append(["answers that differ in a batch", str(report.measurements["batch_differs"]), ""])
    lines += _asked(report.asking) + _became(report.asked or {})
    for name, share in (("robustness", report.robustness), ("fairness", report.fairness)):
        if share:
            lines.append([name, *figure_cells(share["share"])])
            failed = dict.fromkeys(share.get("broken", ()), " (the model failed)")
            families = share["families"].items()
            lines += [[f"  {family}{failed.get(family, '')}", *figure_cells(value)] for family, value in families]
    return lines


def _asked(asking: Mapping[str, float]) -> list[list[str]]:
    """Return a line for each thing that calls to a server took."""
    if not asking:
        return []
    guessed = f"estimated in {asking['estimated']:,} calls" if asking.get("estimated") else ""
    lines = [
        ["requests", f"{asking['requests']:,}", f"{asking['cached']:,} more replies from the cache"],
        ["tokens sent", f"{asking['input_tokens']:,}", guessed],
        ["tokens received", f"{asking['output_tokens']:,}", guessed],
        ["cost", f"{asking['cost']:.4f}", f"{asking['spent']:.4f} of it now{', estimated' if guessed else ''}"],
    ]
    for name, words in COUNTED:
        if asking.get(name):
            lines.append([words, f"{asking[name]:,}", ""])
    return lines


def _became(asked: Mapping[str, Any]) -> list[list[str]]:
    """Return a line for each thing that became of answers, and how they were asked for."""
    if not asked:
        return []
    outcomes = asked["outcomes"]
    lines = [["answered", f"{outcomes['answered']:,} of {sum(outcomes.values()):,}", asked["method"]]]
    lines += [[words, f"{outcomes[name]:,}", advice] for name, words, advice in OUTCOMES if outcomes[name]]
    if asked["samples"] > 1:
        lines.append(["samples of each example", str(asked["samples"]), str(asked.get("reduce", ""))])
    served = asked.get("served", {})
    if served:
        lines.append(["answered by", ", ".join(served), ", ".join(asked.get("fingerprints", {}))])
    return lines


def measured_lines(measured: Mapping[str, Any], gaps: Mapping[str, Gap]) -> list[list[str]]:
    """Return a line for each thing that was measured, and why it would not rank."""
    lines = []
    if measured.get("throughput") is not None:
        half = measured.get("throughput_half")
        lines.append(["throughput", f"{measured['throughput']:.1f}/s", "" if half is None else f"± {half:.1f}"])
    if measured.get("memory") is not None:
        loading = measured.get("memory_loading")
        peaks = f"peak {measured['memory_peak']:.3f} GiB"
        peaks += "" if loading is None else f", {loading:.3f} GiB while loading"
        lines.append(["memory", f"{measured['memory']:.3f} GiB", peaks])
    for axis, why in gaps.items():
        lines.append([f"{axis} would not rank", why.text, ""])
    if share := share_disturbed(measured):
        lines.append(["measured while the machine was busy", f"{share:.0%} of it", "with other work"])
    for name, words in (("unstable", "answers that changed when asked again"), ("failed", "failures while measured")):
        if measured.get(name):
            lines.append([words, str(measured[name]), ""])
    if lacked := missing_layers(measured):
        lines.append(["measured without", ", ".join(lacked), ""])
    return lines


def metric_lines(name: str, value: Mapping[str, Any], bound: Mapping[str, Any] | None) -> list[list[str]]:
    """Return the line of a metric and, where examples failed, one with its bounds: all of them wrong, or right."""
    lines = [[name, *figure_cells(value)]]
    if bound is not None:
        ends = f"{bound['low']:.4f} – {bound['high']:.4f}"
        lines.append([f"  {bound['examples']:,} failed, all wrong or all right", ends, ""])
    return lines


def figure_cells(estimate: Mapping[str, Any]) -> list[str]:
    """Return an estimate and its interval, or why there is none."""
    if estimate["value"] is None:
        return ["–", str(estimate.get("reason", ""))]
    low, high = estimate.get("low"), estimate.get("high")
    return [f"{estimate['value']:.4f}", "" if low is None or high is None else f"{low:.4f} – {high:.4f}"]
