"""The charts of a timeline: what people and models reach on what was collected in each round, and on each test."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from quintain.core.records.figures import Estimate
from quintain.core.records.wheel import TimelineRound
from quintain.core.rounds import RoundState
from quintain.reports.round_lines import RoundColumn, RoundPoint, RoundWords, round_lines, short_names
from quintain.reports.series import Style


@dataclass(frozen=True, slots=True)
class RoundsTable:
    """The figures of a chart: the rounds, and for people and each model its figure in each of them."""

    rounds: tuple[str, ...]
    people: tuple[tuple[Estimate | None, int], ...]
    models: tuple[tuple[str, tuple[tuple[Estimate | None, int], ...]], ...]


@dataclass(frozen=True, slots=True)
class RoundsChart:
    """A chart over rounds with the question that it answers, and its figures in a table; *share* of a hundred."""

    title: str
    chart: Mapping[str, Any]
    table: RoundsTable
    share: bool


MOST_LINES = 12  # models that one can tell apart; the table and the API have all


def collected_chart(
    rounds: Sequence[TimelineRound], styles: Mapping[str, Style], words: RoundWords, notes: Mapping[str, str]
) -> dict[str, Any] | None:
    """Draw what the models of each round got right of what was collected, and how far people agree there.

    None where nothing was judged. *notes* say why a round has no figures: `draft`, `open`, `unjudged`.
    """
    names = short_names([one.model for row in rounds for one in row.answered])
    columns = []
    for row in rounds:
        figures = {names[one.model]: RoundPoint(one.right, one.n, one.model in row.targets) for one in row.answered}
        columns.append(_column(row, figures, notes, "unjudged", people=row.agreement, people_n=row.validated))
    return round_lines(columns, styles, words) if any(column.models for column in columns) else None


def score_chart(
    rounds: Sequence[TimelineRound], styles: Mapping[str, Style], words: RoundWords, notes: Mapping[str, str]
) -> dict[str, Any] | None:
    """Draw macro F1 on the test of each round: a line for each model, and a band for people.

    None where no test was released that a model was run on. *notes* are as above, and `untested`.
    """
    names = short_names(leading(rounds, MOST_LINES))
    columns = []
    for row in rounds:
        figures = {
            names[model.model]: RoundPoint(model.score, row.items, model.model in row.targets)
            for model in row.models
            if model.model in names
        }
        columns.append(_column(row, figures, notes, "untested", people=row.human, people_n=row.items))
    return round_lines(columns, styles, words) if any(column.models for column in columns) else None


def collected_table(rounds: Sequence[TimelineRound]) -> RoundsTable:
    """Return the figures of `collected_chart`."""
    names = short_names([one.model for row in rounds for one in row.answered])
    cells = [{names[one.model]: (one.right, one.n) for one in row.answered} for row in rounds]
    return _table(rounds, cells, [(row.agreement, row.validated) for row in rounds])


def score_table(rounds: Sequence[TimelineRound]) -> RoundsTable:
    """Return the figures of `score_chart`, of the models that have a line there."""
    names = short_names(leading(rounds, MOST_LINES))
    cells = [
        {names[model.model]: (model.score, row.items) for model in row.models if model.model in names} for row in rounds
    ]
    return _table(rounds, cells, [(row.human, row.items) for row in rounds])


def _table(
    rounds: Sequence[TimelineRound],
    cells: Sequence[Mapping[str, tuple[Estimate | None, int]]],
    people: Sequence[tuple[Estimate | None, int]],
) -> RoundsTable:
    names = list(dict.fromkeys(name for cell in cells for name in sorted(cell)))
    rows = tuple((name, tuple(cell.get(name, (None, 0)) for cell in cells)) for name in names)
    return RoundsTable(tuple(str(row.number) for row in rounds), tuple(people), rows)


def _column(
    row: TimelineRound,
    figures: Mapping[str, RoundPoint],
    notes: Mapping[str, str],
    otherwise: str,
    *,
    people: Estimate | None,
    people_n: int,
) -> RoundColumn:
    stage = row.stage if row.stage in (RoundState.DRAFT, RoundState.OPEN) else otherwise
    return RoundColumn(str(row.number), figures, people, people_n, row.stage == RoundState.OPEN, notes[stage])


def leading(rounds: Sequence[TimelineRound], most: int) -> list[str]:
    """Name the models worth a line, at most so many: the best of each round and its targets, then the best of the last.

    Rounds come with their models in order, the best first.
    """
    here = {score.model for wheel_round in rounds for score in wheel_round.models}
    first = [
        name for wheel_round in reversed(rounds) for name in (wheel_round.best, *wheel_round.targets) if name in here
    ]
    others = [score.model for wheel_round in reversed(rounds) for score in wheel_round.models]
    return list(dict.fromkeys([*(name for name in first if name), *others]))[:most]
