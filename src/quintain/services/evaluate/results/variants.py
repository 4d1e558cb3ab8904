"""Variants of a data set by their names: which there are, to which family they belong, and which are the newest."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeVar

import polars as pl

from quintain.adapters.contract import ADAPTERS
from quintain.core.cells import MEASURE, PLAIN
from quintain.core.task import Task
from quintain.data.perturbing_languages import applies_in, counts_in
from quintain.perturbations.contract import PERTURBATIONS, Family, perturbation
from quintain.perturbations.tables import perturb_table
from quintain.tasks.contract import kind_of

VARIANT_SEED = 0
LEAST_KINDS = 3  # perturbations that a figure must rest on to rank; with fewer it is shown, and no axis
VARIANT_ROWS = 5000  # examples of a data set, by their ids, that perturbations are made of
Found = TypeVar("Found")


def variants_of(task: Task) -> list[str]:
    """List the variants in which every data set of *task* is run: as it is, measured, and perturbed.

    A perturbation's variant is named after it and its version, so a changed perturbation makes new cells.
    """
    names = [PLAIN, MEASURE]
    if any(field.perturbable and field.type in {"text", "long_text", "tokens"} for field in kind_of(task).fields(task)):
        names += [variant_name(name) for name in PERTURBATIONS.names() if applies(task, name)]
    return names


def applies(task: Task, name: str) -> bool:
    """Whether a perturbation can be made of texts in one of the languages of *task*.

    English fillers in German texts would show nothing but that a model was asked something odd.
    """
    return any(applies_in(language, name) for language in task.languages)


def perturbed(task: Task, source: pl.DataFrame, name: str, *, seed: int, language: str) -> pl.DataFrame:
    """Perturb examples that are in *language*: none of them where the perturbation is for another one of the task's."""
    rows = source if applies_in(language, name) else source.clear()
    return perturb_table(task, rows, perturbation(name), seed=seed, language=language)


def variant_name(perturbation: str) -> str:
    """Name the variant that *perturbation* makes."""
    return f"{perturbation}.v{PERTURBATIONS.get(perturbation).version}"


def counts_for(task: Task | None, name: str) -> bool:
    """Whether a perturbation makes robustness or fairness: those of the canonical figure do, and what *task* names.

    What does not apply to the task's languages never does, nor does what was read there and found to say something
    else too often.
    """
    if task is not None and not any(counts_in(language, name) for language in task.languages):
        return False
    return PERTURBATIONS.get(name).in_paper or (task is not None and name in task.counted_perturbations)


def counted_variants(task: Task | None = None) -> list[str]:
    """Name the variants whose answers make robustness and fairness; the other perturbations are shown beside them."""
    return [variant_name(name) for name in PERTURBATIONS.names() if counts_for(task, name)]


def slow_adapters() -> list[str]:
    """List the adapters whose models run here and take long over every example."""
    return [name for name, member in ADAPTERS.items() if member.place == "sandbox" and member.language_model]


def variants_for(task: Task, adapter: str, perturbations: str = "counted") -> list[str]:
    """List the variants that a model of *adapter* is run on.

    Every call to a server elsewhere may have its price, and a language model takes its time with every example, so
    perturbations that enter no figure are run there only where the manifest asks for `all` of them.
    """
    runs_at = ADAPTERS.get(adapter).place
    if runs_at == "file":
        return [PLAIN]
    if runs_at == "sandbox" and adapter not in slow_adapters():
        return variants_of(task)
    unwanted = set() if runs_at == "sandbox" else {MEASURE}
    if perturbations != "all":
        unwanted |= set(map(variant_name, PERTURBATIONS.names())) - set(counted_variants(task))
    return [name for name in variants_of(task) if name not in unwanted]


def outdated(variant: str) -> bool:
    """Whether *variant* belongs to an older version of its perturbation, which nobody can make any more."""
    name = variant.rpartition(".v")[0]
    return bool(name) and (name not in PERTURBATIONS.names() or variant != variant_name(name))


def family_of(variant: str) -> Family | None:
    """Return the family that a variant belongs to; None for the plain one and the measurement."""
    return None if variant in {PLAIN, MEASURE} else perturbation(variant.rpartition(".v")[0]).family


def newest_variants(by_variant: Mapping[str, Found]) -> dict[str, Found]:
    """Keep, of each perturbation, only what belongs to its newest version: two versions are never counted together.

    >>> newest_variants({"plain": 1, "typos.v1": 2, "typos.v2": 3})
    {'plain': 1, 'typos.v2': 3}
    """
    newest: dict[str, int] = {}
    for variant in by_variant:
        name, _, version = variant.rpartition(".v")
        if name:
            newest[name] = max(newest.get(name, 0), int(version))
    older = {v for v in by_variant if (name := v.rpartition(".v")[0]) and v != f"{name}.v{newest[name]}"}
    return {variant: value for variant, value in by_variant.items() if variant not in older}
