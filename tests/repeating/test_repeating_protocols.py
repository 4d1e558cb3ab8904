"""The page on crowdsourcing protocols: its commands run on the public data, and its figures are what they give."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from typer.testing import Result

import quintain as qt
from tests.repeating_pages import matches, output, rows_of, run_page, working_folder
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
    folder = working_folder(tmp_path)
    monkeypatch.chdir(folder)
    return folder


@pytest.fixture
def one_thread() -> Iterator[None]:
    """Threads of one small training wait for each other longer than they work, where others use the machine, too."""
    torch = pytest.importorskip("torch")
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


def _table(folder: Path, key: str) -> list[list[Any]]:
    report = json.loads((folder / "report.json").read_text("utf-8"))
    tables = {table["key"]: table["rows"] for section in report["sections"] for table in section["tables"]}
    return tables[key]


def _row(cells: list[Any]) -> str:
    """Write figures as the page has them: shares in percent with one digit."""
    return " | ".join(f"{100 * cell:.1f}" for cell in cells)


@pytest.mark.usefixtures("one_thread")
def test_the_commands_give_the_figures_of_the_page(here: Path, cli: Callable[..., Result]) -> None:
    """Every command ends well; agreement, people, models, artefacts and transfer stand on the page as they come out."""
    page = PAGE.read_text("utf-8")
    results = run_page(page, cli)
    assert len(results) == 10
    for cost in ("1.75 USD", "2.00 USD", "5.14 USD", "4.16 USD"):
        assert cost in output(results, "trial simulate")

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
    assert "Choosing the longest option is right in 34.1%" in output(results, "--out protocols/artefacts")

    for row in _table(here / "protocols" / "compare", "transfer-table")[:3]:
        assert _row([cell["value"] for cell in row if isinstance(cell, dict) and "value" in cell]) in page
    for share in ("34.7", "34.9", "29.5"):
        assert f"{share}%" in output(results, "--out protocols/quail")
        assert f"{share}" in page.partition("## QuAIL beside it")[2]
    check_lengths(page, here)
    check_fine_tuned(page, here)
    check_fine_tuned_transfer(page, here)


def check_lengths(page: str, here: Path) -> None:
    """Options are as long as the table says, and the commonest place is right as often."""
    rows = _table(here / "protocols" / "artefacts", "lengths-table")
    means = [(right[2] + 3 * wrong[2]) / 4 for right, wrong in zip(rows[::2], rows[1::2], strict=True)]
    printed = rows_of(page, "lengths")[1:]
    assert all(matches(cells[2:], [mean]) for cells, mean in zip(printed, means, strict=True)), means
    chances = [_table(here / "protocols" / name, "partial-table")[0][3] for name in ("artefacts", "linear")]
    assert [f"{100 * chance:.1f} %" in page for chance in chances] == [True, True]


def check_fine_tuned(page: str, here: Path) -> None:
    """What the linear learner and a small BERT find in BASELINE alone; the second may differ by threads and machine."""
    printed = rows_of(page, "tuned")[1:]
    for cells, name, within in zip(printed, ("linear", "small"), (0.0, 2.0), strict=True):
        shares = [100 * row[1]["value"] for row in _table(here / "protocols" / name, "partial-table")]
        assert matches(cells[1:], shares, within), (name, shares)


def check_fine_tuned_transfer(page: str, here: Path) -> None:
    """What the small BERT carries from one arm to another."""
    printed = [row for row in rows_of(page, "transfer") if row[0].endswith("ours")]
    transfer = _table(here / "protocols" / "small-transfer", "transfer-table")[:3]
    for cells, row in zip(printed, transfer, strict=True):
        shares = [100 * cell["value"] for cell in row if isinstance(cell, dict) and "value" in cell]
        assert matches(cells[1:], shares, 2.0), (cells[0], shares)


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
