"""Run the races and print one table: `python benchmarks/run.py [NAME …]`.

A race is a file in this folder with a function `race() -> list[Row]`; files without one are run by themselves.
"""

from __future__ import annotations

import argparse
import importlib
from pathlib import Path

from rows import print_rows


def main() -> None:
    """Run the races that were named, or all of them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", help="races to run, such as import_race; all by default")
    chosen = parser.parse_args().names
    rows = []
    for path in sorted(Path(__file__).parent.glob("*.py")):
        if path.stem in {"run", "rows", "judgement_data"} or (chosen and path.stem not in chosen):
            continue
        race = getattr(importlib.import_module(path.stem), "race", None)
        if race is not None:
            rows += race()
    print_rows(rows)


if __name__ == "__main__":
    main()
