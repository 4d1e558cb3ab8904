"""The Dynascore in the browser is the Dynascore of the server."""

from __future__ import annotations

import base64
import importlib.util
import json
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser

from quintain.core.errors import BadInput
from tests.conftest import ROOT

SCRIPT = ROOT / "src" / "quintain" / "web" / "static" / "js" / "utility.js"
FIXTURE = ROOT / "tests" / "data" / "utility_cases.json"
TABLES = 200
RUN = """async ([source, cases]) => {
  const {rankModels} = await import(`data:text/javascript;base64,${source}`);
  return cases.map((one) => rankModels(one, one.choices));
}"""
TIME = """async ([source, models, datasets, metrics]) => {
  const {weightedMean, prepare, score} = await import(`data:text/javascript;base64,${source}`);
  const draw = () => Float64Array.from({length: models}, () => Math.random() * 100);
  const cells = Array.from({length: metrics}, () => Array.from({length: datasets}, draw));
  const columns = cells.map((_, c) => ({name: `m${c}`, lower: c === 2, cap: null}));
  const times = [];
  for (let round = 0; round < 60; round += 1) {
    const weights = Array.from({length: datasets}, () => Math.random());
    const started = performance.now();
    const values = cells.map((one) => weightedMean(one, weights, models));
    const prepared = prepare({columns, values});
    score(prepared, Object.fromEntries(columns.map((column) => [column.name, Math.random()])));
    times.push(performance.now() - started);
  }
  return times.sort((a, b) => a - b);
}"""


def make_cases(number: int) -> list[dict[str, Any]]:
    """Make tables with ties, gaps, caps and rates by hand, with what Python makes of them."""
    spec = importlib.util.spec_from_file_location("make_utility_cases", ROOT / "scripts" / "make_utility_cases.py")
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    cases: list[dict[str, Any]] = []
    seed = 1000
    while len(cases) < number:
        with suppress(BadInput):  # a rate by hand for the base metric, which is refused
            cases.append(module.random_case(seed))
        seed += 1
    return cases


def source() -> str:
    """Give the script as a data address takes it."""
    return base64.b64encode(Path(SCRIPT).read_bytes()).decode()


def differences(case: dict[str, Any], found: dict[str, Any]) -> list[str]:
    """Say where the browser's result is not the server's."""
    wanted, wrong = case["expected"], []
    if found["rank"] != wanted["rank"]:
        wrong.append(f"ranks {found['rank']} instead of {wanted['rank']}")
    for place, (one, two) in enumerate(zip(found["dynascore"], wanted["dynascore"], strict=True)):
        if (one is None) != (two is None) or (one is not None and one != pytest.approx(two, rel=1e-9, abs=1e-9)):
            wrong.append(f"row {place}: {one} instead of {two}")
    for part in ("amrs", "weights", "worth"):
        for name, two in wanted[part].items():
            one = found[part][name]
            if (one is None) != (two is None) or (one is not None and one != pytest.approx(two, rel=1e-9, abs=1e-9)):
                wrong.append(f"{part} of {name}: {one} instead of {two}")
    if found["dominant"].keys() != wanted["dominant"].keys():
        wrong.append(f"one pair holds most of {list(found['dominant'])} instead of {list(wanted['dominant'])}")
    for name, pair in wanted["dominant"].items():
        if found["dominant"].get(name) != [*pair[:2], pytest.approx(pair[2], rel=1e-9), pair[3]]:
            wrong.append(f"{name} hangs on {found['dominant'].get(name)} instead of {pair}")
    missing = {
        case["models"][row]: f"{', '.join(names)} missing" for row, names in enumerate(found["unranked"]) if names
    }
    if missing != wanted["unranked"]:
        wrong.append(f"unranked {missing} instead of {wanted['unranked']}")
    return [f"{case['name']}: {text}" for text in wrong]


@pytest.mark.parametrize("kind", ["shared fixture", "random tables"])
def test_python_and_javascript_agree(chromium: Browser, kind: str) -> None:
    """On the shared fixture and on 200 random tables, scores, ranks, rates and worths are the same to 1e-9."""
    cases = json.loads(FIXTURE.read_text())["cases"] if kind == "shared fixture" else make_cases(TABLES)
    page = chromium.new_page()
    results = page.evaluate(RUN, [source(), json.loads(json.dumps(cases))])
    page.close()
    wrong = [text for case, found in zip(cases, results, strict=True) for text in differences(case, found)]
    assert len(cases) >= 28
    assert not wrong, "\n".join(wrong[:20])


def test_the_time_that_a_large_table_takes(chromium: Browser, record_property: Any) -> None:
    """1,000 models × 20 data sets × 6 metrics are ranked; the time is recorded, and not judged."""
    page = chromium.new_page()
    times = page.evaluate(TIME, [source(), 1000, 20, 6])
    page.close()
    record_property("median_ms", times[len(times) // 2])
    assert len(times) == 60
