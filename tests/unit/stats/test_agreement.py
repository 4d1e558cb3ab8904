"""Agreement: published examples, definitions, invariances, and what is undefined."""

from __future__ import annotations

import gzip
import json
from itertools import combinations, permutations
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from quintain.core.errors import BadInput
from quintain.stats.agreement import (
    agreement_of_counts,
    measure_agreement,
    never_disagreeing,
    patterns_of,
)
from quintain.stats.judgements import Judgements
from quintain.stats.pairs import cohen_kappa, judgement_pairs, pair_kappas
from quintain.stats.workers import agreement_with_others, describe_workers, wilson
from tests.properties import examples
from tests.published import baseline_votes

# Krippendorff (2011), "Computing Krippendorff's Alpha-Reliability", section C: four observers, twelve units.
OBSERVERS = ["123321412...", "1233224125.3", ".3332342251.", "12332441251."]
COUNTS = arrays(np.int64, st.tuples(st.integers(2, 12), st.integers(2, 4)), elements=st.integers(0, 4))


def observed() -> Judgements:
    """Give the twelve units of the published example."""
    rows = [
        (f"unit{unit:02}", f"observer{n}", value)
        for n, line in enumerate(OBSERVERS)
        for unit, value in enumerate(line)
        if value != "."
    ]
    return Judgements.of(*zip(*rows, strict=True))


@pytest.mark.parametrize(("level", "alpha"), [("nominal", 0.743), ("ordinal", 0.815), ("interval", 0.849)])
def test_krippendorffs_example(level: Any, alpha: float) -> None:
    """Alpha with missing data is as published at each level, and its interval is around it."""
    judgements = observed()
    values = np.array([float(name) for name in judgements.classes])
    found = measure_agreement(judgements, level=level, values=values).statistics["krippendorff_alpha"]
    assert found.value == pytest.approx(alpha, abs=0.0005)
    assert found.low is not None
    assert found.high is not None
    assert found.low < alpha < found.high <= 1


def test_unequal_raters() -> None:
    """On the same data Fleiss' κ and AC1 are those of Gwet's handbook, where an item with one rating still counts."""
    found = measure_agreement(observed())
    assert found.statistics["fleiss_kappa"].value == pytest.approx(0.76117, abs=5e-6)
    assert found.statistics["gwet_ac1"].value == pytest.approx(0.77544, abs=5e-6)
    assert found.statistics["percent_agreement"].value == pytest.approx(0.81818, abs=5e-6)
    assert (found.items, found.workers, found.judgements, found.single) == (12, 4, 41, 1)


def test_fleiss_example() -> None:
    """Fourteen raters, ten subjects, five categories: the textbook κ of 0.210."""
    counts = [
        [0, 0, 0, 0, 14],
        [0, 2, 6, 4, 2],
        [0, 0, 3, 5, 6],
        [0, 3, 9, 2, 0],
        [2, 2, 8, 1, 1],
        [7, 7, 0, 0, 0],
        [3, 2, 6, 3, 0],
        [2, 5, 3, 2, 2],
        [6, 5, 2, 1, 0],
        [0, 2, 2, 3, 7],
    ]
    found = agreement_of_counts(np.array(counts))
    assert found["fleiss_kappa"].value == pytest.approx(0.210, abs=0.0005)
    assert found["percent_agreement"].value == pytest.approx(0.378, abs=0.0005)
    assert found["unanimous"].value == 0.1


def test_cohen_by_hand() -> None:
    """κ of 20, 5, 10, 15 is 0.4; the pairs with the most items come first."""
    assert cohen_kappa(np.array([[20.0, 5.0], [10.0, 15.0]])) == pytest.approx(0.4)
    cells = ["yy"] * 20 + ["yn"] * 5 + ["ny"] * 10 + ["nn"] * 15
    rows = [(f"{i:02}", worker, cell[n]) for i, cell in enumerate(cells) for n, worker in enumerate("ab")]
    rows += [(f"{i:02}", "c", "y") for i in range(20)]
    judgements = Judgements.of(*zip(*rows, strict=True))
    first, *others = pair_kappas(judgements)
    assert (first.first, first.second, first.items) == (0, 1, 50)
    assert first.kappa.value == pytest.approx(0.4)
    assert first.kappa.low is not None
    assert first.kappa.high is not None
    assert first.kappa.low < 0.4 < first.kappa.high
    assert [one.kappa.reason for one in others] == ["both gave every item the same label"] * 2
    assert len(pair_kappas(judgements, most=1, resamples=0)) == 1


