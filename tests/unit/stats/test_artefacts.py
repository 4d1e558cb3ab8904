"""Artefacts: planted ones are found, and where there is none nothing is."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl

from quintain.stats.artefacts.descent import descend
from quintain.stats.artefacts.examples import Examples
from quintain.stats.artefacts.generic import generic_questions
from quintain.stats.artefacts.learner import grouped_folds
from quintain.stats.artefacts.partial import partial_input, subsets_of
from quintain.stats.artefacts.people import held_out_writers, identity_labels, order_effect, repeats, writer_effect
from quintain.stats.artefacts.surface import option_overlap
from quintain.stats.artefacts.words_by_label import words_by_label


def pairs(number: int = 450, planted: float = 0.5, seed: int = 0) -> Examples:
    """Draw premises and hypotheses; *planted* of the hypotheses with label 0 say "nobody"."""
    rng = np.random.default_rng(seed)
    answer = rng.integers(0, 3, number)
    words = np.array([f"w{at}" for at in range(60)])
    texts = [[" ".join(words[rng.integers(0, 60, 8)]) for _ in range(number)] for _ in range(2)]
    for at in np.flatnonzero((answer == 0) & (rng.random(number) < planted)).tolist():
        texts[1][at] = "nobody " + texts[1][at]
    context = [f"p{at // 3}" for at in range(number)]
    writer = [f"a{one}" for one in np.where(rng.random(number) < 0.6, answer, rng.integers(0, 5, number))]
    return Examples({"premise": texts[0], "hypothesis": texts[1]}, answer, ["a", "b", "c"], (), context, writer)


def test_a_hypothesis_that_tells_is_found_and_a_premise_that_does_not_is_not() -> None:
    """The half that has the planted word is above chance, the other is not; hiding content hides the word."""
    examples = pairs()
    assert subsets_of(examples) == [("premise",), ("hypothesis",)]
    told, silent = partial_input(examples, ["hypothesis"]), partial_input(examples, ["premise"])
    assert told.above_chance
    assert not silent.above_chance
    assert told.accuracy.value is not None
    assert told.accuracy.value > 0.42
    assert partial_input(examples, ["hypothesis"], masked=True).accuracy.value != told.accuracy.value


def test_no_context_is_in_two_folds() -> None:
    """Groups stay together, and folds are of about the same size, also where one group is large."""
    groups = np.concatenate([np.repeat(0, 40), np.arange(1, 61)])
    fold = grouped_folds(groups, 5, seed=1)
    assert len(set(fold[:40].tolist())) == 1
    assert np.bincount(fold[40:]).max() <= 20


def test_one_answer_is_said_and_not_learned() -> None:
    """Where all examples have one answer, or one context, there is no figure, and a reason."""
    one = Examples({"text": ["a", "b", "c"]}, np.zeros(3, dtype=np.int64), ["x"])
    assert partial_input(one, ["text"]).accuracy.reason == "all examples have one answer"
    two = Examples({"text": ["a", "b", "c"]}, np.array([0, 1, 0]), ["x", "y"], (), ["p", "p", "p"])
    assert partial_input(two, ["text"]).accuracy.reason == "there are fewer than two contexts"


def choices(number: int = 300, seed: int = 2) -> Examples:
    """Draw questions whose right option stands in the passage."""
    rng = np.random.default_rng(seed)
    answer = rng.integers(0, 4, number)
    options = [[f"thing{rng.integers(1000)} here" for _ in range(4)] for _ in range(number)]
    passage = [f"They saw {one[at]} and went." for one, at in zip(options, answer.tolist(), strict=True)]
    question = [f"What did q{at} see?" for at in range(number)]
    return Examples({"passage": passage, "question": question}, answer, list("1234"), options)


def test_options_that_stand_in_the_passage_give_the_answer() -> None:
    """Passage and options are enough without the question; options alone are not."""
    examples = choices()
    assert subsets_of(examples) == [("options",), ("passage", "options"), ("question", "options")]
    told = partial_input(examples, ["passage", "options"])
    assert told.accuracy.value is not None
    assert told.accuracy.value > 0.9
    assert not partial_input(examples, ["options"]).above_chance
    right, wrong = option_overlap(examples, "passage")
    assert (right.right, wrong.right) == (True, False)
    assert right.verbatim.value == 1
    assert (wrong.verbatim.value or 0) < 0.05


def test_words_in_parts_are_as_words_at_once() -> None:
    """The planted word comes first, with a text that has it; parts change nothing; noise does not stand."""
    examples = pairs()
    texts, labels = examples.fields["hypothesis"], [examples.labels[at] for at in examples.answer]
    whole = words_by_label([(texts, labels)])
    parts = words_by_label([(texts[at : at + 90], labels[at : at + 90]) for at in range(0, 450, 90)])
    assert (whole.word, whole.z.tolist()) == (parts.word, parts.z.tolist())
    assert (whole.word[0], whole.label[0], float(whole.share[0])) == ("nobody", "a", 1.0)
    assert "nobody" in texts[int(whole.example[0])]
    assert len(whole.word) <= 3
    assert words_by_label([(texts, rng_labels(450))]).word == []


def rng_labels(number: int) -> list[str]:
    """Draw labels that have nothing to do with anything."""
    return [("a", "b")[at] for at in np.random.default_rng(9).integers(0, 2, number)]


def test_writers_and_repeats() -> None:
    """Labels that follow from the writer are found; of texts written twice, those of one writer are told."""
    assert writer_effect(pairs()).gain > 0.1
    found = repeats(
        ["one good film here", "One good film here.", "another thing now", "Another thing, now"], ["x", "x", "x", "y"]
    )
    assert (found.alike, found.within) == (4, 2)
    both = repeats(["one good film here", "One good film here.", "one good film, here"], ["x", "x", "y"])
    assert (both.alike, both.within) == (3, 2)  # a text that has both kinds is one text


def test_labels_of_texts_about_people() -> None:
    """A group whose texts all have one label stands out; one as all others does not."""
    texts = ["she is there", "he is there"] * 40 + ["a tree"] * 80
    answer = np.array([1, 0] * 40 + [0, 1] * 40)
    found = {(one.group, one.label): one for one in identity_labels(texts, answer, ["bad", "good"])}
    assert found["women", "good"].stands
    assert found["women", "good"].share.value == 1
    mixed = np.array([0, 0, 1, 1] * 40)
    assert not any(one.stands for one in identity_labels(texts, mixed, ["bad", "good"]))


def test_descent_finds_the_minimum_of_a_narrow_valley() -> None:
    """A quadratic with very different curvatures is minimised as linear algebra says."""
    rng = np.random.default_rng(3)
    turn = np.linalg.qr(rng.normal(size=(6, 6)))[0]
    table, goal = turn @ np.diag([1, 3, 10, 30, 60, 100.0]) @ turn.T, rng.normal(size=6)

    def loss(place: np.ndarray) -> tuple[float, np.ndarray]:
        away = place - goal
        return float(away @ table @ away) / 2, table @ away

    assert np.abs(descend(loss, np.zeros(6), turns=200, tolerance=1e-14) - goal).max() < 1e-4


def test_a_learner_that_knows_writers_is_found_out() -> None:
    """Each writer signs with a word of their own and has one label: known writers are easy, new ones are chance."""
    rng = np.random.default_rng(0)
    writer = rng.integers(0, 20, 400)
    answer = writer % 2
    texts = [f"sign{one} {' '.join(f'w{word}' for word in rng.integers(0, 30, 5))}" for one in writer.tolist()]
    names = [f"p{one}" for one in writer.tolist()]
    found = held_out_writers(Examples({"text": texts}, answer, ["no", "yes"], (), (), names), ["text"])
    assert found is not None
    assert (found.known.value or 0.0) > 0.95
    assert (found.new.value or 1.0) < 0.7
    assert (found.difference.low or 0.0) > 0.1
    assert held_out_writers(Examples({"text": texts}, answer, ["no", "yes"], (), (), ["p"] * 400), ["text"]) is None


def test_the_order_within_a_context_shows() -> None:
    """Later questions of a context that grow shorter, and whose place gives the answer, are told; others are not."""
    rng = np.random.default_rng(0)
    place = np.tile(np.arange(4), 50)
    context = [f"c{one}" for one in np.repeat(np.arange(50), 4)]
    falling = ["a " * (12 - 2 * one + int(rng.integers(0, 2))) for one in place.tolist()]
    told = order_effect(Examples({"text": falling}, place % 2, ["no", "yes"], (), context), falling)
    assert told is not None
    assert (told.length.high or 0.0) < -0.8
    assert told.label.gain > 0.4
    flat = ["a " * int(rng.integers(5, 12)) for _ in place]
    silent = order_effect(Examples({"text": flat}, rng.integers(0, 2, 200), ["no", "yes"], (), context), flat)
    assert silent is not None
    assert (silent.length.low or 1.0) < 0 < (silent.length.high or -1.0)
    assert order_effect(Examples({"text": flat}, place % 2, ["no", "yes"]), flat) is None


def test_questions_for_any_passage_are_those_that_people_call_so() -> None:
    """Of 600 questions of Nangia et al. (2021), read by hand, the estimate finds nearly all 35, and hardly any other.

    The figures stand in docs/studying.md. The questions are published under CC BY 4.0.
    """
    table = pl.read_csv(Path(__file__).parent / "generic_questions.csv")
    read = table["generic"].to_numpy() == 1
    flagged = generic_questions(table["question"].to_list()) == 1
    assert (table.height, int(read.sum()), int(flagged.sum()), int((read & flagged).sum())) == (600, 35, 33, 33)
    docs = (Path(__file__).parents[3] / "docs" / "studying.md").read_text()
    assert "precision 33 of 33" in docs
    assert "recall 33 of 35" in docs


def test_a_part_of_the_input_is_measured_on_each_arm() -> None:
    """The same learner's answers are split by arm: where the label is written into the text it is right there only."""
    rng = np.random.default_rng(2)
    labels = rng.integers(0, 2, 240)
    arms = ["open" if at % 2 else "shut" for at in range(240)]
    texts = [
        (["bad", "good"][label] if arm == "open" else "plain") + f" w{at % 7}"
        for at, (label, arm) in enumerate(zip(labels.tolist(), arms, strict=True))
    ]
    found = partial_input(Examples({"text": texts}, labels, ["no", "yes"], arm=arms), ["text"])
    assert set(found.arms) == set(found.chance_by_arm) == {"open", "shut"}
    assert found.arms["open"].value == 1.0
    assert found.arms["shut"].value < 0.7  # type: ignore[operator]
    assert partial_input(Examples({"text": texts}, labels, ["no", "yes"]), ["text"]).arms == {}
