"""The page that repeats the paper on contrast sets: its commands run, and its tables are what they give."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result

ROOT = Path(__file__).parent.parent.parent
PAGE = ROOT / "docs" / "repeating" / "contrast.md"
DATA = ROOT.parent / "shared" / "data"
KINDS = ("appearance order", "tense", "conjunction")

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not (DATA / "contrast-sets").exists(), reason="the public data is not there"),
]


@pytest.fixture(scope="module")
def page() -> str:
    """The page."""
    return PAGE.read_text(encoding="utf-8")


@pytest.fixture
def runs(cli: Callable[..., Result], page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """What the commands of the page print, by the command, and the files that they write, by their names."""
    monkeypatch.chdir(tmp_path)
    results: dict[str, Any] = {}
    for line in re.findall(r"^\$ quintain (.+)$", page, re.MULTILINE):
        words = [word.replace("../shared/data", str(DATA)) for word in shlex.split(line)]
        done = cli(*words)
        assert done.exit_code == 0, f"{line}\n{done.output}"
        if "--json" in words:
            results[words[words.index("--metric") + 1]] = json.loads(done.stdout)
    for path in tmp_path.glob("*.jsonl"):
        results[path.stem] = [json.loads(row) for row in path.read_text(encoding="utf-8").splitlines()]
    return results


def table(page: str, name: str) -> dict[str, list[str]]:
    """Give the rows of a table of the page by their first cells."""
    body = page.partition(f"<!-- {name}: begin -->")[2].partition(f"<!-- {name}: end -->")[0].strip().splitlines()[2:]
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in body]
    return {row[0]: row[1:] for row in rows}


def sizes(rows: list[dict[str, Any]]) -> list[str]:
    """Count neighbours, sets, and the neighbours whose answer is not that of their original."""
    golds = {row["set"]: row["gold"] for row in rows if row["role"] == "original"}
    edited = [row for row in rows if row["role"] == "contrast"]
    turned = sum(row["gold"] != golds[row["set"]] for row in edited) if golds else "–"
    return [str(len(edited)), str(len({row["set"] for row in edited})), str(turned)]


def test_the_tables_are_what_the_commands_give(page: str, runs: dict[str, Any]) -> None:
    """Sizes of all ten sets, RoBERTa's figures on ROPES by both metrics, and the kinds of edits of MATRES."""
    for name, row in table(page, "sizes").items():
        assert row[2:] == sizes(runs[name]), name
    printed = table(page, "ropes")
    assert printed["paper"] == printed["ours, exact match"]
    for metric, name in (("exact_match", "ours, exact match"), ("f1", "ours, F1 above 0.8")):
        figures = [runs[metric][part] for part in ("original", "contrast", "difference", "consistency")]
        assert printed[name] == [f"{100 * value:.1f}".replace("-", "−") for value in figures]
    edited = [set(row["tags"]) for row in runs["matres"] if row["role"] == "contrast"]
    counts = {kind: sum(kind in tags for tags in edited) for kind in KINDS}
    counts |= {"other": sum(bool(tags - set(KINDS)) for tags in edited), "none given": sum(not tags for tags in edited)}
    for kind, row in table(page, "kinds").items():
        assert row[1:] == [str(counts[kind]), f"{100 * counts[kind] / len(edited):.0f} %"]
