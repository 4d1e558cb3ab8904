"""Splits under constraints: each is proved on what came out by counting, with nothing of the solver's."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from time import process_time

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from quintain.stats.split_pool import LEFT, Pool, SplitTargets
from quintain.stats.splitting import CHANCE, EVEN, WRITERS, Clash, Splits, clashes, rounded_sizes, solve
from tests.properties import examples

SIZES = {"dev": 90, "test": 90}
WAYS = st.sampled_from(["any", "capped", "disjoint"])


def drawn(units: int, *, seed: int = 0, writers: int = 0, wrong: float = 0.6, classes: int = 3) -> Pool:
    """Draw a pool in which a model is wrong on a share, and stars go with the class."""
    rng = np.random.default_rng(seed)
    label = rng.integers(0, classes, units)
    other = (label + rng.integers(1, classes, units)) % classes
    said = np.where(rng.random(units) < wrong, other, label)
    stars = np.clip(label + rng.integers(0, 3, units), 0, 4)
    writer = (rng.zipf(1.6, units) - 1) % writers if writers else None
    return Pool(classes, label, said, {"stars": stars}, {"agreed": rng.random(units) < 0.8}, writer)


def f1_by_class(label: Sequence[int], said: Sequence[int], classes: int = 3) -> list[float]:
    """Compute F1 from its definition."""
    found = []
    for one in range(classes):
        both = sum(a == b == one for a, b in zip(label, said, strict=True))
        found.append(2 * both / (list(label).count(one) + list(said).count(one)))
    return found


def prove(pool: Pool, splits: Splits, name: str, *, even: Sequence[str] = (), chance: bool = False) -> None:
    """Count what a split holds, one unit at a time."""
    units = [unit for unit, split in enumerate(splits.split) if split == splits.names.index(name)]
    assert len(units) == splits.sizes[name] > 0
    labels = [int(pool.label[unit]) for unit in units]
    assert len(set(Counter(labels).values())) == 1
    assert set(labels) == set(range(pool.classes))
    assert all(good[unit] for good in pool.allowed.values() for unit in units)
    for attribute in even:
        values = Counter((int(pool.attributes[attribute][unit]), int(pool.label[unit])) for unit in units)
        for value in {value for value, _ in values}:
            assert len({values[value, label] for label in range(pool.classes)}) == 1
    if chance:
        assert pool.said is not None
        said = [int(pool.said[unit]) for unit in units]
        assert f1_by_class(labels, said, pool.classes) == pytest.approx([1 / pool.classes] * pool.classes)


def test_all_constraints_hold_at_once() -> None:
    """Balanced classes, a model at chance, and stars that say nothing, in both splits, from one pool."""
    pool = drawn(3000)
    splits = solve(pool, SplitTargets(SIZES, at_chance=True, even=("stars",)), seed=1)
    assert splits.sizes == SIZES
    assert splits.is_proved
    for name in SIZES:
        prove(pool, splits, name, even=["stars"], chance=True)


def test_draws_are_the_seeds() -> None:
    """The same seed gives the same splits, and another one others."""
    pool, wanted = drawn(2000), SplitTargets(SIZES)
    first, same, other = (solve(pool, wanted, seed).split for seed in (1, 1, 2))
    assert (first == same).all()
    assert (first != other).any()


@settings(max_examples=examples(15), deadline=None)
@given(seed=st.integers(0, 10_000), writers=st.integers(3, 40))
def test_writers_are_in_one_split_only(seed: int, writers: int) -> None:
    """Nobody who wrote for dev wrote for test."""
    pool = drawn(800, seed=seed, writers=writers)
    splits = solve(pool, SplitTargets({"dev": 30, "test": 30}, disjoint=True), seed)
    assert pool.writer is not None
    by_split = [set(pool.writer[splits.split == place].tolist()) for place in range(2)]
    assert not by_split[0] & by_split[1]
    assert all(size % 3 == 0 for size in splits.sizes.values())


def test_units_of_nobody_are_used_once() -> None:
    """Where some units have no writer, both splits may use them, and each unit is in one."""
    pool = drawn(600, writers=8)
    assert pool.writer is not None
    pool.writer[::2] = -1
    splits = solve(pool, SplitTargets({"dev": 90, "test": 90}, disjoint=True, at_chance=True), seed=3)
    assert splits.sizes == {"dev": 90, "test": 90}
    for name in splits.names:
        prove(pool, splits, name, chance=True)


def test_a_cap_on_writers_holds() -> None:
    """No writer has more than the cap in the splits together."""
    pool = drawn(3000, writers=200)
    splits = solve(pool, SplitTargets({"dev": 60, "test": 60}, cap=2), seed=1)
    assert pool.writer is not None
    assert max(Counter(pool.writer[splits.split != LEFT].tolist()).values()) <= 2
    assert splits.sizes == {"dev": 60, "test": 60}


def test_the_largest_sizes_that_work() -> None:
    """With too little of one class both splits shrink alike, to what the scarce class allows and not less."""
    label = np.repeat([0, 1, 2], [500, 500, 41])
    splits = solve(Pool(3, label), SplitTargets({"dev": 300, "test": 300}), seed=1)
    assert splits.is_proved
    assert sum(splits.sizes.values()) == 3 * 41
    assert min(splits.sizes.values()) == 3 * 20


def test_a_model_that_is_always_wrong_clashes_with_chance() -> None:
    """Where a model is wrong on everything it cannot be at chance, and that is the constraint that is named."""
    pool = drawn(2000, wrong=1.0)
    wanted = SplitTargets(SIZES, at_chance=True, even=("stars",))
    splits = solve(pool, wanted, seed=1)
    assert sum(splits.sizes.values()) == 0
    named = clashes(pool, wanted, splits.sizes, seed=1)
    assert [one.constraint for one in named] == [CHANCE]
    assert named[0].sizes == SIZES


def test_what_stands_in_the_way_is_named_once_each() -> None:
    """An attribute that is the class itself, a requirement that hardly anybody meets, and writers."""
    pool = drawn(2000, writers=2)
    same = Pool(3, pool.label, attributes={"copy": pool.label})
    assert [one.constraint for one in clashes(same, SplitTargets(SIZES, even=("copy",)), {"dev": 0, "test": 0}, 1)] == [
        f"{EVEN}copy"
    ]
    strict = Pool(3, pool.label, allowed={"agreed": np.arange(2000) < 30})
    reached = solve(strict, SplitTargets(SIZES), 1).sizes
    assert next(one.constraint for one in clashes(strict, SplitTargets(SIZES), reached, 1)) == "agreed"
    capped = SplitTargets(SIZES, cap=10)
    reached = solve(pool, capped, 1).sizes
    assert sum(reached.values()) <= 20
    assert WRITERS in [one.constraint for one in clashes(pool, capped, reached, 1)]


def test_sizes_are_rounded_to_whole_shares() -> None:
    """A size that is no multiple of what the constraints need is rounded down."""
    assert rounded_sizes(SplitTargets({"dev": 100}, balanced=False), 3) == {"dev": 100}
    assert rounded_sizes(SplitTargets({"dev": 100}), 3) == {"dev": 99}
    assert solve(drawn(500), SplitTargets({"dev": 100}), 1).sizes == {"dev": 99}


@pytest.mark.parametrize("units", [0, 2])
def test_nearly_nothing_gives_nothing(units: int) -> None:
    """A pool without a unit of every class gives empty splits, and no error."""
    splits = solve(drawn(units), SplitTargets(SIZES, at_chance=True), seed=1)
    assert splits.sizes == {"dev": 0, "test": 0}
    assert (splits.split == LEFT).all()


def test_a_large_pool_takes_seconds() -> None:
    """A hundred and twenty thousand units, all constraints: well under the half minute that a release may take."""
    pool = drawn(120_000, wrong=0.5)
    started = process_time()
    splits = solve(pool, SplitTargets({"dev": 3600, "test": 3600}, at_chance=True, even=("stars",), cap=None), seed=1)
    assert process_time() - started < 15
    assert splits.sizes == {"dev": 3600, "test": 3600}
    for name in splits.names:
        prove(pool, splits, name, even=["stars"], chance=True)


def tries(sessions: int, *, seed: int = 0, writers: int = 0, of: int = 2) -> tuple[Pool, npt.NDArray[np.int64]]:
    """Draw a pool in which up to *of* units share a prompt and a writer, and the prompt of each."""
    rng = np.random.default_rng(seed)
    prompt = np.repeat(np.arange(sessions), rng.integers(1, of + 1, sessions))
    pool = drawn(len(prompt), seed=seed)
    writer = (rng.zipf(1.6, sessions) - 1)[prompt] % writers if writers else None
    return replace(pool, writer=writer), prompt


@settings(max_examples=examples(6), deadline=None)
@given(
    seed=st.integers(0, 10_000), writers=st.sampled_from([0, 12]), way=st.sampled_from(["any", "capped", "disjoint"])
)
def test_of_what_excludes_each_other_one_is_taken(seed: int, writers: int, way: str) -> None:
    """Of each prompt at most one unit is in dev or test, however writers are kept apart, and all else holds, too."""
    pool, prompt = tries(400, seed=seed, writers=writers, of=3)
    pool = replace(pool, once={"prompt": prompt})
    wanted = SplitTargets(
        {"dev": 27, "test": 27}, at_chance=True, disjoint=way == "disjoint", cap=5 if way == "capped" else None
    )
    splits = solve(pool, wanted, seed)
    held = splits.split != LEFT
    assert max(Counter(prompt[held].tolist()).values(), default=0) <= 1
    for name in splits.names if min(splits.sizes.values()) else ():
        prove(pool, splits, name, chance=True)
    if pool.writer is not None and way == "disjoint":
        assert not set(pool.writer[splits.split == 0].tolist()) & set(pool.writer[splits.split == 1].tolist())
    if pool.writer is not None and way == "capped":
        assert max(Counter(pool.writer[held].tolist()).values(), default=0) <= 5


@settings(max_examples=examples(6), deadline=None)
@given(seed=st.integers(0, 10_000), disjoint=st.booleans(), once=st.booleans())
def test_what_belongs_together_goes_one_way(seed: int, disjoint: bool, once: bool) -> None:
    """Units of one review are never in two splits, also where some of them exclude each other."""
    pool, review = tries(150, seed=seed, writers=10, of=5)
    copies = np.where(np.arange(len(pool)) % 7 == 0, np.arange(len(pool)) // 14, -1)
    pool = replace(pool, apart={"review": review}, once={"copies": copies} if once else {})
    splits = solve(pool, SplitTargets({"dev": 45, "test": 45}, disjoint=disjoint), seed)
    homes = {(int(one), int(split)) for one, split in zip(review, splits.split, strict=True) if split != LEFT}
    assert len(homes) == len({one for one, _ in homes})
    assert sum(splits.sizes.values()) > 0
    if once:
        held = copies[(splits.split != LEFT) & (copies >= 0)]
        assert len(set(held.tolist())) == len(held)


def test_the_solver_chooses_which_of_them() -> None:
    """Where only the right choice of each prompt's units fills the splits, that is the one that is made."""
    label = np.array([0, 1] * 20 + [1] * 20 + [0] * 20)
    prompt = np.r_[np.repeat(np.arange(20), 2), np.arange(20, 40), np.arange(20, 40)]
    splits = solve(Pool(2, label, once={"prompt": prompt}), SplitTargets({"dev": 20, "test": 20}), seed=1)
    assert splits.sizes == {"dev": 20, "test": 20}
    assert len(set(prompt[splits.split != LEFT].tolist())) == 40


