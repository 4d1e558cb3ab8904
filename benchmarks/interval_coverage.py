"""How often the interval of macro F1 holds the true value, by number of examples, beside the percentile bootstrap's.

python benchmarks/interval_coverage.py --runs 1000
"""

from __future__ import annotations

import argparse

import numpy as np

from quintain.metrics.aligned import align
from quintain.metrics.contract import METRICS
from quintain.stats.bootstrap import FloatArray, interval
from quintain.stats.posterior import Draws

SHARES = {
    "three even classes, .75 right": ([0.4, 0.35, 0.25], 0.75),
    "80, 15 and 5 %, .80 right": ([0.8, 0.15, 0.05], 0.8),
    "80, 15 and 5 %, .93 right": ([0.8, 0.15, 0.05], 0.93),
    "90 and 10 %, .85 right": ([0.9, 0.1], 0.85),
    "five classes, .70 right": ([0.4, 0.3, 0.15, 0.1, 0.05], 0.7),
}


def confusion(shares: list[float], right: float) -> FloatArray:
    """Give the probability of each gold label with each prediction: errors are even over the other classes."""
    size = len(shares)
    table = np.array(shares)[:, None] * np.full((size, size), (1 - right) / (size - 1))
    np.fill_diagonal(table, np.array(shares) * right)
    return table


def main() -> None:
    """Print the coverage and the mean width of both intervals."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=300)
    parser.add_argument("--examples", type=int, nargs="*", default=[30, 49, 50, 80, 150, 300, 1000])
    options = parser.parse_args()
    metric = METRICS.get("macro_f1")()
    for name, (shares, right) in SHARES.items():
        table = confusion(shares, right)
        true = float(np.mean(2 * np.diag(table) / (table.sum(axis=0) + table.sum(axis=1))))
        labels = [f"label {at}" for at in range(len(shares))]
        for examples in options.examples:
            rng = np.random.default_rng(examples)
            held, wide = np.zeros(2), np.zeros(2)
            for run in range(options.runs):
                drawn = rng.choice(table.size, examples, p=table.ravel())
                gold, said = np.divmod(drawn, len(shares))
                data = align("label", [labels[at] for at in gold], [labels[at] for at in said], labels=labels)
                tally = metric.tally(data)
                ours = Draws(tally, seed=run, resamples=400).estimate(metric.value, "")
                plain = interval(metric.value(tally.resampled(400, np.random.default_rng(run))))
                for place, (low, high) in enumerate(((ours.low, ours.high), plain)):
                    if low is not None and high is not None:
                        held[place] += low <= true <= high
                        wide[place] += high - low
            told = " ".join(f"{held[at] / options.runs:.3f} ({wide[at] / options.runs:.3f} wide)" for at in range(2))
            print(f"{name}, {examples} examples: ours and bootstrap {told}", flush=True)


if __name__ == "__main__":
    main()
