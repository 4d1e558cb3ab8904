"""How sure a ranking is, paired tests, and what the ranking owes to choices."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest

from quintain.core.errors import BadInput
from quintain.stats.paired import examples_to_separate, mcnemar
from quintain.stats.ranking import bootstrap_dynascores, bootstrap_scores, rank_uncertainty
from quintain.stats.sensitivity import epsilon_range, leader_of, pool_effects, weight_ranges
from quintain.stats.utility import Choices, UtilityColumn, UtilityTable, rank_models


def answers(n: int, *accuracies: float, seed: int = 0) -> np.ndarray:
    """Draw right and wrong answers of independent models."""
    return (np.random.default_rng(seed).random((n, len(accuracies))) < np.array(accuracies)).astype(float)


def board(*rows: tuple[float, ...]) -> UtilityTable:
    """Make a table of goods."""
    columns = tuple(UtilityColumn(name) for name in ("perf", "speed", "size")[: len(rows[0])])
    return UtilityTable(tuple(f"m{row}" for row in range(len(rows))), columns, np.array(rows, dtype=float))


class TestBootstrap:
    """Resampling examples for all models at once."""

    def test_means_vary_around_the_truth(self) -> None:
        """The resampled means have the mean and the deviation of a share."""
        right = answers(2000, 0.8, 0.5)
        drawn = bootstrap_scores(right, resamples=2000)
        assert drawn.mean(axis=0) == pytest.approx(right.mean(axis=0), abs=0.002)
        assert drawn.std(axis=0) == pytest.approx([0.0089, 0.0112], abs=0.001)

    def test_models_are_resampled_together(self) -> None:
        """Two models with the same answers never differ, whole numbers or not."""
        right = answers(500, 0.7)
        for scores in (right, right * 0.1 + 0.3):
            drawn = bootstrap_scores(np.column_stack([scores, scores]))
            assert (drawn[:, 0] == drawn[:, 1]).all()

    def test_groups_are_drawn_whole(self) -> None:
        """Answers that stand and fall together vary more."""
        right = np.repeat(answers(50, 0.5), 20, axis=0)
        loose = bootstrap_scores(right).std()
        tight = bootstrap_scores(right, groups=np.repeat(np.arange(50), 20)).std()
        assert tight > 3 * loose

    def test_gaps_and_emptiness_are_refused(self) -> None:
        """There must be a score in every cell."""
        with pytest.raises(BadInput, match="no examples"):
            bootstrap_scores(np.zeros((0, 2)))
        with pytest.raises(BadInput, match="missing"):
            bootstrap_scores(np.array([[1.0, np.nan]]))


class TestUncertainty:
    """Rank intervals, probabilities and ties."""

    def test_clear_and_unclear_orders(self) -> None:
        """A model far ahead is surely first; two alike share an interval and a group."""
        right = answers(400, 0.95, 0.7, 0.69)
        scores = right.mean(axis=0).tolist()
        found = rank_uncertainty(bootstrap_scores(right), scores)
        assert (found.low[0], found.high[0]) == (1, 1)
        assert (found.low[1], found.high[1]) == (2, 3)
        assert found.groups == (1, 2, 2)
        assert found.above[0, 1] == 1.0
        assert found.above[1, 2] + found.above[2, 1] == pytest.approx(1.0)
        assert np.diag(found.above) == pytest.approx([0.5, 0.5, 0.5])

    def test_a_duplicate_shares_everything(self) -> None:
        """An exact copy has the same interval, an even chance against its original, and the same group."""
        right = answers(200, 0.8, 0.6)
        twice = np.column_stack([right, right[:, 0]])
        found = rank_uncertainty(bootstrap_scores(twice), twice.mean(axis=0).tolist())
        assert found.above[0, 2] == 0.5
        assert (found.low[0], found.high[0], found.groups[0]) == (found.low[2], found.high[2], found.groups[2])

    def test_unranked_models_are_left_out(self) -> None:
        """A model without a score has no interval and is above nobody."""
        right = answers(100, 0.9, 0.5, 0.7)
        found = rank_uncertainty(bootstrap_scores(right), [0.9, None, 0.7])
        assert found.low[1] is None
        assert found.groups[1] is None
        assert np.isnan(found.above[1]).all()
        assert found.high[2] == 2

    @given(st.permutations(range(4)))
    def test_the_order_of_models_does_not_matter(self, order: list[int]) -> None:
        """Shuffled columns give the same figures, shuffled."""
        right = answers(60, 0.9, 0.6, 0.6, 0.3)
        right[:, 2] = right[:, 1]
        plain = rank_uncertainty(bootstrap_scores(right, resamples=200), right.mean(axis=0).tolist())
        moved = rank_uncertainty(
            bootstrap_scores(right[:, order], resamples=200), right[:, order].mean(axis=0).tolist()
        )
        assert moved.low == tuple(plain.low[place] for place in order)
        assert moved.groups == tuple(plain.groups[place] for place in order)
        assert moved.above == pytest.approx(plain.above[np.ix_(order, order)])

    def test_dynascores_are_resampled_with_their_rates(self) -> None:
        """Each resample is ranked as a table of its own; without variation every one is the table itself."""
        table = board((80, 1), (70, 5), (60, 6))
        still: np.ndarray = np.tile(table.values[:, 0], (5, 1))
        drawn = bootstrap_dynascores(table, {"perf": still})
        assert drawn == pytest.approx(np.tile([score or 0.0 for score in rank_models(table).dynascore], (5, 1)))
        moved = bootstrap_dynascores(table, {"perf": still + np.array([0.0, 2.0, 0.0])})
        expected = rank_models(board((80, 1), (72, 5), (60, 6)), Choices(epsilon=0.01)).dynascore
        assert moved[0] == pytest.approx([score or 0.0 for score in expected])

    @given(
        st.lists(st.tuples(*[st.integers(0, 8).map(float)] * 3), min_size=1, max_size=6),
        st.integers(0, 2**32),
        st.sampled_from([None, 1.0]),
        st.booleans(),
    )
    def test_resampled_dynascores_are_those_of_their_tables(
        self, rows: list[tuple[float, ...]], seed: int, epsilon: float | None, gaps: bool
    ) -> None:
        """All resamples at once give what ranking each of them by itself gives, with ties, gaps and costs."""
        rng = np.random.default_rng(seed)
        values = np.array(rows)
        cannot = np.zeros(values.shape, dtype=bool)
        if gaps:
            values[-1, 1], values[0, 2] = np.nan, np.nan
            cannot[0, 2] = True
        columns = (UtilityColumn("perf"), UtilityColumn("speed"), UtilityColumn("size", lower=True))
        table = UtilityTable(tuple(f"m{row}" for row in range(len(rows))), columns, values, cannot)
        choices = Choices(epsilon=epsilon, amrs={"speed": 0.5} if seed % 2 else None)
        drawn = {
            "perf": values[:, 0] + rng.integers(-1, 2, (4, len(rows))),
            "size": values[:, 2] + rng.integers(0, 2, (4, len(rows))),
        }
        fixed = Choices(epsilon=rank_models(table, choices).epsilon, amrs=choices.amrs)
        for turn, found in enumerate(bootstrap_dynascores(table, drawn, choices)):
            moved = np.column_stack([drawn["perf"][turn], values[:, 1], drawn["size"][turn]])
            expected = rank_models(UtilityTable(table.models, columns, moved, cannot), fixed).dynascore
            assert found == pytest.approx([np.nan if score is None else score for score in expected], nan_ok=True)


class TestPaired:
    """Two models on the same examples."""

    def test_mcnemar_is_the_exact_sign_test(self) -> None:
        """The p-value is scipy's two-sided binomial test of the examples on which the models differ."""
        first = np.array([1] * 30 + [0] * 12 + [1] * 50 + [0] * 8)
        second = np.array([0] * 30 + [1] * 12 + [1] * 50 + [0] * 8)
        found = mcnemar(first, second)
        assert (found.first_only, found.second_only) == (30, 12)
        assert found.p_value == pytest.approx(binomtest(12, 42).pvalue)
        assert mcnemar(first, first).p_value == 1.0

    @given(st.lists(st.tuples(st.booleans(), st.booleans()), min_size=1, max_size=40))
    def test_the_order_of_the_two_does_not_matter(self, pairs: list[tuple[bool, bool]]) -> None:
        """Swapped models have the same p-value."""
        first, second = [a for a, _ in pairs], [b for _, b in pairs]
        assert mcnemar(first, second).p_value == mcnemar(second, first).p_value

    def test_how_many_more_examples(self) -> None:
        """As many as the formula for a paired difference asks: (1.96 + 0.84)² · variance / difference²."""
        first = np.array([1, 1, 1, 0, 0, 0, 1, 1, 0, 0] * 10)
        second = np.array([1, 1, 0, 0, 1, 0, 1, 0, 0, 0] * 10)
        found = examples_to_separate(first, second)
        assert found.difference == pytest.approx(0.1)
        assert found.needed == int(np.ceil((1.959964 + 0.841621) ** 2 * (0.3 - 0.01) / 0.01))
        assert found.more == (found.needed or 0) - 100
        assert examples_to_separate(first, first).needed is None

    def test_groups_need_more_examples(self) -> None:
        """Examples that come in groups that stand and fall together are worth less."""
        first = np.repeat([1, 1, 0, 1, 0, 1, 1, 0], 10)
        second = np.repeat([1, 0, 0, 1, 1, 0, 1, 0], 10)
        alone = examples_to_separate(first, second).needed or 0
        grouped = examples_to_separate(first, second, groups=np.repeat(np.arange(8), 10)).needed or 0
        assert grouped == pytest.approx(10 * alone, abs=10)

    def test_unequal_lengths_are_refused(self) -> None:
        """Both models answered the same examples."""
        with pytest.raises(BadInput, match="same examples"):
            mcnemar([1], [1, 0])


