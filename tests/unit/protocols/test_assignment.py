"""Draws are the same whenever they are drawn again, balanced within blocks, and foreseen by nobody without the seed."""

from __future__ import annotations

import json
import re
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from quintain.protocols.assignment import Draw
from quintain.protocols.contexts import deal, needed, share_out
from quintain.protocols.reading import shipped
from tests.properties import examples

WEIGHTS = st.dictionaries(st.text(min_size=1, max_size=8), st.integers(1, 5), min_size=1, max_size=5)
SEEDS = st.integers(0, 2**62)


def sequence(seed: int, weights: dict[str, int], length: int, stratum: str = "") -> list[str]:
    """Draw one after another, each knowing what was drawn before."""
    made: list[str] = []
    for number in range(length):
        made.append(Draw(f"person {number}", weights, Counter(made), stratum).pick(seed))
    return made


@settings(max_examples=examples(60), deadline=None)
@given(SEEDS, WEIGHTS, st.integers(1, 4))
def test_every_block_has_each_option_as_often_as_its_weight(seed: int, weights: dict[str, int], blocks: int) -> None:
    """However options are weighted, each block of as many draws as the weights add up to is in exact balance."""
    size = sum(weights.values())
    made = sequence(seed, weights, size * blocks)
    for start in range(0, size * blocks, size):
        assert Counter(made[start : start + size]) == Counter(weights)


@settings(max_examples=examples(60), deadline=None)
@given(SEEDS, WEIGHTS, st.text(max_size=10), st.data())
def test_a_recorded_draw_is_drawn_again_the_same(
    seed: int, weights: dict[str, int], stratum: str, data: st.DataObject
) -> None:
    """What is kept as JSON gives the same option, whatever the order in which options are listed."""
    taken = data.draw(st.dictionaries(st.sampled_from(sorted(weights)), st.integers(0, 9)))
    draw = Draw("person 1", weights, taken, stratum)
    again = Draw(**json.loads(json.dumps(draw.as_dict(), sort_keys=True)))
    assert again.pick(seed) == draw.pick(seed)
    assert Draw("person 1", dict(reversed(weights.items())), taken, stratum).pick(seed) == draw.pick(seed)


def test_draws_without_a_past_are_even_and_differ_by_seed() -> None:
    """Where nothing is balanced, each option comes as often as chance has it; another seed draws otherwise."""
    weights = {"a": 1, "b": 1, "c": 1, "d": 1}
    made = {seed: [Draw(f"session {number}", weights).pick(seed) for number in range(4000)] for seed in (1, 2)}
    assert made[1] != made[2]
    for drawn in made.values():
        assert all(900 < count < 1100 for count in Counter(drawn).values())


def test_strata_are_balanced_each_for_itself() -> None:
    """Two strata with one seed have orders of their own, each balanced."""
    first, second = (sequence(5, {"a": 1, "b": 1}, 40, stratum) for stratum in ("news", "fiction"))
    assert Counter(first) == Counter(second) == {"a": 20, "b": 20}
    assert first != second


@pytest.mark.parametrize("weights", [{}, {"a": 0}, {"a": 1, "b": -1}])
def test_weights_that_give_nobody_anything_are_refused(weights: dict[str, int]) -> None:
    """There must be an option, and each must have a weight."""
    with pytest.raises(ValueError, match="nothing to draw"):
        Draw("person 1", weights)


def test_nothing_else_is_drawn_from_the_systems_entropy() -> None:
    """No service chooses by chance that nobody can replay; keys and tokens are the only secrets that are made."""
    services = Path(__file__).parents[3] / "src" / "quintain" / "services"
    drawn = re.compile(
        r"secrets\.(?:choice|randbelow)|SystemRandom|\brandom\.(?:choice|shuffle|sample|random)|default_rng\(\)"
    )
    found = [path.name for path in services.rglob("*.py") if drawn.search(path.read_text())]
    assert len(list(services.rglob("*.py"))) > 100
    assert found == []


@settings(max_examples=examples(60), deadline=None)
@given(SEEDS, st.lists(st.sampled_from("abc"), min_size=1, max_size=60), st.integers(1, 7))
def test_contexts_are_dealt_out_in_balance_by_genre(seed: int, genres: list[str], hands: int) -> None:
    """All contexts go out once; of each genre, and of all, no hand has two more than another, whatever their order."""
    strata = {f"text {number}": genre for number, genre in enumerate(genres)}
    dealt = deal(strata, share_out([100] * hands, max(hands, len(strata))), seed)
    assert sorted(name for hand in dealt for name in hand) == sorted(strata)
    for genre in ("a", "b", "c", None):
        sizes = [sum(genre in (None, strata[name]) for name in hand) for hand in dealt]
        assert max(sizes) - min(sizes) <= 1
    sizes = share_out([100] * hands, max(hands, len(strata)))
    assert deal(dict(reversed(strata.items())), sizes, seed) == dealt


@settings(max_examples=examples(30), deadline=None)
@given(SEEDS, st.integers(1, 4), st.integers(1, 4), st.integers(1, 4))
def test_every_block_of_a_round_has_one_context_of_each_genre(seed: int, each: int, hands: int, genres: int) -> None:
    """Where genres are equally large, whoever draws contexts in order gets one of each before a second of any."""
    strata = {f"{genre} {number}": str(genre) for genre in range(genres) for number in range(each * hands)}
    for hand in deal(strata, [each * genres] * hands, seed):
        for start in range(0, len(hand), genres):
            assert {strata[name] for name in hand[start : start + genres]} == {str(one) for one in range(genres)}


@settings(max_examples=examples(60), deadline=None)
@given(st.lists(st.integers(1, 900), min_size=1, max_size=9), st.integers(0, 3000))
def test_each_round_gets_what_it_needs_or_its_part(needs: list[int], more: int) -> None:
    """Nothing beyond the need is taken, nothing of too few is left, and no round goes without."""
    free = len(needs) + more
    sizes = share_out(needs, free)
    assert sum(sizes) == min(free, sum(needs))
    assert all(1 <= size <= need for size, need in zip(sizes, needs, strict=True))


def test_the_papers_protocols_need_as_many_passages_as_it_used() -> None:
    """About 1,500 questions, two on a passage, are 750 passages in each final round; a tutorial is done by turns."""
    protocols = shipped()
    for name in ("baseline", "justification", "crowd", "expert"):
        assert needed(protocols[name], protocols[name].final) == 750
    assert needed(protocols["expert"], protocols["expert"].stage("tutorial")) == 40
    assert needed(protocols["expert"], protocols["expert"].stage("grades-1")) == 0


@settings(max_examples=examples(30), deadline=None)
@given(SEEDS, st.lists(st.sampled_from(["de", "en", ""]), min_size=1, max_size=60))
def test_arms_are_balanced_within_each_stratum_of_people(seed: int, countries: list[str]) -> None:
    """In whatever order people of different strata come in, no arm has two more of any stratum than another."""
    arms = {"one": 1, "two": 1, "three": 1}
    taken: dict[str, Counter[str]] = {}
    for number, country in enumerate(countries):
        own = taken.setdefault(country, Counter())
        draw = Draw(f"person {number}", arms, dict(own), country)
        assert Draw(**json.loads(json.dumps(draw.as_dict()))).pick(seed) == draw.pick(seed)
        own[draw.pick(seed)] += 1
        assert max(own[arm] for arm in arms) - min(own[arm] for arm in arms) <= 1
