"""The Dynascore: goods, exchange rates between them, and the weighted score that ranks models.

After section 5 of Ma et al. (2021), with a definition for every case that the paper leaves open; `docs/dynascore.md`
lists them. Nothing here depends on the order of rows, and an exact duplicate of a model changes no score.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, TypeAlias, get_args

import numpy as np
import numpy.typing as npt

from quintain.core.errors import BadInput, Fault
from quintain.stats.bootstrap import FloatArray, IntArray

BoolArray = npt.NDArray[np.bool_]
RateKind: TypeAlias = Literal["mean", "median"]
RATES: tuple[RateKind, ...] = get_args(RateKind)
MEAN: RateKind = "mean"

# A difference that is ε on paper may be a rounding error above it in binary.
_SLACK = 1 + 1e-9
_NOISE = 1e-12  # of two values: what they differ by beyond nothing is how numbers are rounded


@dataclass(frozen=True, slots=True)
class UtilityColumn:
    """A metric of a table: its name, whether less of it is better, and from what it is then subtracted."""

    name: str
    lower: bool = False
    cap: float | None = None


@dataclass(frozen=True, slots=True)
class UtilityTable:
    """Models by metrics. NaN is a missing cell; *cannot* marks cells that a model can never have."""

    models: tuple[str, ...]
    columns: tuple[UtilityColumn, ...]
    values: FloatArray
    cannot: BoolArray | None = None

    @property
    def names(self) -> tuple[str, ...]:
        """The metrics' names in order."""
        return tuple(column.name for column in self.columns)

    def position(self, name: str) -> int:
        """Return the position of the metric called *name*; refuse one that the table does not have."""
        names = self.names
        if name not in names:
            raise BadInput(
                "There is no metric called '{name}'.",
                name=name,
                names=", ".join(names),
                remedy="Metrics here: {names}.",
            )
        return names.index(name)

    def unobtainable(self) -> BoolArray:
        """Mark the cells that a model can never have."""
        return np.zeros(self.values.shape, dtype=bool) if self.cannot is None else self.cannot

    def amounts(self) -> dict[str, float]:
        """Return, for each metric, how much of it to speak of: an amount by which some two models differ."""
        return {name: telling_amount(self.values[:, place]) for place, name in enumerate(self.names)}

    def take(self, rows: Sequence[int]) -> UtilityTable:
        """Keep the models at *rows*."""
        positions = list(rows)
        cannot = None if self.cannot is None else self.cannot[positions]
        return UtilityTable(tuple(self.models[row] for row in positions), self.columns, self.values[positions], cannot)


@dataclass(frozen=True, slots=True)
class Choices:
    """What a reader may choose: weights, ε, the performance and the base metric, exchange rates by hand.

    *rate* says what an exchange rate is of the rates of neighbours: their mean, as in the paper, or their median.
    """

    weights: Mapping[str, float] | None = None
    epsilon: float | None = None
    perf: str | None = None
    base: str | None = None
    amrs: Mapping[str, float] | None = None
    rate: str | None = None


@dataclass(frozen=True, slots=True)
class RateNeighbours:
    """The two neighbours that hold the largest *share* of a mean exchange rate, of so many *pairs*."""

    first: str
    second: str
    share: float
    pairs: int


@dataclass(frozen=True, slots=True)
class UtilityRanking:
    """Scores and ranks in the order of the table's rows; an unranked model has None and a reason.

    *dominant* names, for each metric of which it is so, the pair that holds more than half of a mean exchange rate.
    """

    dynascore: tuple[float | None, ...]
    rank: tuple[int | None, ...]
    unranked: Mapping[str, str]
    amrs: Mapping[str, float | None]
    weights: Mapping[str, float]
    worth: Mapping[str, float | None]
    epsilon: float
    perf: str
    base: str
    notes: Mapping[str, str]
    contributions: FloatArray
    rate: RateKind = MEAN
    dominant: Mapping[str, RateNeighbours] = field(default_factory=dict)


def weighted_mean(values: FloatArray, weights: npt.ArrayLike | None = None) -> FloatArray:
    """Average the last axis (data sets) by *weights*; a missing value counts only where its weight is not 0.

    >>> weighted_mean(np.array([[80.0, 60.0], [70.0, np.nan]]), [3, 1]).tolist()
    [75.0, nan]
    """
    chosen = np.ones(values.shape[-1]) if weights is None else np.asarray(weights, dtype=np.float64)
    if (chosen < 0).any() or not np.isfinite(chosen).all() or chosen.sum() == 0:
        raise BadInput("The weights of data sets must be numbers from 0 up, and not all 0.")
    shares = chosen / chosen.sum()
    used = shares > 0
    return np.asarray(values[..., used] @ shares[used], dtype=np.float64)


