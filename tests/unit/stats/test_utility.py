"""The Dynascore: the published tables, the holes that the paper leaves, and what must not matter."""

from __future__ import annotations

import csv
import importlib.util
import json
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from quintain.core.errors import BadInput
from quintain.stats.aggregate import mean_zscore
from quintain.stats.utility import (
    Choices,
    UtilityColumn,
    UtilityTable,
    default_epsilon,
    dominant_pair,
    exchange_rate,
    rank_models,
    ranks,
    weighted_mean,
)

ROOT = Path(__file__).parents[3]
TABLE2 = ROOT / "tests" / "data" / "dynaboard_table2.csv"
METRICS = ("perf", "throughput", "memory", "fairness", "robustness")
PERF_MEMORY = (UtilityColumn("perf"), UtilityColumn("memory", lower=True))


def published(task: str, cap: float = 32.0) -> tuple[UtilityTable, list[dict[str, str]]]:
    """Read one task of the paper's Table 2."""
    with TABLE2.open(encoding="utf-8", newline="") as stream:
        rows = [row for row in csv.DictReader(stream) if row["task"] == task]
    columns = tuple(UtilityColumn(name, name == "memory", cap if name == "memory" else None) for name in METRICS)
    values = np.array([[float(row[name]) for name in METRICS] for row in rows])
    return UtilityTable(tuple(row["model"] for row in rows), columns, values), rows


def table(values: list[list[float]], *names: str, cannot: list[list[bool]] | None = None) -> UtilityTable:
    """Make a table of goods; the first metric is performance."""
    columns = tuple(UtilityColumn(name) for name in names)
    models = tuple(f"m{row}" for row in range(len(values)))
    return UtilityTable(models, columns, np.array(values, dtype=float), None if cannot is None else np.array(cannot))


@pytest.mark.parametrize(("task", "bound"), [("NLI", 0.09), ("QA", 0.21), ("Sentiment", 0.09), ("Hate Speech", 0.09)])
@pytest.mark.parametrize("epsilon", [0.011, None])
def test_the_published_scores_come_out(task: str, bound: float, epsilon: float | None) -> None:
    """With a cap of 32 GB and near-ties ignored, scores, z-scores and order are those of Table 2."""
    board, rows = published(task)
    ranking = rank_models(board, Choices(epsilon=epsilon))
    assert ranking.dynascore == pytest.approx([float(row["dynascore"]) for row in rows], abs=bound)
    assert mean_zscore(board, ranking.weights) == pytest.approx([float(row["zscore"]) for row in rows], abs=0.006)
    assert ranking.rank == tuple(range(1, len(rows) + 1))
    assert ranking.weights == {
        "perf": 0.5,
        "throughput": 0.125,
        "memory": 0.125,
        "fairness": 0.125,
        "robustness": 0.125,
    }


def test_the_texts_cap_does_not_give_the_printed_column() -> None:
    """With 16 GB, as the paper's text has it, the printed scores are missed by more; QA even holds a larger model."""
    board, rows = published("Sentiment", cap=16.0)
    found = rank_models(board, Choices(epsilon=0.011)).dynascore
    assert max(abs((score or 0) - float(row["dynascore"])) for score, row in zip(found, rows, strict=True)) > 0.4
    with pytest.raises(BadInput, match=r"model 'ELECTRA-large' has 25\.3, above the cap of 16"):
        rank_models(published("QA", cap=16.0)[0])


def test_the_exchange_rate_by_hand() -> None:
    """|Δ1|/10 and |Δ3|/10 average to 0.2; a pair at most ε apart is left out."""
    perf, good = np.array([50.0, 60.0, 70.0]), np.array([9.0, 8.0, 5.0])
    assert exchange_rate(perf, good, 0.01) == pytest.approx(0.2)
    assert exchange_rate(np.array([50.0, 60.0, 60.01]), good, 0.01) == pytest.approx(0.1)
    assert exchange_rate(perf, good, 10.0) is None


