"""Time the joint bootstrap of a board: 1,000 resamples of 10,000 examples for 100 models, with rank intervals.

python benchmarks/board_bootstrap.py
"""

from __future__ import annotations

import argparse
import time

import numpy as np

from quintain.stats.ranking import bootstrap_scores, rank_uncertainty


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
    times = []
    for _ in range(options.runs):
        start = time.perf_counter()
        samples = bootstrap_scores(right, resamples=options.resamples)
        rank_uncertainty(samples, right.mean(axis=0).tolist())
        times.append(time.perf_counter() - start)
    shape = f"{options.resamples} resamples × {options.models} models × {options.examples} examples"
    print(f"{shape}: {min(times):.3f} s (best of {options.runs}; target 2 s)")


if __name__ == "__main__":
    main()
