"""How hard the items of a trial's arms are for models, where models can be told apart."""

from __future__ import annotations

import numpy as np

from quintain.data.trials import TrialArm, TrialItem
from quintain.services.plain.reports.trial_difficulty import arms_difficulty

VOTES = (("a", "yes"), ("b", "yes"), ("c", "no"))


def arm(name: str, levels: np.ndarray, abilities: dict[str, float], seed: int = 0) -> TrialArm:
    """An arm whose items are as hard as *levels* say, answered by models of these abilities."""
    rng = np.random.default_rng(seed)
    items = []
    for at, level in enumerate(levels.tolist()):
        said = {
            model: "yes" if rng.random() < 1 / (1 + np.exp(-2 * (able - level))) else "no"
            for model, able in abilities.items()
        }
        items.append(TrialItem(f"{at}", f"w{at % 5}", "yes", VOTES, said))
    return TrialArm(name, items)


def test_the_harder_arm_is_found() -> None:
    """Difficulty is spread by arm, and the finding says which is harder; items without a majority are left out."""
    able = {f"m{at}": level for at, level in enumerate(np.linspace(-2, 2, 12).tolist())}
    rng = np.random.default_rng(1)
    easy, hard = rng.normal(-0.7, 0.5, 80), rng.normal(0.7, 0.5, 80)
    torn = TrialItem("torn", "w0", "yes", (("a", "no"), ("b", "maybe")), dict.fromkeys(able, "yes"))
    arms = [arm("CROWD", easy, able), arm("EXPERT", hard, able, 2)]
    arms[0] = TrialArm("CROWD", [*arms[0].items, torn])
    found = arms_difficulty(arms, 0, ["again"])
    assert found is not None
    rows = {str(row[0]): row for row in found.tables[0].rows}
    assert {name: row[1] for name, row in rows.items()} == {"CROWD": 80, "EXPERT": 80}
    assert rows["EXPERT"][2].value - rows["CROWD"][2].value > 0.5  # type: ignore[union-attr, operator]
    assert "An item of CROWD is harder than one of EXPERT in" in str(found.findings[0])
    assert (len(found.charts), found.commands) == (1, ["again"])


def test_models_that_cannot_be_told_apart_give_no_difficulty() -> None:
    """Five copies of one model differ by chance alone: the report says so in place of figures; two are too few."""
    same = {f"seed{at}": 0.5 for at in range(5)}
    levels = np.random.default_rng(3).normal(size=120)
    found = arms_difficulty([arm("BASELINE", levels, same)], 0, [])
    assert found is not None
    assert not found.tables
    assert not found.charts
    assert "right equally often" in str(found.findings[0])
    assert arms_difficulty([arm("BASELINE", levels, {"a": 0.0, "b": 1.0})], 0, []) is None
