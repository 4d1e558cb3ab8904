"""Race the aggregators against crowd-kit: 120,000 items × 5 judgements, 2,000 workers, 4 classes.

    python benchmarks/aggregation_race.py                   ours alone
    python benchmarks/aggregation_race.py --peers           beside crowd-kit, installed into a temporary environment
    python benchmarks/aggregation_race.py --peers --python PATH    beside the crowd-kit of that environment

crowd-kit's MACE and GLAD take tens of minutes at this size. They are timed on --slow-items items (12,000 by default),
where ours is timed too: the ratio is between equal inputs. Ours at both sizes shows how the ratio would scale. Seconds
are those of the processor, so that a busy machine does not decide the race.
"""

from __future__ import annotations

import argparse
import json
import time

import numpy as np

from judgement_data import VOTES, Peers, draw, judgements, measured, peak_megabytes
from rows import Row, print_rows

ITEMS, SLOW_ITEMS, WORKERS = 120_000, 12_000, 2_000
AIMS = {"dawid-skene": "≥ 10×", "mace": "≥ 100×", "glad": "≥ 100×"}
SEEDS = (1, 2, 3, 4, 5)
SIZES = (10_000, 100_000, 1_000_000, 10_000_000)


def run_ours(method: str, items: int, workers: int, iterations: int | None, seed: int) -> None:
    """Time our *method* and print seconds, accuracy and the peak of memory."""
    from quintain.labels.contract import make_aggregator

    votes, truth = judgements(items, workers, seed)
    fixed = {} if iterations is None else {"iterations": iterations, "tolerance": -np.inf}
    aggregator = make_aggregator(method, **fixed)
    aggregator.aggregate(judgements(100, 30)[0])  # loads what is loaded once
    begin = time.process_time()
    result = aggregator.aggregate(votes)
    seconds = time.process_time() - begin
    accuracy = float((result.label == truth).mean())
    print(json.dumps({"seconds": seconds, "accuracy": accuracy, "megabytes": peak_megabytes()}))


def run_peer(method: str, items: int, workers: int, seed: int) -> None:
    """Time crowd-kit's *method* with its own defaults."""
    import pandas as pd
    from crowdkit import aggregation

    kind = {"dawid-skene": "DawidSkene", "mace": "MACE", "glad": "GLAD"}[method]
    item, worker, label, truth = draw(items, workers, seed)
    frame = pd.DataFrame({"task": item, "worker": worker, "label": label})
    begin = time.process_time()
    found = getattr(aggregation, kind)().fit_predict(frame)
    seconds = time.process_time() - begin
    accuracy = float((found.reindex(range(items)).to_numpy() == truth).mean())
    print(json.dumps({"seconds": seconds, "accuracy": accuracy, "megabytes": peak_megabytes()}))


def ours(method: str, items: int, workers: int, *, runs: int = 2, iterations: int | None = None) -> dict[str, float]:
    """Give the best of some runs of ours, each in a process of its own."""
    options = ["--run", "ours", "--method", method, "--items", str(items), "--workers", str(workers)]
    options += [] if iterations is None else ["--iterations", str(iterations)]
    found = [measured(__file__, *options) for _ in range(runs)]
    if "error" in found[0]:
        raise RuntimeError(found[0]["error"])
    return min(found, key=lambda one: one["seconds"])


def race(peers: bool = False, python: str | None = None, slow_items: int = SLOW_ITEMS) -> list[Row]:
    """Time each method, beside crowd-kit where *peers* is set; then ours at growing sizes."""
    rows = []
    for method in ("majority", "one-coin", *AIMS):
        found = ours(method, ITEMS, WORKERS)
        value = f"{found['seconds']:.2f} s, accuracy {found['accuracy']:.4f}, peak {found['megabytes']:.0f} MB"
        rows.append(Row("aggregation", f"{method}, {ITEMS:,} × {VOTES}", value, "peak < 400 MB"))
    if peers:
        with Peers(python) as interpreter:
            rows += [_against(method, interpreter, slow_items) for method in AIMS]
            rows += [_accuracies(method, interpreter) for method in ("dawid-skene", "mace")]
    return rows + _growth()