def pairwise_alpha(counts: np.ndarray[Any, Any], distance: Any) -> float:
    """Compute alpha from its definition, one pair of judgements at a time."""
    units = [[c for c, n in enumerate(row) for _ in range(n)] for row in counts.tolist()]
    units = [unit for unit in units if len(unit) >= 2]
    pool = [value for unit in units for value in unit]
    seen = sum(distance(a, b) / (len(unit) - 1) for unit in units for a, b in permutations(unit, 2)) / len(pool)
    expected = sum(distance(a, b) for a, b in permutations(pool, 2)) / (len(pool) * (len(pool) - 1))
    return float(1 - seen / expected)


@settings(max_examples=examples(60), deadline=None)
@given(COUNTS)
def test_alpha_is_its_definition(counts: Any) -> None:
    """Alpha from sums of patterns is alpha from all pairs, at the nominal and the interval level."""
    paired = counts[counts.sum(axis=1) >= 2]
    assume((paired.sum(axis=0) > 0).sum() > 1)
    found = agreement_of_counts(counts, resamples=0)["krippendorff_alpha"].value
    assert found == pytest.approx(pairwise_alpha(counts, lambda a, b: float(a != b)))
    values = np.array([1.0, 2.0, 5.0, 11.0])[: counts.shape[1]]
    found = agreement_of_counts(counts, level="interval", values=values, resamples=0)["krippendorff_alpha"].value
    assert found == pytest.approx(pairwise_alpha(counts, lambda a, b: (values[a] - values[b]) ** 2))


@settings(max_examples=examples(40), deadline=None)
@given(COUNTS, st.randoms(use_true_random=False))
def test_what_does_not_matter(counts: Any, random: Any) -> None:
    """The order of items and of nominal classes, and classes that nobody chose (but for AC1), change nothing."""
    rows, columns = list(range(counts.shape[0])), list(range(counts.shape[1]))
    random.shuffle(rows)
    random.shuffle(columns)
    wide = np.column_stack([counts, np.zeros(len(counts), dtype=np.int64)])
    found = [agreement_of_counts(table, resamples=0) for table in (counts, counts[rows][:, columns], wide)]
    for name, estimate in found[0].items():
        assert found[1][name].value == pytest.approx(estimate.value, nan_ok=True)
        if name != "gwet_ac1":
            assert found[2][name].value == pytest.approx(estimate.value)


@settings(max_examples=examples(30), deadline=None)
@given(COUNTS, st.floats(0.1, 50), st.floats(-1000, 1000))
def test_interval_alpha_does_not_know_units(counts: Any, scale: float, shift: float) -> None:
    """Numbers may be scaled and shifted."""
    values = np.arange(counts.shape[1], dtype=np.float64)
    found = [
        agreement_of_counts(counts, level="interval", values=v, resamples=0)["krippendorff_alpha"].value
        for v in (values, scale * values + shift)
    ]
    assert found[0] == pytest.approx(found[1], abs=1e-6)


@given(COUNTS)
def test_every_item_has_its_pattern(counts: Any) -> None:
    """Codes and patterns give the counts back, also where a code of mixed radix would not fit."""
    codes, patterns = patterns_of(counts)
    assert (patterns[codes] == counts).all()
    large = np.tile(counts * 10**7, (1, 4))
    codes, patterns = patterns_of(large)
    assert (patterns[codes] == large).all()


def test_all_equal_labels_are_undefined() -> None:
    """Where all say the same, chance-corrected figures are undefined and say so; plain ones are 1."""
    same = agreement_of_counts(np.array([[3, 0], [5, 0]]))
    for name in ("krippendorff_alpha", "fleiss_kappa"):
        assert same[name].value is None
        assert same[name].reason is not None
        assert "all labels are equal" in same[name].reason
    assert same["percent_agreement"].value == same["unanimous"].value == 1
    assert same["gwet_ac1"].value == 1
    assert agreement_of_counts(np.array([[3], [5]]))["gwet_ac1"].reason == "there is only one class"
    alone = agreement_of_counts(np.array([[1, 0], [0, 1]]))
    assert {estimate.reason for estimate in alone.values()} == {"no item has two judgements"}
    level: Any = "interval"
    flat = agreement_of_counts(np.array([[3, 0], [5, 0]]), level=level, values=np.array([0.1, 0.3]))
    assert flat["krippendorff_alpha"].value is None


