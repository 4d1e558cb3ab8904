"""Memory of a sample and of a Hugging Face folder, 10⁵ to 3·10⁶ examples: it must not grow with the data.

    python benchmarks/publish_memory.py [--sizes 100000 1000000]

A sample of 1,000 is imported from a JSONL file; a version of all rows is written as a folder. Each step runs in a
process of its own, whose greatest resident memory is read at the end.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import polars as pl

from rows import Row, print_rows

SIZES = (100_000, 1_000_000, 3_000_000)
WORDS = {"all": "import of all", "sample": "import of a sample of 1,000", "folder": "export as a folder"}
TOML = 'name = "mood"\nkind = "text-classification"\nlabels = ["negative", "neutral", "positive"]\n'


def write(path: Path, number: int) -> None:
    """Write *number* texts of about two hundred characters."""
    text = pl.format("sentence {} " + "that takes up room as a review would " * 5, "n")
    labels = pl.Series(["negative", "neutral", "positive"])
    table = pl.DataFrame({"n": pl.int_range(number, eager=True)})
    label = pl.lit(labels).gather(pl.col("n") % 3).alias("label")
    table.lazy().select(text.alias("text"), label).sink_ndjson(path)


def step(name: str, source: Path) -> None:
    """Do one step and print the seconds that it took and the greatest memory in MiB."""
    from quintain.data.importing import write_examples
    from quintain.data.plan import ImportPlan
    from quintain.data.publish.collection import Collection, PublishedSplit
    from quintain.data.publish.folder import write_folder
    from quintain.tasks.definition import parse_task

    task, start = parse_task(TOML), time.perf_counter()
    stored = source.with_suffix(".parquet")
    if name == "folder":
        table = pl.scan_parquet(stored).drop("meta")
        split = PublishedSplit("train", table, "mood/train@1", "", table.select(pl.len()).collect().item(), "en")
        write_folder(Collection(task, "mood", (split,), "2026-01-01"), "hf", source.parent / "folder")
    else:
        plan = ImportPlan(sample=1000) if name == "sample" else ImportPlan()
        write_examples(source, task, plan, stored if name == "all" else source.with_suffix(".sample"))
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(json.dumps({"seconds": time.perf_counter() - start, "memory": memory}))


def measure(number: int) -> list[Row]:
    """Measure all steps on *number* rows."""
    found = []
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "a.jsonl"
        # By another process: a child's greatest memory is never below that of its parent.
        subprocess.run([sys.executable, __file__, "--write", str(source), str(number)], check=True)
        for name in ("all", "sample", "folder"):
            command = [sys.executable, __file__, "--step", name, str(source)]
            said = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
            found.append(Row("publish memory", f"{WORDS[name]}, {number:,} rows", f"{said['memory']:.0f} MiB", "flat"))
            found.append(Row("publish memory", "the same, time", f"{said['seconds']:.1f} s"))
    return found


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--sizes", type=int, nargs="+", default=SIZES)
    parser.add_argument("--step", nargs=2)
    parser.add_argument("--write", nargs=2)
    given = parser.parse_args()
    if given.step:
        step(given.step[0], Path(given.step[1]))
    elif given.write:
        write(Path(given.write[0]), int(given.write[1]))
    else:
        print_rows([row for size in given.sizes for row in measure(size)])
