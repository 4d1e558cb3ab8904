"""SQuAD's comparison of texts."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quintain.stats.text import exact_match, normalise, rouge_l, token_f1


def test_normalisation_ignores_what_does_not_count() -> None:
    """Case, punctuation, articles and white space do not count; letters inside words stay."""
    assert normalise("  The Answer, an\tanswer: A thesis! ") == "answer answer thesis"
    assert normalise("theatre and anthem") == "theatre and anthem"


def test_exact_match_takes_any_reference() -> None:
    """One right reference is enough, and something else is not."""
    assert exact_match("the 1911.", ["1802", "1911"])
    assert not exact_match("1910", ["1802", "1911"])


def test_token_f1_by_hand() -> None:
    """Two of three said words are right, two of four right ones are said: 2·2/(3+4)."""
    assert token_f1("old stone mill", ["mill of stone burnt"]) == pytest.approx(4 / 7)
    assert token_f1("mill mill", ["mill"]) == pytest.approx(2 / 3)


def test_no_answer_matches_only_no_answer() -> None:
    """An empty prediction is right where there is no answer, and nothing else is."""
    assert token_f1("", []) == 1
    assert token_f1("", [""]) == 1
    assert token_f1("the", [""]) == 1
    assert token_f1("mill", []) == 0
    assert token_f1("", ["mill"]) == 0
    assert exact_match("", [])


@given(st.text(), st.lists(st.text(), max_size=3))
def test_bounds(prediction: str, references: list[str]) -> None:
    """F1 lies between 0 and 1, is 1 for an exact match, and more references never lower it."""
    score = token_f1(prediction, references)
    assert 0 <= score <= 1
    if exact_match(prediction, references):
        assert score == 1
    assert token_f1(prediction, [*references, prediction]) == 1


@given(st.text(), st.text())
def test_symmetry(one: str, other: str) -> None:
    """F1 does not care which of two texts is the prediction."""
    assert token_f1(one, [other]) == pytest.approx(token_f1(other, [one]))


def test_published_scores_on_xquad(shared_data: Path) -> None:
    """The scores of real systems on the 1,190 questions come out as they were found there."""
    folder = shared_data / "xquad-en-squad-preds"
    questions = [
        question
        for article in json.loads((folder / "xquad.en.json").read_text())["data"]
        for paragraph in article["paragraphs"]
        for question in paragraph["qas"]
    ]
    said = json.loads(next(folder.glob("models/**/*r-net*")).read_text())
    answers = [[answer["text"] for answer in question["answers"]] for question in questions]
    exact = [exact_match(said[one["id"]], right) for one, right in zip(questions, answers, strict=True)]
    f1 = [token_f1(said[one["id"]], right) for one, right in zip(questions, answers, strict=True)]
    assert len(questions) == 1190
    assert round(100 * sum(exact) / 1190, 1) == 72.8
    assert round(100 * sum(f1) / 1190, 1) == 83.4


def test_rouge_l_by_hand() -> None:
    """Words in order count, with gaps: three of four and of five words."""
    assert rouge_l("police killed the gunman", ["police kill the gunman today"]) == pytest.approx(2 * 3 / 9)
    assert rouge_l("gunman the", ["the gunman"]) == pytest.approx(0.5)
    assert rouge_l("", ["x"]) == 0
    assert rouge_l("x", []) == 0


@pytest.mark.slow
def test_rouge_l_is_that_of_rouge_score() -> None:
    """On texts of many kinds the figure is the one that the package rouge-score gives."""
    from rouge_score.rouge_scorer import RougeScorer

    scorer = RougeScorer(["rougeL"])

    @given(st.text("abc é-1.\n", max_size=40), st.lists(st.text("abc é-1.\n", max_size=40), min_size=1, max_size=3))
    def compare(said: str, right: list[str]) -> None:
        assert rouge_l(said, right) == pytest.approx(scorer.score_multi(right, said)["rougeL"].fmeasure)

    compare()