def test_intervals_are_those_of_a_plain_bootstrap() -> None:
    """Resampling patterns is resampling items: the interval is that of a loop over resampled items."""
    rng = np.random.default_rng(0)
    counts = rng.multinomial(5, [0.7, 0.2, 0.1], size=200)
    counts[:80] = rng.multinomial(5, [0.1, 0.1, 0.8], size=80)
    found = agreement_of_counts(counts, resamples=4000)["krippendorff_alpha"]
    drawn = [
        agreement_of_counts(counts[rng.integers(0, 200, 200)], resamples=0)["krippendorff_alpha"].value
        for _ in range(800)
    ]
    low, high = np.quantile(np.array(drawn, dtype=np.float64), [0.025, 0.975])
    assert found.low == pytest.approx(low, abs=0.02)
    assert found.high == pytest.approx(high, abs=0.02)


def test_levels_need_their_numbers() -> None:
    """An order or numbers that are missing, or too many ranks, are named."""
    judgements = observed()
    with pytest.raises(BadInput, match="order of the labels"):
        measure_agreement(judgements, level="ordinal")
    with pytest.raises(BadInput, match="a number for each label"):
        measure_agreement(judgements, level="interval")
    with pytest.raises(BadInput, match="61 ranks"):
        agreement_of_counts(np.ones((2, 61), dtype=np.int64), level="ordinal")


def test_who_never_disagrees() -> None:
    """A worker who always votes with the majority never disagrees; without a majority there is nothing to say."""
    rows = [("1", "a", "x"), ("1", "b", "x"), ("1", "c", "y"), ("2", "a", "y"), ("2", "b", "y"), ("3", "d", "x")]
    judgements = Judgements.of(*zip(*rows, strict=True))
    never, judged = never_disagreeing(judgements)
    assert never.tolist() == [True, True, False, False]
    assert judged.tolist() == [True, True, True, False]
    assert measure_agreement(judgements).never_disagree == 2


@given(st.lists(st.integers(0, 4), min_size=1, max_size=6))
def test_pairs_are_all_pairs(sizes: list[int]) -> None:
    """Every two judgements of an item are a pair, once."""
    rows = [(f"{i}", f"w{n}", "x") for i, size in enumerate(sizes) for n in range(size)]
    assume(rows)
    left, right = judgement_pairs(Judgements.of(*zip(*rows, strict=True)))
    expected = [(a, b) for a, b in combinations(range(len(rows)), 2) if rows[a][0] == rows[b][0]]
    assert sorted(zip(left.tolist(), right.tolist(), strict=True)) == expected


@settings(max_examples=examples(50), deadline=None)
@given(st.lists(st.lists(st.sampled_from("abc"), min_size=1, max_size=6), min_size=1, max_size=8))
def test_the_majority_of_the_others(items: list[list[str]]) -> None:
    """Agreement with others is what counting the others one by one gives."""
    rows = [(f"{i}", f"w{n}", label) for i, votes in enumerate(items) for n, label in enumerate(votes)]
    judgements = Judgements.of(*zip(*rows, strict=True))
    compared, agreed = agreement_with_others(judgements)
    expected = {worker: [0, 0] for worker in judgements.workers}
    for votes in items:
        for n, label in enumerate(votes):
            others = votes[:n] + votes[n + 1 :]
            winner = next((name for name in "abc" if 2 * others.count(name) > len(others)), None)
            expected[f"w{n}"][0] += winner is not None
            expected[f"w{n}"][1] += winner == label
    assert [list(pair) for pair in zip(compared, agreed, strict=True)] == [expected[w] for w in judgements.workers]


def test_wilson_by_hand() -> None:
    """The interval of 8 in 10 is .490 to .943; ends stay in range and nothing of nothing is undefined."""
    low, high = wilson(np.array([8, 0, 10, 0]), np.array([10, 10, 10, 0]))
    assert low[:3].tolist() == pytest.approx([0.490, 0.0, 0.722], abs=0.0006)
    assert high[:3].tolist() == pytest.approx([0.943, 0.278, 1.0], abs=0.0006)
    assert np.isnan(low[3])
    assert np.isnan(high[3])


