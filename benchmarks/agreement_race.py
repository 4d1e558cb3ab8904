"""Race agreement against crowd-kit: 120,000 items × 5 judgements, 2,000 workers, 4 classes.

    python benchmarks/agreement_race.py                   ours alone
    python benchmarks/agreement_race.py --peers           beside crowd-kit, installed into a temporary environment
    python benchmarks/agreement_race.py --peers --python PATH    beside the crowd-kit of that environment

Ours computes α, Fleiss' κ and all other statistics with intervals over 1,000 resamples; crowd-kit computes α alone.
Seconds
are those of the processor, so that a busy machine does not decide the race.
"""

from __future__ import annotations

import argparse
import json
import time

from judgement_data import VOTES, Peers, draw, judgements, measured, peak_megabytes
from rows import Row, print_rows

ITEMS, WORKERS = 120_000, 2_000
SIZES = (10_000, 100_000, 1_000_000, 10_000_000)


def run_ours(items: int, workers: int) -> None:
    """Time the statistics with their intervals; the judgements are coded already, as crowd-kit's are in a frame."""
    from quintain.stats.agreement import measure_agreement

    votes, _ = judgements(items, workers)
    measure_agreement(judgements(100, 30)[0], resamples=1000)  # loads what is loaded once
    begin = time.process_time()
    found = measure_agreement(votes, resamples=1000)
    seconds = time.process_time() - begin
    alpha = found.statistics["krippendorff_alpha"].value
    print(json.dumps({"seconds": seconds, "alpha": alpha, "megabytes": peak_megabytes()}))


def run_peer(items: int, workers: int) -> None:
    """Time crowd-kit's α."""
    import pandas as pd
    from crowdkit.metrics.data import alpha_krippendorff

    item, worker, label, _ = draw(items, workers)
    frame = pd.DataFrame({"task": item, "worker": worker, "label": label})
    begin = time.process_time()
    alpha = float(alpha_krippendorff(frame))
    print(json.dumps({"seconds": time.process_time() - begin, "alpha": alpha, "megabytes": peak_megabytes()}))


def ours(items: int, workers: int, runs: int = 3) -> dict[str, float]:
    """Give the best of some runs of ours, each in a process of its own."""
    options = ["--run", "ours", "--items", str(items), "--workers", str(workers)]
    found = [measured(__file__, *options) for _ in range(runs)]
    if "error" in found[0]:
        raise RuntimeError(found[0]["error"])
    return min(found, key=lambda one: one["seconds"])


def race(peers: bool = False, python: str | None = None) -> list[Row]:
    """Time the statistics, beside crowd-kit where *peers* is set; then at growing sizes."""
    mine = ours(ITEMS, WORKERS)
    what = f"all statistics with 1,000-sample intervals, {ITEMS:,} × {VOTES}"
    rows = [Row("agreement", what, f"{mine['seconds']:.3f} s, peak {mine['megabytes']:.0f} MB", "peak < 400 MB")]
    if peers:
        with Peers(python) as interpreter:
            options = ["--run", "peer", "--items", str(ITEMS), "--workers", str(WORKERS)]
            theirs = measured(__file__, *options, python=interpreter)
        value = f"crowd-kit failed: {theirs.get('error')}"
        if "error" not in theirs:
            ratio = theirs["seconds"] / mine["seconds"]
            value = (
                f"{ratio:.0f}× ({mine['seconds']:.3f} s against {theirs['seconds']:.1f} s; "
                f"α {mine['alpha']:.6f} against {theirs['alpha']:.6f})"
            )
        rows.append(Row("agreement", "the same, against crowd-kit's α alone", value, "≥ 1×"))
    cost = [1e9 * ours(size // VOTES, max(size // 300, 30), runs=2)["seconds"] / size for size in SIZES]
    growth = ", ".join(f"{size:.0e}: {one:.0f} ns" for size, one in zip(SIZES, cost, strict=True))
    return [*rows, Row("agreement", "cost per judgement", growth, "flat from 1e4 to 1e7")]


def main() -> None:
    """Print the table, or do one run of it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--peers", action="store_true")
    parser.add_argument("--python", help="an interpreter that has crowd-kit")
    parser.add_argument("--run", choices=["ours", "peer"], help=argparse.SUPPRESS)
    parser.add_argument("--items", type=int, help=argparse.SUPPRESS)
    parser.add_argument("--workers", type=int, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.run == "ours":
        run_ours(options.items, options.workers)
    elif options.run == "peer":
        run_peer(options.items, options.workers)
    else:
        print_rows(race(options.peers, options.python))


if __name__ == "__main__":
    main()
