"""How often perturbations change the meaning: every kind was read as it is now, and the documents say what came."""

from __future__ import annotations

import importlib.util
import json
from collections.abc import Mapping
from importlib.resources import files
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from quintain.perturbations.contract import PERTURBATIONS
from quintain.stats.workers import wilson_share
from quintain.tasks.definition import parse_task

ROOT = Path(__file__).parents[3]
MOST = 0.02  # the rate up to which a kind may enter a figure
READ = 300  # outputs of each kind
# It changes so few texts that all of its outputs on public collections were read; the row of its task has as many more.
FEWER = {"identity_terms": 180}


@pytest.fixture(scope="module")
def script() -> ModuleType:
    """The script that draws the samples and counts the marks."""
    spec = importlib.util.spec_from_file_location("perturb_faults", ROOT / "benchmarks" / "perturb_faults.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def marks(script: ModuleType) -> Mapping[str, Mapping[str, Any]]:
    """What was marked, by kind; a row on the sentences of a task is named after it, too."""
    found: Mapping[str, Mapping[str, Any]] = json.loads(script.MARKS.read_text("utf-8"))
    return found


def test_every_kind_was_read_in_its_present_version(marks: Mapping[str, Mapping[str, Any]]) -> None:
    """A kind that is new, or gives other texts than before, is read before anybody relies on its rate."""
    versions = {name: member.version for name, member in PERTURBATIONS.items()}
    assert {kind.partition(",")[0]: mark["version"] for kind, mark in marks.items()} == versions
    for kind, mark in marks.items():
        assert mark["outputs"] >= FEWER.get(kind, READ), kind
        assert set(mark["final"]) <= set(mark["first"]) | set(mark["second"]), kind
        assert set(mark.get("reasons", mark["final"])) >= set(mark["final"]), kind


def test_what_enters_a_figure_hardly_changes_a_meaning(marks: Mapping[str, Mapping[str, Any]]) -> None:
    """Of the paper's kinds, and of those that a starter task counts on its own sentences, at most 2 % are faults."""
    counted = {name for name, member in PERTURBATIONS.items() if member.in_paper}
    for folder in files("quintain.demo_data").iterdir():
        if (folder / "task.toml").is_file():
            task = parse_task((folder / "task.toml").read_text("utf-8"))
            counted |= {f"{name}, {folder.name}" for name in task.counted_perturbations}
    assert counted <= marks.keys()
    for kind in counted:
        assert wilson_share(len(marks[kind]["final"]), marks[kind]["outputs"]).value <= MOST, kind


def test_the_documentation_has_the_rates(script: ModuleType, capsys: pytest.CaptureFixture[str]) -> None:
    """The table of docs/perturbations.md is what the script counts; if not, run it and paste what it prints."""
    script.table()
    assert capsys.readouterr().out in (ROOT / "docs" / "perturbations.md").read_text("utf-8")
