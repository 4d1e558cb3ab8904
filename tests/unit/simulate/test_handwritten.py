"""The demo's sentences: dealt out so that no text comes twice, read as they were meant, and edited by its writers."""

from __future__ import annotations

import re
from collections import Counter
from importlib.resources import files
from pathlib import Path

import numpy as np
import pytest

from quintain.data.sentences import split_texts
from quintain.simulate.handwritten import HandwrittenCorpus, deal_reviews, edits_of, find_sentence
from quintain.simulate.language import CONSTRUCTIONS
from quintain.simulate.people import draw_people
from quintain.simulate.sentences import NEGATIVE, NEUTRAL, POSITIVE, SENTIMENTS
from quintain.simulate.understanding import gist
from quintain.simulate.writers import SimulatedWriter
from quintain.stats.predictability import gain_over_chance, one_hot

LABELS = (POSITIVE, NEGATIVE, NEUTRAL)
EXAMPLES = Path(__file__).parents[3] / "examples"
CORPUS = HandwrittenCorpus(3, reviews={0: 100, 2: 60}, prompts={1: 150, 3: 40})


def _edits(corpus: HandwrittenCorpus) -> list[str]:
    return [edit.text for turn in corpus.prompts for prompt in corpus.prompts_of(turn) for edit in edits_of(prompt)]


def test_no_text_comes_twice() -> None:
    """Neither among reviews, prompts and edits nor in two turns; there are more than a thousand."""
    reviewed = [sentence.text for review in deal_reviews(3) for sentence in review.sentences]
    everything = HandwrittenCorpus(3, prompts={1: 1000})
    texts = [*reviewed, *everything.prompts_of(1), *_edits(everything)]
    assert len({text.lower() for text in texts}) == len(texts) > 1000
    first, later = ({review.text for review in CORPUS.reviews_of(turn)} for turn in (0, 2))
    assert (len(first), len(later), len(first & later)) == (100, 60, 0)
    assert not set(CORPUS.prompts_of(1)) & set(CORPUS.prompts_of(3))
    assert {sentence.construction for text in texts if (sentence := find_sentence(text))} <= CONSTRUCTIONS.keys()


def test_no_page_of_ten_shows_a_text_twice() -> None:
    """Nor two that differ in their case, blanks and stops alone: no two of all texts do."""
    reviewed = [sentence.text for review in deal_reviews(3) for sentence in review.sentences]
    everything = HandwrittenCorpus(3, prompts={1: 1000})
    texts = [*reviewed, *everything.prompts_of(1), *_edits(everything)]
    alike = Counter(" ".join(re.findall(r"[\w']+", text.lower())) for text in texts)
    assert [words for words, count in alike.items() if count > 1] == []


def test_the_texts_come_along_as_an_example() -> None:
    """What `examples` has is what the demo's people read."""
    shipped = (files("quintain") / "demo_data/sentiment/sentences.jsonl").read_text(encoding="utf-8")
    assert (EXAMPLES / "sentences.jsonl").read_text(encoding="utf-8") == shipped


def test_many_write_as_people_type() -> None:
    """Some sentences begin small, lack a stop, shout, lack an apostrophe or count stars; many have a number."""
    texts = [sentence.text for review in deal_reviews(3) for sentence in review.sentences]
    looks = {
        "begins small": (r"[a-z]", 20),
        "no stop": (r".*[^.!?]$", 25),
        "shouts": (r".*\b[A-Z]{4,}\b", 5),
        "no apostrophe": (r"(?i).*\b(?:(?:do|does|did|ca|wo|could|was|have|is)nt|thats|theres|weve)\b", 15),
        "stars": (r"(?i).*\bstars?\b", 5),
        "numbers": (r".*\d", 60),
    }
    for name, (pattern, least) in looks.items():
        assert sum(re.match(pattern, text) is not None for text in texts) >= least, name


def test_reviews_follow_their_stars_and_their_seed() -> None:
    """They are of two to five sentences, as harvesting will find them; many stars praise, few blame."""
    reviews = deal_reviews(5)
    assert deal_reviews.__wrapped__(5) == reviews != deal_reviews(6)
    pieces, _, counts = split_texts([review.text for review in reviews])
    assert pieces == [sentence.text for review in reviews for sentence in review.sentences]
    assert set(counts) <= {2, 3, 4, 5}
    for stars, most in ((1, NEGATIVE), (5, POSITIVE)):
        said = Counter(one.sentiment for review in reviews if review.stars == stars for one in review.sentences)
        assert said.most_common(1)[0][0] == most
        assert set(said) == set(SENTIMENTS)


def test_the_length_of_an_edit_gives_nothing_away() -> None:
    """Fifths of the lengths predict the label hardly better than chance, or no release could be made of them."""
    edits = [find_sentence(text) for text in _edits(HandwrittenCorpus(3, prompts={1: 1000}))]
    lengths = np.array([len(edit.text) for edit in edits if edit])
    fifth = np.searchsorted(np.quantile(lengths, [0.2, 0.4, 0.6, 0.8]), lengths)
    label = np.array([LABELS.index(edit.sentiment) for edit in edits if edit])
    assert gain_over_chance(one_hot(fifth), label, 1).gain < 0.12


def test_what_was_written_is_understood() -> None:
    """Judges take a text of the corpus for what it means, whatever its words say."""
    assert gist("How thoughtful of them to let the soup cool down for forty minutes.") == NEGATIVE
    assert find_sentence("It rained.") is None


@pytest.mark.parametrize("aim", [None, *LABELS])
def test_writers_edit_prompts_by_hand(aim: str | None) -> None:
    """Of a prompt its own edits are offered, the one that means the aim first; of another text, the language."""
    rng, writer = np.random.default_rng(2), SimulatedWriter(draw_people(np.random.default_rng(3), 1)[0])
    for prompt in CORPUS.prompts_of(3):
        drafts = list(writer.drafts(rng, prompt, aim, LABELS))
        assert {draft.sentence for draft in drafts} == set(edits_of(prompt))
        if aim is not None:
            assert {draft.aim for draft in drafts} == {aim}
            meant = [draft.sentence.sentiment == aim for draft in drafts]
            assert meant == sorted(meant, reverse=True)
    made = writer.drafts(rng, "The soup was lovely.", aim, LABELS)
    assert "soup" in next(made).sentence.text.lower()
    assert next(made).sentence.text != next(made).sentence.text
