"""Memory of the evaluating process from 10⁴ to 10⁶ examples: it must not grow with the data.

    python benchmarks/evaluation_memory.py [--sizes 10000 100000 1000000]

Each size runs in a process of its own, whose greatest resident memory is read at the end. The sandboxed model is
another process and is not counted.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import threading
from pathlib import Path

import polars as pl

from rows import Row, print_rows

SIZES = (10_000, 100_000, 1_000_000)


def run(number: int) -> None:
    """Evaluate *number* examples and print the greatest memory in MiB before and after."""
    from evaluation_overhead import HANDLER, TASK
    from quintain.engine.jobs import CellJob, run_job
    from quintain.engine.runner import RunnableModel
    from quintain.engine.sandbox.limits import Limits

    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "model").mkdir()
        (folder / "model" / "handler.py").write_text(HANDLER)
        inputs = folder / "inputs.parquet"
        # Written by another process, so that making the data is not what is measured.
        subprocess.run([sys.executable, __file__, "--write", str(inputs), str(number)], check=True)
        job = CellJob(
            task=TASK,
            model=RunnableModel(folder / "model", "handler", batch_size=64),
            inputs=inputs,
            out=folder / "predictions.parquet",
            measured=False,
            seed=0,
            limits=Limits(),
        )
        rows = run_job(job, lambda done: None, threading.Event()).rows
    if rows != number:
        raise SystemExit("the run is not complete")
    print(json.dumps(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024))


def write(path: Path, number: int) -> None:
    """Write *number* texts of about a hundred characters."""
    places = pl.int_range(number, eager=True)
    text = pl.format("sentence {} about something that takes up as much room as a line of a review would take", "n")
    table = pl.DataFrame({"n": places}).select(id=pl.col("n").cast(pl.String).str.zfill(32), text=text)
    table.write_parquet(path, row_group_size=10_000)


def race(sizes: tuple[int, ...] = SIZES) -> list[Row]:
    """Measure every size."""
    found = {}
    for number in sizes:
        done = subprocess.run(
            [sys.executable, __file__, "--one", str(number)], capture_output=True, text=True, check=True
        )
        found[number] = float(done.stdout.strip().splitlines()[-1])
    base = found[sizes[0]]
    return [
        Row("evaluation memory", f"{number:,} examples", f"{size:.0f} MiB ({size / base:.2f}×)", "flat")
        for number, size in found.items()
    ]


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", type=int, nargs="+", default=list(SIZES))
    parser.add_argument("--one", type=int, help=argparse.SUPPRESS)
    parser.add_argument("--write", nargs=2, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.write:
        write(Path(options.write[0]), int(options.write[1]))
    elif options.one:
        run(options.one)
    else:
        print_rows(race(tuple(options.sizes)))
