"""In words, how far models are behind people: no more than intervals and tests bear."""

from __future__ import annotations

from collections.abc import Sequence

from quintain.core.records.figures import Estimate
from quintain.core.texts import Text
from quintain.stats.arms import ArmSums, compare, holm

LEVEL = 0.05


def gap_finding(
    model: str, gaps: Sequence[tuple[ArmSums, Estimate]], slice_: str, which: Text, *, seed: int
) -> Text | None:
    """Return where *model* is furthest behind people; None where fewer than two gaps are known.

    A gap whose interval holds 0 is none, and the largest is called so only where the test tells it from each other one.
    """
    known = [(sums, gap) for sums, gap in gaps if gap.value is not None]
    if len(known) < 2:
        return None
    behind = [(sums, gap) for sums, gap in known if gap.low is not None and gap.low > 0]
    if not behind:
        return Text("That {model} is behind people cannot be told, where {which}.", model=model, which=which)
    top, gap = max(behind, key=lambda pair: pair[1].value or 0.0)
    tests = [compare(top, other, slice_, model, seed=seed) for other, _ in known if other is not top]
    figures = {
        "model": model,
        "name": top.name,
        "points": 100 * (gap.value or 0.0),
        "low": 100 * (gap.low or 0.0),
        "high": 100 * (gap.high if gap.high is not None else gap.value or 0.0),
        "which": which,
    }
    raised = holm([test.p for test in tests])
    if all(
        p is not None and p < LEVEL and (test.difference.value or 0.0) > 0
        for test, p in zip(tests, raised, strict=True)
    ):
        return Text(
            "{model} is furthest behind people on {name}: by {points:.1f} points (95 % between {low:.1f} and "
            "{high:.1f}), where {which}.",
            **figures,
        )
    return Text(
        "{model} is {points:.1f} points behind people on {name} (95 % between {low:.1f} and {high:.1f}), where "
        "{which}. That it is further behind there than elsewhere cannot be told.",
        **figures,
    )
