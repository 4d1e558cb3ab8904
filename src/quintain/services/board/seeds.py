"""Several seeds of one model as one row: the mean of their figures, with the spread beside it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from quintain.core.records.figures import Figure, Gap, RunCounts
from quintain.services.board.parts import MatrixModel, PlainSlice


def merge_seeds(models: Sequence[MatrixModel]) -> list[MatrixModel]:
    """Make one row of the models that are one family, of one owner and seen by the same people.

    Nobody joins a family of somebody else, so that a name alone moves no other person's row.
    """
    groups: dict[tuple[str, ...], list[MatrixModel]] = {}
    for model in models:
        key = (model.ref,) if not model.family else (model.family, model.owner or "", model.visibility, "family")
        groups.setdefault(key, []).append(model)
    return [group[0] if len(group) == 1 else _row(group) for group in groups.values()]


def _row(group: Sequence[MatrixModel]) -> MatrixModel:
    first = min(group, key=lambda model: model.created_at)
    task = first.ref.partition("/")[0]
    places = range(len(first.predictions))
    return replace(
        first,
        ref=f"{task}/{first.family}",
        name=str(first.family),
        values={
            axis: [_mean([model.values[axis][place] for model in group]) for place in places] for axis in first.values
        },
        pooled={axis: _mean([model.pooled.get(axis) for model in group]) for axis in first.pooled},
        slices=[_slices([model.slices[place] for model in group]) for place in places],
        cannot=tuple(name for name in first.cannot if all(name in model.cannot for model in group)),
        gaps={axis: [_first_gap(group, axis, place) for place in places] for axis in first.gaps},
        runs=[sum((model.runs[place] for model in group), RunCounts()) for place in places],
        seeds=tuple(model.ref for model in group),
        hashes=tuple(model.hash for model in group),
        predictions=tuple(tuple(model.predictions[place][0] for model in group) for place in places),
        draws={
            axis: tuple(tuple(model.draws[axis][place][0] for model in group) for place in places)
            for axis in first.draws
        },
        predictions_only=all(model.predictions_only for model in group),
    )


def _first_gap(group: Sequence[MatrixModel], axis: str, index: int) -> Gap | None:
    """Return why a seed lacks a figure, where one does: the row lacks it then, too."""
    return next((model.gaps[axis][index] for model in group if model.gaps[axis][index]), None)


def _mean(figures: Sequence[Figure | None]) -> Figure | None:
    """Average figures and the ends of their intervals; one that is missing leaves the row without."""
    known = [figure for figure in figures if figure is not None]
    if len(known) < len(figures):
        return None
    return replace(known[0], **_averaged([(one.value, one.low, one.high) for one in known]))


def _averaged(rows: Sequence[tuple[float, float | None, float | None]]) -> dict[str, Any]:
    """Average values and the ends of their intervals, and say how far the values spread."""
    values = np.array([value for value, _, _ in rows], dtype=np.float64)
    ends = ([end for row in rows if (end := row[place]) is not None] for place in (1, 2))
    low, high = (float(np.mean(known)) if len(known) == len(rows) else None for known in ends)
    spread = float(values.std(ddof=1))
    return {"value": float(values.mean()), "low": low, "high": high, "spread": spread, "seeds": len(rows)}


def _slices(lists: Sequence[Sequence[PlainSlice]]) -> list[PlainSlice]:
    names = [(piece["by"], piece["name"]) for piece in lists[0]]
    slices: list[PlainSlice] = []
    for named in names:
        pieces = [piece for pieces in lists for piece in pieces if (piece["by"], piece["name"]) == named]
        if len(pieces) == len(lists):
            averaged = _averaged([(piece["value"], piece.get("low"), piece.get("high")) for piece in pieces])
            slices.append({**pieces[0], **averaged})
    return slices
