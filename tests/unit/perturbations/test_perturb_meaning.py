"""Numbers and short forms change only where the words around them leave no doubt."""

from __future__ import annotations

import pytest

from quintain.perturbations.apply import perturb_texts
from quintain.perturbations.contract import perturbation
from quintain.perturbations.wordlists import common_words


def _one(kind: str, text: str) -> str | None:
    return perturb_texts([text], perturbation(kind))[0]


@pytest.mark.parametrize(
    "text",
    [
        "forty five films",
        "in nineteen ninety",
        "two hundred men",
        "two thirds of it",
        "ten point four",
        "nine eleven",
        "1. good sound",
        "the plus points are  1.  price  2.  looks",
        "good sound (2) low price",
        "part 2 is better",
        "Rocky 3 is bad",
        "santa clause 2 , a film",
        "on May 5 we left",
        "at 5 pm",
        "50 Cent sang",
        "Seven Samurai is long",
        "the sony dsc-p 9, but",
        "cloud nine",
        "one or two films",
        "the class of '70",
        "$ 5 each",
        "5 : 30",
        "four wheelers",
        "smile ;0)",
    ],
)
def test_numbers_that_are_part_of_something_stay(text: str) -> None:
    """Bigger numbers, fractions, markers, labels, names, dates and units are left alone."""
    assert _one("number_form", text) is None


@pytest.mark.parametrize(
    ("text", "changed"),
    [
        ("three films", "3 films"),
        ("I saw 3 films.", "I saw three films."),
        ("Two men walk.", "2 men walk."),
        ("12 members met.", "Twelve members met."),
        ("nine out of ten", "9 out of 10"),
        ("I give it a 7.", "I give it a seven."),
        ("twenty-six letters", "26 letters"),
    ],
)
def test_numbers_that_count_change(text: str, changed: str) -> None:
    """A number that surely counts something goes over to the other form."""
    assert (_one("number_form", text) or text) == changed


@pytest.mark.parametrize(
    "text",
    [
        "the best that he's ever eaten",
        "it's worked",
        "she's gone",
        "it's price is low",
        "who's car is it",
        "What's he want",
        "Don't you think so?",
        "Isn't the film great?",
        "Why can't the studio see it?",
        "I ain't there",
        "I gotta see it",
        "all of you are late",
        "I see how tired he is now",
        "it could not only be good",
        "I'd put it there",
        "he is n't here",
        "Let me know where he is now",
        "I have mixed feelings",
        "I have long hair",
    ],
)
def test_forms_with_two_readings_stay(text: str) -> None:
    """Where "'s" may be "has", "does" or an owner's, or the words would not be English, nothing changes."""
    assert _one("contraction", text) is None


@pytest.mark.parametrize(
    ("text", "changed"),
    [
        ("he's a fool", "he is a fool"),
        ("she's been ill", "she has been ill"),
        ("It's really good.", "It is really good."),
        ("I'd like tea", "I would like tea"),
        ("you'd better go", "you had better go"),
        ("Don't miss it", "Do not miss it"),
        ("who doesn't love it", "who does not love it"),
        ("I have never seen it", "I've never seen it"),
        ("If it is good", "If it's good"),
        ("the film is not good", "the film isn't good"),
    ],
)
def test_forms_with_one_reading_change(text: str, changed: str) -> None:
    """Where the words around it tell, the other form is written."""
    assert _one("contraction", text) == changed


@pytest.mark.parametrize(
    "kind", ["keyboard", "ocr", "typos", "spelling_error", "char_delete", "char_insert", "char_swap"]
)
def test_a_slip_never_makes_another_common_word(kind: str) -> None:
    """Over many seeds no word becomes another one that is common: that would say something else."""
    words = ["not", "now", "good", "bad", "form", "there", "fun", "hate", "like", "lose", "quite", "their", "worst"]
    text = " ".join(words)
    results = {perturb_texts([text], perturbation(kind), seed=seed, severity=10)[0] or text for seed in range(60)}
    made = {new for result in results for old, new in zip(words, result.split(), strict=True) if new != old}
    assert made
    assert not made & common_words()


@pytest.mark.parametrize("text", ["we got its best", "it is about to get a tag"])
def test_no_word_becomes_a_number(text: str) -> None:
    """A word of which nothing but digits would be left stays: "got" is no 607."""
    results = [
        perturb_texts([text], perturbation("leetspeak"), seed=seed, severity=10)[0] or text for seed in range(20)
    ]
    assert not any(word.isdigit() for result in results for word in result.split())


def test_a_few_are_not_few() -> None:
    """The article of "a few" and "a little" says how many; others are left out."""
    text = "We waited a few weeks, and a little was left of the cake on a plate."
    results = [
        str(perturb_texts([text], perturbation("dropped_articles"), seed=seed, severity=10)[0]) for seed in range(20)
    ]
    assert all("a few weeks" in result and "a little was" in result for result in results)
    assert any("on plate" in result for result in results)


@pytest.mark.parametrize(
    ("text", "changed"),
    [
        ("Boston Center saw it.", None),
        ("A mom and pop store, a mom & pop store", None),
        ("the parking meters", None),
        ("several analyses", None),
        ("Color is all.", "Colour is all."),
        ("THE COLOR", "THE COLOUR"),
        ("my mom said", "my mum said"),
    ],
)
def test_names_and_terms_keep_their_spelling(text: str, changed: str | None) -> None:
    """What is a part of a name, of a fixed term, or another word in one of both spellings, stays."""
    assert _one("british_american", text) == changed


@pytest.mark.parametrize(
    "text",
    ["New York", "Lord of the Rings", "Free At Last", "hocus pocus", "steven soderbergh", "WHAT A BAD FILM"],
)
def test_no_filler_parts_what_may_be_a_name(text: str) -> None:
    """Between two capitals near each other, and between words that are not common, may stand a name or a term."""
    assert _one("filler_words", text) is None


@pytest.mark.parametrize("text", ["I think that it is good", "We saw it in Rome last week", "the film was good"])
def test_fillers_stand_beside_names_and_elsewhere(text: str) -> None:
    """A name at a distance keeps nothing from being said slowly."""
    assert _one("filler_words", text) is not None
