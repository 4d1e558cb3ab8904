"""Time the joint bootstrap of a board: 1,000 resamples of 10,000 examples for 100 models.

Rank intervals, the probability of each pair's order and the Dynascores of every resample are in it.

    python benchmarks/board_bootstrap.py
"""

from __future__ import annotations

import argparse
import time

import numpy as np

from quintain.stats.ranking import bootstrap_dynascores, bootstrap_scores, rank_uncertainty
from quintain.stats.utility import UtilityColumn, UtilityTable


def main() -> None:
    """Print the best of several runs."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--models", type=int, default=100)
    parser.add_argument("--examples", type=int, default=10_000)
    parser.add_argument("--resamples", type=int, default=1000)
    parser.add_argument("--runs", type=int, default=3)
    options = parser.parse_args()
    rng = np.random.default_rng(0)
    skill = rng.uniform(0.5, 0.9, options.models)
    right = (rng.random((options.examples, options.models)) < skill).astype(np.float64)
    names = ("perf", "throughput", "memory", "fairness", "robustness")
    values = np.column_stack([right.mean(axis=0), rng.random((options.models, len(names) - 1))])
    models = tuple(f"model {number}" for number in range(options.models))
    board = UtilityTable(models, tuple(UtilityColumn(name, lower=name == "memory") for name in names), values)
    times = []
    for _ in range(options.runs):
        start = time.perf_counter()
        samples = bootstrap_scores(right, resamples=options.resamples)
        rank_uncertainty(samples, right.mean(axis=0).tolist())
        bootstrap_dynascores(board, {"perf": samples})
        times.append(time.perf_counter() - start)
    shape = f"{options.resamples} resamples × {options.models} models × {options.examples} examples"
    print(f"{shape}: {min(times):.3f} s (best of {options.runs}; target 2 s)")


if __name__ == "__main__":
    main()
