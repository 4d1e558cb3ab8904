"""Metrics of spans, sets of choices, tokens and free text."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sacrebleu.metrics.bleu import BLEU
from sacrebleu.metrics.chrf import CHRF

from quintain.core.task import AnswerType
from quintain.metrics.evaluate import evaluate_metrics
from tests.properties import examples


def values(answer_type: AnswerType, gold: Any, said: Any, *names: str) -> list[float | None]:
    """Compute metrics without intervals."""
    result = evaluate_metrics(answer_type, gold, said, names, resamples=0)
    return [result.metrics[name].estimate.value for name in names]


def test_spans_take_the_nearest_gold() -> None:
    """Case, articles and punctuation do not count, and of several golds the nearest does."""
    gold = [["Denver Broncos", "The Broncos"], ["12 points"]]
    assert values("span", gold, ["the broncos!", "12"], "exact_match", "token_f1") == pytest.approx(
        [0.5, (1 + 2 / 3) / 2]
    )


def test_spans_with_positions_are_their_texts() -> None:
    """Stored answers carry where they start; only the text counts."""
    stored = pl.Series(
        [[{"text": "Paris", "start": 4}], []], dtype=pl.List(pl.Struct({"text": pl.String, "start": pl.Int64}))
    )
    said = [{"text": "paris", "start": None}, {"text": "", "start": None}]
    assert values("span", stored, said, "exact_match") == [1.0]


def test_an_unanswered_question_is_wrong_even_without_an_answer() -> None:
    """Saying "no answer" is an answer; saying nothing is not."""
    assert values("span", [[], []], ["", None], "exact_match", "token_f1") == [0.5, 0.5]


def test_sets_of_choices() -> None:
    """Order and repetition do not count, and two empty sets agree."""
    gold = [[0, 2], [1], [], [3]]
    said = [[2, 0, 0], [1, 2], [], None]
    assert values("choices", gold, said, "set_exact_match", "set_f1") == pytest.approx([0.5, (1 + 2 / 3 + 1 + 0) / 4])


def test_attachment_and_choice_accuracy() -> None:
    """Heads and choices are right or wrong; a missing one is wrong."""
    assert values("token", [3, 0, 7], [3, 1, None], "attachment", "accuracy") == pytest.approx([1 / 3, 1 / 3])
    assert values("choice", [3, 0], [3, 1], "accuracy") == [0.5]


SENTENCES = [
    "the cat sat on the mat .",
    "it is a fine day, isn't it?",
    "no",
    "",
    "a cat sat on a mat and slept all day",
]


@settings(max_examples=examples(40), deadline=None)
@given(
    st.lists(
        st.tuples(st.sampled_from(SENTENCES), st.lists(st.sampled_from(SENTENCES[:3]), min_size=1, max_size=2)),
        min_size=1,
        max_size=6,
    )
)
def test_bleu_and_chrf_are_sacrebleus(pairs: list[tuple[str, list[str]]]) -> None:
    """The figures made from per-example counts are the corpus figures of sacrebleu, divided by 100."""
    said = [pair[0] for pair in pairs]
    gold = [pair[1] for pair in pairs]
    streams: Any = [[row[place] if place < len(row) else None for row in gold] for place in range(max(map(len, gold)))]
    expected = [BLEU().corpus_score(said, streams).score / 100, CHRF().corpus_score(said, streams).score / 100]
    assert values("text", gold, said, "bleu", "chrf") == pytest.approx(expected, abs=1e-9)


def test_rouge_l_by_hand() -> None:
    """The longest common subsequence of 5 words in 6 and 5 gives precision 1, recall 5/6."""
    said, gold = ["the cat on the mat"], [["the cat sat on the mat", "nothing"]]
    assert values("text", gold, said, "rouge_l") == pytest.approx([10 / 11])