def test_ties_are_one_point_in_the_middle_of_their_range() -> None:
    """Models that tie in performance count once, half way between the least and the most they have."""
    perf, good = np.array([50.0, 60.0, 60.0, 60.0]), np.array([0.0, 2.0, 10.0, 3.0])
    assert exchange_rate(perf, good, 0.01) == pytest.approx(0.6)


def test_epsilon_follows_the_scale() -> None:
    """The paper's 1e-4 is of full scale: of 1 for fractions, of 100 for percentages, of the maximum beyond."""
    assert default_epsilon(np.array([0.5, 0.93])) == pytest.approx(1e-4)
    assert default_epsilon(np.array([20.0, 93.0])) == pytest.approx(0.01)
    assert default_epsilon(np.array([20.0, 5000.0])) == pytest.approx(0.5)
    assert default_epsilon(np.array([np.nan, 0.4])) == pytest.approx(1e-4)


class TestHoles:
    """Cases that the paper leaves open, each with its definition."""

    def test_one_model(self) -> None:
        """One model has no neighbours: only performance counts, and every other metric says why it does not."""
        ranking = rank_models(table([[80.0, 5.0]], "perf", "speed"))
        assert ranking.dynascore == (40.0,)
        assert ranking.rank == (1,)
        assert ranking.amrs == {"perf": 1.0, "speed": None}
        assert "no two models differ enough" in ranking.notes["speed"]

    def test_all_tied(self) -> None:
        """Without a difference in performance there is no rate, so all models tie."""
        ranking = rank_models(table([[80.0, 5.0], [80.0, 9.0]], "perf", "speed"))
        assert ranking.dynascore == (40.0, 40.0)
        assert ranking.rank == (1, 1)
        assert ranking.amrs["speed"] is None

    def test_a_rate_by_hand_unties_them(self) -> None:
        """A rate that is fixed by hand needs no neighbours."""
        ranking = rank_models(table([[80.0, 5.0], [80.0, 9.0]], "perf", "speed"), Choices(amrs={"speed": 0.5}))
        assert ranking.dynascore == (45.0, 49.0)
        assert ranking.worth["speed"] == pytest.approx(2.0)

    def test_a_metric_that_all_share(self) -> None:
        """It adds nothing to anyone, and the ranking says so."""
        ranking = rank_models(table([[80.0, 5.0], [70.0, 5.0]], "perf", "speed"))
        assert ranking.dynascore == (40.0, 35.0)
        assert ranking.notes == {"speed": "all models share one value, so it adds nothing"}

    def test_a_weight_of_zero(self) -> None:
        """A metric without weight changes nothing, and a gap in it does not matter."""
        values = [[80.0, np.nan], [70.0, 5.0]]
        ranking = rank_models(table(values, "perf", "speed"), Choices(weights={"perf": 1, "speed": 0}))
        assert ranking.dynascore == (80.0, 70.0)
        assert ranking.unranked == {}

    def test_missing_cells(self) -> None:
        """A model with a gap is unranked with the reason, and still counts in the rates of what it has."""
        values = [[80.0, np.nan, 1.0], [70.0, 5.0, 3.0], [60.0, 6.0, 8.0]]
        ranking = rank_models(table(values, "perf", "speed", "size"))
        assert ranking.dynascore[0] is None
        assert ranking.rank == (None, 2, 1)
        assert ranking.unranked == {"m0": "speed missing"}
        assert ranking.amrs["size"] == pytest.approx((0.2 + 0.5) / 2)
        assert ranking.amrs["speed"] == pytest.approx(0.1)

    def test_a_metric_that_some_models_cannot_have(self) -> None:
        """Such a model is ranked and gets no credit for the metric, so that withholding never pays."""
        values = [[80.0, np.nan], [70.0, 5.0], [60.0, 6.0]]
        board = table(values, "perf", "speed", cannot=[[False, True], [False, False], [False, False]])
        ranking = rank_models(board)
        assert ranking.dynascore == pytest.approx((40.0, 35 + 25.0, 30 + 30.0))
        assert ranking.rank == (3, 1, 1)

    def test_no_model_has_a_metric(self) -> None:
        """A metric without any value leaves all unranked as long as it has weight."""
        ranking = rank_models(table([[80.0, np.nan], [70.0, np.nan]], "perf", "speed"))
        assert ranking.rank == (None, None)
        assert ranking.notes["speed"] == "no model has a value, so it adds nothing"

    def test_performance_alone(self) -> None:
        """A table of performance only is ranked by it."""
        ranking = rank_models(table([[80.0], [70.0]], "perf"))
        assert ranking.weights == {"perf": 1.0}
        assert ranking.dynascore == (80.0, 70.0)


