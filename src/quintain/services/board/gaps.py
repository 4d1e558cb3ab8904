"""What of a model's figures on a data set ranks, and what is missing or only shown, with the reason."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from quintain.core.records.figures import Figure, Gap, RunCounts
from quintain.perturbations.contract import Family
from quintain.services.board.parts import MatrixDataset, MatrixModel
from quintain.services.evaluate.results.axis_gaps import MEASURED, axis_gaps, gap, runs_needed
from quintain.services.evaluate.results.dataset_results import StoredResult

if TYPE_CHECKING:
    from quintain.services.models.registry import ModelVersionInfo


def figures_at_hand(
    version: ModelVersionInfo,
    dataset: MatrixDataset,
    result: StoredResult | None,
    variants: Mapping[Family, Sequence[str]],
) -> tuple[Mapping[str, Gap], RunCounts]:
    """Return which axes a version lacks on a data set and why, and count its runs, also before it has any."""
    if result is not None:
        return result.gaps, result.runs
    if dataset.hash not in version.meta.get("datasets", [dataset.hash]):
        return {"performance": gap("uncovered")}, RunCounts()
    return axis_gaps(runs_needed(version.adapter, variants), {})


def on_machine(
    axis: str, figure: Figure | None, why: Gap | None, machine: str | None
) -> tuple[Figure | None, Gap | None]:
    """Let a measured figure rank only where it was made on *machine*; from elsewhere it is shown beside the reason."""
    if axis not in MEASURED or figure is None:
        return (figure if why is None else None), why
    elsewhere = figure.machine_class != machine
    if elsewhere and (why is None or why.kind in {"waiting", "uneven"}):  # to be measured again, and known from there
        return None, gap("machine", machine=figure.machine_class, figure=figure)
    if why is not None and why.kind == "uneven":
        return None, replace(why, figure=figure)
    return (figure if why is None else None), why


def without_ground(models: Sequence[MatrixModel], axis: str, index: int) -> bool:
    """Whether the examples of a data set can say nothing of an axis: no perturbation changes them.

    It is so for every model, those included that have not been run yet.
    """
    gaps = [model.gaps[axis][index] for model in models if axis in model.gaps]
    unchanged = any(why is not None and why.kind == "unchanged" for why in gaps)
    return unchanged and not any(model.values[axis][index] is not None for model in models)


def mostly_uneven(models: Sequence[MatrixModel], axis: str, index: int) -> bool:
    """Whether a busy machine measured an axis on a data set too unevenly to rank, for more than half of the models.

    What is uneven of itself switches no axis off, however many models are: nobody gains by an unsteady model.
    """
    gaps = [model.gaps[axis][index] for model in models if axis in model.gaps]
    uneven = [why.figure for why in gaps if why is not None and why.kind == "uneven" and why.figure is not None]
    disturbed = sum(bool(figure.busy) for figure in uneven)
    steady = sum(model.values[axis][index] is not None for model in models)
    return disturbed > steady + len(uneven) - disturbed


def why_unranked(model: MatrixModel, axes: Mapping[str, Sequence[float]], weights: Sequence[float]) -> str:
    """Return why a row has no figure on *axes*, over the data sets that have a share in each of them."""
    runs = sum((one for one, weight in zip(model.runs, weights, strict=False) if weight > 0), RunCounts())
    texts = []
    for axis, shares in axes.items():
        for why, share in zip(model.gaps.get(axis, ()), shares, strict=False):
            if why is not None and share > 0:
                waits = why.kind == "waiting"
                texts.append(gap("waiting", done=runs.done, needed=runs.needed).text if waits else why.text)
    return "; ".join(dict.fromkeys(texts))
