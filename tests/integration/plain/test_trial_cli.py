"""`quintain trial` on plain files: protocols, forecasts from a simulated crowd, reports on published items."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import Result

Cli = Callable[..., Result]

SMALL = """
name = "{name}"
workers = 20
[[stages]]
name = "writing"
writing = {{items = 2, sessions = 4, wanted = 60, justification = true, final = true, pay = {pay}}}
[validation]
sample = 30
"""


def ask(cli: Cli, *arguments: str | Path) -> Any:
    """Run a command with --json and give what it prints."""
    result = cli("trial", *arguments, "--json")
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)


@pytest.fixture(scope="module")
def protocols(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Two small protocols that differ in what they pay."""
    folder = tmp_path_factory.mktemp("protocols")
    found = []
    for name, pay in (("first", 350), ("second", 400)):
        found.append(folder / f"{name}.toml")
        found[-1].write_text(SMALL.format(name=name, pay=pay))
    return found


def test_protocols_that_ship_are_listed_and_shown(cli: Cli, tmp_path: Path) -> None:
    """What is shown can be written to a file and is a protocol again."""
    assert [one["name"] for one in ask(cli, "protocols")] == ["baseline", "crowd", "expert", "fooling", "justification"]
    shown = cli("trial", "protocols", "--show", "expert")
    path = tmp_path / "mine.toml"
    path.write_text(shown.stdout)
    assert ask(cli, "check", path)[0]["name"] == "expert"


def test_a_protocol_that_cannot_work_is_refused_with_place_and_reason(cli: Cli, tmp_path: Path) -> None:
    """The file and what is wrong in it are named; so is a name that nothing has."""
    path = tmp_path / "mine.toml"
    path.write_text('name = "x"\n[[stages]]\nname = "w"\nnext = "w"\nwriting = {final = true}\n')
    result = cli("trial", "check", path)
    assert result.exit_code == 1
    assert "mine.toml" in result.output
    assert "goes in a circle" in result.output
    assert "did you mean 'baseline'" in cli("trial", "simulate", "baselin").output


def test_a_forecast_has_cost_yield_and_power(cli: Cli, protocols: list[Path]) -> None:
    """Both arms cost what they pay, and the same seed gives the same forecast."""
    asked = ("simulate", *protocols, "--workers", "20", "--trials", "5", "--seed", "3")
    found = ask(cli, *asked)
    assert [one["question_cost"]["value"] for one in found["arms"]] == [175, 200]
    assert all(one["items"] == 60 for one in found["arms"])
    assert all(0 < one["human"]["value"] <= 1 for one in found["arms"])
    power = found["power"][0]
    assert (power["first"], power["second"], power["workers"], power["gap"]) == ("first", "second", 20, 0.05)
    assert 0 <= power["gap_seen"] <= 1
    again = ask(cli, *asked)
    assert {**found, "seconds": 0} == {**again, "seconds": 0}
    told = cli("trial", *asked).output
    assert "With 20 workers per arm you will see a 5-point gap between them in" in " ".join(told.split())


def test_too_few_workers_for_a_protocol_are_refused(cli: Cli) -> None:
    """Two people do not get to EXPERT's final round."""
    found = cli("trial", "simulate", "expert", "--workers", "1", "--trials", "1", "--seed", "5")
    assert found.exit_code == 1
    assert "nobody gets to the final round" in " ".join(found.output.split())


def test_a_simulated_trial_can_be_reported(cli: Cli, protocols: list[Path], tmp_path: Path) -> None:
    """The report has every section, in HTML, Markdown, LaTeX and JSON; costs are those that were paid."""
    data, out = tmp_path / "trial.json.gz", tmp_path / "report"
    ask(cli, "simulate", *protocols, "--workers", "20", "--trials", "1", "--data", data)
    found = ask(cli, "report", data, "--draws", "5", "--out", out)
    assert {path.name for path in out.iterdir()} == {"report.html", "report.md", "tables.tex", "report.json"}
    sections = {one["key"]: one for one in found["sections"]}
    assert [*sections] == ["results", "differences", "difficulty", "agreement", "costs", "attrition", "justifications"]
    costs = sections["costs"]["tables"][0]["rows"]
    assert [(row[0], row[2]) for row in costs] == [("first", 1.75), ("second", 2.0)]
    slices = {row[1] for row in sections["results"]["tables"][0]["rows"]}
    assert {"judged often", "at least 4 of 5 votes agree", "all 5 votes agree"} <= slices
    assert [row[1] for row in sections["justifications"]["tables"][0]["rows"]] == [60, 60]
    assert r"\toprule" in (out / "tables.tex").read_text()


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("[{]", "not valid JSON"),
        ('{"format": "other"}', "is no trial"),
        ('[{"protocol": "a"}]', "row 1"),
        ('{"format": "quintain-trial", "arms": [{"name": "a", "items": [{}]}]}', "not an arm of a trial"),
        ('{"format": "quintain-trial", "arms": [{"name": "a", "items": []}]}', "Nothing of this trial was judged"),
    ],
)
def test_files_that_are_no_trial_are_refused(cli: Cli, tmp_path: Path, text: str, reason: str) -> None:
    """The file is named, and what is wrong with it."""
    path = tmp_path / "items.json"
    path.write_text(text)
    result = cli("trial", "report", path)
    assert result.exit_code == 1
    assert reason in " ".join(result.output.split())


def test_the_published_baseline_comes_out(cli: Cli, shared_data: Path) -> None:
    """N 482 ± 6, people 95.6 ± 1.2 %, α .81 with the writer as rater, 1.75 a question (Table 1, Table 3, section 3)."""
    folder = shared_data / "crowdsourcing-protocols" / "data"
    stages = sorted((folder / "intermediate_stages").glob("*.gz"))
    found = ask(cli, "report", folder / "baseline.json.gz", *stages)
    sections = {one["key"]: one for one in found["sections"]}
    rows = {row[1]: row for row in sections["results"]["tables"][0]["rows"]}
    assert rows["judged often"][2] == pytest.approx(482, abs=6)
    assert rows["judged often"][4]["value"] == pytest.approx(0.956, abs=0.012)
    assert rows["at least 4 of 5 votes agree"][2] == pytest.approx(436, abs=8)
    assert rows["all 5 votes agree"][2] == pytest.approx(340, abs=12)
    assert sections["agreement"]["tables"][0]["rows"][0][4]["value"] == pytest.approx(0.81, abs=0.005)
    assert sections["agreement"]["tables"][0]["rows"][0][5]["value"] == pytest.approx(0.79, abs=0.01)
    assert sections["costs"]["tables"][0]["rows"][0][2] == 1.75
    assert any(fact["title"] == "Not judged" and "crowd_stage1 (456)" in fact["value"] for fact in found["facts"])
