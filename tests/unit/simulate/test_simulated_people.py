"""Simulated people: the language, how judges judge it and how writers write it, all from a seed."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from itertools import product

import numpy as np
import pytest

from quintain.simulate.judges import judge
from quintain.simulate.language import CONSTRUCTIONS, HARD, IN_REVIEWS, make_reviews, make_sentence, thing_in
from quintain.simulate.people import SimulatedCrowd, SimulatedPerson, draw_people
from quintain.simulate.sentences import NEGATIVE, NEUTRAL, POSITIVE, SENTIMENTS
from quintain.simulate.understanding import gist, understand, word_sense
from quintain.simulate.writers import SimulatedWriter

LABELS = (POSITIVE, NEGATIVE, NEUTRAL)


def _attentive(**changes: object) -> SimulatedPerson:
    person = draw_people(np.random.default_rng(3), 1, crowd=SimulatedCrowd(lazy=0, slips=(0, 0)))[0]
    return replace(person, **changes)  # type: ignore[arg-type]


@pytest.mark.parametrize("construction", CONSTRUCTIONS)
def test_what_is_written_can_be_understood(construction: str) -> None:
    """Every sentence of every construction is read back as what it was meant to say, without a second reading."""
    rng = np.random.default_rng(1)
    for sentiment in CONSTRUCTIONS[construction]:
        for _ in range(40):
            made = make_sentence(rng, construction, sentiment)
            assert understand(made.text) == made
            assert thing_in(made.text)


def test_hard_constructions_mislead_whoever_counts_words() -> None:
    """Words of praise and blame tell the sentiment of plain sentences, and mostly mislead in the hard ones."""
    rng = np.random.default_rng(2)
    right = Counter[str]()
    pairs = [
        (name, sentiment) for name in ("plain", "negation", "irony", "hearsay") for sentiment in CONSTRUCTIONS[name]
    ]
    for name, sentiment in pairs * 30:
        right[name] += word_sense(make_sentence(rng, name, sentiment).text) == sentiment
    assert right["plain"] == 90
    assert right["negation"] == right["irony"] == right["hearsay"] == 0


def test_reviews_follow_their_stars_and_their_seed() -> None:
    """The same seed writes the same reviews; one-star reviews are mostly negative, five-star ones mostly positive."""
    first, again = (list(make_reviews(np.random.default_rng(5), 300)) for _ in range(2))
    assert first == again
    for stars, most in ((1, NEGATIVE), (5, POSITIVE)):
        found = Counter(one.sentiment for review in first if review.stars == stars for one in review.sentences)
        assert found.most_common(1)[0][0] == most
    assert {one.construction for review in first for one in review.sentences} == set(IN_REVIEWS)
    assert {one.sentiment for review in first for one in review.sentences} == set(SENTIMENTS)
    assert all(2 <= len(review.sentences) <= 5 for review in first)


def test_a_text_of_another_language_is_taken_by_its_words() -> None:
    """What the grammar does not know is read word by word."""
    assert understand("It rained.") is None
    assert [gist(text) for text in ("Lovely!", "Awful!", "Lovely and awful.", "It rained.")] == [
        POSITIVE,
        NEGATIVE,
        "mixed",
        NEUTRAL,
    ]


def test_skill_decides_how_often_a_judge_is_right() -> None:
    """Somebody perfect never errs; skill .9 is right nine times of ten on plain texts and .81 on hard ones."""
    rng = np.random.default_rng(7)
    labels = [*LABELS, "mixed"]

    def share(person: SimulatedPerson, construction: str) -> float:
        texts = [make_sentence(rng, construction, NEGATIVE) for _ in range(1500)]
        return float(np.mean([judge(rng, person, one.text, labels).label == NEGATIVE for one in texts]))

    assert share(_attentive(skill=1.0), "negation") == 1.0
    assert share(_attentive(skill=0.9), "plain") == pytest.approx(0.9, abs=0.03)
    assert share(_attentive(skill=0.9), "negation") == pytest.approx(0.81, abs=0.04)


def test_a_lazy_judge_presses_keys_and_is_quick() -> None:
    """Who does not read presses the same key each time, or any, in a quarter of the time."""
    rng = np.random.default_rng(8)
    text = make_sentence(rng, "plain", NEGATIVE).text
    same = [judge(rng, _attentive(laziness=1.0, habit="same", key=4), text, LABELS) for _ in range(50)]
    assert {one.label for one in same} == {LABELS[4 % 3]}
    loose = [judge(rng, _attentive(laziness=1.0, habit="any"), text, LABELS) for _ in range(200)]
    assert {one.label for one in loose} == set(LABELS)
    careful = [judge(rng, _attentive(laziness=0.0), text, LABELS).seconds for _ in range(200)]
    assert np.median([one.seconds for one in loose]) < np.median(careful) / 2


def test_writers_aim_and_learn() -> None:
    """A skilled writer says what they aim at, in a hard way; what fooled the model is tried more often afterwards."""
    rng = np.random.default_rng(9)
    writer = SimulatedWriter(_attentive(skill=1.0))
    for aim, _ in product(LABELS, range(20)):
        written = writer.write(rng, aim, LABELS, "kettle")
        assert (written.sentiment, written.construction in HARD) == (aim, True)
        assert "kettle" in written.text.lower()
        assert writer.confirms(rng, written, aim)
    before = dict(writer.fondness)
    writer.learn("irony", fooled=True)
    writer.learn("negation", fooled=False)
    assert writer.fondness["irony"] > before["irony"]
    assert writer.fondness["negation"] < before["negation"]
    botched = SimulatedWriter(_attentive(skill=0.0)).write(rng, POSITIVE, LABELS)
    assert botched.sentiment != POSITIVE


def test_a_crowd_has_its_share_of_lazy_people() -> None:
    """Traits are drawn from the crowd's ranges, the same for the same seed."""
    crowd = SimulatedCrowd(lazy=0.25)
    people = draw_people(np.random.default_rng(4), 20, name="judge", crowd=crowd)
    assert people == draw_people(np.random.default_rng(4), 20, name="judge", crowd=crowd)
    assert sum(one.laziness >= 0.5 for one in people) == 5
    assert people[0].name == "judge-01"
    assert all(0.93 <= one.skill <= 0.995 for one in people)
