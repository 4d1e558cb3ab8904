"""Arms of a trial beside each other: how well people and models do on each arm's items, and how far arms differ.

The label of an item is set by a sample of its votes and the writer's, as in Nangia, Sugawara et al. (2021), section 5;
the votes that are left measure people. This is drawn many times. What an item adds is its mean over the draws.

People are what a trial assigns to arms, so intervals are over writers with all of their items, drawn from the posterior
of `stats.posterior`: one writer is no certainty of the next. A test between two arms deals the writers out anew.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from quintain.core.errors import BadInput
from quintain.core.records.figures import Estimate
from quintain.stats.agreement import measure_agreement
from quintain.stats.bootstrap import FloatArray, IntArray
from quintain.stats.human import SLICES
from quintain.stats.judgements import Judgements, best_class, sample_votes
from quintain.stats.posterior import COMPARED, around, ratio_totals

EVERYTHING = "everything"
LEVEL = 0.05  # a difference is shown where the test gives a p below it
NAMES = (EVERYTHING, *(name for name, _ in SLICES))
_RUN = re.compile(r"[_-]\d+$")


@dataclass(frozen=True, slots=True)
class ArmItems:
    """The judged items of one arm; entries are in the order of the judgements' items.

    *label* is the writer's class of each item (-1 for none), *writer* a code for who wrote it, *predictions* each
    model's class (-1 where it has none). An item whose label comes out as *invalid* is discarded.
    """

    name: str
    judgements: Judgements
    label: IntArray
    writer: IntArray
    predictions: Mapping[str, IntArray] = field(default_factory=dict)
    invalid: int = -1
    writer_votes: bool = True


@dataclass(frozen=True, slots=True)
class ArmSums:
    """What each writer adds, by slice: items, right answers of people, right answers of each family of models.

    *spread* is the standard deviation over draws of the number of items and of the share that people get right.
    """

    name: str
    items: Mapping[str, FloatArray]
    human: Mapping[str, FloatArray]
    models: Mapping[str, Mapping[str, FloatArray]]
    asked: Mapping[str, Mapping[str, FloatArray]]
    runs: Mapping[str, Mapping[str, tuple[float, ...]]]
    spread: Mapping[str, tuple[float, float]]

    @property
    def writers(self) -> int:
        """How many people wrote the items."""
        return len(next(iter(self.items.values())))


@dataclass(frozen=True, slots=True)
class SliceFigures:
    """One arm on one slice: how many items, people, models by family with the deviation between runs, and the gaps."""

    items: float
    items_spread: float
    human: Estimate
    human_spread: float
    models: Mapping[str, Estimate]
    runs: Mapping[str, float | None]
    gaps: Mapping[str, Estimate]


@dataclass(frozen=True, slots=True)
class Between:
    """How far two arms differ in one figure: first minus second, with the test's p.

    *edge* is the least difference, up or down, that the test would show at `LEVEL`.
    """

    first: str
    second: str
    difference: Estimate
    p: float | None
    edge: float | None = None


def family(model: str) -> str:
    """Name what several runs of one model have in common.

    >>> family("roberta_large_3"), family("unifiedqa_v2_11b")
    ('roberta_large', 'unifiedqa_v2_11b')
    """
    return _RUN.sub("", model)


def sum_arm(arm: ArmItems, *, sample: int = 4, seeds: int = 100, seed: int = 0) -> ArmSums:
    """Add up an arm over so many draws of the votes that set labels."""
    if not len(arm.judgements):
        raise BadInput("Nothing of the arm '{name}' was judged.", name=arm.name, remedy="Collect judgements first.")
    total, sizes = arm.judgements.counts(), arm.judgements.sizes()
    spare = sizes > sample
    counted = {name: np.zeros(len(sizes)) for name in NAMES}
    human = {name: np.zeros(len(sizes)) for name in NAMES}
    right = {name: {model: np.zeros(len(sizes)) for model in arm.predictions} for name in NAMES}
    drawn: dict[str, list[tuple[float, float]]] = {name: [] for name in NAMES}
    for step in range(seeds):
        votes = arm.judgements.take(sample_votes(arm.judgements, sample, seed=seed + step)).counts()
        rest = total - votes
        if arm.writer_votes:
            labelled = np.flatnonzero(arm.label >= 0)
            votes[labelled, arm.label[labelled]] += 1
        top, size = votes.max(axis=1), votes.sum(axis=1)
        gold = best_class(votes, arm.judgements.items, arm.judgements.classes)
        decided = (2 * top > size) & (gold != arm.invalid)
        credit = _credit(rest, gold)
        for name, least in ((EVERYTHING, 0.0), *SLICES):
            here = decided & (spare | (name == EVERYTHING)) & (top >= (least - 1e-9) * size)
            counted[name] += here
            human[name] += here * credit
            share = float(credit[here & spare].mean()) if (here & spare).any() else np.nan
            drawn[name].append((float(here.sum()), share))
            for model, predicted in arm.predictions.items():
                right[name][model] += here & (predicted == gold)
    return _by_writer(arm, counted, human, right, drawn, seeds)


def _by_writer(
    arm: ArmItems,
    counted: Mapping[str, FloatArray],
    human: Mapping[str, FloatArray],
    right: Mapping[str, Mapping[str, FloatArray]],
    drawn: Mapping[str, Sequence[tuple[float, float]]],
    seeds: int,
) -> ArmSums:
    _, codes = np.unique(arm.writer, return_inverse=True)
    writers = int(codes.max()) + 1

    def add(values: FloatArray) -> FloatArray:
        return np.asarray(np.bincount(codes, values / seeds, minlength=writers), dtype=np.float64)

    families: dict[str, list[str]] = {}
    for model in arm.predictions:
        families.setdefault(family(model), []).append(model)
    known = {model: said >= 0 for model, said in arm.predictions.items()}
    models, asked, runs = {}, {}, {}
    for name in NAMES:
        models[name] = {one: add(sum((right[name][run] for run in own), 0.0)) for one, own in families.items()}  # type: ignore[arg-type]
        asked[name] = {one: add(sum((counted[name] * known[run] for run in own), 0.0)) for one, own in families.items()}  # type: ignore[arg-type]
        runs[name] = {
            one: tuple(float(right[name][run].sum() / max((counted[name] * known[run]).sum(), 1e-9)) for run in own)
            for one, own in families.items()
        }
    return ArmSums(
        arm.name,
        {name: add(counted[name]) for name in NAMES},
        {name: add(human[name]) for name in NAMES},
        models,
        asked,
        runs,
        {name: _deviations(drawn[name]) for name in NAMES},
    )


def _deviations(drawn: Sequence[tuple[float, float]]) -> tuple[float, float]:
    table = np.array(drawn)
    shares = table[:, 1][~np.isnan(table[:, 1])]
    return float(table[:, 0].std()), float(shares.std()) if len(shares) else 0.0


def figures(sums: ArmSums, name: str, *, seed: int = 0, resamples: int = 1000) -> SliceFigures:
    """Return the figures of an arm on a slice, with intervals over writers (see `stats.posterior`)."""
    families = list(sums.models[name])
    table = _table(sums, name, families)
    drawn = ratio_totals(table, _ratios(families), np.random.default_rng(seed), resamples)
    whole = table.sum(axis=0)
    human = (
        _ratio(whole, drawn, 1, 0) if name != EVERYTHING else Estimate(None, reason="too few votes to measure people")
    )
    models, gaps, runs = {}, {}, {}
    for position, model in enumerate(families):
        right, asked = 2 + 2 * position, 3 + 2 * position
        models[model] = _ratio(whole, drawn, right, asked)
        gaps[model] = _gap(whole, drawn, right, asked) if name != EVERYTHING else human
        values = sums.runs[name][model]
        runs[model] = float(np.std(values)) if len(values) > 1 else None
    return SliceFigures(float(whole[0]), sums.spread[name][0], human, sums.spread[name][1], models, runs, gaps)


def compare(
    first: ArmSums, second: ArmSums, name: str, model: str, *, seed: int = 0, resamples: int = 1000, deals: int = 2000
) -> Between:
    """Compare the gap between people and a *model* in two arms on a slice."""
    if model not in first.models[name] or model not in second.models[name]:
        return Between(first.name, second.name, Estimate(None, reason="one arm has no answers of this model"), None)
    left, right = (_table(one, name, [model]) for one in (first, second))
    rng = np.random.default_rng(seed)
    ours = [ratio_totals(table, _ratios([model]), rng, resamples, COMPARED) for table in (left, right)]
    value = float(gap_of(left.sum(axis=0)) - gap_of(right.sum(axis=0)))
    if np.isnan(value):
        return Between(first.name, second.name, Estimate(None, reason="an arm has no such items"), None)
    difference = around(value, gap_of(ours[0]) - gap_of(ours[1]))
    dealt = np.abs(_dealt(left, right, rng, deals))
    dealt = dealt[~np.isnan(dealt)]  # deals that leave one side without such items say nothing
    if not len(dealt):
        return Between(first.name, second.name, difference, None)
    p = float((1 + np.sum(dealt >= abs(value) - 1e-12)) / (1 + len(dealt)))
    return Between(first.name, second.name, difference, p, float(np.quantile(dealt, 1 - LEVEL)))


def gap_of(totals: FloatArray) -> FloatArray:
    """Return the gap between people and a model from totals items, people right, model right, model asked."""
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(totals[..., 1] / totals[..., 0] - totals[..., 2] / totals[..., 3], dtype=np.float64)


def _dealt(left: FloatArray, right: FloatArray, rng: np.random.Generator, deals: int) -> FloatArray:
    """Return how far arms differ to which the writers of both are dealt out at random."""
    both = np.concatenate([left, right])
    in_first = np.argsort(rng.random((deals, len(both))), axis=1) < len(left)
    mine = in_first.astype(np.float64) @ both
    return np.asarray(gap_of(mine) - gap_of(both.sum(axis=0) - mine))


def holm(values: Sequence[float | None]) -> list[float | None]:
    """Raise the p of several tests so that all of them together hold (Holm).

    >>> holm([0.01, None, 0.04])
    [0.02, None, 0.04]
    """
    known = sorted((value, place) for place, value in enumerate(values) if value is not None)
    raised: list[float | None] = [None] * len(values)
    reached = 0.0
    for rank, (value, position) in enumerate(known):
        reached = max(reached, min(1.0, value * (len(known) - rank)))
        raised[position] = reached
    return raised


def agreement(arm: ArmItems, *, many: int | None = None, seed: int = 0, resamples: int = 1000) -> Estimate:
    """Return Krippendorff's α with the writer as a rater; *many*: only of items with more votes than that."""
    judgements = arm.judgements
    sizes = judgements.sizes()
    items = np.flatnonzero(sizes > (many or 0))
    rows = np.isin(judgements.item, items)
    writers = items[arm.label[items] >= 0] if arm.writer_votes else items[:0]
    # A writer's own vote stands under another name than the judgements that they may have given on items of others.
    names = [*judgements.workers, *(f"\U0010ffff{code}" for code in np.unique(arm.writer).tolist())]
    worker_code = {code: len(judgements.workers) + number for number, code in enumerate(np.unique(arm.writer).tolist())}
    own = np.array([worker_code[code] for code in arm.writer[writers].tolist()], dtype=np.int64)
    all_votes = Judgements.from_codes(
        np.concatenate([judgements.item[rows], writers]),
        np.concatenate([judgements.worker[rows], own]),
        np.concatenate([judgements.label[rows], arm.label[writers]]),
        judgements.items,
        names,
        judgements.classes,
    )
    return measure_agreement(all_votes, seed=seed, resamples=resamples).statistics["krippendorff_alpha"]


