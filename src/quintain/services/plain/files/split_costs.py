"""What each constraint of a split costs: what there would be if it were one step weaker."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from quintain.core.records.release import ConstraintCost, ReleaseCosts
from quintain.core.release import ReleaseSpec
from quintain.services.plain.files.folds import SplitItems, shares_code
from quintain.services.plain.files.splits import KnownGroups, Problem, assigned, problem_of
from quintain.stats.splitting import rounded_sizes, solve

SECONDS = 5.0  # that one look may take where it decides on writers
STEP = 0.1  # by which near-duplicates are taken to be more similar


@dataclass(frozen=True, slots=True)
class _Weaker:
    """A specification in which one constraint is a step weaker; *even* are the attributes that it makes even."""

    constraint: str
    value: str
    weaker: str
    spec: ReleaseSpec
    even: tuple[str, ...]


def costs_of(candidates: SplitItems, spec: ReleaseSpec, even: tuple[str, ...]) -> ReleaseCosts:
    """Return how much there is as *spec* says, with *even* as it came out, and with each constraint a step weaker."""
    known = KnownGroups(candidates.texts)
    problem = problem_of(candidates, spec, known)
    held_out, in_any = _reach(problem, even)
    constraints = []
    for step in _steps(candidates, spec, even, problem):
        more, rest = _reach(problem_of(candidates, step.spec, known), step.even)
        constraints.append(
            ConstraintCost(
                constraint=step.constraint,
                value=step.value,
                weaker=step.weaker,
                held_out=more,
                costs_held_out=max(0, more - held_out),
                kept=rest,
                costs_kept=max(0, rest - in_any),
            )
        )
    return ReleaseCosts(held_out, in_any, constraints)


def _reach(problem: Problem[SplitItems], even: tuple[str, ...]) -> tuple[int, int]:
    """Count what dev and test can have at most, in the shares that are asked for, and what is in any data set."""
    pool, spec = problem.pool, problem.spec
    goal = replace(problem.wanted, even=tuple(name for name in even if name in pool.attributes))
    asked = sum(goal.sizes.values())
    factor = int(pool.fit().sum()) / max(asked, 1)
    most = replace(goal, sizes={name: int(size * factor) for name, size in goal.sizes.items()})
    splits = solve(pool, most, spec.seed, seconds=SECONDS)
    held_out = sum(splits.sizes.values())
    sizes = rounded_sizes(goal, pool.classes) if pool.classes else goal.sizes
    chosen = solve(pool, replace(goal, sizes=sizes), spec.seed, seconds=SECONDS)
    _, left_out = assigned(problem, chosen)
    return held_out, len(pool) - sum(left_out.values())


def _steps(
    candidates: SplitItems, spec: ReleaseSpec, even: tuple[str, ...], problem: Problem[SplitItems]
) -> Iterator[_Weaker]:
    """Yield a step down from every constraint that can cost anything here."""

    def step(constraint: str, value: object, weaker: object, **change: object) -> _Weaker:
        before, after = (str(word).lower() if isinstance(word, bool) else f"{word}" for word in (value, weaker))
        return _Weaker(constraint, before, after, replace(spec, **change), even)  # type: ignore[arg-type]

    if spec.at_chance:
        yield step("at_chance", True, False, at_chance=False)
    elif spec.balanced and not even:
        yield step("balanced", True, False, balanced=False)
    lower = candidates.share[(candidates.label >= 0) & (candidates.share < spec.agreement - 1e-9)]
    if len(lower) and lower.max() > 0:
        share = float(lower.max())
        yield step("agreement", f"{spec.agreement:g}", f"{share:.2g}", agreement=share)
    for name in even:
        fewer = tuple(other for other in even if other != name)
        value, weaker = ("even", "checked") if name in spec.even else ("checked", "–")
        yield replace(step(f"even:{name}", value, weaker), even=fewer)
    if candidates.writers and spec.writers != "any":
        weaker = "capped" if spec.writers == "disjoint" else "any"
        yield step("writers", spec.writers, weaker, writers=weaker)
    prompts = candidates.origin("prompt")
    if spec.prompted and (prompts >= 0).any() and (prompts < 0).any():
        yield step("prompted", True, False, prompted=False)
    if spec.unique_prompts and shares_code(prompts).any():
        yield step("unique_prompts", True, False, unique_prompts=False)
    for name in spec.apart:
        rest = tuple(other for other in spec.apart if other != name)
        yield step("apart", name, ", ".join(rest) or "–", apart=rest)
    if (problem.alike >= 0).any() and spec.similarity < 1:
        higher = min(1.0, round(spec.similarity + STEP, 2))
        yield step("similarity", f"{spec.similarity:g}", f"{higher:g}", similarity=higher)
    if spec.hidden and np.any(candidates.shown):
        yield step("hidden", True, False, hidden=False)
