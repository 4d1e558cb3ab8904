"""Which items go into dev and test, and which are left for train: solved exactly, and explained."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Generic, TypeVar

import numpy as np

from quintain.core.errors import BadInput
from quintain.core.example import Role
from quintain.core.release import ReleaseSpec
from quintain.core.texts import Text, joined
from quintain.services.plain.files.folds import SplitItems, groups_of, shares_code
from quintain.stats.bootstrap import IntArray
from quintain.stats.predictability import Gain, gain_over_chance, one_hot
from quintain.stats.split_pool import LEFT, BoolArray, Pool, SplitTargets
from quintain.stats.splitting import (
    BALANCE,
    CHANCE,
    CLOSED,
    EVEN,
    WRITERS,
    Clash,
    Solved,
    Splits,
    clashes,
    rounded_sizes,
    solved,
)

AGREEMENT = "agreement"
DUPLICATES = "near-duplicates"
NO_PROMPT = "no prompt"
REPEATED = "repeated prompt"
HELD_OUT = (Role.DEV.value, Role.TEST.value)
TENTH = 10
FEW = 2000  # items in dev and test, up to which other draws are looked at
DRAWS = 25
STRIDE = 1009  # between the seeds of two draws, so that neighbouring seeds share none
SPENT = "writer is in dev or test"
ALIKE = "nearly the same is in dev or test"
APART = "apart:"  # before the origin of which all items are on one side
OF_ORIGIN = {
    "prompt": "another of its prompt is in dev or test",
    "review": "another of its review is in dev or test",
}


C = TypeVar("C", bound=SplitItems)


@dataclass(frozen=True, slots=True)
class Plan(Generic[C]):
    """Where every candidate goes: *split* names the data set by item, None for what is left out of all.

    *left_out* counts the latter by the reason. *barred* says, by reason, which items are not for dev and test; of those
    that are nearly the same, and of those of one prompt, one may be. *even* are the attributes that were made even, and
    *gains* what those that were looked at predict.
    """

    candidates: C
    spec: ReleaseSpec
    model: str
    said: IntArray
    split: list[str | None]
    left_out: Mapping[str, int]
    barred: Mapping[str, BoolArray]
    even: tuple[str, ...]
    gains: Mapping[str, Gain]
    is_proved: bool

    def of(self, split: str | None) -> IntArray:
        """Return the places of the items that are in a split, or in none."""
        return np.array([at for at, one in enumerate(self.split) if one == split], dtype=np.int64)


@dataclass(frozen=True, slots=True)
class Problem(Generic[C]):
    """Items as a pool, and what a specification wants of it; *alike* are the groups of near-duplicates."""

    candidates: C
    spec: ReleaseSpec
    model: str
    pool: Pool
    wanted: SplitTargets
    alike: IntArray
    barred: Mapping[str, BoolArray]


@dataclass(slots=True)
class KnownGroups:
    """Groups of near-duplicates by how similar they are: looking for them is what takes long."""

    texts: list[str]
    by_similarity: dict[float, IntArray] = field(default_factory=dict)

    def at(self, similarity: float) -> IntArray:
        """Return the groups of texts that are at least so similar."""
        if similarity not in self.by_similarity:
            self.by_similarity[similarity] = groups_of(self.texts, similarity)
        return self.by_similarity[similarity]


def plan_splits(candidates: C, spec: ReleaseSpec) -> Plan[C]:
    """Divide the items as *spec* says; where that cannot be, say which of its wishes clash and what would work."""
    problem = problem_of(candidates, spec, KnownGroups(candidates.texts))
    splits, goal = _with_little_gain(_solve(problem.pool, problem.wanted, spec), spec)
    split, left_out = assigned(problem, splits)
    repeated = shares_code(candidates.origin("prompt")) & spec.unique_prompts
    pool = problem.pool
    return Plan(
        candidates=candidates,
        spec=spec,
        model=problem.model,
        said=pool.said if pool.said is not None else np.full(len(pool), -1, dtype=np.int64),
        split=split,
        left_out=left_out,
        barred={**problem.barred, REPEATED: repeated, DUPLICATES: problem.alike >= 0},
        even=goal.even,
        gains={name: _gain(pool, splits, name, spec.seed) for name in pool.attributes},
        is_proved=splits.is_proved,
    )


def problem_of(candidates: C, spec: ReleaseSpec, known: KnownGroups) -> Problem[C]:
    """Return what is to be solved; refuse where it cannot be."""
    model = _model(candidates, spec)
    answers = candidates.answers_of(model) if model else np.full(len(candidates), -1, dtype=np.int64)
    if spec.at_chance and not ((answers == candidates.label) & (answers >= 0)).any():
        raise _only_fooling(candidates)
    barred, alike = _barred(candidates, spec), known.at(spec.similarity)
    codes = {name: _codes(candidates, name) for name in dict.fromkeys((*spec.even, *spec.checked))}
    valued = {name: code for name, code in codes.items() if (code >= 0).any()}
    excluding = {DUPLICATES: alike, **({REPEATED: candidates.origin("prompt")} if spec.unique_prompts else {})}
    origins = {f"{APART}{name}": candidates.origin(name) for name in spec.apart}
    pool = Pool(
        classes=len(candidates.classes),
        label=np.where(candidates.label < len(candidates.classes), candidates.label, -1),
        said=answers,
        attributes=valued,
        allowed={name: ~bad for name, bad in barred.items() if bad.any()},
        writer=candidates.writer,
        closed={Role.TEST.value: candidates.shown} if spec.hidden and candidates.shown.any() else {},
        once={name: group for name, group in excluding.items() if shares_code(group).any()},
        apart={name: codes for name, codes in origins.items() if shares_code(codes).any()},
    )
    goal = SplitTargets(
        sizes=_sizes(spec, len(candidates)),
        balanced=spec.balanced,
        at_chance=spec.at_chance,
        even=tuple(name for name in spec.even if name in valued),
        disjoint=spec.writers == "disjoint" and bool(candidates.writers),
        cap=spec.cap if spec.writers == "capped" else None,
    )
    return Problem(candidates, spec, model, pool, goal, alike, barred)


def _model(candidates: SplitItems, spec: ReleaseSpec) -> str:
    """Name the model that is to be at chance; where it is not, the one that is reported on, if there is one."""
    models = candidates.models()
    if spec.model and spec.model not in models:
        raise BadInput(
            "Model '{model}' has answered no item.",
            model=spec.model,
            known=", ".join(models) or "–",
            remedy="Those that have: {known}.",
        )
    if spec.at_chance:
        if candidates.only_fooling:
            raise _only_fooling(candidates)
        if not models:
            raise BadInput(
                "No model has answered any item, so none can be at chance.",
                remedy="Release with at_chance = false.",
            )
        if len(models) > 1 and not spec.model:
            raise BadInput(
                "Several models have answered: {known}.",
                known=", ".join(models),
                remedy="Name in `model` the one that is to be at chance.",
            )
    return spec.model or (models[0] if len(models) == 1 else "")


def _only_fooling(candidates: SplitItems) -> BadInput:
    return BadInput(
        "{ref} judges only what fooled the model, so that the model is wrong on nearly all of it and cannot be at "
        "chance.",
        ref=candidates.ref,
        remedy='Judge all attempts (items = "all" in the policy), or release with at_chance = false.',
        code="only_fooling",
    )


def _barred(candidates: SplitItems, spec: ReleaseSpec) -> dict[str, BoolArray]:
    """Return by reason which items may be in train only."""
    prompted, none = candidates.origin("prompt") >= 0, np.zeros(len(candidates), dtype=bool)
    return {
        AGREEMENT: candidates.share < spec.agreement - 1e-9,
        NO_PROMPT: ~prompted if spec.prompted and prompted.any() else none,
    }


def _codes(candidates: SplitItems, attribute: str) -> IntArray:
    values = candidates.values(attribute)
    codes = {name: code for code, name in enumerate(sorted({value for value in values if value is not None}))}
    return np.array([-1 if value is None else codes[value] for value in values], dtype=np.int64)


def _sizes(spec: ReleaseSpec, items: int) -> dict[str, int]:
    return {
        name: size if size is not None else max(items // TENTH, 1)
        for name, size in zip(HELD_OUT, (spec.dev, spec.test), strict=True)
    }


def _solve(pool: Pool, goal: SplitTargets, spec: ReleaseSpec) -> Solved:
    """Fill dev and test, or refuse: what was asked for by number must be reached, and nothing may be empty."""
    if not pool.classes:
        raise BadInput(
            "No item has a label, so nothing can be held out.",
            remedy="Where votes are tied, collect more of them, or give the labels in a column `label`.",
        )
    step = goal.step(pool.classes)
    asked = {"dev": spec.dev, "test": spec.test}
    odd = [name for name, size in asked.items() if size is not None and size % step]
    if odd:
        raise BadInput(
            "{split} cannot have {size} items: the shares within it are whole only for multiples of {step}.",
            split=odd[0],
            size=asked[odd[0]],
            step=step,
            rounded=rounded_sizes(goal, pool.classes)[odd[0]],
            remedy="Ask for {rounded}, or for another multiple of {step}.",
        )
    sizes = {name: max(size, step) if asked[name] is None else size for name, size in goal.sizes.items()}
    goal = replace(goal, sizes=sizes)
    program = solved(pool, goal, spec.seed)
    splits = program.drawn(spec.seed)
    if _is_enough(splits, spec):
        return program
    raise _refusal(pool, goal, splits, spec)


def _is_enough(splits: Splits, spec: ReleaseSpec) -> bool:
    asked = {"dev": spec.dev, "test": spec.test}
    return all(size > 0 if asked[name] is None else size == asked[name] for name, size in splits.sizes.items())


def _refusal(pool: Pool, goal: SplitTargets, splits: Splits, spec: ReleaseSpec) -> BadInput:
    reasons = clashes(pool, goal, splits.sizes, spec.seed)
    nobody = Text("No single wish is to blame; there are too few items.")
    return BadInput(
        "The items do not suffice for {asked}: at most {most} are possible. {why}",
        asked=_sizes_text(goal.sizes),
        most=_sizes_text(splits.sizes),
        why=joined([_why(reason) for reason in reasons]) if reasons else nobody,
        remedy="Ask for less, or give up one of these wishes.",
        code="splits_clash",
    )


def _why(clash: Clash) -> Text:
    """Return how much more there would be without one constraint."""
    sizes = _sizes_text(clash.sizes)
    if clash.constraint.startswith(EVEN):
        name = clash.constraint.removeprefix(EVEN)
        return Text("Without 'even' for {name}: {sizes}.", name=name, sizes=sizes)
    if clash.constraint.startswith(APART):
        name = clash.constraint.removeprefix(APART)
        return Text("Without 'apart' for {name}: {sizes}.", name=name, sizes=sizes)
    words = {
        CHANCE: Text("Without 'at_chance': {sizes}.", sizes=sizes),
        BALANCE: Text("Without 'balanced': {sizes}.", sizes=sizes),
        WRITERS: Text("With any 'writers': {sizes}.", sizes=sizes),
        AGREEMENT: Text("With less 'agreement': {sizes}.", sizes=sizes),
        NO_PROMPT: Text("Without 'prompted': {sizes}.", sizes=sizes),
        REPEATED: Text("Without 'unique_prompts': {sizes}.", sizes=sizes),
        DUPLICATES: Text("With near-duplicates (a higher 'similarity'): {sizes}.", sizes=sizes),
        CLOSED: Text("If no open data set had texts of it (or with 'hidden' = false): {sizes}.", sizes=sizes),
    }
    return words[clash.constraint]


def _sizes_text(sizes: Mapping[str, int]) -> str:
    return ", ".join(f"{name} {size}" for name, size in sizes.items())


def _with_little_gain(program: Solved, spec: ReleaseSpec) -> tuple[Splits, SplitTargets]:
    """Make even what predicts the class better than allowed, the worst first, until nothing does.

    In few items an attribute predicts something by chance: other draws are looked at first, which keep more items.
    """
    pool, goal = program.pool, program.wanted
    splits = program.drawn(spec.seed)
    while True:
        gains = _gains(pool, goal, spec, splits)
        held = int((splits.split != LEFT).sum())
        for draw in range(1, DRAWS + 1 if held <= FEW else 1):
            # Three times the deviation of a share of right guesses: more than that is no accident of the draw.
            if not spec.delta < max(gains.values(), default=0.0) <= spec.delta + 1.5 * held**-0.5:
                break
            splits = program.drawn(spec.seed + draw * STRIDE)
            gains = _gains(pool, goal, spec, splits)
        worst = max(gains, key=lambda name: gains[name], default=None)
        if worst is None or gains[worst] <= spec.delta:
            return splits, goal
        goal = replace(goal, even=(*goal.even, worst))
        program = solved(pool, goal, spec.seed)
        splits = program.drawn(spec.seed)
        if not _is_enough(splits, spec):
            raise BadInput(
                "{name} predicts the class {gain:.3f} better than chance in dev and test, more than {delta:g}; made "
                "even, at most {most} are possible.",
                name=worst,
                gain=gains[worst],
                delta=spec.delta,
                most=_sizes_text(splits.sizes),
                remedy="Ask for less, raise `delta`, or take {name} out of `checked`.",
                code="gives_away",
            )


def _gains(pool: Pool, goal: SplitTargets, spec: ReleaseSpec, splits: Splits) -> dict[str, float]:
    checked = [name for name in spec.checked if name in pool.attributes and name not in goal.even]
    return {name: _gain(pool, splits, name, spec.seed).gain for name in checked}


def _gain(pool: Pool, splits: Splits, attribute: str, seed: int) -> Gain:
    held = splits.split != LEFT
    return gain_over_chance(one_hot(pool.attributes[attribute][held]), pool.label[held], seed)


def assigned(problem: Problem[C], splits: Splits) -> tuple[list[str | None], dict[str, int]]:
    """Name the split of every item, and count why items are in none.

    What is in neither dev nor test is for train, unless its writer is in one of them, or one that is nearly the same,
    or one of the same prompt or review where these are kept apart.
    """
    candidates, held = problem.candidates, splits.split != LEFT
    reasons = {
        SPENT: _touched(candidates.writer, held) & problem.wanted.disjoint,
        ALIKE: _touched(problem.alike, held),
        **{OF_ORIGIN[name]: _touched(candidates.origin(name), held) for name in problem.spec.apart},
    }
    out, left_out = held.copy(), {}
    for reason, touched in reasons.items():
        left_out[reason] = int((touched & ~out).sum())
        out |= touched
    names = [*splits.names, Role.TRAIN.value, None]
    position = np.where(held, splits.split, np.where(out, len(names) - 1, len(names) - 2))
    return [names[at] for at in position.tolist()], left_out


def _touched(codes: IntArray, held: BoolArray) -> BoolArray:
    """Return which items have a code that one of those that are held out has, too."""
    return np.asarray((codes >= 0) & np.isin(codes, codes[held & (codes >= 0)]))
