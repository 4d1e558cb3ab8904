"""What may be wrong with a text, for every kind of task that people write for; fooled or not; scripts and flags."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quintain.core.errors import BadInput
from quintain.core.example import Prediction
from quintain.core.rounds import Fooled, RoundSpec
from quintain.core.task import Task
from quintain.services.collect.writing.checks import check_writing, edit_distance, fooled
from quintain.services.collect.writing.content_flags import find_hints
from quintain.services.collect.writing.duplicates import bands, nearest, text_key
from quintain.services.collect.writing.writing_systems import foreign_script
from quintain.tasks.definition import parse_task

SPEC = RoundSpec("t", "x")


def task(kind: str, more: str = "") -> Task:
    """Make a task of a kind."""
    return parse_task(f'name = "t"\nkind = "{kind}"\n{more}')


NLI = task("pair-classification", 'labels = ["entailment", "neutral", "contradiction"]')
QA = task("extractive-qa")
SRL = task("qa-srl")
CHOICE = task("multiple-choice")
PREMISE = {"premise": "A man sleeps."}
PASSAGE = {"passage": "The mill burnt down in 1911."}
SENTENCE = {"sentence": "The baker sold us two loaves .", "predicate": "sold", "question": "who sold something ?"}
STORY = {"passage": "Ida missed the bus."}


def refused(*arguments: Any, spec: RoundSpec = SPEC) -> str:
    """Give why something was refused."""
    kind, prompt, inputs, target = arguments
    with pytest.raises(BadInput) as caught:
        check_writing(kind, spec, prompt, inputs, target)
    return str(caught.value)


def test_a_premise_stays_as_it_was_given() -> None:
    """The hypothesis is written; the premise is filled in, and may not be another one."""
    written = check_writing(NLI, SPEC, PREMISE, {"hypothesis": "Somebody rests."}, "entailment")
    assert written.inputs == {**PREMISE, "hypothesis": "Somebody rests."}
    same = {"premise": "A man sleeps.", "hypothesis": "Somebody rests."}
    assert check_writing(NLI, SPEC, PREMISE, same, "entailment").inputs == same
    other = {"premise": "A dog sleeps.", "hypothesis": "Somebody rests."}
    assert "field 'premise': is given in this round and cannot be changed" in refused(NLI, PREMISE, other, "neutral")


def test_nobody_fools_a_model_with_what_people_cannot_see() -> None:
    """Spaces without width and turned writing are named; joiners, marks of direction and the prompt's own may stay."""
    hidden = "Some\u200bbody rests, \u202edias yeht."
    message = refused(NLI, PREMISE, {"hypothesis": hidden}, "neutral")
    assert "has an invisible character (zero width space)" in message
    assert "has an invisible character (right-to-left override)" in message
    for text in (
        "\U0001f469\u200d\U0001f680 rests.",
        "\u0645\u06cc\u200c\u062e\u0648\u0627\u0628\u062f",
        "\u05e9\u05dc\u05d5\u05dd\u200f, he rests.",
    ):
        assert check_writing(NLI, SPEC, PREMISE, {"hypothesis": text}, "neutral").inputs["hypothesis"] == text
    given = {
        "sentence": "The ba\u00adker sold us two loaves .",
        "predicate": "sold",
        "question": "who sold something ?",
    }
    kept = {**given, "sentence": "The ba\u00adker sold us three loaves ."}
    assert check_writing(SRL, SPEC, given, kept, {"text": "The ba\u00adker", "start": 0}).edit_distance


def test_a_prompt_with_a_letter_that_only_looks_alike_is_unchanged() -> None:
    """A Cyrillic o in a Latin word is no edit, and neither is a blank more; another word is one."""
    prompt = {"text": "A good film."}
    mood = task("text-classification", 'labels = ["good", "bad"]')
    for text in ("A g\u043eod film.", "A good  film."):
        assert "this is the prompt, unchanged" in refused(mood, prompt, {"text": text}, "good")
    assert check_writing(mood, SPEC, prompt, {"text": "A goad film."}, "good").edit_distance == 1


def test_a_span_must_lie_in_its_passage() -> None:
    """An answer that is not in the passage, or not where it says, is refused."""
    question = {"question": "When did it burn down?"}
    good = check_writing(QA, SPEC, PASSAGE, question, {"text": "1911", "start": 23})
    assert good.inputs == {**PASSAGE, **question}
    assert "'1912' is not in 'passage'" in refused(QA, PASSAGE, question, {"text": "1912", "start": 23})
    assert "does not start at character 3" in refused(QA, PASSAGE, question, {"text": "1911", "start": 3})
    assert "has no span" in refused(QA, PASSAGE, question, [])


def test_only_the_sentence_of_semantic_roles_may_change() -> None:
    """Predicate and question are fixed, the answer stays a substring, the predicate stays in the sentence."""
    edited = {**SENTENCE, "sentence": "Us the baker sold two loaves ."}
    assert check_writing(SRL, SPEC, SENTENCE, edited, {"text": "the baker", "start": None}).edit_distance
    asked = {**SENTENCE, "sentence": "The baker sold them .", "question": "what was sold ?"}
    assert "field 'question': is given" in refused(SRL, SENTENCE, asked, {"text": "them"})
    gone = {**SENTENCE, "sentence": "We were sold two loaves ."}
    assert "'The baker' is not in 'sentence'" in refused(SRL, SENTENCE, gone, {"text": "The baker", "start": None})
    lost = {**SENTENCE, "sentence": "The baker gave us two loaves ."}
    assert "'sold' is not in 'sentence'" in refused(SRL, SENTENCE, lost, {"text": "The baker"})


