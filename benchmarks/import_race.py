"""Race the import of JSON lines against polars alone, which reads the same file and writes it as Parquet.

    python benchmarks/import_race.py [--rows 1000000] [--runs 3]

Both run in processes of their own, by turns; the best run of each counts. polars is timed in its faster way, whole or
streamed. The import is the whole of it: checks, ids, duplicates, the version's hash, the blob, the database.
"""

from __future__ import annotations

import argparse
import json
import random
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from rows import Row, print_rows

ROWS = 1_000_000
RUNS = 3
AIM_RATIO = 3.0
AIM_MEMORY = 1.5
LABELS = ("negative", "neutral", "positive")
_VOCABULARY = (
    "the a film food place was were really quite good bad slow warm dull – naïve café «odd» we they said it's 5 stars "
    'plot soup "fine" waiter actor ending room never always again hardly loved left early'
)
WORDS = _VOCABULARY.split()
TASK = f'name = "race"\nkind = "text-classification"\nlabels = {json.dumps(LABELS)}\n'


def make_file(path: Path, rows: int) -> None:
    """Write *rows* different labelled texts, 5 to 30 words each."""
    draw = random.Random(0)
    with path.open("w", encoding="utf-8") as stream:
        for number in range(rows):
            text = " ".join(draw.choices(WORDS, k=draw.randint(5, 30))) + f" {number}"
            stream.write(json.dumps({"text": text, "label": draw.choice(LABELS)}, ensure_ascii=False) + "\n")


def polars_whole(path: Path, folder: Path) -> None:
    """Read all of the file, then write it."""
    import polars as pl

    pl.read_ndjson(path).write_parquet(folder / "whole.parquet")


def polars_streamed(path: Path, folder: Path) -> None:
    """Let polars stream the file."""
    import polars as pl

    pl.scan_ndjson(path).sink_parquet(folder / "streamed.parquet")


def quintain_import(path: Path, folder: Path) -> None:
    """Import the file into a fresh workspace, which is made before the clock starts."""
    from quintain.core.people import OPERATOR
    from quintain.data.plan import ImportPlan
    from quintain.services.data.datasets import import_dataset

    workspace = WORKSPACES.pop()
    with workspace.session() as db:
        import_dataset(db, workspace.blobs, OPERATOR, "race", "race", path, ImportPlan(role="train"))


WORKSPACES: list = []
SUBJECTS = {"polars, whole": polars_whole, "polars, streamed": polars_streamed, "quintain": quintain_import}


def measure(subject: str, path: Path) -> None:
    """Print seconds and peak memory of one run in this process."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        _prepare(subject, folder)
        start = time.perf_counter()
        SUBJECTS[subject](path, folder)
        seconds = time.perf_counter() - start
    usage = resource.getrusage(resource.RUSAGE_SELF)
    result = {"seconds": seconds, "gib": usage.ru_maxrss / 2**20, "cpu": usage.ru_utime + usage.ru_stime}
    print(json.dumps(result))


def _prepare(subject: str, folder: Path) -> None:
    import polars as pl

    pl.DataFrame({"a": [1]}).lazy().collect()
    if subject != "quintain":
        return
    from quintain.compose import create_workspace
    from quintain.core.people import OPERATOR
    from quintain.services.tasks.definitions import put_task
    from quintain.settings import Settings

    workspace = create_workspace(Settings(workspace=folder / "workspace"))
    with workspace.session() as db:
        put_task(db, OPERATOR, TASK)
    WORKSPACES.append(workspace)


def race(rows: int = ROWS, runs: int = RUNS) -> list[Row]:
    """Run all by turns and give the table."""
    found: dict[str, list[dict[str, float]]] = {subject: [] for subject in SUBJECTS}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "race.jsonl"
        make_file(path, rows)
        for _ in range(runs):
            for subject in SUBJECTS:
                command = [sys.executable, __file__, "--measure", subject, "--file", str(path)]
                done = subprocess.run(command, capture_output=True, text=True, check=True)
                found[subject].append(json.loads(done.stdout))
    best = {subject: min(runs, key=lambda run: run["seconds"]) for subject, runs in found.items()}
    alone = min(best["polars, whole"]["seconds"], best["polars, streamed"]["seconds"])
    ours = best["quintain"]
    name = f"import, {rows:,} rows"
    table = [Row(name, subject, f"{one['seconds']:.2f} s, {one['gib']:.2f} GiB") for subject, one in best.items()]
    table.append(Row(name, "time over polars alone", f"{ours['seconds'] / alone:.2f} ×", f"≤ {AIM_RATIO:g} ×"))
    table.append(Row(name, "peak memory", f"{max(r['gib'] for r in found['quintain']):.2f} GiB", f"< {AIM_MEMORY} GB"))
    return table


def main() -> None:
    """Run the race, or one measurement of it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=ROWS)
    parser.add_argument("--runs", type=int, default=RUNS)
    parser.add_argument("--measure", choices=SUBJECTS)
    parser.add_argument("--file", type=Path)
    options = parser.parse_args()
    if options.measure:
        measure(options.measure, options.file)
    else:
        print_rows(race(options.rows, options.runs))


if __name__ == "__main__":
    main()