def test_goods_are_what_is_left_below_the_cap_or_the_maximum() -> None:
    """Less is better: without a cap the largest value is where nothing is left."""
    board = UtilityTable(("a", "b"), PERF_MEMORY, np.array([[80.0, 10.0], [70.0, 4.0]]))
    ranking = rank_models(board)
    assert ranking.amrs["memory"] == pytest.approx(0.6)
    assert ranking.dynascore == pytest.approx((40.0, 35 + 0.5 * 6 / 0.6))


def test_another_base_metric() -> None:
    """With memory as the base, scores are in GB saved and performance is converted."""
    board = UtilityTable(("a", "b"), PERF_MEMORY, np.array([[80.0, 10.0], [70.0, 4.0]]))
    ranking = rank_models(board, Choices(base="memory"))
    assert ranking.base == "memory"
    assert ranking.amrs == {"perf": pytest.approx(10 / 6), "memory": 1.0}
    assert ranking.dynascore == pytest.approx((0.5 * 80 * 0.6, 0.5 * 70 * 0.6 + 3.0))


def test_the_word_perf_names_the_performance_metric() -> None:
    """In weights, `perf` stands for the performance metric whatever it is called."""
    board = table([[0.8, 5.0], [0.7, 6.0]], "f1", "speed")
    assert rank_models(board, Choices(weights={"perf": 3, "speed": 1})).weights == {"f1": 0.75, "speed": 0.25}


@pytest.mark.parametrize(
    ("choices", "why"),
    [
        (Choices(weights={"perf": 0.0, "speed": 0.0}), "All weights are 0"),
        (Choices(weights={"perf": -1.0}), "weight of 'perf' is -1"),
        (Choices(weights={"sped": 1.0}), "weight for 'sped'"),
        (Choices(epsilon=-0.1), "Epsilon is -0.1"),
        (Choices(amrs={"speed": 0.0}), "exchange rate of 'speed' is 0"),
        (Choices(amrs={"perf": 2.0}), "with itself is 1"),
        (Choices(perf="f1"), "no metric called 'f1'"),
        (Choices(base="f1"), "no metric called 'f1'"),
    ],
)
def test_senseless_choices_are_refused(choices: Choices, why: str) -> None:
    """A choice that cannot be meant is named."""
    with pytest.raises(BadInput, match=why):
        rank_models(table([[80.0, 5.0], [70.0, 9.0]], "perf", "speed"), choices)


def test_weighted_mean_over_data_sets() -> None:
    """A gap counts only where the data set has weight."""
    values = np.array([[80.0, 60.0], [70.0, np.nan]])
    assert weighted_mean(values, [3, 1])[0] == pytest.approx(75.0)
    assert np.isnan(weighted_mean(values)[1])
    assert weighted_mean(values, [1, 0]).tolist() == [80.0, 70.0]
    with pytest.raises(BadInput, match="not all 0"):
        weighted_mean(values, [0, 0])


def test_equal_scores_share_the_better_rank() -> None:
    """Ranks are those of sport: 1, 2, 2, 4."""
    assert ranks([5.0, 4.0, None, 4.0, 3.0]) == (1, 2, None, 2, 4)


cells = st.integers(0, 30).map(lambda value: value / 2)
boards = st.integers(1, 4).flatmap(lambda m: st.lists(st.lists(cells, min_size=m, max_size=m), min_size=1, max_size=8))
NAMES = ("perf", "speed", "size", "fair")


