"""Contrast sets (Gardner et al., 2020): the score on originals, on their neighbours, and consistency over whole sets.

Members of a set are alike by design, so that intervals come from drawing sets, never single members.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from quintain.core.records.contrast import ContrastEstimates, ContrastPart
from quintain.stats.bootstrap import FloatArray, IntArray, Prior, Tally
from quintain.stats.posterior import Draws

BoolArray = npt.NDArray[np.bool_]
_NAMES = ("original", "contrast", "difference", "consistency")
_NONE = "there are no such examples"


@dataclass(frozen=True, slots=True)
class Members:
    """Members of contrast sets side by side: how each scored, whether it is right, its set, whether it is the original.

    *score* is what is averaged (F1, or 0 and 1); *sets* numbers the sets.
    """

    score: FloatArray
    right: BoolArray
    sets: IntArray
    original: BoolArray

    @classmethod
    def of(
        cls,
        score: npt.ArrayLike,
        right: npt.ArrayLike,
        sets: Sequence[object] | npt.NDArray[np.generic],
        original: npt.ArrayLike,
    ) -> Members:
        """Make arrays of what was given; *sets* may be names.

        >>> Members.of([1, 0], [True, False], ["a", "a"], [True, False]).sets.tolist()
        [0, 0]
        """
        numbers: dict[object, int] = {}
        codes = [numbers.setdefault(one, len(numbers)) for one in sets]
        return cls(
            np.asarray(score, dtype=np.float64),
            np.asarray(right, dtype=np.bool_),
            np.asarray(codes, dtype=np.int64),
            np.asarray(original, dtype=np.bool_),
        )

    def take(self, rows: BoolArray) -> Members:
        """Keep the members at *rows*."""
        return Members(self.score[rows], self.right[rows], self.sets[rows], self.original[rows])

    def with_originals(self, rows: BoolArray) -> Members:
        """Keep the members at *rows*, and the originals of their sets."""
        theirs = np.isin(self.sets, np.unique(self.sets[rows]))
        return self.take(rows | (theirs & self.original))


def contrast_estimates(members: Members, *, seed: int = 0, resamples: int = 1000) -> ContrastEstimates:
    """Estimate the scores on originals and neighbours, their difference, and consistency, each with its interval.

    >>> members = Members.of([1, 1, 1, 0], [1, 1, 1, 0], ["a", "a", "b", "b"], [1, 0, 1, 0])
    >>> found = contrast_estimates(members, resamples=0)
    >>> found.original.value, found.contrast.value, found.difference.value, found.consistency.value
    (1.0, 0.5, -0.5, 0.5)
    """
    table = _by_set(members)
    size = float(table[:, 3].sum() / max(len(table), 1))
    # What is not known is one more set of the usual size, all right or all wrong.
    prior = Prior(np.array([[1.0, 1.0, size, size, 1.0, 1.0]]), np.array([[0.0, 1.0, 0.0, size, 0.0, 1.0]]))
    draws = Draws(Tally.of_rows(table, prior), seed=seed, resamples=resamples)
    estimates = draws.estimates(_figures, lambda _: _NONE)
    # Of the difference it is a set of which only the neighbours are right, or only the original.
    unlike = Prior(np.array([[0.0, 1.0, size, size, 0.0, 1.0]]), np.array([[1.0, 1.0, 0.0, size, 0.0, 1.0]]))
    apart = Draws(Tally.of_rows(table, unlike), seed=seed, resamples=resamples)
    estimates["difference"] = apart.estimate(lambda totals: _figures(totals)["difference"], _NONE)
    return ContrastEstimates(**{name: estimates[name] for name in _NAMES})


def contrast_part(members: Members, rows: BoolArray, estimates: ContrastEstimates) -> ContrastPart:
    """Return the figures of the members at *rows*, which *estimates* were made of, with their counts."""
    return ContrastPart(
        examples=int(rows.sum()),
        sets=len(np.unique(members.sets[rows])),
        original=estimates.original.value,
        contrast=estimates.contrast.value,
        consistency=estimates.consistency.value,
    )


def contrast_by(
    members: Members, names: Sequence[Sequence[str]], *, seed: int = 0, resamples: int = 1000
) -> tuple[dict[str, ContrastPart], dict[str, ContrastEstimates]]:
    """Compute the figures for each name, in order; *names* lists those of each member, which counts under each.

    A member is measured against the original of its set, whether that carries the name or not.
    """
    rows: dict[str, list[int]] = {}
    for row, own in enumerate(names):
        for name in dict.fromkeys(own):
            rows.setdefault(name, []).append(row)
    parts: dict[str, ContrastPart] = {}
    estimates: dict[str, ContrastEstimates] = {}
    for name in sorted(rows):
        here = np.zeros(len(members.score), dtype=np.bool_)
        here[rows[name]] = True
        estimates[name] = contrast_estimates(members.with_originals(here), seed=seed, resamples=resamples)
        parts[name] = contrast_part(members, here, estimates[name])
    return parts, estimates


def consistent_sets(members: Members) -> BoolArray:
    """Return of each set, by its number, whether every member is right; one without members is not."""
    wrong = np.bincount(members.sets, weights=~members.right)
    return np.asarray((wrong == 0) & (np.bincount(members.sets) > 0), dtype=np.bool_)


def _by_set(members: Members) -> FloatArray:
    """Add up each set: originals' scores, originals, neighbours' scores, neighbours, whether all are right, 1."""
    _, sets = np.unique(members.sets, return_inverse=True)
    first, number = members.original.astype(np.float64), int(sets.max(initial=-1)) + 1

    def add(weights: FloatArray) -> FloatArray:
        return np.asarray(np.bincount(sets, weights=weights, minlength=number), dtype=np.float64)

    whole = (add((~members.right).astype(np.float64)) == 0).astype(np.float64)
    score = members.score
    parts = (add(score * first), add(first), add(score * (1 - first)), add(1 - first), whole, np.ones(number))
    return np.column_stack(parts)


def _figures(totals: FloatArray) -> Mapping[str, FloatArray]:
    with np.errstate(invalid="ignore", divide="ignore"):
        original = totals[..., 0] / totals[..., 1]
        contrast = totals[..., 2] / totals[..., 3]
        consistency = np.where(totals[..., 3] > 0, totals[..., 4] / totals[..., 5], np.nan)
    values = (original, contrast, contrast - original, consistency)
    return {name: np.asarray(value, dtype=np.float64) for name, value in zip(_NAMES, values, strict=True)}
