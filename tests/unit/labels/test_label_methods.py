"""What each aggregator does, by hand-made examples and published figures."""

from __future__ import annotations

import csv
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from quintain.core.errors import BadInput
from quintain.labels import dawid_skene
from quintain.labels.contract import Known, make_aggregator
from quintain.labels.mixed_as_two import copies
from quintain.stats.bootstrap import IntArray
from quintain.stats.judgements import Judgements, best_class, sample_votes


def votes(*patterns: str) -> Judgements:
    """Make items from strings of one-letter votes, such as "aab"; worker n gives the n-th vote."""
    rows = [(f"{i:02}", f"w{n}", label) for i, pattern in enumerate(patterns) for n, label in enumerate(pattern)]
    return Judgements.of(*zip(*rows, strict=True))


def test_majority_is_more_than_half() -> None:
    """Three of five are a majority; two, two and one are none, and neither is one against one."""
    result = make_aggregator("majority").aggregate(votes("aaabc", "aabbc", "aabcd", "ab", "aab", "b"))
    assert result.names() == ["a", None, None, None, "a", "b"]
    assert result.confidence.tolist() == pytest.approx([0.6, 0.4, 0.4, 0.5, 2 / 3, 1.0])


def test_majority_with_a_minimum() -> None:
    """A minimum counts votes, not shares."""
    result = make_aggregator("majority", minimum=3).aggregate(votes("aaabc", "aab", "aabcd", "aaabbbb"))
    assert result.names() == ["a", None, None, "b"]
    assert make_aggregator("majority", minimum=1).aggregate(votes("aabcd")).names() == ["a"]


def test_ties_favour_nobody() -> None:
    """Over many tied items each label wins about half, and the seed changes which."""
    tied = votes(*["ab"] * 400)
    first, second = (np.array(make_aggregator("distribution").aggregate(tied, seed=seed).label) for seed in (0, 1))
    assert 150 < first.sum() < 250
    assert 100 < (first != second).sum() < 300


@pytest.mark.parametrize("method", ["dawid-skene", "one-coin", "mace", "glad"])
def test_a_single_vote_is_not_overruled_where_nothing_can_be_compared(method: str) -> None:
    """No item has two judgements: nothing is known about the workers, and each item keeps its vote."""
    said = "xyxxyzxxyx"
    judgements = Judgements.of([str(n) for n in range(10)], [f"w{n % 3}" for n in range(10)], said)
    assert make_aggregator(method).aggregate(judgements).names() == list(said)


def test_the_order_of_votes_in_memory_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Item by item or, with many workers, part by part in the order of workers: the same sums."""
    draw = np.random.default_rng(5)
    item = np.repeat(np.arange(300), 5)
    columns = (item.astype(str), draw.integers(0, 40, 1500).astype(str), draw.integers(0, 3, 1500).astype(str))
    judgements = Judgements.of(*columns)
    usual = make_aggregator("dawid-skene").aggregate(judgements)
    monkeypatch.setattr(dawid_skene, "CACHED", 0)
    monkeypatch.setattr(dawid_skene, "PART", 64)
    by_worker = make_aggregator("dawid-skene").aggregate(judgements)
    assert np.array_equal(by_worker.label, usual.label)
    assert by_worker.distribution == pytest.approx(usual.distribution, abs=1e-9)


@given(st.integers(0, 10**6), st.permutations([0, 1, 2]))
def test_a_tie_does_not_depend_on_the_columns(seed: int, order: list[int]) -> None:
    """The class that wins a tie is the same by name whatever the order of the classes."""
    classes = ["no", "maybe", "yes"]
    straight = best_class(np.ones((1, 3)), ["item"], classes, seed=seed)[0]
    turned = best_class(np.ones((1, 3)), ["item"], [classes[i] for i in order], seed=seed)[0]
    assert classes[straight] == classes[order[turned]]


def test_dynasent_table_7() -> None:
    """Table 5's judgements of Round 1, mixed as two copies and all twice, are Table 7's training examples."""
    classes = ("mixed", "negative", "neutral", "positive")
    judged = np.array([[39_829, 86_486, 215_935, 130_045]])
    made = 2 * copies(judged, classes, "mixed", ("positive", "negative"))
    assert judged.sum() == 472_295
    assert dict(zip(classes, made[0].tolist(), strict=True)) == {
        "mixed": 0,
        "negative": 252_630,
        "neutral": 431_870,
        "positive": 2 * (130_045 + 39_829),
    }
    assert made.sum() == 1_024_248


def test_mixed_as_two() -> None:
    """The paper's first sentence, three mixed and two negative, becomes five negative and three positive copies."""
    rows = Judgements.of(["s"] * 5 + ["t"], [*"12345", "1"], ["mixed"] * 3 + ["negative"] * 2 + ["positive"])
    result = make_aggregator("mixed-as-two").aggregate(rows)
    assert result.distribution[0].tolist() == [0, 5 / 8, 3 / 8]
    assert result.details["copies"] == {"mixed": 0, "negative": 5, "positive": 4}
    with pytest.raises(BadInput, match="no label 'neutral'"):
        make_aggregator("mixed-as-two", into=("neutral",)).aggregate(rows)
    with pytest.raises(BadInput, match="cannot be split"):
        make_aggregator("mixed-as-two", into=("mixed", "positive")).aggregate(rows)


