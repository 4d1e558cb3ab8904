"""Time metrics with 1,000-sample bootstrap intervals on 100,000 predictions.

python benchmarks/metric_intervals.py
"""

from __future__ import annotations

import argparse
import time

import numpy as np
import polars as pl

from quintain.metrics.contract import METRICS
from quintain.metrics.evaluate import evaluate_metrics

FAMILIES = {
    "accuracy": ["accuracy"],
    "F1": ["macro_f1", "micro_f1", "weighted_f1", "class_f1"],
    "all of the confusion matrix": [
        "accuracy",
        "macro_f1",
        "micro_f1",
        "weighted_f1",
        "class_f1",
        "balanced_accuracy",
        "mcc",
    ],
    "probabilities": ["auroc", "log_loss", "calibration_error"],
}


def main() -> None:
    """Print the best of several runs for each family."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--examples", type=int, default=100_000)
    parser.add_argument("--classes", type=int, nargs="*", default=[2, 3, 10])
    parser.add_argument("--runs", type=int, default=3)
    options = parser.parse_args()
    METRICS.names()  # loading the families is not what is timed
    rng = np.random.default_rng(0)
    for size in options.classes:
        labels = np.array([f"label {number}" for number in range(size)])
        known = labels[rng.integers(0, size, options.examples)]
        noise = labels[rng.integers(0, size, options.examples)]
        answers = np.where(rng.random(options.examples) < 0.7, known, noise)
        gold, given = pl.Series(known.tolist()), pl.Series(answers.tolist())
        shares = pl.DataFrame(rng.dirichlet(np.ones(size), options.examples), schema=labels.tolist())
        for family, names in FAMILIES.items():
            beside = {"probabilities": shares} if family == "probabilities" else {}
            times, processor = [], []
            for _ in range(options.runs):
                start, used = time.perf_counter(), time.process_time()
                evaluate_metrics("label", gold, given, names, **beside)
                times.append(time.perf_counter() - start)
                processor.append(time.process_time() - used)
            best, least = min(times) * 1000, min(processor) * 1000
            print(f"{size} classes, {family}: {best:.1f} ms, {least:.1f} ms of the processor (best of {options.runs})")


if __name__ == "__main__":
    main()
