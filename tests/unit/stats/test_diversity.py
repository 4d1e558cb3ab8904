"""How texts differ: edit distance, words, and vocabularies in draws of the same size."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from quintain.stats.by_class import macro_f1, scores_by_class
from quintain.stats.diversity import CutTexts, binned, count_words, edit_shares, vocabulary_sizes, words_of
from quintain.stats.two_samples import median_interval, superiority
from tests.properties import examples

TEXTS = st.text(alphabet="ab c'é", max_size=12)


@settings(max_examples=examples(40), deadline=None)
@given(st.lists(st.tuples(TEXTS, TEXTS), max_size=8))
def test_an_edit_share_is_a_distance(pairs: list[tuple[str, str]]) -> None:
    """It is 0 for the same text alone, at most 1, and the same in both directions."""
    before, after = [one for one, _ in pairs], [two for _, two in pairs]
    shares = edit_shares(before, after)
    assert ((shares >= 0) & (shares <= 1)).all()
    assert (shares == edit_shares(after, before)).all()
    assert [share == 0 for share in shares] == [one == two for one, two in pairs]


@settings(max_examples=examples(40), deadline=None)
@given(st.lists(TEXTS, max_size=10))
def test_words_are_cut_as_they_are_counted(texts: list[str]) -> None:
    """Both ways of finding words agree, text by text."""
    assert words_of(texts).counts.tolist() == count_words(texts).tolist()


def test_words_have_no_case_and_no_signs() -> None:
    """Case does not count, an apostrophe and a hyphen join, signs are no words."""
    words = words_of(["Don't! DON'T", "a well-made film", "…", ""])
    assert words.counts.tolist() == [2, 3, 0, 0]
    assert len(set(words.codes.tolist())) == 4


def test_a_draw_has_as_many_words_as_can_differ() -> None:
    """Five words of each of a hundred texts: all different where no word is shared, one where all are the same."""
    unlike = CutTexts(np.arange(3000), np.arange(0, 3001, 1000))
    assert vocabulary_sizes(unlike, texts=1).tolist() == [5] * 500
    same = CutTexts(np.zeros(60, dtype=np.int64), np.arange(0, 61, 6))
    assert vocabulary_sizes(same).tolist() == [1] * 500


def test_words_of_a_text_are_drawn_without_replacement() -> None:
    """A text of exactly five words gives all of them, a shorter one what it has, one without a word is not drawn."""
    words = words_of(["one two three four five", "!"])
    assert vocabulary_sizes(words, texts=3).tolist() == [5] * 500
    assert vocabulary_sizes(words_of(["one two"]), samples=4).tolist() == [2] * 4
    assert vocabulary_sizes(words_of(["", "?"])).tolist() == []


def test_draws_do_not_grow_with_the_texts() -> None:
    """Texts that are twice as long, with words from the same list, have about the same vocabulary in a draw."""
    rng = np.random.default_rng(1)
    names = np.array([f"w{at}" for at in range(2000)])
    short, long = ([" ".join(names[rng.integers(0, 2000, size)]) for _ in range(2000)] for size in (8, 16))
    one, two = (vocabulary_sizes(words_of(texts), seed=3) for texts in (short, long))
    assert one.mean() == pytest.approx(two.mean(), rel=0.02)
    assert (one == vocabulary_sizes(words_of(short), seed=3)).all()


def test_every_place_of_a_text_is_drawn_alike() -> None:
    """Each of eight words is among the five about five times in eight."""
    words = CutTexts(np.arange(8), np.array([0, 8]))
    picked = np.zeros(8)
    for seed in range(3):
        drawn = vocabulary_sizes(CutTexts(np.arange(8), words.starts), samples=400, texts=1, seed=seed)
        assert (drawn == 5).all()
    for place in range(8):
        marked = CutTexts(np.where(np.arange(8) == place, 1, 0), words.starts)
        picked[place] = (vocabulary_sizes(marked, samples=4000, texts=1, seed=place) == 2).mean()
    assert picked == pytest.approx(np.full(8, 5 / 8), abs=0.04)


def test_bins_are_shared_and_hold_everything() -> None:
    """Shares of each series add up to one, also where the tail lies beyond the last edge."""
    values = np.concatenate([np.arange(1000.0), [1e6]])
    found = binned({"a": values, "b": np.array([3.0])}, whole=True)
    assert found.beyond
    assert [round(float(one.sum()), 9) for one in found.shares.values()] == [1.0, 1.0]
    assert (np.diff(found.edges) == np.diff(found.edges)[0]).all()


@settings(max_examples=examples(40), deadline=None)
@given(st.lists(st.integers(0, 9), min_size=2, max_size=30), st.lists(st.integers(0, 9), min_size=2, max_size=30))
def test_superiority_is_the_share_of_pairs(first: list[int], second: list[int]) -> None:
    """It equals the count over all pairs, ties half, and lies in its interval."""
    one, two = np.array(first, dtype=float), np.array(second, dtype=float)
    found = superiority(one, two)
    wins = (one[:, None] > two).mean() + 0.5 * (one[:, None] == two).mean()
    assert found.value == pytest.approx(wins)
    assert found.low is not None
    assert found.high is not None
    assert found.low - 1e-9 <= wins <= found.high + 1e-9


def test_the_median_interval_covers_as_it_says() -> None:
    """Of 400 samples of 60, at least 94 in 100 intervals hold the median."""
    rng = np.random.default_rng(0)
    found = [median_interval(rng.exponential(size=60)) for _ in range(400)]
    held = [one.low <= np.log(2) <= one.high for one in found if one.low is not None and one.high is not None]
    assert len(held) == 400
    assert np.mean(held) > 0.94


def test_scores_by_class_count_what_went_unanswered() -> None:
    """An example without a usable answer lowers recall and F1 of its class, and no precision."""
    scores, macro = scores_by_class(["a", "b"], [[8, 1], [0, 10]], [1, 0])
    assert macro_f1([[8, 1], [0, 10]], [1, 0]) == macro.value
    assert macro_f1([[0, 0], [0, 0]], [0, 0]) is None
    assert scores[0].recall.value == pytest.approx(0.8)
    assert scores[0].precision.value == 1.0
    assert scores[0].f1.value == pytest.approx(2 * 8 / (10 + 8))
    assert scores[1].f1.value == pytest.approx(2 * 10 / (10 + 11))
    assert macro.value == pytest.approx((16 / 18 + 20 / 21) / 2)
    assert macro.low is not None
    assert macro.low < macro.value
    empty, none = scores_by_class(["a"], [[0]], [0])
    assert (empty[0].f1.value, none.value) == (None, None)