def test_gold_weights() -> None:
    """One worker who was right on gold outweighs two who were wrong there; at chance there is no say."""
    gold_rows = [(f"g{i}", w, "a" if w == "good" else "b") for i in range(20) for w in ("good", "bad", "worse")]
    rows = [*gold_rows, ("x", "good", "b"), ("x", "bad", "a"), ("x", "worse", "a")]
    judgements = Judgements.of(*zip(*rows, strict=True))
    gold = np.where(np.array(judgements.items) == "x", -1, 0)
    result = make_aggregator("gold-weighted").aggregate(judgements, known=Known(gold=gold))
    assert result.names()[-1] == "b"
    assert result.accuracy is not None
    expected = [(0 + 4 / 3) / 24, (20 + 4 / 3) / 24, (0 + 4 / 3) / 24]
    assert result.accuracy.tolist() == pytest.approx(expected)
    with pytest.raises(BadInput, match="No judgement is on a gold item"):
        make_aggregator("gold-weighted").aggregate(judgements, known=Known(gold=np.full(21, -1)))


def test_the_writer_has_a_vote() -> None:
    """2-way: the writer decides between two who differ. 10-way: four of ten are drawn, six are kept."""
    two = make_aggregator("writer-vote").aggregate(votes("ab", "cb"), known=Known(writer=np.array([0, 0])))
    assert two.names() == ["a", None]
    ten = make_aggregator("writer-vote").aggregate(votes("a" * 9 + "b", "ab"), known=Known(writer=np.array([0, 1])))
    assert ten.used is not None
    assert ten.used.sum() == 4 + 2
    assert ten.details["reserved"] == 6
    assert ten.names() == ["a", "b"]
    assert ten.confidence[0] in (1.0, 0.8)


@given(st.integers(0, 1000))
def test_samples_depend_on_content(seed: int) -> None:
    """Which of an item's judgements are drawn does not depend on other items being there."""
    both, alone = votes("abababab", "aaaabbbb"), votes("abababab")
    assert sample_votes(both, 4, seed=seed)[:8].tolist() == sample_votes(alone, 4, seed=seed).tolist()
    assert sample_votes(both, 4, seed=seed).sum() == 8


def test_dawid_skene_learns_who_inverts() -> None:
    """Somebody who always says the opposite helps as much as somebody who is right."""
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 2, 300)
    rows = []
    for i, right in enumerate(truth):
        rows += [(f"{i:03}", "mirror", "ab"[1 - right])]
        rows += [(f"{i:03}", f"w{n}", "ab"[right if rng.random() < 0.7 else 1 - right]) for n in range(4)]
    judgements = Judgements.of(*zip(*rows, strict=True))
    made = {name: make_aggregator(name).aggregate(judgements) for name in ("majority", "dawid-skene")}
    assert (made["dawid-skene"].label == truth).mean() > 0.97
    assert (made["majority"].label == truth).mean() < 0.85
    assert made["dawid-skene"].accuracy is not None
    assert made["dawid-skene"].accuracy[judgements.workers.index("mirror")] < 0.05


def test_likelihood_never_falls() -> None:
    """More iterations of Dawid–Skene's EM never lower the likelihood (but for the smoothing's small part)."""
    rng = np.random.default_rng(3)
    judgements = votes(*("".join(rng.choice(list("abc"), 5, p=[0.6, 0.3, 0.1])) for _ in range(80)))
    found = [
        make_aggregator("dawid-skene", iterations=n, tolerance=-np.inf, smoothing=1e-9)
        .aggregate(judgements)
        .details["log_likelihood"]
        for n in range(1, 12)
    ]
    assert all(later >= earlier - 1e-6 for earlier, later in pairwise(found))


