"""What the lexicon makes of negation, emphasis and turns, and what it learns where no list is given."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from quintain.models.baselines.lexicon import Lexicon
from quintain.models.polarity import NEGATORS, POLARITY
from tests.unit.models.sample_tasks import task_of

GOOD = ["good food", "a great day", "lovely people", "wonderful film", "happy staff", "excellent and kind"]
BAD = ["bad food", "a terrible day", "rude people", "awful film", "angry staff", "horrible and cruel"]


@pytest.fixture(scope="module")
def model() -> Lexicon:
    """A lexicon whose sums were set on twelve texts."""
    task = task_of("text-classification", ("negative", "positive"))
    answers = ["positive"] * len(GOOD) + ["negative"] * len(BAD)
    return Lexicon.train(task, pl.DataFrame({"text": GOOD + BAD, "answer": answers}))


def positive(model: Lexicon, text: str) -> float:
    """Give the probability of "positive"."""
    return float(model.predict([{"text": text}])[0]["positive"])


def test_words_never_trained_on_count(model: Lexicon) -> None:
    """The list is given, so a word need not be in the training data."""
    assert positive(model, "superb") > 0.6
    assert positive(model, "dreadful") < 0.4


def test_negation_turns_a_word_round(model: Lexicon) -> None:
    """Not good is bad, and not bad is good, within three words and within the same text."""
    assert positive(model, "not good") < 0.5 < positive(model, "good")
    assert positive(model, "it isn't a bad place") > 0.5 > positive(model, "a bad place")
    together = model.predict([{"text": "certainly not"}, {"text": "good"}])
    assert together[1]["positive"] == pytest.approx(positive(model, "good"))


def test_emphasis_strengthens_and_hedging_weakens(model: Lexicon) -> None:
    """Very good is better than good, which is better than slightly good."""
    assert positive(model, "extremely good") > positive(model, "good") > positive(model, "slightly good")


def test_what_follows_but_weighs_more(model: Lexicon) -> None:
    """The end of such a sentence decides it."""
    assert positive(model, "good food but bad service") < positive(model, "bad service but good food")


def test_the_lists_are_sound() -> None:
    """Lower case, enough of each sign, and no word that negates with great strength."""
    assert all(word == word.lower() for word in POLARITY)
    values = np.array(list(POLARITY.values()))
    assert min((values > 0).sum(), (values < 0).sum()) > 250
    assert all(abs(POLARITY.get(word, 0)) <= 1 for word in NEGATORS)


def test_other_labels_learn_their_own_words() -> None:
    """Where labels are not about sentiment, words that tell them apart are learned."""
    task = task_of("text-classification", ("sport", "weather"))
    sport = [f"the team won match {n}" for n in range(10)]
    weather = [f"the rain and wind came {n}" for n in range(10)]
    answers = ["sport"] * 10 + ["weather"] * 10
    model = Lexicon.train(task, pl.DataFrame({"text": sport + weather, "answer": answers}))
    found = model.predict([{"text": "a match for the team"}, {"text": "more rain"}])
    assert found[0]["sport"] > 0.5 > found[1]["sport"]
    assert "rain" in model.state["words"]
