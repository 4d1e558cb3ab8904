"""The page on crowdsourcing protocols: its commands run on the public data, and its figures are what they give."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from typer.testing import Result

import quintain as qt
from tests.tiny_models import tiny_bert

ROOT = Path(__file__).parents[2]
SHARED = ROOT.parent / "shared" / "data"
PAGE = ROOT / "docs" / "repeating" / "protocols.md"
DATA = SHARED / "crowdsourcing-protocols" / "data"

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not (DATA.exists() and (SHARED / "quail").exists()), reason="the shared data is not here"),
]


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder beside which the data lies, as on the page."""
    folder = tmp_path / "work"
    folder.mkdir()
    (tmp_path / "shared").symlink_to(SHARED.parent)
    monkeypatch.chdir(folder)
    return folder


def _commands() -> list[list[str]]:
    blocks = re.findall(r"```sh\n(.*?)```", PAGE.read_text("utf-8"), flags=re.DOTALL)
    return [shlex.split(line)[1:] for block in blocks for line in block.splitlines() if line.startswith("quintain ")]


def _table(folder: Path, key: str) -> list[list[Any]]:
    report = json.loads((folder / "report.json").read_text("utf-8"))
    tables = {table["key"]: table["rows"] for section in report["sections"] for table in section["tables"]}
    return tables[key]


def _row(cells: list[Any]) -> str:
    """Write figures as the page has them: shares in percent with one digit."""
    return " | ".join(f"{100 * cell:.1f}" for cell in cells)


def test_the_commands_give_the_figures_of_the_page(here: Path, cli: Callable[..., Result]) -> None:
    """Every command ends well; agreement, people, models, artefacts and transfer stand on the page as they come out."""
    page, outputs = PAGE.read_text("utf-8"), []
    commands = _commands()
    assert len(commands) == 7
    for command in commands:
        result = cli(*command)
        assert result.exit_code == 0, result.output
        outputs.append(result.stdout)
    for cost in ("1.75 USD", "2.00 USD", "5.14 USD", "4.16 USD"):
        assert cost in outputs[1]

    for row in _table(here / "protocols" / "report", "results"):
        items, people, *models = row[2], row[4], row[5], row[7], row[8], row[10]
        roberta, gap, unified, gap_too = models
        figures = [roberta["value"], unified["value"]]
        if people["value"] is not None:
            assert f"{items:.1f} | {_row([people['value'], roberta['value'], gap['value']])}" in page
            assert _row([unified["value"], gap_too["value"]]) in page
        else:
            assert f"| {items:.1f} | – | {100 * figures[0]:.1f} | – | {100 * figures[1]:.1f} | – |" in page
    (clean,) = _table(here / "protocols" / "report", "agreement")
    shown = [cell["value"] for cell in clean if isinstance(cell, dict)]
    assert f"{shown[-2]:.3f}" == "0.805"
    assert f"{shown[-1]:.3f}" == "0.784"

    parts = [row[2]["value"] for row in _table(here / "protocols" / "artefacts", "partial-arms")]
    for arm in range(3):
        assert _row([parts[arm], parts[3 + arm], parts[6 + arm]]) in page
    assert "Choosing the longest option is right in 34.1%" in outputs[4]

    for row in _table(here / "protocols" / "compare", "transfer-table")[:3]:
        assert _row([cell["value"] for cell in row if isinstance(cell, dict) and "value" in cell]) in page
    assert "34.7%" in outputs[6]
    assert "34.9%" in outputs[6]


def test_a_fine_tuned_model_tells_the_options(here: Path) -> None:
    """A recipe that fine-tunes a (tiny, random) transformer takes the linear learner's place, also among options."""
    rows = [
        {"question": "the food was", "options": ["good", "bad"] if at % 2 else ["bad", "good"], "label": (at + 1) % 2}
        for at in range(80)
    ]
    tiny_bert(here / "small")
    recipe = here / "tuned.toml"
    options = 'checkpoint = "small"\nlength = 16\nrate = 1e-2\nepochs = 6\ndevice = "cpu"\n'
    recipe.write_text(f'learner = "transformers"\n[options]\n{options}')
    found = qt.artefacts(pl.DataFrame(rows), ["question"], options=["options"], partial=[["options"]], recipe=recipe)
    assert found.table["accuracy"].to_list() == [1.0]