def test_mace_finds_spammers_and_starts_differ() -> None:
    """A worker who always says the same is known for it; every start has a seed of its own."""
    rng = np.random.default_rng(5)
    rows = []
    for i, right in enumerate(rng.integers(0, 3, 200)):
        rows += [(f"{i:03}", "spammer", "a")]
        rows += [(f"{i:03}", f"w{n}", "abc"[right if rng.random() < 0.85 else rng.integers(3)]) for n in range(4)]
    judgements = Judgements.of(*zip(*rows, strict=True))
    result = make_aggregator("mace", iterations=3).aggregate(judgements)
    assert result.accuracy is not None
    assert result.accuracy[judgements.workers.index("spammer")] < 0.3
    assert result.accuracy[1:].min() > 0.6
    assert len(set(result.details["starts"])) == 10
    assert max(result.details["starts"]) == result.details["log_likelihood"]


def test_glad_tells_easy_from_hard() -> None:
    """Items on which all agree come out easier than contested ones, good workers abler than random ones."""
    rng = np.random.default_rng(2)
    rows = []
    for i in range(200):
        right = rng.integers(2)
        chance = 0.95 if i < 100 else 0.6
        rows += [(f"{i:03}", f"w{n}", "ab"[right if rng.random() < chance else 1 - right]) for n in range(5)]
        rows += [(f"{i:03}", "zz-random", "ab"[rng.integers(2)])]
    judgements = Judgements.of(*zip(*rows, strict=True))
    result = make_aggregator("glad").aggregate(judgements)
    ease, ability = result.details["ease"], result.details["ability"]
    assert ease[:100].mean() > ease[100:].mean() + 0.1
    assert ability[:5].min() > ability[5]


@pytest.mark.parametrize(
    ("folder", "method", "options", "expected"),
    [
        ("SpectralMethodsMeetEM/bluebird", "majority", {}, 0.759),
        ("SpectralMethodsMeetEM/bluebird", "dawid-skene", {}, 0.898),
        ("crowd_truth_inference/d_sentiment", "majority", {"minimum": 1}, 0.934),
        ("crowd_truth_inference/d_sentiment", "dawid-skene", {}, 0.960),
    ],
)
def test_published_accuracies(
    shared_data: Path, folder: str, method: str, options: dict[str, int], expected: float
) -> None:
    """Real judgements give the accuracies that are known for them; 43 ties of d_sentiment may fall either way."""
    place = shared_data / "crowd-truth-inference" / "data" / folder
    with (place / "label.csv").open(encoding="utf-8") as stream:
        rows = [(row["item"], row["worker"], row["label"]) for row in csv.DictReader(stream)]
    with (place / "truth.csv").open(encoding="utf-8") as stream:
        truth = {row["item"]: row["truth"] for row in csv.DictReader(stream)}
    result = make_aggregator(method, **options).aggregate(Judgements.of(*zip(*rows, strict=True)))
    labels = dict(zip(result.items, result.names(), strict=True))
    accuracy = np.mean([labels[item] == right for item, right in truth.items()])
    assert accuracy == pytest.approx(expected, abs=0.003 if options else 0.0005)


def read_crowd(place: Path) -> Judgements:
    """Read judgements of the shared data."""
    with (place / "label.csv").open(encoding="utf-8") as stream:
        rows = [(row["item"], row["worker"], row["label"]) for row in csv.DictReader(stream)]
    return Judgements.of(*zip(*rows, strict=True))


