"""Race ratings from votes against arena-rank: 200 models from a million votes and from ten million.

    python benchmarks/preference_race.py                  ours alone
    python benchmarks/preference_race.py --python PATH    beside the arena-rank of that environment

Votes are drawn from known strengths, without ties, where both models are the same; both sides read the same Parquet
file and give ratings with intervals. arena-rank adds a little to the diagonal of what it inverts, which makes intervals
narrower: it is timed as it comes, and its figures are taken without that. Seconds are those of the clock and, beside
them, of the processor, from the file to the ratings, with everything imported and tried on a few votes before.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

from judgement_data import measured, peak_megabytes
from rows import Row, print_rows

MODELS = 200
SIZES = (1_000_000, 10_000_000)
AIMS = {1_000_000: "< 2 s", 10_000_000: "< 20 s, < 2 GB"}
RUNS = 3


def draw(path: Path, votes: int, seed: int = 0) -> None:
    """Write votes without ties that were drawn from known strengths."""
    import polars as pl

    rng = np.random.default_rng(seed)
    strengths = rng.normal(0, 1, MODELS)
    left = rng.integers(0, MODELS, votes, dtype=np.int32)
    right = (left + rng.integers(1, MODELS, votes, dtype=np.int32)) % MODELS
    won = rng.random(votes) < 1 / (1 + np.exp(strengths[right] - strengths[left]))
    names = pl.Series([f"model-{at:03}" for at in range(MODELS)])
    words = pl.Series(["right", "left"])
    table = {"left": names.gather(left), "right": names.gather(right), "winner": words.gather(won.astype(np.int32))}
    pl.DataFrame(table).write_parquet(path)


def run_ours(path: str, few: str) -> None:
    """Time our ratings, from the file."""
    from quintain.library.preferences import preference

    preference(few)
    begin, processor = time.perf_counter(), time.process_time()
    models = preference(path).record.models
    spent = time.perf_counter() - begin, time.process_time() - processor
    ratings = {row.model: (row.rating, (row.high - row.low) / 2) for row in models}
    report(spent, ratings)


def run_peer(path: str, few: str) -> None:
    """Time arena-rank, from the file; its intervals are made once more without what it adds."""
    import pandas
    from arena_rank.models.bradley_terry import BradleyTerry
    from arena_rank.utils.data_utils import PairDataset

    outcomes = {"left": 1.0, "right": 0.0, "tie": 0.5}

    def rated(file: str, **options: Any) -> Any:
        data = PairDataset.from_pandas(pandas.read_parquet(file), ["left", "right"], outcome_map=outcomes.get)
        return BradleyTerry(n_competitors=len(data.competitors), **options).compute_ratings_and_cis(data)

    rated(few)
    begin, processor = time.perf_counter(), time.process_time()
    rated(path)["ratings"].block_until_ready()
    spent = time.perf_counter() - begin, time.process_time() - processor
    found = rated(path, hessian_reg=1e-10, gtol=1e-12, ftol=1e-15)
    half = (np.asarray(found["rating_upper"]) - np.asarray(found["rating_lower"])) / 2
    ratings = np.asarray(found["ratings"]) - float(np.mean(found["ratings"])) + 1000.0
    report(spent, dict(zip(found["competitors"], zip(ratings.tolist(), half.tolist(), strict=True), strict=True)))


def report(spent: tuple[float, float], ratings: dict[str, Any]) -> None:
    """Print how long it took, and what came out."""
    figures = {"seconds": spent[0], "processor": spent[1], "megabytes": peak_megabytes()}
    print(json.dumps({**figures, "ratings": ratings}))


def described(figures: dict[str, Any]) -> str:
    """Put one run into words."""
    if "error" in figures:
        return f"failed: {figures['error']}"
    return f"{figures['seconds']:.2f} s ({figures['processor']:.2f} s of processors), {figures['megabytes']:,.0f} MB"


def best_of(runs: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the run with the least processor time."""
    return min(runs, key=lambda figures: figures.get("processor", float("inf")))


def apart(ours: dict[str, Any], peer: dict[str, Any]) -> str:
    """Tell by how much ratings and half widths of intervals differ at most, as a share of ours."""
    pairs = [(ours["ratings"][name], peer["ratings"][name]) for name in ours["ratings"]]
    ratings, widths = (max(abs(first[at] - second[at]) / first[at] for first, second in pairs) for at in (0, 1))
    return f"ratings within {ratings:.1e}, half widths of intervals within {widths:.1e} of ours"


def race(python: str | None = None) -> list[Row]:
    """Run both sides by turns, or ours alone where there is no arena-rank."""
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        few = Path(folder) / "few.parquet"
        draw(few, 40_000)
        for votes in SIZES:
            path, what = Path(folder) / f"{votes}.parquet", f"{MODELS} models, {votes:,} votes"
            draw(path, votes)
            sides: dict[str, list[dict[str, Any]]] = {"ours": [], "peer": []}
            for _ in range(RUNS):
                sides["ours"].append(measured(__file__, "--run", "ours", str(path), str(few)))
                if python is not None:
                    sides["peer"].append(measured(__file__, "--run", "peer", str(path), str(few), python=python))
            ours = best_of(sides["ours"])
            rows.append(Row("preference", what, described(ours), AIMS[votes]))
            if python is None:
                rows.append(Row("preference", f"{what}, arena-rank", "not run: name its interpreter with --python"))
                continue
            peer = best_of(sides["peer"])
            rows.append(Row("preference", f"{what}, arena-rank", described(peer)))
            if "error" not in peer:
                ratio, processor = (peer[figure] / ours[figure] for figure in ("seconds", "processor"))
                shown = f"{ratio:.1f}× ({processor:.1f}× of processors); {apart(ours, peer)}"
                rows.append(Row("preference", f"{what}, ratio to arena-rank", shown, "≥ 10×, three digits"))
    return rows


def main() -> None:
    """Print the table, or do one run of it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--python", help="an interpreter that has arena-rank")
    parser.add_argument("--run", choices=["ours", "peer"], help=argparse.SUPPRESS)
    parser.add_argument("files", nargs="*", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.run == "ours":
        run_ours(*options.files)
    elif options.run == "peer":
        run_peer(*options.files)
    else:
        print_rows(race(options.python))


if __name__ == "__main__":
    main()
