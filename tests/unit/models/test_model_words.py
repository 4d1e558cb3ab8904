"""Words, vocabularies, sentences."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from quintain.data.sentences import sentences
from quintain.models.words import Cutting, Vocabulary

terms, tokens, words = Cutting().terms, Cutting().tokens, Cutting().words
TEXTS = ["The cat sat.", "The dog sat, the dog ran.", ""]


def test_terms_are_words_marks_and_pairs() -> None:
    """Pairs do not reach into the next text."""
    found = terms(["Don't go!", "Go"])
    assert sorted(found.rows()) == [(0, "!"), (0, "don't"), (0, "don't go"), (0, "go"), (0, "go !"), (1, "go")]


def test_rare_terms_weigh_more_and_rows_have_length_one() -> None:
    """The inverse document frequency of a word in all texts is 1; an empty text is a row of zeros."""
    found = tokens(TEXTS)
    vocabulary = Vocabulary.learn(found, 3, least=1)
    idf = dict(zip(vocabulary.terms, vocabulary.idf, strict=True))
    assert idf["cat"] == pytest.approx(np.log(4 / 2) + 1)
    assert idf["the"] == pytest.approx(np.log(4 / 3) + 1)
    lengths = np.sqrt(vocabulary.vectors(found, 3).multiply(vocabulary.vectors(found, 3)).sum(axis=1)).A1
    np.testing.assert_allclose(lengths, [1, 1, 0])


def test_term_frequency_is_sublinear() -> None:
    """A word that stands four times counts 1 + log 4 times as much, before scaling."""
    found = tokens(["a a a a b"])
    vocabulary = Vocabulary.learn(found, 1, least=1)
    row = vocabulary.vectors(found, 1).toarray()[0]
    assert row[0] / row[1] == pytest.approx(1 + np.log(4))


def test_terms_below_the_least_count_are_left_out() -> None:
    """Terms in too few texts are not learned, and unknown ones are ignored later."""
    vocabulary = Vocabulary.learn(tokens(TEXTS), 3, least=2)
    assert vocabulary.terms == (".", "sat", "the")
    assert vocabulary.vectors(tokens(["zebra"]), 1).nnz == 0


@given(st.text(max_size=200))
def test_sentences_cover_all_that_is_not_space(text: str) -> None:
    """Sentences follow each other, and nothing but space lies between them."""
    covered = "".join(text[start:end] for start, end in sentences(text))
    assert "".join(covered.split()) == "".join(text.split())


def test_sentences_end_where_readers_think_they_do() -> None:
    """Abbreviations and initials end no sentence; quotation marks belong to it."""
    text = 'Dr. A. Bell rang. "Who came?" Nobody… did!'
    assert [text[a:b] for a, b in sentences(text)] == ["Dr. A. Bell rang.", '"Who came?"', "Nobody… did!"]


@given(st.text(max_size=80))
def test_words_and_tokens_agree(text: str) -> None:
    """The two ways to find words find the same ones, apart from marks."""
    lowered = text.lower()
    found = [term for term in tokens([lowered])["term"].to_list() if words(term)]
    assert all(word in lowered for word in found)
    if lowered.isascii():
        assert found == words(lowered)
