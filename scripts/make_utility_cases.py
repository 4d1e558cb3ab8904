"""Write the tables on which the Python and the JavaScript Dynascore must agree.

    python scripts/make_utility_cases.py tests/data/utility_cases.json

The four tables of the paper's Table 2, then random ones with ties, gaps, caps, weights and rates fixed by hand. Each
case is the input and what `quintain.stats.utility.rank_models` makes of it; a missing cell is null, one that a model
cannot have is "n/a".
"""

from __future__ import annotations

import csv
import json
import sys
from pathlib import Path
from typing import Any

import numpy as np

from quintain.stats.aggregate import mean_zscore
from quintain.stats.utility import Choices, UtilityColumn, UtilityTable, rank_models

TABLE2 = Path(__file__).parent.parent / "tests" / "data" / "dynaboard_table2.csv"
METRICS = ("perf", "throughput", "memory", "fairness", "robustness")
RANDOM_CASES = 24


def case_of(name: str, table: UtilityTable, choices: Choices) -> dict[str, Any]:
    """Write one case with its expected result."""
    ranking = rank_models(table, choices)
    cannot = table.unobtainable()
    return {
        "name": name,
        "models": list(table.models),
        "columns": [{"name": c.name, "lower": c.lower, "cap": c.cap} for c in table.columns],
        "values": [
            [
                "n/a" if cannot[row, place] else None if np.isnan(value) else float(value)
                for place, value in enumerate(line)
            ]
            for row, line in enumerate(table.values)
        ],
        "choices": {
            "weights": None if choices.weights is None else dict(choices.weights),
            "epsilon": choices.epsilon,
            "perf": choices.perf,
            "base": choices.base,
            "amrs": dict(choices.amrs or {}),
            "rate": choices.rate,
        },
        "expected": {
            "dynascore": list(ranking.dynascore),
            "rank": list(ranking.rank),
            "zscore": list(mean_zscore(table, ranking.weights)),
            "amrs": dict(ranking.amrs),
            "weights": dict(ranking.weights),
            "worth": dict(ranking.worth),
            "epsilon": ranking.epsilon,
            "unranked": dict(ranking.unranked),
            "notes": dict(ranking.notes),
            "dominant": {
                name: [pair.first, pair.second, pair.share, pair.pairs] for name, pair in ranking.dominant.items()
            },
        },
    }


def published_cases() -> list[dict[str, Any]]:
    """Make one case of each task in Table 2."""
    with TABLE2.open(encoding="utf-8", newline="") as stream:
        rows = list(csv.DictReader(stream))
    columns = tuple(UtilityColumn(name, name == "memory", 32.0 if name == "memory" else None) for name in METRICS)
    cases = []
    for task in dict.fromkeys(row["task"] for row in rows):
        chosen = [row for row in rows if row["task"] == task]
        values = np.array([[float(row[name]) for name in METRICS] for row in chosen])
        table = UtilityTable(tuple(row["model"] for row in chosen), columns, values)
        cases.append(case_of(f"Table 2, {task}", table, Choices(epsilon=0.011)))
    return cases


def random_case(number: int) -> dict[str, Any]:
    """Make a table with ties, gaps and choices that the number decides."""
    rng = np.random.default_rng(number)
    n, m = int(rng.integers(1, 12)), int(rng.integers(1, 6))
    names = METRICS[:m]
    scale = 1.0 if number % 3 == 0 else 100.0
    # Few digits make ties and near-ties frequent.
    values = np.round(rng.random((n, m)) * scale, int(rng.integers(1, 4)))
    if number % 4 == 0 and m > 1:
        values[:, m - 1] = values[0, m - 1]
    values[rng.random((n, m)) < (0.08 if number % 2 else 0.0)] = np.nan
    cannot = np.zeros((n, m), dtype=bool)
    if number % 5 == 0 and m > 1:
        cannot[0, 1:] = True
        values[0, 1:] = np.nan
    lower = [bool(place and rng.random() < 0.4) for place in range(m)]
    columns = tuple(
        UtilityColumn(name, lower[place], scale if lower[place] and rng.random() < 0.5 else None)
        for place, name in enumerate(names)
    )
    weights = dict(zip(names, np.round(rng.random(m) * 4, 1).tolist(), strict=True)) if number % 2 else None
    if weights is not None:
        weights["perf"] = max(weights["perf"], 0.5)
    choices = Choices(
        weights=weights,
        epsilon=float(np.round(rng.random() * scale / 20, 3)) if number % 3 else None,
        base=names[int(rng.integers(0, m))] if number % 7 == 0 else None,
        amrs={names[-1]: 0.5} if number % 6 == 1 and m > 1 else None,
        rate="median" if number % 8 in {2, 5} else None,
    )
    return case_of(
        f"random {number}", UtilityTable(tuple(f"model {row}" for row in range(n)), columns, values, cannot), choices
    )


def rounded_case() -> dict[str, Any]:
    """Make a table in which two models tie, and the middle between them is, but for rounding, what the third has."""
    values = np.array([[0.0, 9.5], [0.5, 6.0], [0.5, 13.0]]) * [1.0, 0.001]
    columns = tuple(UtilityColumn(name, False, None) for name in METRICS[:2])
    return case_of("a difference of rounding", UtilityTable(("a", "b", "c"), columns, values), Choices())


def hair_cases() -> list[dict[str, Any]]:
    """Make a table in which two models a hair apart hold nearly all of a rate: ranked by the mean and by the median."""
    values = np.array([[90.0, 20.0], [85.0, 60.0], [80.0, 40.0], [75.0, 200.0], [70.0, 100.0], [70.001, 900.0]])
    columns = tuple(UtilityColumn(name, False, None) for name in METRICS[:2])
    table = UtilityTable(("a", "b", "c", "d", "e", "f"), columns, values)
    return [
        case_of(f"a hair apart, by the {rate}", table, Choices(epsilon=1e-4, rate=rate)) for rate in ("mean", "median")
    ]


def all_cases() -> list[dict[str, Any]]:
    """Make all cases."""
    return [*published_cases(), *(random_case(number) for number in range(RANDOM_CASES)), rounded_case(), *hair_cases()]


def main(path: Path) -> None:
    """Write the cases to *path*."""
    text = json.dumps({"cases": all_cases()}, ensure_ascii=False, indent=1)
    path.write_text(text + "\n", encoding="utf-8")
    print(f"wrote {path}")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
