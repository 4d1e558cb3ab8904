"""How far a harvest is: enough to go on with it elsewhere without asking the model again."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl


@dataclass(frozen=True, slots=True)
class HarvestState:
    """What was made of the first *pieces* of a corpus: the candidates so far, and what was counted.

    *left_out* counts what was left out once the text was read: by conditions, and by what the model says.
    """

    pieces: int
    candidates: pl.DataFrame
    counts: Counter[str]
    crossed: Counter[tuple[str, float | None]]
    left_out: Counter[str]

    def write(self, path: Path) -> dict[str, Any]:
        """Write the candidates to *path*, and give the rest as plain data."""
        self.candidates.write_parquet(path)
        crossed = [[label, rating, count] for (label, rating), count in self.crossed.items()]
        return {
            "pieces": self.pieces,
            "counts": dict(self.counts),
            "crossed": crossed,
            "left_out": dict(self.left_out),
        }

    @classmethod
    def read(cls, path: Path, data: Mapping[str, Any]) -> HarvestState:
        """Read what `write` wrote."""
        crossed = Counter({(label, rating): count for label, rating, count in data["crossed"]})
        return cls(data["pieces"], pl.read_parquet(path), Counter(data["counts"]), crossed, Counter(data["left_out"]))
