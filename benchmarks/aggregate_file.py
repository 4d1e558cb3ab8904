"""What `quintain labels aggregate` costs from file to file: seconds, processor time and the most memory.

Usage: python benchmarks/aggregate_file.py [--judgements 10000000] [--method majority] [--format csv parquet]

Draws judgements by workers of differing accuracy, five of each item, writes them as a table, runs the command on it in
a process of its own, and prints what the kernel has counted for that process. The labels that come out are compared
with the truth that was drawn, so that a fast wrong answer shows.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import polars as pl

from judgement_data import VOTES, draw

NAMES = np.array(["a", "b", "c", "d"])


def write(path: Path, judgements: int, workers: int) -> pl.DataFrame:
    """Write the judgements to *path*, in an order in which no item's stand together, and give the truth."""
    items = judgements // VOTES
    item, worker, label, truth = draw(items, workers)
    order = np.random.default_rng(2).permutation(len(item))
    frame = pl.DataFrame({"item": item[order], "worker": worker[order], "label": NAMES[label[order]]}).select(
        pl.format("i{}", pl.col("item").cast(pl.String()).str.zfill(8)).alias("item"),
        pl.format("w{}", pl.col("worker").cast(pl.String()).str.zfill(6)).alias("worker"),
        "label",
    )
    frame.write_parquet(path) if path.suffix == ".parquet" else frame.write_csv(path)
    names = pl.Series(np.arange(items)).cast(pl.String()).str.zfill(8)
    return pl.DataFrame({"item": "i" + names, "truth": NAMES[truth]})


def run(path: Path, out: Path, method: str) -> str:
    """Aggregate *path* and say what it cost."""
    command = [sys.executable, "-m", "quintain", "labels", "aggregate", str(path), "--method", method]
    started = time.perf_counter()
    process = subprocess.Popen([*command, "--out", str(out)], stdout=subprocess.DEVNULL)
    _, status, used = os.wait4(process.pid, 0)
    seconds = time.perf_counter() - started
    if status:
        sys.exit(f"The command failed with {os.waitstatus_to_exitcode(status)}.")
    return f"{seconds:.1f} s, processor {used.ru_utime + used.ru_stime:.1f} s, {used.ru_maxrss / 1024**2:.2f} GiB"


def main() -> None:
    """Measure the formats that are asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--judgements", type=int, default=10_000_000)
    parser.add_argument("--workers", type=int, default=1_000)
    parser.add_argument("--method", default="majority")
    parser.add_argument("--format", nargs="+", default=["csv"], choices=["csv", "parquet"])
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="quintain-aggregate-") as folder:
        for form in options.format:
            path, out = Path(folder) / f"judgements.{form}", Path(folder) / f"labels.{form}"
            truth = write(path, options.judgements, options.workers)
            cost = run(path, out, options.method)
            found = pl.read_parquet(out) if form == "parquet" else pl.read_csv(out)
            right = truth.join(found, on="item", how="left", maintain_order="left")
            share = (right["truth"] == right["label"]).mean()
            print(f"{form}, {options.judgements:,} judgements, {options.method}: {cost}; {share:.4f} right", flush=True)


if __name__ == "__main__":
    main()