def test_suspicious_workers() -> None:
    """Who always presses the same key, is too fast, or is no better than chance, is named; the others are not."""
    rng = np.random.default_rng(4)
    rows, seconds = [], []
    for i in range(60):
        right = "abc"[i % 3]
        rows += [(f"{i:02}", f"good{n}", right if rng.random() < 0.9 else "abc"[rng.integers(3)]) for n in range(4)]
        seconds += [8.0, 9.0, 10.0, 1.0]
        rows += [(f"{i:02}", "same", "a"), (f"{i:02}", "wrong", "abc"[(i + 1 + i % 2) % 3])]
        seconds += [8.0, float("nan")]
    judgements = Judgements.of(*zip(*rows, strict=True))
    table = describe_workers(judgements, np.array(seconds))
    patterns = dict(zip(judgements.workers, table.patterns, strict=True))
    assert patterns["same"] == ("same_label",)
    assert patterns["wrong"] == ("no_better_than_chance",)
    assert patterns["good3"] == ("too_fast",)
    assert patterns["good0"] == patterns["good1"] == ()
    assert table.accuracy[:4].min() > 0.8
    assert table.accuracy[4:].max() < 0.5
    assert (table.accuracy_low < table.accuracy).all()


def test_baseline_protocol() -> None:
    """The BASELINE arm has α = .81 with the writer as a rater, invalid as a category and nothing filtered."""
    votes = baseline_votes()
    rows = [(item, worker, answer) for item, worker, answer, _ in votes]
    rows += sorted({(item, "writer", writer) for item, _, _, writer in votes})
    found = measure_agreement(Judgements.of(*zip(*rows, strict=True))).statistics["krippendorff_alpha"]
    assert found.value is not None
    assert round(found.value, 2) == 0.81


def test_the_majority_is_the_gold_label_where_there_is_one() -> None:
    """Five labels an item, some of them missing: more than half is a majority, two against two is none."""
    labels = {"1": "eeenc", "2": "nncce", "3": "ccc", "4": "en", "5": "nnnnn"}
    rows = [(item, f"place{n}", label) for item, given in labels.items() for n, label in enumerate(given)]
    counts = (judgements := Judgements.of(*zip(*rows, strict=True))).counts()
    clear = 2 * counts.max(axis=1) > counts.sum(axis=1)
    names = np.array(judgements.classes)[counts.argmax(axis=1)]
    assert dict(zip(np.array(judgements.items)[clear], names[clear], strict=True)) == {"1": "e", "3": "c", "5": "n"}


def test_snli_hard(shared_data: Path) -> None:
    """SNLI-hard's five labels: the majority is its gold label wherever it has one."""
    path = shared_data / "nli-small" / "data" / "raw" / "SNLI Test Hard" / "snli_1.0_test_hard.jsonl.gz"
    with gzip.open(path, "rt", encoding="utf-8") as stream:
        records = [json.loads(line) for line in stream]
    rows = [
        (r["pairID"], f"place{n}", label) for r in records for n, label in enumerate(r["annotator_labels"]) if label
    ]
    judgements = Judgements.of(*zip(*rows, strict=True))
    counts = judgements.counts()
    names = np.array(judgements.classes)[counts.argmax(axis=1)]
    gold = {r["pairID"]: r["gold_label"] for r in records}
    clear = 2 * counts.max(axis=1) > counts.sum(axis=1)
    assert len(records) == 3261
    pairs = zip(np.array(judgements.items)[clear], names[clear], strict=True)
    assert all(gold[item] == name for item, name in pairs)


def test_eight_items_on_which_all_agree_are_no_certainty() -> None:
    """Everything that agreement is told by keeps room below 1, as much as accuracy does; so does a pair's κ."""
    rows = [(f"i{at}", worker, "ab"[at % 2]) for at in range(8) for worker in ("x", "y", "z")]
    judgements = Judgements.of(*zip(*rows, strict=True))
    found = measure_agreement(judgements, seed=1)
    for name in ("krippendorff_alpha", "fleiss_kappa", "gwet_ac1", "percent_agreement", "unanimous"):
        estimate = found.statistics[name]
        assert (estimate.value, estimate.high) == (1.0, 1.0)
        assert estimate.low is not None
        assert 0.4 < estimate.low < 0.85
    never = found.statistics["never_disagree"]
    assert never.low is not None
    assert never.low < 0.7
    for pair in pair_kappas(judgements):
        assert (pair.kappa.value, pair.kappa.high) == (1.0, 1.0)
        assert pair.kappa.low is not None
        assert 0.3 < pair.kappa.low < 0.85
