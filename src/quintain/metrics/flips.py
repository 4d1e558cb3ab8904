"""How many answers stay the same when the input is perturbed: the figure behind robustness and fairness.

The canonical figure is over the rows that a perturbation changed, averaged over its families (typos, OCR, …) so that
a family that changes many rows does not drown the others. Answers that are equal after normalisation are unchanged.
An answer that was not given, before or after, is a changed one: failing never makes a model look steady.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy

from quintain.core.errors import BadInput
from quintain.core.languages import ENGLISH
from quintain.core.records.figures import Estimate
from quintain.core.task import AnswerType
from quintain.stats.bootstrap import FloatArray, IntArray, Prior, Tally
from quintain.stats.posterior import Draws, mean_estimate
from quintain.tasks.answer_kinds.contract import Values, answers_of


@dataclass(frozen=True, slots=True)
class Unchanged:
    """The share of unchanged answers: canonical, over all rows, by family and by group; and which rows flipped.

    *beside* are families that stand by themselves and are no part of the shares over several. The canonical share rests
    on *pairs* of answers, to *examples* and to what *kinds* families made of them; *numbers* counts the pairs of each
    family, in the figure or not, *group_numbers* those of each group. *drawn* are the resampled canonical shares: with
    the same rows and seed, two models meet the same resamples.
    """

    share: Estimate
    all_rows: Estimate
    families: Mapping[str, Estimate]
    groups: Mapping[str, Estimate]
    flipped: npt.NDArray[np.bool_]
    drawn: FloatArray
    pairs: int
    examples: int
    kinds: int
    numbers: Mapping[str, int]
    group_numbers: Mapping[str, int]
    beside: tuple[str, ...] = ()

    def as_dict(self) -> dict[str, Any]:
        """Return the figures as plain data, for JSON."""
        return {
            "share": self.share.as_dict(),
            "all_rows": self.all_rows.as_dict(),
            "families": {name: value.as_dict() | {"rows": self.numbers[name]} for name, value in self.families.items()},
            "groups": {
                name: value.as_dict() | {"rows": self.group_numbers[name]} for name, value in self.groups.items()
            },
            "flips": int(self.flipped.sum()),
            "rows": self.pairs,
            "examples": self.examples,
            "kinds": self.kinds,
            "beside": list(self.beside),
        }


def same_answers(
    answer_type: AnswerType, before: Values, after: Values, language: str = ENGLISH
) -> npt.NDArray[np.bool_]:
    """Return where two answers are the same after normalisation; two that were not given are the same too."""
    answers = answers_of(answer_type)
    first, second = (answers.normalised(answers.predictions(values), language) for values in (before, after))
    if len(first) != len(second):
        raise BadInput(
            "There are {n} answers before and {after} after the perturbation.", n=len(first), after=len(second)
        )
    return first.eq_missing(second).to_numpy()


def kept_answers(
    answer_type: AnswerType, before: Values, after: Values, language: str = ENGLISH
) -> npt.NDArray[np.bool_]:
    """Return where an answer was given both times and stayed the same.

    >>> kept_answers("label", ["a", None, "a"], ["a", None, None]).tolist()
    [True, False, False]
    """
    answered = answers_of(answer_type).predictions(before).is_not_null().to_numpy()
    return np.asarray(same_answers(answer_type, before, after, language) & answered, dtype=np.bool_)


def unchanged_share(
    same: npt.NDArray[np.bool_],
    families: Sequence[str],
    *,
    changed: npt.NDArray[np.bool_] | None = None,
    groups: Sequence[str | None] | None = None,
    clusters: IntArray | None = None,
    beside: Collection[str] = (),
    seed: int = 0,
    resamples: int = 1000,
) -> Unchanged:
    """Estimate the share of unchanged answers over perturbed rows.

    *same* says of each row whether its answer stayed, *families* by which family it was perturbed, *changed* whether
    its input changed at all, *groups* to which group (such as a gender) it was changed. *clusters* numbers the original
    examples, which are resampled with all of their variants. Families in *beside* are no part of the figure.
    """
    rows = np.ones(len(same), dtype=bool) if changed is None else np.asarray(changed, dtype=bool)
    changed_rows = np.flatnonzero(rows)
    aside = set(beside)
    counts = np.array([name not in aside for name in families], dtype=bool)
    scores = same.astype(np.float64)

    def part(chosen: IntArray) -> Estimate:
        where = None if clusters is None else clusters[chosen]
        return mean_estimate(scores[chosen], groups=where, seed=seed, resamples=resamples)

    figured = np.flatnonzero(rows & counts)
    share, drawn = _family_mean(scores, families, figured, clusters, seed, resamples)
    by_family = _rows_by(families, changed_rows)
    by_group = _rows_by(groups, changed_rows) if groups is not None else []
    return Unchanged(
        share=share,
        all_rows=part(np.flatnonzero(counts)),
        families={name: part(chosen) for name, chosen in by_family},
        groups={name: part(chosen) for name, chosen in by_group},
        flipped=~same & rows,
        drawn=drawn,
        pairs=len(figured),
        examples=len(figured if clusters is None else np.unique(clusters[figured])),
        kinds=len({families[row] for row in figured.tolist()}),
        numbers={name: len(chosen) for name, chosen in by_family},
        group_numbers={name: len(chosen) for name, chosen in by_group},
        beside=tuple(sorted(aside.intersection(families[row] for row in changed_rows.tolist()))),
    )


def _rows_by(names: Sequence[str | None], rows: IntArray) -> list[tuple[str, IntArray]]:
    column = np.array([name or "" for name in names], dtype=object)
    return [(name, rows[column[rows] == name]) for name in sorted({str(column[row]) for row in rows}) if name]


def _family_mean(
    scores: FloatArray, families: Sequence[str], rows: IntArray, clusters: IntArray | None, seed: int, resamples: int
) -> tuple[Estimate, FloatArray]:
    """Average the families' shares; a resample takes all families of an example together."""
    if len(rows) == 0:
        return Estimate(None, reason="the perturbation changed no row"), np.zeros(0)
    names, codes = np.unique(np.array([families[row] for row in rows], dtype=str), return_inverse=True)
    number = np.arange(len(rows))
    places = (np.tile(number, 2), np.concatenate([codes, len(names) + codes]))
    values = np.concatenate([scores[rows], np.ones(len(rows))])
    # What is not known: an example that is changed by the families as often as the others are, and all or none flip.
    met = np.bincount(codes, minlength=len(names)) / len(rows)
    prior = Prior(np.hstack([met, met])[None, :], np.hstack([np.zeros_like(met), met])[None, :])
    tally = Tally.of_rows(scipy.sparse.csr_array((values, places), shape=(len(rows), 2 * len(names))), prior)
    groups = None if clusters is None else clusters[rows]
    draws = Draws(tally, groups, seed=seed, resamples=resamples)

    def value(totals: FloatArray) -> FloatArray:
        return _mean_of_shares(totals, len(names))

    return draws.estimate(value, "the perturbation changed no row"), draws.samples(value)


def _mean_of_shares(totals: FloatArray, size: int) -> FloatArray:
    with np.errstate(invalid="ignore", divide="ignore"):
        shares = totals[..., :size] / totals[..., size:]
    defined = ~np.isnan(shares)
    return np.asarray(np.where(defined, shares, 0.0).sum(axis=-1) / np.maximum(defined.sum(axis=-1), 1), np.float64)