def test_options_must_be_several_and_different() -> None:
    """Question and options are written; the right one is one of them."""
    written = {"question": "Why?", "options": ["She overslept.", "It was early."]}
    assert check_writing(CHOICE, SPEC, STORY, written, 1).target == 1
    assert "out of range" in refused(CHOICE, STORY, written, 2)
    assert "same entry twice" in refused(CHOICE, STORY, {"question": "Why?", "options": ["a", "a"]}, 0)
    assert "only one entry" in refused(CHOICE, STORY, {"question": "Why?", "options": ["a"]}, 0)


def test_edit_distance_counts_characters_of_what_may_be_edited() -> None:
    """It is the Levenshtein distance, and its share of the longer text."""
    assert edit_distance(SRL, SENTENCE, {**SENTENCE, "sentence": "The baker sold us two loaves !"}) == (1, 1 / 30)


@pytest.mark.parametrize(
    ("rule", "said", "expected"),
    [
        (Fooled("task"), "in 1911", False),
        (Fooled("task"), "1802", True),
        (Fooled("differs"), "in 1911", True),
        (Fooled("differs"), "1911.", False),
        (Fooled("token_f1", 0.9), "in 1911", True),
        (Fooled("token_f1", 0.5), "in 1911", False),
        (Fooled("worker"), "in 1911", None),
    ],
)
def test_the_round_says_what_fooled_means(rule: Fooled, said: str, expected: bool | None) -> None:
    """Token F1 of "in 1911" against "1911" is 2/3."""
    assert fooled(QA, rule, [{"text": "1911", "start": 23}], Prediction({"text": said, "start": None})) is expected


def test_scripts_are_told_by_their_letters() -> None:
    """A foreign name is fine, a foreign text is not; digits and emoji have no script."""
    assert foreign_script("I met Иван in the naïve café", ["Latin"]) is None
    assert foreign_script("今日は良い天気です", ["Latin"]) in {"Han", "Kana"}
    assert foreign_script("今日は良い天気です", ["Han", "Kana"]) is None
    assert foreign_script("123 🎉 !!!", ["Arabic"]) is None
    assert foreign_script("anything", []) is None


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Write to ann.b@example.org now", {"an e-mail address"}),
        ("Call +49 30 1234 5678 or 555-123-4567", {"a phone number"}),
        ("My SSN is 078-05-1120.", {"a social security number"}),
        ("Card 4111 1111 1111 1111", {"a card number"}),
        ("IBAN DE89 3704 0044 0532 0130 00", {"a bank account"}),
        ("Server at 192.168.1.10", {"an IP address"}),
        ("We waited 45 minutes on 12.05.2019 and paid $1,200.50 for room 304.", set()),
        ("It costs 10 000 000 euros", set()),
        ("Rated 4.5 out of 5, 100% of 2019-2020", set()),
    ],
)
def test_personal_data_is_noticed(text: str, found: set[str]) -> None:
    """Patterns of contact data and of numbers that belong to one person; prices and dates are none."""
    hints = {hint.detail for hint in find_hints([text], ["personal"])}
    assert found <= hints
    assert bool(hints) == bool(found)


def test_offensive_words_are_noticed_as_words() -> None:
    """Whole words only: a town or a classic is not offensive."""
    assert [hint.detail for hint in find_hints(["What a Shitty place"], ["offensive"])] == ["shitty"]
    assert find_hints(["Scunthorpe is spicy; the cockpit's assistant was classic."], ["offensive"]) == []
    assert find_hints(["What a shitty place"], ["personal"]) == []


def test_sketches_find_what_is_almost_the_same() -> None:
    """Texts that differ in a letter share a band; unlike texts and other passages do not."""
    text = "The waiter took our order twice, and then he brought us neither of the two good dishes."
    near = text.replace("dishes", "dish")
    assert set(bands("a", text)) & set(bands("a", near))
    assert not set(bands("a", text)) & set(bands("b", text))
    assert not set(bands("a", text)) & set(bands("a", "Something else entirely happened on the way home."))
    assert nearest(near, ["unlike", text]) == 1
    assert nearest(near, []) is None
    assert text_key("t", {"text": "🙂"}) != text_key("t", {"text": "🙁"})


@given(st.text(max_size=200))
def test_any_text_has_a_sketch(text: str) -> None:
    """Eight bands that fit a database's 64-bit numbers, the same every time."""
    found = bands("scope", text)
    assert len(found) == 8
    assert all(-(2**63) <= band < 2**63 for band in found)
    assert found == bands("scope", text)


def test_the_bands_of_a_text_stay_what_was_stored() -> None:
    """Sketches are kept in databases: whoever computes them anew, and faster, gets the same numbers."""
    assert bands("scope", "A quiet little film that stays with you") == [
        3022544993702126822,
        -820240975738923222,
        -410119350140386082,
        -1451233702560085260,
        -8318860487841399966,
        3282842170572079683,
        8500986465112915510,
        -2819554794089269272,
    ]
