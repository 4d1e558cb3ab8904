"""Where sentences end in other scripts and languages."""

from __future__ import annotations

import pytest

from quintain.data.sentences import split_texts


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("फ़िल्म अच्छी है। कहानी भी। क्या आप गए?", ["फ़िल्म अच्छी है।", "कहानी भी।", "क्या आप गए?"]),
        ("هل أعجبك الفيلم؟ نعم. شكرا", ["هل أعجبك الفيلم؟", "نعم.", "شكرا"]),
        ("کیا یہ اچھا ہے؟ جی ہاں۔ شکریہ", ["کیا یہ اچھا ہے؟", "جی ہاں۔", "شکریہ"]),
        ("很好!下次再来?会的。", ["很好!", "下次再来?", "会的。"]),
        ("他说“很好。”然后走了。", ["他说“很好。”", "然后走了。"]),
        ("什么？！真的吗", ["什么？！", "真的吗"]),
        ("版本3.5很好", ["版本3.5很好"]),
    ],
)
def test_stops_of_other_scripts_end_sentences(text: str, expected: list[str]) -> None:
    """A danda, an Arabic question mark and an ASCII mark between Chinese characters are ends."""
    assert split_texts([text])[0] == expected


@pytest.mark.parametrize(
    "whole",
    [
        "Wir mögen Obst, z. B. Äpfel und Birnen.",
        "Das Buch bzw. Heft ist da.",
        "Er kam am 3. Mai nach Köln.",
        "Im 19. Jahrhundert war das anders.",
        "Das ist neu, d. h. ungebraucht.",
        "Äpfel, Birnen usw. sind da.",
    ],
)
def test_german_abbreviations_end_nothing(whole: str) -> None:
    """Also where nobody said that the text is German: none of these is an English word."""
    assert split_texts([whole])[0] == [whole]


def test_a_known_language_adds_its_ordinals() -> None:
    """In German a small number with a stop is "third"; before a word that begins sentences it is a number."""
    text = "Sie wohnt im 2. Stock. Es war um 7. Wir kamen spät."
    assert split_texts([text], "de")[0] == ["Sie wohnt im 2. Stock.", "Es war um 7.", "Wir kamen spät."]
