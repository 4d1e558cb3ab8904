"""How a model elsewhere was asked, of what its run has kept."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

REQUIRED = ("outcomes", "requests", "cost", "samples", "method")
BESIDE = (
    "reduce",
    "input_tokens",
    "output_tokens",
    "reasoning_tokens",
    "served",
    "fingerprints",
    "called",
    "omitted",
)


def asking_facts(facts: Mapping[str, Any], spread: Mapping[str, Any] | None = None) -> dict[str, Any] | None:
    """Return how a model was asked, by the *facts* of its run; None of one that is not asked in words.

    *spread* is how much its samples differ.
    """
    if "outcomes" not in facts:
        return None
    asked = {name: facts[name] for name in REQUIRED if name in facts}
    return asked | {name: facts[name] for name in BESIDE if facts.get(name)} | ({"spread": spread} if spread else {})
