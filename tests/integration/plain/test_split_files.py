"""Dividing judged texts of plain files: labels from judgements, what is held out, and what is wrong."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import quintain as qt
from quintain.core.errors import BadInput

WORDS = ("soup", "train", "film", "phone", "garden", "hotel", "concert", "lamp", "coat", "bread")


def _items(count: int = 400) -> Iterator[dict[str, Any]]:
    draw = np.random.default_rng(5)
    for at in range(count):
        words = " ".join(draw.choice(WORDS, 6))
        label = ("bad", "good", "mixed")[at % 3]
        said = ("bad", "good")[int(draw.integers(2))]
        writer = f"w{at % 50}"
        yield {"id": f"t{at}", "text": f"{words} {at}", "writer": writer, "rating": 1 + at % 5, "predicted": said} | {
            "truth": label
        }


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """Items without labels, and five judgements of each: four of five agree, or three."""
    folder = tmp_path_factory.mktemp("split")
    rows = list(_items())
    votes = [
        {"item": one["id"], "worker": f"j{judge}", "label": one["truth"] if judge < 4 - at % 2 else "good"}
        for at, one in enumerate(rows)
        for judge in range(5)
    ]
    items, judgements = folder / "items.csv", folder / "votes.csv"
    pl.DataFrame(rows).drop("truth").write_csv(items)
    pl.DataFrame(votes).write_csv(judgements)
    return items, judgements


def test_a_file_is_divided_as_it_says(files: tuple[Path, Path], tmp_path: Path, cli: Callable[..., Any]) -> None:
    """Classes balanced, the model at chance, four of five agree, writers apart: counted from what is written."""
    out = tmp_path / "split.csv"
    (spec := tmp_path / "release.toml").write_text('writers = "disjoint"\n')
    sizes = ("--dev", 20, "--test", 20, "--labels", "bad,good", "--spec", spec)
    done = cli("data", "split", files[0], "--judgements", files[1], *sizes, "--out", out, "--json")
    assert done.exit_code == 0, done.output
    told = json.loads(done.stdout)
    made = pl.read_csv(out)
    for name in ("dev", "test"):
        part = made.filter(pl.col("split") == name)
        assert part["label"].value_counts().sort("label").rows() == [("bad", 10), ("good", 10)]
        assert part["share"].min() >= 0.8
        assert part.filter(pl.col("label") == pl.col("predicted")).height == 10
        assert told["splits"][name]["labels"] == {"bad": 10, "good": 10, "mixed": 0}
    homes = made.drop_nulls("split").group_by("writer").agg(pl.col("split").n_unique())
    assert homes["split"].max() == 1
    assert told["shared_writers"] == 0
    assert told["splits"]["train"]["rows"] == made.filter(pl.col("split") == "train").height


def test_the_same_in_python_and_for_people(files: tuple[Path, Path], tmp_path: Path, cli: Callable[..., Any]) -> None:
    """The library gives what the command writes, and without --json a table says it."""
    spec = tmp_path / "release.toml"
    spec.write_text("dev = 20\ntest = 20\nwriters = 'capped'\n")
    out = tmp_path / "split.jsonl"
    done = cli(
        "data", "split", files[0], "--judgements", files[1], "--spec", spec, "--labels", "bad,good", "--out", out
    )
    assert "split" in done.stdout
    assert "Wrote" in done.stderr
    found = qt.release(files[0], judgements=files[1], classes=["bad", "good"], dev=20, test=20, writers="capped")
    assert pl.read_ndjson(out)["split"].to_list() == found.table["split"].to_list()


def test_what_is_wrong_is_named() -> None:
    """No label, a label that nobody has, an id twice, judgements of something else, and wishes that clash."""
    rows = [{"id": str(at), "text": f"{WORDS[at]} {at}", "label": "yes" if at % 2 else "no"} for at in range(10)]
    with pytest.raises(BadInput, match="no column 'label'"):
        qt.release([{"text": "a"}])
    with pytest.raises(BadInput, match="has the label 'maybe'"):
        qt.release(rows, classes=["maybe"])
    with pytest.raises(BadInput, match="id '1' is there a second time"):
        qt.release([*rows, rows[1]])
    with pytest.raises(BadInput, match="is of an item that is here"):
        qt.release(rows, judgements=[("x", "ann", "yes")])
    with pytest.raises(BadInput):
        qt.release(rows, dev=10, test=10)
    with pytest.raises(BadInput, match="no such key"):
        qt.release(rows, deev=1)
