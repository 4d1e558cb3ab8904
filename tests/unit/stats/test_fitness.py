"""Whether a data set is fit to rank models on."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from quintain.stats.fitness import LEAST_EXAMPLES, weaknesses

COUNTS = st.dictionaries(st.sampled_from("abc"), st.integers(0, 400), max_size=3)


@given(COUNTS)
def test_every_warning_has_its_reason(counts: dict[str, int]) -> None:
    """Few, one-sided and a missing label are each said exactly where they are so."""
    total = sum(counts.values())
    kinds = {one.kind for one in weaknesses(total, counts, "abc")}
    assert ("few" in kinds) == (total < LEAST_EXAMPLES)
    assert ("one_sided" in kinds) == (total > 0 and max(counts.values()) > 0.9 * total)
    occurring = sum(count > 0 for count in counts.values())
    assert ("absent" in kinds) == (occurring == 2)


def test_words_name_labels_only_where_they_may_be_told() -> None:
    """Hidden labels stay unnamed; groups of examples are called so."""
    (few, sided) = weaknesses(15, {"a": 60}, "ab", grouped=True, name_labels=False)
    assert few.text == "too small to rank on: with 15 groups of examples, one half is known to ± 25 points"
    assert sided.labels == ()
    assert sided.text.endswith("one label")
    assert weaknesses(200, {"a": 195, "b": 5}, "ab")[0].text.endswith("one label (a)")


def test_answers_without_labels_are_judged_by_their_number() -> None:
    """Spans and texts have no classes that could be missing."""
    assert weaknesses(150, {}) == ()
    assert [one.kind for one in weaknesses(0, {})] == ["few"]