def goods(table: UtilityTable) -> FloatArray:
    """Turn metrics of which less is better into goods: cap − value or, without a cap, max − value."""
    amounts = table.values.astype(np.float64, copy=True)
    faults = []
    for position, column in enumerate(table.columns):
        if not column.lower:
            continue
        values = table.values[:, position]
        cap = column.cap if column.cap is not None else float(np.nanmax(values, initial=-np.inf))
        faults += [
            Fault(
                "model '{model}' has {given:g}, above the cap of {cap:g}",
                model=table.models[row],
                given=values[row],
                cap=cap,
                row=int(row),
                field=column.name,
            )
            for row in np.flatnonzero(values > cap)
        ]
        amounts[:, position] = cap - values
    if faults:
        raise BadInput(faults=faults, remedy="Raise the cap, or leave the model out.")
    return amounts


def default_weights(names: Sequence[str], perf: str) -> dict[str, float]:
    """Return half of the weight for performance and equal shares of the rest; alone, performance has all."""
    others = len(names) - 1
    return {name: (0.5 if others else 1.0) if name == perf else 0.5 / others for name in names}


def normalised_weights(names: Sequence[str], perf: str, weights: Mapping[str, float] | None) -> dict[str, float]:
    """Bring weights to a sum of 1; metrics that *weights* does not name get 0, and `perf` names performance too."""
    if weights is None:
        return default_weights(names, perf)
    by_metric = dict.fromkeys(names, 0.0)
    for name, weight in weights.items():
        target = perf if name == "perf" and name not in by_metric else name
        if target not in by_metric:
            raise BadInput(
                "There is a weight for '{name}', which is no metric here.",
                name=name,
                names=", ".join(names),
                remedy="Metrics: {names}.",
            )
        if not np.isfinite(weight) or weight < 0:
            raise BadInput(
                "The weight of '{name}' is {weight:g}.",
                name=name,
                weight=weight,
                remedy="Weights are numbers from 0 up.",
            )
        if target != name and target in weights:
            raise BadInput(
                "There are weights for '{name}' and for '{target}', which are the same metric.",
                name=name,
                target=target,
            )
        by_metric[target] = float(weight)
    total = sum(by_metric.values())
    if total == 0:
        raise BadInput("All weights are 0, so there is nothing to rank by.", remedy="Give one metric a weight.")
    return {name: weight / total for name, weight in by_metric.items()}


def default_epsilon(base: FloatArray) -> float:
    """Return 1e-4 of the base metric's full scale: of 1 for fractions, 100 for percentages, else its maximum."""
    top = float(np.nanmax(np.abs(base), initial=0.0))
    return 1e-4 if top <= 1.5 else 1e-4 * max(top, 100.0)


def exchange_rate(base: FloatArray, good: FloatArray, epsilon: float, kind: RateKind = MEAN) -> float | None:
    """Return the AMRS of *good* for *base*: the mean of |Δgood| / |Δbase| over neighbours by *base*.

    Neighbours at most *epsilon* apart are ignored. Models that tie exactly in *base* are one point, at the middle of
    their range in *good*. What differs only by how numbers are rounded does not differ. Without any pair there is no
    rate. Two neighbours a hair apart in *base* can make most of the mean; of *kind* median they cannot.

    >>> exchange_rate(np.array([50.0, 60.0, 70.0]), np.array([9.0, 8.0, 5.0]), 0.01)
    0.2
    """
    both = np.isfinite(base) & np.isfinite(good)
    rate = float(exchange_rates(base[None, both], good[None, both], epsilon, kind)[0])
    return None if np.isnan(rate) else rate


