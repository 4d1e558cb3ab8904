"""How often methods for labels are right on drawn crowds with even and skewed classes, beside the plurality of votes.

python benchmarks/skewed_crowds.py --runs 10
"""

from __future__ import annotations

import argparse

import numpy as np

from quintain.labels.contract import make_aggregator
from quintain.stats.bootstrap import IntArray
from quintain.stats.judgements import Judgements

METHODS = ("distribution", "dawid-skene", "dawid-skene-early", "one-coin", "mace", "glad")
# Items, share of the rare class, votes on an item, workers, how often workers are right on the rare class and on the
# other (as Beta distributions), and what share of workers say what they like.
CROWDS = {
    "12 % rare, hard to see; three votes": (4000, 0.12, 3, 150, (6, 3), (18, 1.5), 0.0),
    "12 % rare; three votes": (4000, 0.12, 3, 150, (10, 2), (10, 2), 0.0),
    "10 % rare; five votes": (1500, 0.10, 5, 100, (12, 3), (12, 3), 0.0),
    "10 % rare; three votes, ten of a worker": (1000, 0.10, 3, 300, (10, 3), (10, 3), 0.0),
    "22 % rare; six votes, a fifth spams": (2000, 0.22, 6, 70, (6, 3), (8, 3), 0.2),
    "22 % rare; ten votes, a tenth spams": (2000, 0.22, 10, 25, (5, 3), (6, 3), 0.1),
    "even; five votes": (1500, 0.50, 5, 100, (8, 3), (8, 3), 0.0),
    "even; three votes, ten of a worker": (1000, 0.50, 3, 300, (8, 3), (8, 3), 0.0),
}


def drawn(crowd: str, seed: int) -> tuple[Judgements, IntArray]:
    """Draw the judgements of a crowd in which some do much more than others, and the true labels."""
    items, rare, votes, workers, on_rare, on_other, spam = CROWDS[crowd]
    rng = np.random.default_rng(seed)
    truth = (rng.random(items) < rare).astype(np.int64)
    diligence = rng.pareto(1.5, workers) + 0.1
    sees, leaves = rng.beta(*on_rare, workers), rng.beta(*on_other, workers)
    spams, habit = rng.random(workers) < spam, rng.random(workers)
    sees, leaves = np.where(spams, habit, sees), np.where(spams, 1 - habit, leaves)
    share = diligence / diligence.sum()
    worker = np.stack([rng.choice(workers, votes, replace=False, p=share) for _ in range(items)])
    says = np.where(truth[:, None] == 1, sees[worker], 1 - leaves[worker])
    label = (rng.random(worker.shape) < says).astype(np.int64)
    names = [f"i{at:05}" for at in range(items)], [f"w{at:04}" for at in range(workers)], ["other", "rare"]
    return Judgements.from_codes(np.repeat(np.arange(items), votes), worker.ravel(), label.ravel(), *names), truth == 0


def main() -> None:
    """Print the mean accuracy of every method on every crowd."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=5)
    options = parser.parse_args()
    print("crowd: " + ", ".join(METHODS))
    for crowd in CROWDS:
        found = np.zeros(len(METHODS))
        for seed in range(options.runs):
            judgements, other = drawn(crowd, seed)
            is_other = np.asarray(judgements.classes) == "other"
            for place, method in enumerate(METHODS):
                label = make_aggregator(method).aggregate(judgements).label
                found[place] += np.mean(is_other[label] == other)
        print(f"{crowd}: " + ", ".join(f"{value / options.runs:.3f}" for value in found), flush=True)


if __name__ == "__main__":
    main()