def test_as_much_as_can_be_is_found() -> None:
    """On pools so small that every choice can be tried, no larger splits exist than those that are found."""
    for seed in range(8):
        rng = np.random.default_rng(seed)
        label, prompt = rng.integers(0, 2, 9), rng.integers(0, 5, 9)
        pool = Pool(2, label, once={"prompt": prompt})
        splits = solve(pool, SplitTargets({"dev": 8}), seed)
        best = 0
        for some in itertools.chain.from_iterable(itertools.combinations(range(9), size) for size in range(9)):
            units = list(some)
            counts = np.bincount(label[units], minlength=2)
            if counts[0] == counts[1] and len(set(prompt[units].tolist())) == len(units):
                best = max(best, len(units))
        assert splits.sizes["dev"] == best


def test_exclusion_is_named_where_it_stands_in_the_way() -> None:
    """With one prompt for all, one unit can be taken; the refusal says what there would be without that."""
    pool = drawn(600)
    single = replace(pool, once={"prompt": np.zeros(600, dtype=np.int64)}, apart={"review": np.full(600, -1)})
    reached = solve(single, SplitTargets(SIZES), 1).sizes
    assert sum(reached.values()) == 0
    assert clashes(single, SplitTargets(SIZES), reached, 1)[0] == Clash("prompt", SIZES)


def test_a_cap_takes_of_all_answers() -> None:
    """What is left of each writer within the cap is spread over classes and answers, so that chance stays possible."""
    rng = np.random.default_rng(3)
    label = rng.integers(0, 3, 4000)
    said = np.where(rng.random(4000) < 0.85, label, (label + rng.integers(1, 3, 4000)) % 3)
    pool = Pool(3, label, said, writer=np.arange(4000) % 20)
    splits = solve(pool, SplitTargets({"dev": 360, "test": 360}, at_chance=True, cap=50), 1)
    assert splits.sizes == {"dev": 360, "test": 360}


def test_a_large_pool_of_sessions_takes_seconds() -> None:
    """A hundred thousand units, two of a prompt on average: the release's half minute is far away."""
    pool, prompt = tries(60_000, seed=2, of=3)
    pool = replace(pool, once={"prompt": prompt})
    started = process_time()
    splits = solve(pool, SplitTargets({"dev": 3600, "test": 3600}, at_chance=True, even=("stars",)), seed=1)
    assert splits.sizes == {"dev": 3600, "test": 3600}
    assert process_time() - started < 15
