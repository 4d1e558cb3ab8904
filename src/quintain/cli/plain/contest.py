"""`quintain contest score`: score builders and breakers from a plain table, without a workspace."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from quintain.cli import output
from quintain.cli.names import split_names
from quintain.cli.plain.contrast import percent
from quintain.cli.plain.rank import number
from quintain.cli.streams import in_file, named, out_file
from quintain.core.errors import BadInput
from quintain.core.pairs import parse_numbers
from quintain.core.records.contest import ContestFigures, ContestScore
from quintain.data.shared_task import read_shared_task
from quintain.data.tables import parse_columns, write_table
from quintain.library import scores as library
from quintain.services.plain.files import shared_task

app = typer.Typer(name="contest", help="Let builders build and breakers break.", no_args_is_help=True)


@app.callback()
def contest() -> None:
    """Let builders build and breakers break."""


@app.command()
def score(
    matrix: Annotated[Path, in_file("A table breaker,pair_id,side,gold,<system>,…", metavar="MATRIX")],
    dev_accuracy: Annotated[
        str, typer.Option(help="Of each system, as fractions: pcnn=0.8,rntn=0.75.", show_default=False)
    ] = "",
    metric: Annotated[str, typer.Option(help="accuracy; for spans exact_match or f1 (of words).")] = "accuracy",
    threshold: Annotated[float, typer.Option(help="With f1: an answer is right whose F1 is above this.")] = 0.8,
    skip: Annotated[
        list[str] | None, typer.Option(help="More columns that are no systems, by commas.", show_default=False)
    ] = None,
    seed: Annotated[int, typer.Option(help="Seed of the intervals.")] = 0,
    resamples: Annotated[int, typer.Option(help="Draws for the intervals; 0 leaves them out.", min=0)] = 1000,
    column: Annotated[list[str] | None, typer.Option(help="Map a name: gold=label.", show_default=False)] = None,
    json: output.JsonFlag = False,
) -> None:
    """Score builders and breakers: a pair breaks a system that has exactly one of its two sentences right.

    Columns sentence, rationale, tags and status are no systems; contested or undecided pairs are left out.

    Example: quintain contest score matrix.csv --dev-accuracy strawman=0.78,pcnn=0.81 --json
    """
    figures = library.contest_score(
        matrix,
        dev_accuracy=parse_numbers(dev_accuracy, "dev accuracies"),
        metric=metric,
        threshold=threshold,
        skip=split_names(skip),
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
def convert(
    source: Annotated[
        Path, typer.Argument(help="A file of pairs as released in 2017, or the folder sentiment_analysis.")
    ],
    out: Annotated[Path, out_file("The table: CSV, TSV, JSONL or Parquet.", metavar="OUT")],
    rename: Annotated[
        list[str] | None, typer.Option(help="Of a folder: call a team otherwise: Team1=osu.", show_default=False)
    ] = None,
    answers_of: Annotated[
        str,
        typer.Option(help="Of a folder: a builder whose answers are to be written, id,prediction.", show_default=False),
    ] = "",
    field: Annotated[str, typer.Option(help="With --answers-of: the name of the task's one input.")] = "text",
    repeats: Annotated[str, typer.Option(help="Pairs whose name comes again: all of them, or the last.")] = "all",
    json: output.JsonFlag = False,
) -> None:
    """Turn files of Build It Break It 2017 into tables: a file's pairs, a folder's matrix, or a builder's answers.

    Example: quintain contest convert bibi-2017/builders/sentiment_analysis matrix.csv --rename Team1=osu
    """
    chosen = next((known for known in shared_task.REPEATS if known == repeats), None)
    if chosen is None:
        known = ", ".join(shared_task.REPEATS)
        raise BadInput("'{repeats}' is not one of {known}.", repeats=repeats, known=known)
    if not source.is_dir():
        table = shared_task.pairs_table(read_shared_task(source))
    else:
        event = shared_task.read_folder(source, parse_columns(rename or []))
        if answers_of and answers_of not in event.answers:
            builders = ", ".join(event.answers)
            raise BadInput("There is no builder '{name}'.", name=answers_of, known=builders, remedy="Known: {known}.")
        table = shared_task.answers_table(event, answers_of, field) if answers_of else shared_task.matrix(event, chosen)
    write_table(table, out)
    output.say(f"Wrote {table.height} rows to {named(out)}.")
    if json:
        output.print_json({"file": str(out), "rows": table.height, "columns": table.columns})


def print_score(score: ContestScore) -> None:
    """Print the score tables of a contest, and what lies behind them."""
    _print_figures(ContestFigures(score.systems, score.breakers), score)
    if score.with_contested:
        output.print_line(f"With the {score.contested + score.undecided} pairs whose labels are in doubt:")
        _print_figures(score.with_contested, None)
    _print_details(score)


def _print_figures(figures: ContestFigures, score: ContestScore | None) -> None:
    """Print both tables; with the intervals of *found*, where it is given."""
    rows = []
    for name, system in sorted(figures.systems.items(), key=lambda item: -(item[1].average_f1 or 0.0)):
        own = score.intervals.systems[name] if score else None
        broken = percent(own.broken_rate_pairs) if own else number(_percent(system.broken_rate_pairs), 1)
        average = number(system.average_f1, 3)
        sentences = number(_percent(system.broken_rate_sentences), 1)
        rows.append((name, average, f"{system.broken} of {system.pairs}", broken, sentences))
    output.print_table(["system", "average F1", "broken", "% of pairs", "% of sentences"], rows)
    output.print_table(
        ["breaker", "pairs", "score", "score per sentence"],
        [
            (name, one.pairs, number(one.score, 4), number(one.score_per_sentence, 4))
            for name, one in figures.breakers.items()
        ],
    )
    output.print_table(
        ["% of pairs that broke", *(f"by {name}" for name in figures.breakers)],
        [
            (name, *(number(_percent(breaker.break_rate[name]), 1) for breaker in figures.breakers.values()))
            for name in figures.systems
        ],
    )
    for reason in dict.fromkeys(breaker.reason for breaker in figures.breakers.values() if breaker.reason):
        output.print_line(f"Without a score: {reason}.")


def _print_details(score: ContestScore) -> None:
    if score.by_tag:
        rows = [
            (tag, one.pairs, name, percent(share))
            for tag, one in score.by_tag.items()
            for name, share in one.break_rate.items()
        ]
        output.print_table(["tag", "pairs", "system", "% broken (95 % interval)"], rows)
    sides = [(name, one.original_only, one.modified_only) for name, one in score.directions.items()]
    output.print_table(["broken system", "right on the original only", "on the modified only"], sides)
    together = [
        (*one.systems, one.both, one.either, number(one.overlap, 2), number(one.correlation, 2))
        for one in score.together
    ]
    if together:
        output.print_table(["system", "and", "both broken", "either", "overlap", "correlation"], together)
    output.print_table(["systems broken at once", "pairs"], list(enumerate(score.broken_systems)))


def _percent(share: float | None) -> float | None:
    return None if share is None else 100 * share
