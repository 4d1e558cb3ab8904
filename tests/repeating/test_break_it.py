"""The commands of `docs/repeating/break-it.md`, run on the released files, and the figures of its tables."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Callable
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from scipy.optimize import lsq_linear
from typer.testing import Result

ROOT = Path(__file__).parent.parent.parent
PAGE = (ROOT / "docs" / "repeating" / "break-it.md").read_text(encoding="utf-8")
SIX = ("strawman", "pcnn", "ngrams", "scnn", "dcnn", "rntn")
BREAKERS = ("utrecht", "osu", "melbourne", "vtex")
# Table 4 of the paper: the pairs of Table 3 by breaker and id, with the answers of strawman, pcnn, bag of ngrams, scnn,
# dcnn and rntn to both sides.
TABLE_4 = {
    ("utrecht", "989"): ("1 1 1 1 1 -1", "-1 1 -1 1 1 -1"),
    ("utrecht", "561"): ("-1 -1 1 -1 1 -1", "1 1 1 -1 1 -1"),
    ("osu", "558"): ("-1 -1 -1 -1 -1 -1", "-1 -1 -1 -1 -1 -1"),
    ("osu", "565"): ("1 -1 1 1 1 1", "1 -1 1 -1 1 -1"),
    ("melbourne", "560"): ("1 1 -1 1 1 1", "-1 1 -1 1 1 0"),
    ("melbourne", "602"): ("-1 1 -1 -1 -1 -1", "-1 1 1 -1 -1 0"),
    ("vtex", "723"): ("-1 -1 -1 -1 1 1", "1 1 -1 1 1 1"),
}
PRINTED_2 = (31.17, 28.66, 19.28, 7.48)


def _blocks(kind: str) -> list[str]:
    return re.findall(rf"```{kind}\n(.*?)```", PAGE, flags=re.DOTALL)


def _commands() -> list[list[str]]:
    lines = "".join(_blocks("console")).replace("\\\n", " ").splitlines()
    return [shlex.split(line.removeprefix("$ quintain")) for line in lines if line.startswith("$ quintain")]


def _table(heading: str) -> list[list[str]]:
    """Read the rows of the table that follows *heading*."""
    rows = [line for line in PAGE.split(heading, 1)[1].split("\n\n")[1].splitlines() if line.startswith("| ")]
    return [[cell.strip() for cell in row.strip("|").split("|")] for row in rows[2:]]


@pytest.mark.slow
def test_the_page_is_true(
    cli: Callable[..., Result], shared_data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every command runs as it is typed, and every figure in the tables is what it gives."""
    monkeypatch.chdir(tmp_path)
    for toml in _blocks("toml"):
        (tmp_path / toml.splitlines()[0].removeprefix("# ")).write_text(toml)
    for command in _commands():
        typed = [part.replace("../shared/data", str(shared_data)) for part in command]
        done = cli(*typed)
        assert done.exit_code == 0, (command, done.output)
    figures = json.loads(cli("contest", "score", "matrix.csv", "--resamples", "0", "--json").stdout)
    systems, breakers = figures["systems"], figures["breakers"]
    printed = _table("**Table 1: builders.**")
    assert [row[0] for row in printed] == list(SIX)
    for name, count, of_pairs, of_sentences, paper, ours, _ in printed:
        own = systems[name]
        assert count == f"{own['broken']} of {own['pairs']}"
        assert float(of_pairs) == pytest.approx(100 * own["broken_rate_pairs"], abs=0.006)
        assert float(of_sentences) == pytest.approx(100 * own["broken_rate_sentences"], abs=0.006)
        assert float(paper) == pytest.approx(float(of_sentences), abs=0.011)
        assert float(ours) == pytest.approx(own["average_f1"], abs=0.0006)
    rates = {name: np.array([breakers[name]["break_rate"][system] for system in SIX]) for name in BREAKERS}
    for name, pairs, share, half, _ in _table("**Table 2: breakers.**"):
        assert int(pairs) == breakers[name]["pairs"]
        assert float(share) == pytest.approx(100 * rates[name].mean(), abs=0.006)
        assert float(half) == pytest.approx(50 * rates[name].mean(), abs=0.006)
    weights = np.array([50 * rates[name] / len(SIX) for name in BREAKERS])
    nearest = weights @ lsq_linear(weights, PRINTED_2, bounds=(0, 1)).x
    assert nearest == pytest.approx([30.33, 29.30, 19.45, 7.65], abs=0.011)
    matrix = pl.read_csv(tmp_path / "matrix.csv", infer_schema=False)
    order = ("strawman", "pcnn", "ngrams", "scnn", "dcnn", "rntn")
    for (breaker, pair), sides in TABLE_4.items():
        rows = matrix.filter(breaker=breaker, pair_id=pair).sort("side").select(order).rows()
        assert [" ".join(row) for row in rows] == list(sides), (breaker, pair)
