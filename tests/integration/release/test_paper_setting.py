"""DynaSent's second round, at its size: writers who take two tries on average, and 720 + 720 texts in dev and test."""

from __future__ import annotations

import json
import string
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from typer.testing import Result

TEXTS, WRITERS, JUDGES = 8_000, 150, 5
LABELS = ("negative", "neutral", "positive")
MOST_TRIES = 10
HELD_OUT = ("dev", "test")

pytestmark = pytest.mark.slow


def write_round(generator: np.random.Generator, *, fooled: float) -> list[dict[str, Any]]:
    """Let writers edit prompts until a model is fooled, as each try is with a chance of *fooled*, and judges vote.

    A few people write most. A try changes three of a prompt's twelve words, and one in seven is not what was aimed at.
    """
    words = ["".join(generator.choice(list(string.ascii_lowercase), size)) for size in generator.integers(3, 9, 20_000)]
    shares = 1 / (np.arange(WRITERS) + 3.0)
    rows: list[dict[str, Any]] = []
    while len(rows) < TEXTS:
        prompt, writer = f"p{len(rows)}", f"w{generator.choice(WRITERS, p=shares / shares.sum())}"
        base, aim = generator.choice(words, 12), int(generator.integers(3))
        for _ in range(MOST_TRIES):
            text = base.copy()
            text[generator.choice(12, 3, replace=False)] = generator.choice(words, 3)
            is_fooled = generator.random() < fooled
            said = (aim + int(generator.integers(1, 3))) % 3 if is_fooled else aim
            truth = aim if generator.random() < 6 / 7 else int(generator.integers(3))
            row = {"id": str(len(rows)), "text": " ".join(text), "writer": writer, "prompt": prompt}
            rows.append(row | {"predicted": LABELS[said], "truth": truth, "rating": str(generator.integers(1, 6))})
            if is_fooled or len(rows) == TEXTS:
                break
    return rows


def judge(generator: np.random.Generator, rows: list[dict[str, Any]]) -> list[dict[str, str]]:
    """Let five people judge each text; each is right in nine of ten cases."""
    judgements = []
    for row in rows:
        for number in generator.choice(60, JUDGES, replace=False):
            label = row["truth"] if generator.random() < 0.9 else int(generator.integers(3))
            judgements.append({"item": row["id"], "worker": f"j{number}", "label": LABELS[label]})
    return judgements


@pytest.mark.parametrize("fooled", [0.5, 0.6])
def test_the_papers_sizes_come_out(cli: Callable[..., Result], tmp_path: Path, fooled: float) -> None:
    """By the defaults: balanced, the model at chance, at most one text of a prompt in dev and test, agreement kept."""
    generator = np.random.default_rng(720)
    rows = write_round(generator, fooled=fooled)
    assert 1.6 < len(rows) / len({row["prompt"] for row in rows}) < 2.1
    items, votes, out = (tmp_path / name for name in ("items.jsonl", "votes.csv", "out.parquet"))
    items.write_text("".join(json.dumps({**row, "truth": None}) + "\n" for row in rows))
    pl.DataFrame(judge(generator, rows)).write_csv(votes)
    done = cli("data", "split", items, "--judgements", votes, "--dev", 720, "--test", 720, "--out", out, "--json")
    assert done.exit_code == 0, done.stderr
    made = json.loads(done.stdout)
    for name in HELD_OUT:
        split = made["splits"][name]
        assert (split["rows"], {*split["labels"].values()}) == (720, {240})
        assert split["agreement"] >= 0.8
        assert {round(f1, 1) for f1 in split["model_f1"].values()} == {0.3}
    table = pl.read_parquet(out)
    of_prompts = Counter(table.filter(pl.col("split").is_in(HELD_OUT))["prompt"].to_list())
    assert set(of_prompts.values()) == {1}
    assert made["splits"]["train"]["rows"] > TEXTS / 2  # of what is left out of dev and test, most is trained on
