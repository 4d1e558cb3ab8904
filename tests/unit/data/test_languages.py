"""Telling languages apart by small words: right on plain sentences, silent where there is nothing to go by."""

from __future__ import annotations

import time
from pathlib import Path

import polars as pl
import pytest

from quintain.data.languages import LANGUAGES, LEXICON, languages_of
from tests.starter import starter_rows

SENTENCES = {
    "en": [
        "The room was clean and the view from it is lovely.",
        "I would not come back for the food, but they were kind.",
    ],
    "de": ["Das Zimmer war sauber und der Blick ist schön.", "Ich würde wegen des Essens nicht noch einmal kommen."],
    "fr": [
        "La chambre était propre et la vue est très belle.",
        "Je ne reviendrais pas pour le repas, mais ils sont gentils.",
    ],
    "es": ["La habitación estaba limpia y la vista es muy bonita.", "No volvería por la comida, pero son muy amables."],
    "it": [
        "La camera era pulita e la vista è molto bella.",
        "Non tornerei per il cibo, ma sono stati gentili con noi.",
    ],
    "pt": [
        "O quarto estava limpo e a vista é muito bonita.",
        "Não voltaria pela comida, mas eles são muito simpáticos.",
    ],
    "nl": [
        "De kamer was schoon en het uitzicht is heel mooi.",
        "Ik zou voor het eten niet terugkomen, maar ze zijn aardig.",
    ],
    "sv": [
        "Rummet var rent och utsikten är mycket vacker.",
        "Jag skulle inte komma tillbaka för maten, men de är snälla.",
    ],
    "pl": ["Pokój był czysty i widok jest bardzo ładny.", "Nie wróciłbym tu dla jedzenia, ale są bardzo mili."],
    "tr": ["Oda çok temiz ve manzara da çok güzel bir şey.", "Yemek için bir daha gelmem ama çok iyi insanlar var."],
}


@pytest.mark.parametrize("language", LANGUAGES)
def test_plain_sentences_are_told_apart(language: str) -> None:
    """Each alone, without a text around it."""
    texts = SENTENCES[language]
    assert languages_of(pl.Series(texts), pl.Series(range(len(texts)))).to_list() == [language] * len(texts)


def test_a_short_sentence_follows_its_text() -> None:
    """What has no small words is in the language of the text that it stands in; a clear one in its own."""
    texts = pl.Series(["Lecker!", "Das Essen war sehr gut und der Wein auch.", "This is what they told us.", "Super!"])
    assert languages_of(texts, pl.Series([0, 0, 0, 1])).to_list() == ["de", "de", "en", None]


def test_what_cannot_be_told_is_not_guessed() -> None:
    """Other scripts, numbers, names and nothing at all have no language here."""
    texts = pl.Series(["Очень вкусно и недорого.", "12,50 / 14:00", "Berlin Paris London", "", "とても美味しい。"])
    assert languages_of(texts, pl.Series(range(5))).null_count() == 5
    assert languages_of(pl.Series([], dtype=pl.String()), pl.Series([], dtype=pl.UInt32())).to_list() == []


def test_words_that_languages_share_count_in_part() -> None:
    """The parts of every word add up to one, so that no language wins by words of all."""
    sums = LEXICON.group_by("word").agg(pl.col("score").sum())["score"]
    assert sums.to_list() == pytest.approx([1.0] * len(sums))


def test_starter_reviews_are_english() -> None:
    """Of the sentences that are shipped none is taken for another language, and nearly all are told."""
    texts = [row["text"] for row in starter_rows("sentiment")]
    found = languages_of(pl.Series(texts), pl.Series(range(len(texts))))
    assert (found.is_not_null() & (found != "en")).sum() == 0
    assert (found == "en").sum() / len(texts) > 0.95


def test_real_english_reviews_are_english(shared_data: Path) -> None:
    """Of 3,000 sentences from reviews, each by itself, few are taken for another language, and most are told."""
    texts = []
    for path in sorted((shared_data / "uci-sentiment-sentences").rglob("*.txt")):
        lines = path.read_text(encoding="utf-8", errors="replace").splitlines()
        texts += [line.rpartition("\t")[0] for line in lines if line.rpartition("\t")[2] in {"0", "1"}]
    assert len(texts) > 2_000
    began = time.process_time()
    found = languages_of(pl.Series(texts), pl.Series(range(len(texts))))
    assert time.process_time() - began < 5
    wrong = found.is_not_null() & (found != "en")
    assert wrong.sum() / len(texts) < 0.01
    assert (found == "en").sum() / len(texts) > 0.85
