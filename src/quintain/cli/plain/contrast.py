"""`quintain contrast score`: score a model on contrast sets in plain files, without a workspace."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

import typer

from quintain.cli import output
from quintain.cli.names import split_names
from quintain.cli.streams import in_file, in_option
from quintain.core.records.contrast import ContrastEstimates, ContrastPart, ContrastScore
from quintain.core.records.contrasting import ContrastFormats, PublishedFormat
from quintain.core.records.figures import Estimate
from quintain.data.contrast.contract import CONTRAST_FORMATS
from quintain.data.tables import parse_columns
from quintain.library import scores as library

app = typer.Typer(name="contrast", help="Probe models near their decision boundary.", no_args_is_help=True)


@app.callback()
def contrast() -> None:
    """Probe models near their decision boundary."""


@app.command()
def score(
    examples: Annotated[Path, in_file("Contrast sets: id, set, role, gold and tags.", metavar="EXAMPLES")],
    predictions: Annotated[Path, in_file("One answer for each: id, prediction.", metavar="PREDICTIONS")],
    originals: Annotated[
        Path | None,
        in_option(
            "The answers on originals, where they are in a file of their own; matched by `source`.", "--originals"
        ),
    ] = None,
    metric: Annotated[str, typer.Option(help="accuracy, exact_match, f1 (of words) or set_exact_match.")] = "accuracy",
    threshold: Annotated[float, typer.Option(help="With f1: a member is right whose F1 is above this.")] = 0.8,
    normalise: Annotated[
        str, typer.Option(help="With exact_match: 'case' ignores case; 'squad' also articles and punctuation.")
    ] = "case",
    labels: Annotated[
        list[str] | None, typer.Option(help="The labels, by commas: others are refused.", show_default=False)
    ] = None,
    seed: Annotated[int, typer.Option(help="Seed of the intervals.")] = 0,
    resamples: Annotated[int, typer.Option(help="Draws for the intervals; 0 leaves them out.", min=0)] = 1000,
    column: Annotated[list[str] | None, typer.Option(help="Map a name: set=query_id.", show_default=False)] = None,
    json: output.JsonFlag = False,
) -> None:
    """Score predictions on contrast sets: originals, neighbours, and the share of sets that are right as a whole.

    A gold answer may be a list of accepted ones; with set_exact_match it is the set of all right ones.

    Example: quintain contrast score examples.jsonl predictions.jsonl --metric f1 --threshold 0.8 --json
    """
    figures = library.contrast_score(
        examples,
        predictions,
        metric=metric,
        threshold=threshold,
        normalise=normalise,
        originals=originals,
        labels=split_names(labels),
        columns=parse_columns(column or []),
        seed=seed,
        resamples=resamples,
    ).figures
    output.warn(figures.warnings or ())
    for note in figures.notes:
        output.say(note)
    if json:
        output.print_json(figures)
    else:
        print_score(figures)


@app.command()
def formats(json: output.JsonFlag = False) -> None:
    """List the published contrast sets that `contrast import` reads, with the task file that each needs.

    Example: quintain contrast formats
    """
    known = [one for _, one in CONTRAST_FORMATS.items()]
    if json:
        output.print_json(
            ContrastFormats([PublishedFormat(one.name, one.task, one.metric, one.about) for one in known])
        )
        return
    output.print_table(["format", "scored by", "what it is"], [(one.name, one.metric, one.about) for one in known])
    for published in known:
        output.print_line(f"\nThe task of {published.name}:\n{published.task}")


def print_score(score: ContrastScore) -> None:
    """Print the scores of one model."""
    overall = score.intervals.overall
    rows = [
        ("original", percent(overall.original)),
        ("contrast", percent(overall.contrast)),
        ("difference", percent(overall.difference)),
        ("consistency", percent(overall.consistency)),
    ]
    output.print_table([score.metric, "% (95 % interval)"], rows)
    _print_parts("tag", score.by_tag, score.intervals.by_tag)
    _print_parts("label", score.by_transition, score.intervals.by_transition)
    output.print_line(f"{score.examples} examples in {score.sets} sets{_rule(score)}.")
    if score.unanswered:
        output.print_line(f"{score.unanswered} examples have no answer, which counts as wrong.")
    output.print_line(score.caveat)


def _rule(score: ContrastScore) -> str:
    if score.threshold is not None:
        return f"; a member is right whose F1 is above {score.threshold:g}"
    if score.normalise == "squad":
        return "; case, articles and punctuation are left aside"
    return "; case is left aside" if score.normalise else ""


def _print_parts(what: str, parts: Mapping[str, ContrastPart], intervals: Mapping[str, ContrastEstimates]) -> None:
    if not parts:
        return
    rows = []
    for name, part in parts.items():
        own = intervals[name]
        figures = (percent(own.original), percent(own.contrast), percent(own.consistency))
        rows.append((name, part.examples, part.sets, *figures))
    output.print_table([what, "examples", "sets", "original %", "contrast %", "consistency %"], rows)


def percent(figure: Estimate) -> str:
    """Write a rate with its interval as percentages.

    >>> percent(Estimate(0.4774, 0.446, 0.509))
    '47.7 (44.6 to 50.9)'
    """
    if figure.value is None:
        return "–"
    if figure.low is None or figure.high is None:
        return f"{100 * figure.value:.1f}"
    return f"{100 * figure.value:.1f} ({100 * figure.low:.1f} to {100 * figure.high:.1f})"