def exchange_rates(base: FloatArray, good: FloatArray, epsilon: float, kind: RateKind = MEAN) -> FloatArray:
    """Return the AMRS of many tables at once, one per row (tables × models); NaN where there is no rate."""
    tables, models = base.shape
    if models == 0:
        return np.full(tables, np.nan)
    owner, rates, _ = _neighbours(base, good, epsilon)
    pairs = np.bincount(owner, minlength=tables)
    if kind == "median":
        ordered = rates[np.lexsort((rates, owner))]
        ends = np.cumsum(pairs)
        low, high = (np.maximum(ends - pairs + part, 0) for part in ((pairs - 1) // 2, pairs // 2))
        ordered = np.append(ordered, np.nan)  # for tables without a pair at the end
        middle = (ordered[np.minimum(low, len(rates))] + ordered[np.minimum(high, len(rates))]) / 2
        return np.asarray(np.where(pairs > 0, middle, np.nan), dtype=np.float64)
    sums = np.bincount(owner, weights=rates, minlength=tables)
    return np.asarray(np.where(pairs > 0, sums / np.maximum(pairs, 1), np.nan), dtype=np.float64)


TWO_PAIRS = 0.9  # the share of a rate from which one of two pairs is named


def dominant_pair(base: FloatArray, good: FloatArray, epsilon: float, models: Sequence[str]) -> RateNeighbours | None:
    """Return the neighbours that hold more than half of a mean exchange rate, where there are any.

    Of two pairs one always holds half: there it must hold nine tenths. A single one holds all, and nothing is said.
    """
    rows = np.flatnonzero(np.isfinite(base) & np.isfinite(good))
    if len(rows) == 0:
        return None
    _, rates, places = _neighbours(base[None, rows], good[None, rows], epsilon)
    total = float(rates.sum())
    most = TWO_PAIRS if len(rates) == 2 else 0.5
    if len(rates) < 2 or not total or float(rates.max()) <= most * total:
        return None
    largest = int(np.argmax(rates))
    first, second = (models[rows[place]] for place in places[largest])
    return RateNeighbours(first, second, float(rates[largest]) / total, len(rates))


def _neighbours(base: FloatArray, good: FloatArray, epsilon: float) -> tuple[IntArray, FloatArray, IntArray]:
    """Return the rates of all neighbours more than *epsilon* apart, the table of each, and their columns.

    Where several models tie, the first of them stands for all.
    """
    models = base.shape[1]
    order = np.argsort(base, axis=1, kind="stable")
    levels, values = (np.take_along_axis(side, order, axis=1) for side in (base, good))
    opens = np.ones(base.shape, dtype=bool)
    opens[:, 1:] = levels[:, 1:] > levels[:, :-1]
    # From here on a point is a run of models that tie, and the points of all tables stand in one line.
    starts = np.flatnonzero(opens)
    least = np.minimum.reduceat(values.ravel(), starts)
    most = np.maximum.reduceat(values.ravel(), starts)
    points = least + (most - least) / 2
    steps = np.abs(np.diff(points))
    steps[steps <= _NOISE * (np.abs(points[1:]) + np.abs(points[:-1]))] = 0.0
    apart = np.diff(levels.ravel()[starts])
    owner = starts // models
    apart_enough = (np.diff(owner) == 0) & (apart > epsilon * _SLACK)
    columns = order.ravel()[starts]
    return (
        owner[1:][apart_enough],
        steps[apart_enough] / apart[apart_enough],
        np.column_stack([columns[1:], columns[:-1]])[apart_enough],
    )


def rank_models(table: UtilityTable, choices: Choices | None = None) -> UtilityRanking:
    """Score and rank the models of *table* by Dynascore."""
    choices = choices or Choices()
    perf = choices.perf or table.names[0]
    table.position(perf)
    base = perf if choices.base in (None, "perf") and choices.base not in table.names else str(choices.base)
    weights = normalised_weights(table.names, perf, choices.weights)
    amounts = goods(table)
    base_good = amounts[:, table.position(base)]
    epsilon = default_epsilon(base_good) if choices.epsilon is None else _checked_epsilon(choices.epsilon)
    kind, by_hand = _checked_rate(choices.rate), _by_hand(table, base, choices.amrs)
    rates = _rates(table, amounts, base, epsilon, by_hand, kind)
    contributions = _contributions(table, amounts, rates, weights)
    unranked = _unranked(table, weights)
    scores = [
        None if model in unranked else float(row.sum()) for model, row in zip(table.models, contributions, strict=True)
    ]
    return UtilityRanking(
        dynascore=tuple(scores),
        rank=ranks(scores),
        unranked=unranked,
        amrs=rates,
        weights=weights,
        worth={name: _worth(rates[name], weights[name], weights[base]) for name in table.names},
        epsilon=epsilon,
        perf=perf,
        base=base,
        notes=_notes(amounts, table.names, rates, kind),
        contributions=contributions,
        rate=kind,
        dominant=_dominant(
            table, amounts, base, epsilon, [name for name in table.names if weights[name] > 0 and name not in by_hand]
        ),
    )


def ranks(scores: Sequence[float | None]) -> tuple[int | None, ...]:
    """Rank from the highest; equal scores share the best of their ranks.

    >>> ranks([3.0, 5.0, None, 3.0])
    (2, 1, None, 2)
    """
    ordered = np.sort(np.array([score for score in scores if score is not None], dtype=np.float64))
    return tuple(
        None if score is None else 1 + len(ordered) - int(np.searchsorted(ordered, score, side="right"))
        for score in scores
    )


def _checked_epsilon(epsilon: float) -> float:
    if not np.isfinite(epsilon) or epsilon < 0:
        raise BadInput(
            "Epsilon is {epsilon:g}.", epsilon=epsilon, remedy="It is a number from 0 up, in units of performance."
        )
    return float(epsilon)


def _checked_rate(kind: str | None) -> RateKind:
    if kind is not None and kind not in RATES:
        raise BadInput(
            "There is no exchange rate by '{kind}'.", kind=kind, known=", ".join(RATES), remedy="There are: {known}."
        )
    return kind or MEAN


def _by_hand(table: UtilityTable, base: str, amrs: Mapping[str, float] | None) -> dict[str, float]:
    for name, rate in (amrs or {}).items():
        table.position(name)
        if name == base:
            raise BadInput(
                "The exchange rate of '{name}' with itself is 1.", name=name, remedy="Fix the rate of another metric."
            )
        if not np.isfinite(rate) or rate <= 0:
            raise BadInput(
                "The exchange rate of '{name}' is {rate:g}.", name=name, rate=rate, remedy="It is a number above 0."
            )
    return {name: float(rate) for name, rate in (amrs or {}).items()}


def _rates(
    table: UtilityTable,
    amounts: FloatArray,
    base: str,
    epsilon: float,
    by_hand: Mapping[str, float],
    kind: RateKind,
) -> dict[str, float | None]:
    base_good = amounts[:, table.position(base)]
    return {
        name: 1.0 if name == base else by_hand.get(name, exchange_rate(base_good, amounts[:, position], epsilon, kind))
        for position, name in enumerate(table.names)
    }


def _dominant(
    table: UtilityTable, amounts: FloatArray, base: str, epsilon: float, names: Sequence[str]
) -> dict[str, RateNeighbours]:
    base_good = amounts[:, table.position(base)]
    pairs = {
        name: dominant_pair(base_good, amounts[:, table.position(name)], epsilon, table.models)
        for name in names
        if name != base
    }
    return {name: pair for name, pair in pairs.items() if pair is not None}


def _contributions(
    table: UtilityTable, amounts: FloatArray, rates: Mapping[str, float | None], weights: Mapping[str, float]
) -> FloatArray:
    """Convert each good into units of the base metric, times its weight; without a rate it adds nothing."""
    added = np.zeros(amounts.shape)
    for position, name in enumerate(table.names):
        rate = rates[name]
        if not rate or weights[name] == 0:
            continue
        column = amounts[:, position]
        # A model that cannot have the metric gets no credit for it: nothing or, below that, the least there is.
        credit = np.where(table.unobtainable()[:, position], min(0.0, float(np.nanmin(column, initial=0.0))), column)
        added[:, position] = weights[name] * credit / rate
    return added


def _unranked(table: UtilityTable, weights: Mapping[str, float]) -> dict[str, str]:
    missing = np.isnan(table.values) & ~table.unobtainable()
    reasons = {}
    for row, model in enumerate(table.models):
        names = [name for name, gone in zip(table.names, missing[row], strict=True) if gone and weights[name] > 0]
        if names:
            reasons[model] = f"{', '.join(names)} missing"
    return reasons


def _worth(rate: float | None, weight: float, base_weight: float) -> float | None:
    """Return what one unit of a metric is worth in units of the base metric, at the current weights."""
    return None if not rate or base_weight == 0 else weight / (base_weight * rate)


def telling_amount(values: FloatArray) -> float:
    """Return how much of a metric to speak of: 1, 2 or 5 of a power of ten, by which some two models differ.

    That is about half of what lies between the least and the most; 1 where nothing does.

    >>> telling_amount(np.array([0.012, 0.031, np.nan])), telling_amount(np.array([40.0, 1250.0]))
    (0.005, 500.0)
    """
    known = values[np.isfinite(values)]
    half = float(np.ptp(known)) / 2 if len(known) > 1 else 0.0
    if half <= 0:
        return 1.0
    power = 10.0 ** np.floor(np.log10(half))
    step = next((step for step in (5, 2, 1) if step * power <= half * _SLACK), 1)
    return float(f"{step * power:.0e}")


def _notes(
    amounts: FloatArray, names: Sequence[str], rates: Mapping[str, float | None], kind: RateKind
) -> dict[str, str]:
    """Return of each metric that adds nothing why it does not."""
    notes = {}
    for position, name in enumerate(names):
        if rates[name]:
            continue
        values = amounts[:, position][np.isfinite(amounts[:, position])]
        if len(values) == 0:
            notes[name] = "no model has a value, so it adds nothing"
        elif len(values) > 1 and (values == values[0]).all():
            notes[name] = "all models share one value, so it adds nothing"
        elif rates[name] is not None and kind == "median":
            notes[name] = "half of the neighbours share one value, so by the median it adds nothing"
        else:
            notes[name] = "no two models differ enough to give an exchange rate, so it adds nothing; fix one by hand"
    return notes