@given(boards, st.randoms(use_true_random=False))
def test_the_order_of_rows_never_matters(values: list[list[float]], random: object) -> None:
    """Shuffled rows have bit by bit the same scores, ties or not."""
    board = table(values, *NAMES[: len(values[0])])
    order = list(range(len(values)))
    random.shuffle(order)  # type: ignore[attr-defined]  # hypothesis gives a random.Random
    before, after = rank_models(board), rank_models(board.take(order))
    assert after.dynascore == tuple(before.dynascore[row] for row in order)
    assert after.rank == tuple(before.rank[row] for row in order)


@given(boards, st.integers(0, 7))
def test_an_exact_duplicate_changes_no_score(values: list[list[float]], which: int) -> None:
    """A second copy of a model shares its score and leaves all others alone."""
    board = table(values, *NAMES[: len(values[0])])
    doubled = table([*values, values[which % len(values)]], *NAMES[: len(values[0])])
    before, after = rank_models(board), rank_models(doubled)
    assert after.dynascore[:-1] == before.dynascore
    assert after.dynascore[-1] == before.dynascore[which % len(values)]


@example([[0.0, 9.5], [0.5, 6.0], [0.5, 13.0]], 0.001)
@given(boards, st.sampled_from([0.001, 7.0, 1024.0]))
def test_the_unit_of_a_metric_does_not_matter(values: list[list[float]], factor: float) -> None:
    """Memory in MB or GB, speed per second or per hour: the scores are the same."""
    assume(len(values[0]) > 1)
    board = table(values, *NAMES[: len(values[0])])
    scaled = board.values.copy()
    scaled[:, 1] *= factor
    before = rank_models(board).dynascore
    after = rank_models(UtilityTable(board.models, board.columns, scaled)).dynascore
    assert after == pytest.approx(before, rel=1e-9, abs=1e-9)


@given(boards)
def test_the_scale_of_performance_is_that_of_the_score(values: list[list[float]]) -> None:
    """Performance as a fraction gives scores a hundredth as large, with ε on its scale."""
    board = table(values, *NAMES[: len(values[0])])
    scaled = board.values.copy()
    scaled[:, 0] /= 100
    before = rank_models(board, Choices(epsilon=0.01)).dynascore
    after = rank_models(UtilityTable(board.models, board.columns, scaled), Choices(epsilon=0.0001)).dynascore
    assert [score * 100 for score in after if score is not None] == pytest.approx(list(before), rel=1e-9, abs=1e-9)


def script() -> ModuleType:
    """Load the script that writes the shared cases."""
    spec = importlib.util.spec_from_file_location("make_utility_cases", ROOT / "scripts" / "make_utility_cases.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_shared_cases_are_in_step() -> None:
    """The cases that the browser's formula is tested with are what this formula gives."""
    stored = json.loads((ROOT / "tests" / "data" / "utility_cases.json").read_text(encoding="utf-8"))["cases"]
    made = json.loads(json.dumps(script().all_cases()))
    assert len(stored) == len(made) >= 24
    for old, new in zip(stored, made, strict=True):
        expected, found = old.pop("expected"), new.pop("expected")
        assert old == new
        for key in ("dynascore", "zscore"):
            assert expected.pop(key) == pytest.approx(found.pop(key), abs=1e-9)
        for key in ("amrs", "worth", "weights"):
            assert expected.pop(key) == pytest.approx(found.pop(key), abs=1e-9)
        assert expected == found


@pytest.mark.parametrize(
    ("speed", "share"), [([1.0, 2.0, 1000.0], 998 / 999), ([1.0, 3.0, 4.0], None), ([1.0, 2.0], None)]
)
def test_one_of_two_pairs_is_named_where_it_holds_nearly_all_of_a_rate(speed: list[float], share: float | None) -> None:
    """Of two pairs one always holds half, so that it is named from nine tenths on; a single one never is."""
    performance = np.array([80.0, 81.0, 82.0][: len(speed)])
    pair = dominant_pair(performance, np.array(speed), 0.0, ["a", "b", "c"])
    assert (pair and pair.share) == (pytest.approx(share) if share else None)
    assert pair is None or {pair.first, pair.second} == {"b", "c"}
