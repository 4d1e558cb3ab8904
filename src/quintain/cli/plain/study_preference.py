"""`quintain study preference`: ratings of models from votes between two answers, on plain files."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from quintain.cli import output
from quintain.cli.plain.labels import ColumnOption, SeedOption
from quintain.cli.plain.study import app
from quintain.cli.streams import in_file, out_option
from quintain.core.records.preference import PreferenceStudy, RatedModel, StyleRatings, VoterReliability
from quintain.data.tables import parse_columns, table_format, write_table
from quintain.library import preferences as library

MOST_JUDGES = 20


@app.command()
def preference(
    file: Annotated[Path, in_file("A table left,right,winner; the winner is left, right, tie or both_bad.")],
    anchor: Annotated[
        str | None, typer.Option(metavar="MODEL=1000", help="A model and its rating.", show_default="1000 on average")
    ] = None,
    by: Annotated[
        str | None, typer.Option(metavar="COLUMN", help="Also rate each part by itself, such as each language.")
    ] = None,
    style: Annotated[
        bool | None,
        typer.Option(help="Also take out what length, lists, headings and position do.", show_default="with texts"),
    ] = None,
    without_one_sided: Annotated[
        bool, typer.Option("--without-one-sided", help="Leave out judges who always chose the same side.")
    ] = False,
    out: Annotated[Path | None, out_option("Where the ratings go.", "--out", "-o")] = None,
    seed: SeedOption = 0,
    column: ColumnOption = None,
    json: output.JsonFlag = False,
) -> None:
    """Rate models from votes between two answers: Bradley–Terry with ties, intervals of ratings and ranks.

    Example: quintain study preference votes.csv --by language --anchor my-model=1000 --json
    """
    if out is not None:
        table_format(out)
    ratings = library.preference(
        file,
        anchor=anchor,
        by=by,
        style=style,
        without_one_sided=without_one_sided,
        columns=parse_columns(column or []),
        seed=seed,
    )
    if out is not None:
        write_table(ratings.table, out)
    output.warn(ratings.warnings)
    for note in ratings.notes:
        output.say(note)
    if json:
        output.print_json(ratings.record)
        return
    _print(ratings.record)


def _print(study: PreferenceStudy) -> None:
    title = f"{study.votes:,} votes, {study.ties:,} without a winner"
    if study.style is None:
        _print_models(study.models, title)
    else:
        _print_beside(study.models, study.style, title)
    for group in study.groups or []:
        title = f"{group.name or '–'}: {group.votes:,} votes, {group.ties:,} without a winner"
        if group.reason:
            output.print_line(f"{title}. {group.reason}")
        else:
            _print_models(group.models, title)
    if study.judges:
        _print_judges(study.judges)


def _print_models(models: Sequence[RatedModel], title: str) -> None:
    rows = [(row.rank, _ranks(row), row.model, f"{row.rating:.0f}", _interval(row), f"{row.votes:,}") for row in models]
    output.print_table(["rank", "may be", "model", "rating", "interval", "votes"], rows, title=title)


def _print_beside(models: Sequence[RatedModel], style: StyleRatings, title: str) -> None:
    """Print ratings with and without what style does, and what that is."""
    without = {row.model: row for row in style.models}
    rows = []
    for row in models:
        other = without[row.model]
        figures = (f"{row.rating:.0f} ({_interval(row)})", f"{other.rating:.0f} ({_interval(other)})")
        rows.append((row.rank, _ranks(row), row.model, figures[0], other.rank, figures[1], f"{row.votes:,}"))
    columns = ["rank", "may be", "model", "rating", "rank without style", "rating without style", "votes"]
    output.print_table(columns, rows, title=title)
    effects = [
        (_GAINS[part.name], f"{part.value:+.0f}", f"{part.low:+.0f} to {part.high:+.0f}") for part in style.effects
    ]
    output.print_table(["an answer gains by", "points", "interval"], effects)


_GAINS = {
    "length": "twice the length",
    "lists": "lists where the other has none",
    "headings": "headings where the other has none",
    "position": "standing left",
}


def _print_judges(judges: Sequence[VoterReliability]) -> None:
    rows = [
        (
            row.judge or "–",
            f"{row.votes:,}",
            _percent(row.left),
            _percent(row.agreement),
            _percent(row.expected),
            "always the same side" if row.one_sided else "",
        )
        for row in sorted(judges, key=lambda judge: not judge.one_sided)[:MOST_JUDGES]
    ]
    output.print_table(["judge", "votes", "left", "with the ratings", "expected", ""], rows)
    if len(judges) > MOST_JUDGES:
        output.say(f"{len(judges) - MOST_JUDGES:,} more judges: --json has all of them.")


def _ranks(row: RatedModel) -> str:
    return f"{row.rank_low}–{row.rank_high}" if row.rank_low < row.rank_high else str(row.rank_low)


def _interval(row: RatedModel) -> str:
    return f"{row.low:.0f} to {row.high:.0f}"


def _percent(share: float | None) -> str:
    return "–" if share is None else f"{share:.0%}"