def _against(method: str, python: str, slow_items: int) -> Row:
    items = ITEMS if method == "dawid-skene" else slow_items
    mine = ours(method, items, WORKERS)
    options = ["--run", "peer", "--method", method, "--items", str(items), "--workers", str(WORKERS)]
    theirs = measured(__file__, *options, python=python)
    what = f"{method} against crowd-kit, {items:,} × {VOTES}"
    if "error" in theirs:
        return Row("aggregation", what, f"crowd-kit failed: {theirs['error']}", AIMS[method])
    value = (
        f"{theirs['seconds'] / mine['seconds']:.0f}× ({mine['seconds']:.2f} s against {theirs['seconds']:.1f} s; "
        f"accuracy {mine['accuracy']:.4f} against {theirs['accuracy']:.4f})"
    )
    return Row("aggregation", what, value, AIMS[method])


def _accuracies(method: str, python: str) -> Row:
    """Give our accuracy and crowd-kit's on other draws, so that no seed decides."""
    found = []
    for seed in SEEDS:
        options = ["--method", method, "--items", "3000", "--workers", "500", "--seed", str(seed)]
        mine = measured(__file__, "--run", "ours", *options)
        theirs = measured(__file__, "--run", "peer", *options, python=python)
        if "error" in mine or "error" in theirs:
            found.append(f"seed {seed}: {mine.get('error') or theirs.get('error')}")
        else:
            found.append(f"seed {seed}: {mine['accuracy']:.4f} against {theirs['accuracy']:.4f}")
    return Row("aggregation", f"{method}, accuracy on 3,000 × {VOTES}, 500 workers", "; ".join(found), "no worse")


def _growth() -> list[Row]:
    """Give the cost per judgement of votes and of twenty iterations, with 300 judgements per worker."""
    steps = {"majority": None, "one-coin": 20, "dawid-skene": 20}
    return [_grown(method, iterations) for method, iterations in steps.items()]


def _grown(method: str, iterations: int | None) -> Row:
    cost = []
    for size in SIZES:
        found = ours(method, size // VOTES, max(size // 300, 30), runs=2, iterations=iterations)
        cost.append(1e9 * found["seconds"] / size)
    value = ", ".join(f"{size:.0e}: {one:.0f} ns" for size, one in zip(SIZES, cost, strict=True))
    flat = f"{value}; largest / smallest size {cost[-1] / cost[0]:.1f}×, spread {np.max(cost) / np.min(cost):.1f}×"
    what = method if iterations is None else f"{method}, {iterations} iterations"
    return Row("aggregation", f"{what}, cost per judgement", flat, "flat from 1e4 to 1e7")


def main() -> None:
    """Print the table, or do one run of it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--peers", action="store_true")
    parser.add_argument("--python", help="an interpreter that has crowd-kit")
    parser.add_argument("--slow-items", type=int, default=SLOW_ITEMS)
    parser.add_argument("--run", choices=["ours", "peer"], help=argparse.SUPPRESS)
    parser.add_argument("--method", help=argparse.SUPPRESS)
    parser.add_argument("--items", type=int, help=argparse.SUPPRESS)
    parser.add_argument("--workers", type=int, help=argparse.SUPPRESS)
    parser.add_argument("--iterations", type=int, help=argparse.SUPPRESS)
    parser.add_argument("--seed", type=int, default=1, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.run == "ours":
        run_ours(options.method, options.items, options.workers, options.iterations, options.seed)
    elif options.run == "peer":
        run_peer(options.method, options.items, options.workers, options.seed)
    else:
        print_rows(race(options.peers, options.python, options.slow_items))


if __name__ == "__main__":
    main()