def drawn(seed: int, *, spammers: float) -> tuple[Judgements, IntArray]:
    """Draw five judgements of each of 1,500 items by workers who know more or less, some of whom say what they like."""
    rng = np.random.default_rng(seed)
    items, workers, classes = 1500, 100, 4
    known = np.where(rng.random(workers) < spammers, 0.1, rng.beta(6, 2, workers))
    habit = rng.dirichlet(np.full(classes, 0.7), workers).cumsum(axis=1)
    worker = (rng.integers(0, workers, items)[:, None] + np.arange(5) * (workers // 5)) % workers
    truth = np.broadcast_to(rng.integers(0, classes, items)[:, None], worker.shape)
    guess = (rng.random(worker.shape)[..., None] > habit[worker]).sum(axis=-1).clip(max=classes - 1)
    label = np.where(rng.random(worker.shape) < known[worker], truth, guess)
    names = [f"i{n:05}" for n in range(items)], [f"w{n:03}" for n in range(workers)], list("abcd")
    return Judgements.from_codes(np.repeat(np.arange(items), 5), worker.ravel(), label.ravel(), *names), truth[:, 0]


def check_stopping(method: str, judgements: Judgements) -> None:
    """Say that the labels where a method stops are those that it would come to in thousands of iterations.

    Dawid and Skene's tables go on creeping for long where workers did little: it may be off on one item in 200.
    """
    stopped = make_aggregator(method).aggregate(judgements)
    settled = make_aggregator(method, iterations=3000, tolerance=1e-12).aggregate(judgements)
    assert stopped.details["iterations"] < settled.details["iterations"] < 3000
    assert np.mean(stopped.label != settled.label) <= (0.005 if method == "dawid-skene" else 0)
    assert np.abs(stopped.distribution - settled.distribution).mean() < (3e-3 if method == "dawid-skene" else 1e-3)


@pytest.mark.parametrize("method", ["dawid-skene", "mace"])
@pytest.mark.parametrize("spammers", [0.0, 0.4])
@pytest.mark.parametrize("seed", [1, 2])
def test_labels_have_settled_where_a_method_stops(method: str, spammers: float, seed: int) -> None:
    """Where the likelihood gains next to nothing any more, going on changes no label."""
    check_stopping(method, drawn(seed, spammers=spammers)[0])


@pytest.mark.parametrize("method", ["dawid-skene", "mace"])
@pytest.mark.parametrize(
    "folder", ["SpectralMethodsMeetEM/bluebird", "SpectralMethodsMeetEM/rte", "crowd_truth_inference/d_sentiment"]
)
def test_labels_of_real_crowds_have_settled_where_a_method_stops(shared_data: Path, method: str, folder: str) -> None:
    """The same of people's judgements."""
    check_stopping(method, read_crowd(shared_data / "crowd-truth-inference" / "data" / folder))


@pytest.mark.parametrize(("spammers", "gain"), [(0.4, 0.05), (0.0, 0.005)])
def test_mace_beats_the_votes_and_what_the_papers_prior_gives(spammers: float, gain: float) -> None:
    """Over five draws it is better than the shares of votes, and no worse than with halves for a prior."""
    methods = {"votes": ("distribution", {}), "ours": ("mace", {}), "halves": ("mace", {"known": 0.5, "spam": 0.5})}
    scores: dict[str, list[float]] = {name: [] for name in methods}
    for seed in range(1, 6):
        judgements, truth = drawn(seed, spammers=spammers)
        for name, (method, options) in methods.items():
            scores[name].append(float((make_aggregator(method, **options).aggregate(judgements).label == truth).mean()))
    mean = {name: np.mean(values) for name, values in scores.items()}
    assert mean["ours"] > mean["votes"] + gain
    assert mean["ours"] >= mean["halves"] - 0.001


def five_votes(
    share: list[float], low: float, high: float, *, items: int = 1000, workers: int = 300
) -> tuple[Any, ...]:
    """Draw five votes on each item by workers who err evenly; classes are as frequent as *share* says."""
    chance = np.random.default_rng(5)
    truth = chance.choice(len(share), items, p=share)
    accuracy = chance.uniform(low, high, workers)
    worker = np.stack([chance.choice(workers, 5, replace=False) for _ in range(items)])
    other = (truth[:, None] + chance.integers(1, len(share), worker.shape)) % len(share)
    label = np.where(chance.random(worker.shape) < accuracy[worker], truth[:, None], other)
    names = [f"{item:04}" for item in range(items) for _ in range(5)]
    return Judgements.of(names, [f"w{one}" for one in worker.ravel()], [str(one) for one in label.ravel()]), truth


@pytest.mark.parametrize("method", ["one-coin", "glad"])
@pytest.mark.parametrize("share", [[0.85, 0.15], [0.7, 0.15, 0.08, 0.05, 0.02]])
def test_skewed_classes_are_no_disadvantage(method: str, share: list[float]) -> None:
    """Where one class is frequent, these methods are better than the plurality of votes, not worse."""
    judgements, truth = five_votes(share, 0.55, 0.9)
    plurality = (make_aggregator("majority", minimum=1).aggregate(judgements).label == truth).mean()
    found = make_aggregator(method).aggregate(judgements)
    assert (found.label == truth).mean() > plurality + 0.01


@pytest.mark.parametrize("method", ["mace", "one-coin"])
@pytest.mark.parametrize(("share", "low", "high"), [(0.1, 0.6, 0.95), (0.15, 0.55, 0.9)])
def test_a_rare_class_is_not_found_where_it_is_not(method: str, share: float, low: float, high: float) -> None:
    """On two skewed classes a vote for the rare one does not carry an item, and the classes come out as frequent.

    Held to even shares, MACE explains the frequent label as everybody's habit, and falls below the votes.
    """
    judgements, truth = five_votes([1 - share, share], low, high)
    plurality = (make_aggregator("distribution").aggregate(judgements).label == truth).mean()
    found = make_aggregator(method).aggregate(judgements)
    assert (found.label == truth).mean() > plurality + 0.01
    if method == "mace":
        assert found.details["prior"]["1"] == pytest.approx(share, abs=0.05)
        even = make_aggregator(method, even=1e9).aggregate(judgements)
        assert (even.label == truth).mean() < plurality - 0.015


def test_mace_does_worse_with_no_iteration_more() -> None:
    """On skewed classes more iterations lead no further away from the truth."""
    judgements, truth = five_votes([0.9, 0.1], 0.6, 0.95)
    found = [
        (make_aggregator("mace", iterations=most, tolerance=1e-12).aggregate(judgements).label == truth).mean()
        for most in (5, 20, 200)
    ]
    assert found[2] >= found[1] - 0.003 >= found[0] - 0.006


def test_an_early_stop_helps_where_workers_did_little() -> None:
    """With a few judgements per worker and four classes, fewer iterations are nearer to the truth; all votes count."""
    judgements, truth = five_votes([0.7, 0.1, 0.1, 0.1], 0.4, 0.9, items=600)
    late, early = (make_aggregator(name).aggregate(judgements) for name in ("dawid-skene", "dawid-skene-early"))
    assert early.details["iterations"] < late.details["iterations"]
    assert (early.label == truth).mean() > (late.label == truth).mean() + 0.03


def test_one_coin_takes_even_classes_as_even() -> None:
    """Frequent errors do not make one class swallow the other, and the prior that was taken is told."""
    judgements, _ = five_votes([0.5, 0.5], 0.5, 0.75)
    found = make_aggregator("one-coin").aggregate(judgements)
    assert 0.4 < (found.label == 0).mean() < 0.6
    assert found.details["prior"] == pytest.approx({"0": 0.5, "1": 0.5}, abs=0.03)
    skewed = make_aggregator("one-coin").aggregate(five_votes([0.9, 0.1], 0.6, 0.9)[0])
    assert skewed.details["prior"]["0"] > 0.6


@pytest.mark.parametrize(
    ("folder", "least"),
    [("SpectralMethodsMeetEM/rte", 0.92), ("crowd_truth_inference/d_sentiment", 0.945)],
)
def test_one_coin_and_glad_beat_the_plurality_on_crowd_data(shared_data: Path, folder: str, least: float) -> None:
    """On real crowds, with all votes and with five of them, both are better than the plurality."""
    path = shared_data / "crowd-truth-inference" / "data" / folder
    if not path.exists():
        pytest.skip("the crowd data is not here")
    rows = [tuple(row.values())[:3] for row in csv.DictReader((path / "label.csv").open())]
    truth = dict(tuple(row.values())[:2] for row in csv.DictReader((path / "truth.csv").open()))
    chance = np.random.default_rng(1)
    order = chance.permutation(len(rows))
    seen: dict[str, int] = {}
    some = []
    for place in order:
        item = rows[place][0]
        seen[item] = seen.get(item, 0) + 1
        if seen[item] <= 5:
            some.append(rows[place])

    def accuracy(method: str, given: list[Any], **options: int) -> float:
        found = make_aggregator(method, **options).aggregate(Judgements.of(*zip(*given, strict=True)))
        names = dict(zip(found.items, found.names(), strict=True))
        return float(np.mean([names[item] == label for item, label in truth.items() if item in names]))

    for votes_given in (rows, some):
        plurality = accuracy("majority", votes_given, minimum=1)
        assert accuracy("one-coin", votes_given) > plurality + 0.01
        assert accuracy("glad", votes_given) > plurality + 0.01
    assert accuracy("one-coin", rows) >= least
