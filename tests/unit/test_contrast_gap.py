"""The table of what simple models make of the IMDb contrast sets."""

from __future__ import annotations

import gzip
import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parent.parent.parent


@pytest.fixture(scope="module")
def script() -> ModuleType:
    """The script that makes the table."""
    spec = importlib.util.spec_from_file_location("contrast_gap", ROOT / "scripts" / "contrast_gap.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def write(path: Path, *rows: tuple[str, ...]) -> None:
    """Write a TSV file, compressed where its name says so."""
    path.parent.mkdir(parents=True, exist_ok=True)
    text = "".join("\t".join(row) + "\n" for row in rows).encode()
    path.write_bytes(gzip.compress(text) if path.suffix == ".gz" else text)


def test_on_made_up_reviews(script: ModuleType, tmp_path: Path) -> None:
    """Every model is trained on both sources and scored on both kinds of edits of the same reviews."""
    head = ("Sentiment", "Text")
    praise, blame = "a wonderful and moving film", "a terrible and boring film"
    write(tmp_path / "sst" / "data" / "SST2" / "train.tsv", *[(praise, "1"), (blame, "0")] * 6)
    folder = tmp_path / "counterfactual-cad" / "sentiment"
    write(folder / "orig" / "train.tsv.gz", head, *[("Positive", praise), ("Negative", blame)] * 6)
    write(folder / "orig" / "test.tsv", head, ("Positive", praise))
    edited = (("Negative", blame, "7"), ("Positive", praise, "7"))
    write(folder / "combined" / "paired" / "test_paired.tsv", (*head, "batch_id"), *edited)
    write(tmp_path / "contrast-sets" / "IMDb" / "test_original.tsv", head, ("Positive", praise))
    write(tmp_path / "contrast-sets" / "IMDb" / "test_contrast.tsv", head, ("Negative", blame))

    assert script.crowd_pairs(tmp_path) == [((praise, "positive"), (blame, "negative"))]
    lines = script.table(tmp_path).splitlines()[2:]
    assert len(lines) == 12
    assert {line.split(" | ")[2] for line in lines} == {"experts", "crowd"}
    assert all("| 100.0 (" in line for line in lines)


def test_the_documentation_has_a_table(script: ModuleType) -> None:
    """What the script makes stands in the documentation, between its marks."""
    made = script.TARGET.read_text(encoding="utf-8").partition(script.BEGIN)[2].partition(script.END)[0]

    assert made.count("\n") == 14
    assert all(f"| {name} | " in made for name in script.MODELS)


@pytest.mark.slow
def test_the_table_is_fresh(script: ModuleType, shared_data: Path) -> None:
    """The models trained anew give the figures of the documentation."""
    assert script.table(shared_data) in script.TARGET.read_text(encoding="utf-8")