def _table(sums: ArmSums, name: str, families: Sequence[str]) -> FloatArray:
    columns = [sums.items[name], sums.human[name]]
    for model in families:
        columns += [sums.models[name][model], sums.asked[name][model]]
    return np.column_stack(columns)


def _ratios(families: Sequence[str]) -> list[tuple[int, int]]:
    """Return which columns of a table are hits, and which their number: of people, then of each model family."""
    return [(1, 0), *((2 + 2 * place, 3 + 2 * place) for place in range(len(families)))]


def _ratio(whole: FloatArray, drawn: FloatArray, above: int, below: int) -> Estimate:
    if whole[below] <= 0:
        return Estimate(None, reason="there are no such items")
    with np.errstate(invalid="ignore", divide="ignore"):
        return around(float(whole[above] / whole[below]), drawn[:, above] / drawn[:, below])


def _gap(whole: FloatArray, drawn: FloatArray, right: int, asked: int) -> Estimate:
    if whole[0] <= 0 or whole[asked] <= 0:
        return Estimate(None, reason="there are no such items")
    chosen = [0, 1, right, asked]
    return around(float(gap_of(whole[chosen])), gap_of(drawn[:, chosen]))


def _credit(votes: IntArray, gold: IntArray) -> FloatArray:
    """Return 1 where the votes' majority is the label; where several are level, the label's share of them."""
    leading = votes == votes.max(axis=1, keepdims=True)
    return np.asarray(leading[np.arange(len(gold)), gold] / leading.sum(axis=1), dtype=np.float64)