class TestSensitivity:
    """What the leader owes to weights, ε and the others."""

    def test_weight_ranges_by_hand(self) -> None:
        """With rate 0.1, speed 1 is worth 10 points: the fast model leads from a share of one half on."""
        table = board((80, 1), (70, 2))
        lead = weight_ranges(table, Choices(weights={"perf": 3, "speed": 1}))
        assert (lead["speed"].low, lead["speed"].high) == pytest.approx((0.0, 0.5))
        assert (lead["perf"].low, lead["perf"].high) == pytest.approx((0.5, 1.0))

    @given(
        st.lists(st.tuples(*[st.integers(0, 12).map(float)] * 3), min_size=2, max_size=6, unique=True),
        st.integers(1, 9),
    )
    def test_the_leader_leads_inside_its_range(self, rows: list[tuple[float, ...]], tenth: int) -> None:
        """At any share inside the range the leader still has the best score, and outside it has not."""
        table = board(*rows)
        leader = leader_of(table, rank_models(table))
        share = tenth / 10
        for name, lead in weight_ranges(table).items():
            others = {"perf": 0.5, "speed": 0.25, "size": 0.25}
            rest = 1 - others[name]
            weights = {key: share if key == name else (1 - share) * value / rest for key, value in others.items()}
            ranking = rank_models(table, Choices(weights=weights))
            best = max(score for score in ranking.dynascore if score is not None)
            own = ranking.dynascore[table.models.index(str(leader))] or 0.0
            assert lead.high is not None
            if lead.low + 1e-6 < share < lead.high - 1e-6:
                assert own == pytest.approx(best)
            elif share < lead.low - 1e-6 or share > lead.high + 1e-6:
                assert own < best

    def test_epsilon_range(self) -> None:
        """The range ends where ε swallows the pair that makes the rate, and the leader changes."""
        table = board((80, 1), (79.9, 2), (60, 4))
        weights = {"perf": 3.0, "speed": 1.0}
        found = epsilon_range(table, Choices(weights, epsilon=0.01))
        assert leader_of(table, rank_models(table, Choices(weights, epsilon=0.01))) == "m0"
        assert found.low == 0.0
        assert found.high == pytest.approx(0.1)
        assert leader_of(table, rank_models(table, Choices(weights, epsilon=found.high))) == "m1"

    def test_epsilon_may_not_matter(self) -> None:
        """A model that is best in everything leads at any ε."""
        found = epsilon_range(board((80, 9), (70, 6), (60, 5)))
        assert (found.low, found.high) == (0.0, None)

    def test_the_pool_effect(self) -> None:
        """Removing a model changes the rates, and with them the scores of all others."""
        table = board((80, 1), (70, 5), (60, 6))
        effect = pool_effects(table)[2]
        without = rank_models(table.take([0, 1]))
        before = rank_models(table)
        assert effect.model == "m2"
        assert effect.changes["m1"] == pytest.approx((without.dynascore[1] or 0) - (before.dynascore[1] or 0))
        assert abs(effect.largest) == max(abs(change) for change in effect.changes.values())

    def test_removing_a_copy_has_no_effect(self) -> None:
        """A duplicate adds nothing to the pool."""
        effect = pool_effects(board((80, 1), (70, 5), (70, 5), (60, 6)))[2]
        assert effect.largest == 0.0
        assert not effect.leader_changes
