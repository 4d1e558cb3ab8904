"""Small data of which a published number is known; `tests/data/README.md` says where each is from."""

from __future__ import annotations

from pathlib import Path

import polars as pl

FOLDER = Path(__file__).parent / "data"
LSAT7 = FOLDER / "lsat7.csv"


def lsat6() -> pl.DataFrame:
    """Return what the 1,000 people of LSAT6 had right, a row for each."""
    patterns = pl.read_csv(FOLDER / "lsat6.csv")
    return patterns.select(pl.exclude("freq").repeat_by("freq")).explode(pl.all())


def baseline_votes() -> list[tuple[str, str, str, str]]:
    """Return item, validator, the validator's answer and the writer's, for every validation of the BASELINE arm."""
    rows = pl.read_csv(FOLDER / "protocols_baseline_votes.csv", infer_schema=False).rows()
    return [
        (f"q{item:04}", f"v{place}", f"option{vote}", f"option{writer}")
        for item, (writer, votes) in enumerate(rows)
        for place, vote in enumerate(votes)
    ]
