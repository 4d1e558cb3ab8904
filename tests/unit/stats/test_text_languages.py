"""Answers, edits and repeats are compared by words in every script, and by the articles of their language."""

from __future__ import annotations

import pytest

from quintain.stats.diff import edit_size, word_diff
from quintain.stats.diversity import count_words
from quintain.stats.drop import drop_f1
from quintain.stats.grading import Grading
from quintain.stats.near_duplicates import find_pairs, squeeze
from quintain.stats.text import bleu_tokeniser, exact_match, normalise, rouge_l, token_f1


@pytest.mark.parametrize(
    ("said", "right", "language"),
    [
        ("200元。", "200元", "zh"),
        ("नई दिल्ली।", "नई दिल्ली", "hi"),
        ("في القاهرة؟", "في القاهرة", "ar"),
        ("「東京」", "東京", "ja"),
    ],
)
def test_signs_of_every_script_do_not_count(said: str, right: str, language: str) -> None:
    """A full stop or a question mark makes no other answer, also where nobody said which language it is."""
    assert exact_match(said, [right], language)
    assert exact_match(said, [right])
    assert rouge_l(said, [right], language) == 1.0


def test_characters_are_words_where_there_are_no_spaces() -> None:
    """What is said beside the answer costs precision, and does not make it wholly wrong."""
    assert token_f1("花了200元", ["200元"], "zh") == pytest.approx(2 / 3)
    assert token_f1("花了200元", ["200元"]) == pytest.approx(2 / 3)
    assert rouge_l("他花了200元。", ["他花了200元"], "zh") == 1.0
    assert drop_f1(["花了200元"], [["200元"]], "zh") > 0.5


def test_articles_are_those_of_the_language() -> None:
    """German "an" and "die" are no English articles, and English "a" is a letter elsewhere."""
    assert normalise("an der Spree", "de") == "an spree"
    assert normalise("an der Spree", "en") == "der spree"
    assert normalise("die a die", "en") == "die die"
    assert normalise("the an a", "tr") == "the an a"
    assert Grading("exact_match", normalise="squad", language="de")("Der Hut!", "ein Hut").right


def test_english_is_compared_as_squad_does() -> None:
    """Typographic signs stay, as in the script that figures were published with; only ASCII's are left out."""
    assert normalise("The “Eiffel” Tower – Paris’s, l’a") == "“eiffel” tower – paris’s l’"
    assert rouge_l("naïve café", ["na ve caf"]) == 1.0


@pytest.mark.parametrize(
    ("texts", "tokeniser"),
    [
        (["It is late."], "13a"),
        (["Es ist spät – schön!"], "13a"),
        (["Он опоздал."], "13a"),
        (["他迟到了200分钟。"], "zh"),
        (["彼は遅れました。"], "char"),
        (["เขามาสาย"], "char"),
        (["وصل متأخرا؟"], "intl"),
        (["वह देर से आया।"], "intl"),
        ([], "13a"),
    ],
)
def test_bleu_cuts_by_the_script_of_the_references(texts: list[str], tokeniser: str) -> None:
    """Sacrebleu's default knows English signs; an added full stop elsewhere is a token of its own."""
    assert bleu_tokeniser(texts) == tokeniser


def test_one_changed_character_strikes_no_clause() -> None:
    """What changed is shown, and counted, by characters and by whole letters with their marks."""
    assert word_diff("我喜欢电影。", "我不喜欢电影。") == [("same", "我"), ("added", "不"), ("same", "喜欢电影。")]
    assert edit_size("我喜欢电影", "我不喜欢电影").tokens == 1
    assert ("removed", "हिन्दी") in word_diff("यह हिन्दी है", "यह हिंदी है")


def test_lengths_and_repeats_see_letters_with_their_marks() -> None:
    """A clause is no single word, and two words that differ by a vowel sign are two."""
    assert count_words(["这部电影很好。", "यह हिन्दी है।", "หนังดี"]).tolist() == [6, 3, 4]
    assert squeeze("की") != squeeze("का")
    later, _ = find_pairs(["यह फ़िल्म अच्छी है।", "यह फ़िल्म अच्छी है"])
    assert later.tolist() == [1]
