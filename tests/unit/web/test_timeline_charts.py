"""The charts of a timeline, as data."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from quintain.core.records.figures import Estimate
from quintain.core.records.wheel import TimelineAnswers, TimelineRound, TimelineScore
from quintain.reports.round_lines import RoundWords
from quintain.web.pages.wheel.charts import (
    MOST_LINES,
    collected_chart,
    collected_table,
    leading,
    score_chart,
    score_table,
)

WORDS = RoundWords("Round", "Macro F1", "Who", "People", "Examples")
NOTES = {"draft": "a draft", "open": "still open", "unjudged": "nothing judged yet", "untested": "no test released"}


def _round(number: int, models: list[str], targets: list[str]) -> TimelineRound:
    return TimelineRound(
        ref=f"mood/{number}",
        number=number,
        title="Fool it",
        at=datetime(2026, 11, number, tzinfo=UTC),
        targets=targets,
        collected=300,
        validated=300,
        vmer=Estimate(0.4, 0.35, 0.45),
        test=f"mood/round-{number}-test@1",
        items=120,
        human=Estimate(0.9, 0.88, 0.92),
        models=[TimelineScore(name, Estimate(0.8 - 0.01 * at, 0.7, 0.9)) for at, name in enumerate(models)],
        best=models[0],
        state="open",
        solved_by=[],
        stage="closed",
        answered=[TimelineAnswers(targets[0], 300, Estimate(0.6, 0.55, 0.65))],
        agreement=Estimate(0.94, 0.92, 0.96),
    )


ROUNDS = [
    _round(1, ["mood/b@1", "mood/a@1"], ["mood/a@1"]),
    _round(2, ["mood/c@1", *(f"mood/x{number:03d}@1" for number in range(500)), "mood/b@1"], ["mood/b@1"]),
]


def _names(chart: Any) -> set[str]:
    return {row["who"] for layer in chart["layer"] for row in layer["data"]["values"] if "who" in row}


def test_models_have_lines_and_people_a_band() -> None:
    """Names are short, rounds stand in their order, and people have their interval in each."""
    chart = score_chart(ROUNDS, {}, WORDS, NOTES)
    assert chart is not None
    assert {"People", "a", "b", "c"} < _names(chart)
    assert chart["encoding"]["x"]["axis"]["labelExpr"] == "['1', '2'][datum.value]"
    assert [row["low"] for row in chart["layer"][0]["data"]["values"]] == [0.88, 0.88]


def test_a_thousand_models_do_not_make_a_thousand_lines() -> None:
    """The best of each round and its targets have their lines; the rest are those that lead the last round."""
    shown = leading(ROUNDS, MOST_LINES)
    assert shown[:3] == ["mood/c@1", "mood/b@1", "mood/a@1"]
    assert shown[3:] == [f"mood/x{number:03d}@1" for number in range(MOST_LINES - 3)]
    assert len(_names(score_chart(ROUNDS, {}, WORDS, NOTES))) == MOST_LINES + 1


def test_targets_of_two_rounds_are_not_one_line() -> None:
    """What the models of two rounds got right are two points; an open round without texts has its place and says so."""
    still_open = replace(
        ROUNDS[0], ref="mood/3", number=3, stage="open", answered=[], models=[], human=None, agreement=None
    )
    chart = collected_chart([*ROUNDS, still_open], {}, WORDS, NOTES)
    assert chart is not None
    assert not [layer for layer in chart["layer"] if "detail" in layer["encoding"]]
    notes = [row["note"] for layer in chart["layer"] for row in layer["data"]["values"] if "note" in row]
    assert set(notes) == {"still open"}
    assert chart["encoding"]["x"]["axis"]["labelExpr"] == "['1', '2', '3'][datum.value]"


def test_without_figures_there_is_no_chart() -> None:
    """Before anything is judged or released, there is nothing to draw."""
    bare = [replace(one, answered=[], models=[], human=None, agreement=None, best=None) for one in ROUNDS]
    assert collected_chart(bare, {}, WORDS, NOTES) is None
    assert score_chart(bare, {}, WORDS, NOTES) is None


def test_the_tables_have_the_figures_of_the_charts() -> None:
    """Each chart has its figures as a table: people, and a row for each model that is drawn."""
    table = collected_table(ROUNDS)
    assert table.rounds == ("1", "2")
    assert [name for name, _ in table.models] == ["a", "b"]
    assert [figure and figure.value for figure, _ in table.models[0][1]] == [0.6, None]
    assert len(score_table(ROUNDS).models) == MOST_LINES
    assert table.people == ((Estimate(0.94, 0.92, 0.96), 300),) * 2
