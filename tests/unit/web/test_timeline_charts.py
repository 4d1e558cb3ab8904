"""The charts of a timeline, as data."""

from __future__ import annotations

from datetime import UTC, datetime

from quintain.core.records.figures import Estimate
from quintain.core.records.wheel import TimelineRound, TimelineScore
from quintain.web.pages.wheel.charts import MOST_LINES, leading, score_chart, vmer_chart

WORDS = {"round": "Round", "score": "Macro F1", "model": "Who", "people": "People", "vmer": "vMER"}


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
    )


ROUNDS = [
    _round(1, ["mood/b@1", "mood/a@1"], ["mood/a@1"]),
    _round(2, ["mood/c@1", *(f"mood/x{number:03d}@1" for number in range(500)), "mood/b@1"], ["mood/b@1"]),
]


def test_people_are_a_dashed_line_beside_the_models() -> None:
    """Every point is of a round, with its interval; rounds stand in their order."""
    chart = score_chart(ROUNDS, WORDS)
    people = [row for row in chart["data"]["values"] if row["who"] == "People"]
    assert [(row["round"], row["low"]) for row in people] == [("1", 0.88), ("2", 0.88)]
    assert chart["encoding"]["x"]["sort"] == ["1", "2"]
    assert {"a", "b", "c"} < {row["who"] for row in chart["data"]["values"]}, "names are short"
    assert chart["layer"][0]["encoding"]["strokeDash"]["condition"]["test"] == "datum.who === 'People'"


def test_a_thousand_models_do_not_make_a_thousand_lines() -> None:
    """The best of each round and its targets have their lines; the rest are those that lead the last round."""
    shown = leading(ROUNDS, MOST_LINES)
    assert shown[:3] == ["mood/c@1", "mood/b@1", "mood/a@1"]
    assert shown[3:] == [f"mood/x{number:03d}@1" for number in range(MOST_LINES - 3)]
    assert len({row["who"] for row in score_chart(ROUNDS, WORDS)["data"]["values"]}) == MOST_LINES + 1


def test_vmer_is_a_bar_for_each_round() -> None:
    """A round that was not reviewed has none."""
    assert [row["value"] for row in vmer_chart(ROUNDS, WORDS)["data"]["values"]] == [0.4, 0.4]
