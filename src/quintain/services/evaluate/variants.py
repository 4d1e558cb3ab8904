"""Variants of a data set by their names: to which family they belong, and which of them are the newest."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeVar

from quintain.perturbations.contract import Family, perturbation
from quintain.store.queries.evaluate.cells import MEASURE, PLAIN

Found = TypeVar("Found")


def family_of(variant: str) -> Family | None:
    """Say to which family a variant belongs; None for the plain one and the measurement."""
    return None if variant in {PLAIN, MEASURE} else perturbation(variant.rpartition(".v")[0]).family


def newest_variants(found: Mapping[str, Found]) -> dict[str, Found]:
    """Keep, of each perturbation, only what belongs to its newest version: two versions are never counted together.

    >>> newest_variants({"plain": 1, "typos.v1": 2, "typos.v2": 3})
    {'plain': 1, 'typos.v2': 3}
    """
    newest: dict[str, int] = {}
    for variant in found:
        name, _, version = variant.rpartition(".v")
        if name:
            newest[name] = max(newest.get(name, 0), int(version))
    older = {v for v in found if (name := v.rpartition(".v")[0]) and v != f"{name}.v{newest[name]}"}
    return {variant: value for variant, value in found.items() if variant not in older}
