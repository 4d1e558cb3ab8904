"""`quintain board rank`: rank the models of a plain table, without a workspace."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from quintain.cli import output
from quintain.cli.names import split_names
from quintain.cli.streams import in_file
from quintain.core.errors import NotFound
from quintain.core.pairs import parse_numbers
from quintain.data.tables import parse_columns
from quintain.library import scores as library
from quintain.services.plain.files.rank import RankReport

app = typer.Typer(name="board", help="Rank models by what matters to you.", no_args_is_help=True)


@app.callback()
def board() -> None:
    """Rank models by what matters to you."""


@app.command()
def rank(
    file: Annotated[Path, in_file("A table model,<metric>,… as CSV, JSONL or Parquet.")],
    lower: Annotated[list[str] | None, typer.Option(help="Metrics of which less is better, by commas.")] = None,
    cap: Annotated[str, typer.Option(help="From what such a metric is subtracted: memory=32.")] = "",
    weights: Annotated[str, typer.Option(help="Weights such as perf=4,memory=1; metrics not named get 0.")] = "",
    epsilon: Annotated[float | None, typer.Option(help="Ignore neighbours at most this far apart.")] = None,
    perf: Annotated[str | None, typer.Option(help="The performance metric; by default the first.")] = None,
    base: Annotated[str | None, typer.Option(help="In whose units to score; by default performance.")] = None,
    amrs: Annotated[str, typer.Option(help="Exchange rates fixed by hand: memory=0.5.")] = "",
    rate: Annotated[str, typer.Option(help="What a rate is of those of neighbours: mean or median.")] = "mean",
    aggregate: Annotated[list[str] | None, typer.Option(help="zscore, average, win_rate, bradley_terry.")] = None,
    skip: Annotated[list[str] | None, typer.Option(help="Columns to leave out, by commas.")] = None,
    column: Annotated[list[str] | None, typer.Option(help="Map a name: model=system.")] = None,
    json: output.JsonFlag = False,
) -> None:
    """Rank the models of a table by Dynascore.

    Example: quintain board rank table.csv --lower memory --cap memory=32 --weights perf=4,throughput=1,memory=1
    """
    if not file.exists():
        raise NotFound(
            "There is no file {file}.",
            file=file,
            remedy="This command ranks a table; `quintain board show {file}` shows the board of a task."
            if not file.suffix
            else "Name a table model,<metric>,… as CSV, JSONL or Parquet.",
        )
    ranking = library.rank(
        file,
        parse_numbers(weights, "weights") if weights else None,
        lower=split_names(lower),
        caps=parse_numbers(cap, "caps"),
        epsilon=epsilon,
        perf=perf,
        base=base,
        amrs=parse_numbers(amrs, "exchange rates"),
        rate=rate,
        aggregates=split_names(aggregate),
        skip=split_names(skip),
        columns=parse_columns(column or []),
    )
    if json:
        output.print_json(ranking.to_dict())
    else:
        _print_report(ranking.report)


def _print_report(report: RankReport) -> None:
    models = report.as_dict()["models"]
    columns = ["rank", "model", "dynascore", "z-score", "Pareto", *report.aggregates]
    output.print_table(
        columns,
        [
            [
                row["rank"],
                row["model"],
                number(row["dynascore"], 2) or "unranked",
                number(row["zscore"], 2),
                "yes" if row["pareto"] else "",
                *(number(row["aggregates"][name]["score"], 3) for name in report.aggregates),
            ]
            for row in models
        ],
    )
    say_unranked(models)
    ranking = report.ranking
    amounts = report.as_dict()["amounts"]
    output.print_table(
        ["metric", "weight", "AMRS", "so much of it", f"is worth, in {ranking.base}", "note"],
        [
            [
                name,
                f"{weight:.3f}",
                number(ranking.amrs[name], 4),
                *traded(amounts[name], ranking.worth[name]),
                ranking.notes.get(name),
            ]
            for name, weight in ranking.weights.items()
        ],
    )
    output.say(f"Neighbours at most {ranking.epsilon:g} apart in {ranking.base} were ignored.")
    by_median = {row["model"]: row["by_median"]["rank"] for row in models if "by_median" in row}
    say_dominant(report.as_dict()["dominant"], by_median, rate=ranking.rate)


def say_dominant(dominant: dict[str, Any], by_median: dict[str, int | None], *, rate: str) -> None:
    """Warn where one pair of neighbours holds more than half of a rate, and give the ranking that does not hang on it.

    *by_median* has the rank of each model by the median of the same rates.
    """
    if rate == "median":
        return
    for name, pair in dominant.items():
        two = f"{pair['first']} and {pair['second']}"
        output.print_line(f"One pair of neighbours, {two}, holds {pair['share']:.0%} of the rate of {name}.")
    ranks = sorted((rank, model) for model, rank in by_median.items() if rank is not None)
    if dominant and ranks:
        output.print_line(f"By the median of the same rates: {', '.join(f'{rank}. {model}' for rank, model in ranks)}.")


def say_unranked(models: list[dict[str, Any]]) -> None:
    """Print why models have no rank, below the table: in a column the reasons would squeeze the figures."""
    for row in models:
        if row["rank"] is None:
            output.print_line(f"{row['model']} is unranked: {row.get('reason', '')}.")


def number(value: float | None, digits: int) -> str | None:
    """Write a figure with so many digits; None where there is none."""
    return None if value is None else f"{value:.{digits}f}"


def traded(amount: float, worth: float | None) -> list[str | None]:
    """Return what an amount that models here differ by is worth."""
    return [f"{amount:g}", None if worth is None else f"{worth * amount:.4g}"]
