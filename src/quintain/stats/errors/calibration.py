"""Confidence of a model against people's own disagreement: whether it is as unsure as people, of the same examples.

What people say of an example is the share of their votes for each answer. Since votes are few, a model that knew
people's true shares would still differ from these: how much is estimated by drawing what the true shares may be.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import scipy

from quintain.core.records.figures import Estimate
from quintain.core.records.study import CalibrationBin, HumanCalibration
from quintain.stats.bootstrap import FloatArray, IntArray, resample_weights
from quintain.stats.posterior import around, is_constant, mean_estimate

BINS = 10
RESAMPLES = 500
FLOOR = 1e-6  # of a probability, so that a logarithm exists


def calibrate(
    believed: FloatArray, votes: IntArray, *, bins: int = BINS, seed: int = 0, resamples: int = RESAMPLES
) -> HumanCalibration:
    """Hold a model's probabilities (examples × answers) against people's *votes* (examples × answers)."""
    shares = votes / votes.sum(axis=1, keepdims=True)
    rng = np.random.default_rng(seed)
    people, model = entropy(shares), entropy(believed)
    ece = _calibration_error(believed, shares, bins)
    top = believed.argmax(axis=1)
    rows = np.arange(len(believed))
    by_example = {
        "divergence": divergence(shares, believed),
        "distance": distance(shares, believed),
        "people_on_top": shares[rows, top],
        "confidence": believed[rows, top],
    }
    drawn: dict[str, list[float]] = {name: [] for name in ("divergence", "correlation", "error")}
    for weights in resample_weights(len(rows), resamples, rng):
        for weight in weights:
            chosen = np.repeat(rows, weight.astype(np.int64))
            drawn["divergence"].append(float(by_example["divergence"][chosen].mean()))
            drawn["correlation"].append(rank_correlation(people[chosen], model[chosen]))
            drawn["error"].append(_calibration_error(believed[chosen], shares[chosen], bins))
    correlation = rank_correlation(people, model)
    bounded = {name: mean_estimate(by_example[name], seed=seed) for name in ("distance", "people_on_top", "confidence")}
    return HumanCalibration(
        len(rows),
        _resampled(ece, drawn["error"]),
        Estimate(None, reason="people, or the model, are as sure everywhere")
        if np.isnan(correlation)
        else _resampled(correlation, drawn["correlation"]),
        _resampled(float(by_example["divergence"].mean()), drawn["divergence"]),
        bounded["distance"],
        _floor(shares, votes, rng),
        bounded["people_on_top"],
        bounded["confidence"],
        reliability(believed, shares, bins),
    )


def _resampled(value: float, drawn: Sequence[float]) -> Estimate:
    """Return *value* with the interval of what was *drawn*, and with none where nothing varied."""
    samples = np.array(drawn)
    return Estimate(value) if is_constant(samples) else around(value, samples)


def entropy(shares: FloatArray) -> FloatArray:
    """Return the entropy of each row, in bits.

    >>> entropy(np.array([[0.5, 0.5], [1.0, 0.0]])).tolist()
    [1.0, 0.0]
    """
    return np.asarray(scipy.special.entr(shares).sum(axis=1) / np.log(2), dtype=np.float64)


def divergence(shares: FloatArray, believed: FloatArray) -> FloatArray:
    """Return Kullback and Leibler's divergence of what is believed from people's shares, in bits."""
    model = np.clip(believed, FLOOR, None)
    model = model / model.sum(axis=1, keepdims=True)
    return np.asarray(scipy.special.rel_entr(shares, model).sum(axis=1) / np.log(2), dtype=np.float64)


def distance(shares: FloatArray, believed: FloatArray) -> FloatArray:
    """Return the total variation between rows: 0 is the same, 1 nothing in common."""
    return np.asarray(np.abs(shares - believed).sum(axis=1) / 2, dtype=np.float64)


def rank_correlation(first: FloatArray, second: FloatArray) -> float:
    """Return Spearman's correlation; NaN where one of both is the same everywhere."""
    # What differs only by how numbers are added up is the same.
    ranks = [scipy.stats.rankdata(values.round(9)) for values in (first, second)]
    spread = [float(values.std()) for values in ranks]
    if min(spread) == 0:
        return float("nan")
    return float(np.mean((ranks[0] - ranks[0].mean()) * (ranks[1] - ranks[1].mean())) / (spread[0] * spread[1]))


def reliability(believed: FloatArray, shares: FloatArray, bins: int = BINS) -> list[CalibrationBin]:
    """Group all pairs of example and answer by what is believed, and say what people's share is there."""
    flat, people = believed.ravel(), shares.ravel()
    bucket = np.minimum((flat * bins).astype(np.int64), bins - 1)
    points = []
    for at in np.unique(bucket).tolist():
        inside = bucket == at
        points.append(CalibrationBin(float(flat[inside].mean()), mean_estimate(people[inside]), int(inside.sum())))
    return points


def _calibration_error(believed: FloatArray, shares: FloatArray, bins: int) -> float:
    """Return how far what is believed is from people's share on average, over bins of what is believed."""
    flat, people = believed.ravel(), shares.ravel()
    bucket = np.minimum((flat * bins).astype(np.int64), bins - 1)
    apart = np.bincount(bucket, flat - people, minlength=bins)
    return float(np.abs(apart).sum() / max(len(flat), 1))


def _floor(shares: FloatArray, votes: IntArray, rng: np.random.Generator) -> float:
    """Return how far people's true shares are from these votes, on average, by draws of what they may be."""
    drawn = rng.standard_gamma(votes + 0.5)
    return float(distance(shares, drawn / drawn.sum(axis=1, keepdims=True)).mean())
