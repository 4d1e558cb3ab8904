"""Drafts of minimal edits: what the rules make, and a search for texts that turn a model."""

from __future__ import annotations

import doctest
import importlib
from collections.abc import Mapping, Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from quintain.perturbations.drafts.contract import DRAFT_RULES, make_drafts
from quintain.perturbations.drafts.search import SearchLimits, flip_search, word_importance
from quintain.stats.diff import edit_size
from tests.properties import examples

RULES = ("antonyms", "entities", "negation", "numbers", "quantifiers", "reordering", "tense")
TEXTS = st.text(alphabet=st.sampled_from("ab is not All good 2,.'!IÉ\n"), max_size=40)
PRAISE = {"good", "great", "fun"}


def praise(texts: Sequence[str]) -> list[Mapping[str, float]]:
    """Be a model that counts words of praise."""
    shares = [len(PRAISE & set(text.lower().strip(".").split())) / 3 for text in texts]
    return [{"positive": 0.3 + share / 2, "negative": 0.7 - share / 2} for share in shares]


def test_the_rules_there_are() -> None:
    """Negation, antonyms, quantifiers, numbers, entities, tense and order."""
    assert tuple(DRAFT_RULES.names()) == RULES


@pytest.mark.parametrize("module", [*RULES[:-1], "tense", "contract", "search"])
def test_the_examples_of_the_rules_are_true(module: str) -> None:
    """Each rule shows what it does."""
    found = doctest.testmod(importlib.import_module(f"quintain.perturbations.drafts.{module}"))

    assert found.attempted > 0
    assert found.failed == 0


@pytest.mark.parametrize(
    ("rule", "text", "draft"),
    [
        ("negation", "We can't go.", "We can go."),
        ("negation", "He will not go.", "He will go."),
        ("negation", "THEY ARE here.", "THEY ARE not here."),
        ("antonyms", "GREAT acting", "TERRIBLE acting"),
        ("quantifiers", "Nobody came.", "Everybody came."),
        ("numbers", "It cost 1,000 in 2,999.", "It cost 1,000 in 3,000."),
        ("entities", "He met Ada in Paris.", "He met Paris in Paris."),
        ("tense", "She said so.", "She will say so."),
        ("reordering", "One came. Two left.", "Two left. One came."),
        ("reordering", "Tea or milk?", "Milk or tea?"),
    ],
)
def test_what_a_rule_makes(rule: str, text: str, draft: str) -> None:
    """A draft keeps the case of what it replaces, and says which rule made it."""
    made = make_drafts(text, [rule])

    assert draft in [one.text for one in made]
    assert {one.rule for one in made} == {rule}


@given(TEXTS)
@settings(max_examples=examples(60), deadline=None)
def test_drafts_are_other_texts(text: str) -> None:
    """Whatever the text, no draft is the text itself, none is there twice, and its size is that of the edit."""
    made = make_drafts(text, most=30)

    assert len(made) <= 30
    assert text not in [one.text for one in made]
    assert len({one.text for one in made}) == len(made)
    assert all(one.size == edit_size(text, one.text) for one in made)


def test_no_rule_sees_numbers_in_other_words() -> None:
    """Decimals, codes and lists of figures are left alone."""
    assert make_drafts("3.14 of A4 and v2", ["numbers"]) == []


def test_importance() -> None:
    """The words that carry the answer come first, in the order of the text where they carry the same."""
    ranked = word_importance("a good and great day", praise)

    assert [place for place, _ in ranked[:2]] == [1, 3]
    assert word_importance("…", praise) == []


def test_a_search_finds_the_smallest_edit() -> None:
    """One swap is enough here, and is found first; the model and its rule are named."""
    found = flip_search("Good and great.", praise, model="toy@1")

    assert found[0].text in {"Bad and great.", "Good and terrible."}
    assert (len(found[0].swaps), found[0].was, found[0].label) == (1, "positive", "negative")
    assert {(one.model, one.rule) for one in found} == {("toy@1", "search")}
    assert found == flip_search("Good and great.", praise, model="toy@1")


def test_a_search_combines_swaps() -> None:
    """Where one swap does not turn the model, two do; never more than are allowed."""
    text = "good great fun."
    alone = flip_search(text, praise, model="m", limits=SearchLimits(swaps=1))
    found = flip_search(text, praise, model="m", limits=SearchLimits(swaps=2))

    assert alone == []
    assert {len(one.swaps) for one in found} == {2}
    assert "bad terrible fun." in [one.text for one in found]


def test_a_search_asks_no_more_than_it_may() -> None:
    """The number of texts that a model is asked about is bounded, whatever is offered."""
    asked: list[int] = []

    def counting(texts: Sequence[str]) -> list[Mapping[str, float]]:
        asked.append(len(texts))
        return praise(texts)

    offers = [f"word{number}" for number in range(500)]
    limits = SearchLimits(asked=300)
    flip_search("good great fun day", counting, model="m", substitutes=lambda _: offers, limits=limits)
    assert sum(asked) <= 300


@pytest.mark.parametrize(
    ("before", "after", "tokens"),
    [("a b", "a b", 0), ("a b", "a c", 1), ("", "x y", 2), ("Good, bad.", "Good bad.", 1)],
)
def test_how_large_an_edit_is(before: str, after: str, tokens: int) -> None:
    """Changed tokens are counted, punctuation among them."""
    assert edit_size(before, after).tokens == tokens
