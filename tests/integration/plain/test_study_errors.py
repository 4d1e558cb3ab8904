"""`quintain study slices|disagree|calibration` and the library's functions behind them, on made files."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import Result

import quintain as qt
from quintain.core.errors import BadInput


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with gold answers, votes and two models; the small one fails on "never"."""
    folder, rng = tmp_path_factory.mktemp("errors"), np.random.default_rng(0)
    gold: list[dict[str, Any]] = []
    said: dict[str, list[dict[str, Any]]] = {"small": [], "large": []}
    for at in range(300):
        label, never = ("yes", "no")[at % 2], at % 5 == 0
        wrong = ("no", "yes")[at % 2]
        text = f"{' '.join(f'w{one}' for one in rng.integers(0, 30, 5))}{' never' if never else ''}"
        share = 0.6 if never else 0.95
        votes = [label if rng.random() < share else wrong for _ in range(5)]
        gold.append({"id": f"e{at}", "text": text, "label": label, "tags": ["short"], "votes": votes})
        for name, fails in (("small", never), ("large", False)):
            right = rng.random() < (0.2 if fails else 0.9)
            sure = 0.55 if never else 0.9
            answer = label if right else wrong
            beliefs = {answer: sure, "yes" if answer == "no" else "no": 1 - sure}
            said[name].append({"id": f"e{at}", "prediction": answer, "probabilities": beliefs})
    for name, rows in {"gold": gold, **said}.items():
        (folder / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return folder


def test_slices_come_with_examples(files: Path, tmp_path: Path, cli: Callable[..., Result]) -> None:
    """The command finds the word, shows errors with it, and says how to find it again."""
    done = cli(
        *("study", "slices", files / "gold.jsonl", files / "small.jsonl", "--tags", "tags"),
        *("--out", tmp_path / "out", "--json"),
    )
    [section] = json.loads(done.stdout)["sections"]
    assert section["tables"][0]["rows"][0][:3] == ["word in text", "never", 60]
    assert "never" in section["tables"][1]["rows"][0][1]
    assert section["commands"] == ["quintain study slices gold.jsonl small.jsonl --tags tags --out DIR"]
    assert (tmp_path / "out" / "report.html").exists()


def test_two_models_are_compared(files: Path, cli: Callable[..., Result]) -> None:
    """Who is right how often, the slice in which one is better, and examples of each kind."""
    done = cli("study", "disagree", files / "gold.jsonl", files / "small.jsonl", files / "large.jsonl", "--json")
    [section] = json.loads(done.stdout)["sections"]
    assert "small and large say the same in" in section["findings"][0]
    assert section["tables"][0]["rows"][0][1] == "never"
    same = qt.disagreement(files / "gold.jsonl", files / "small.jsonl", files / "small.jsonl")
    assert (same.pair.p, same.pair.agree.value, same.pair.only_first) == (1.0, 1.0, 0)


def test_confidence_is_held_against_people(files: Path, cli: Callable[..., Result]) -> None:
    """The model that is less sure where people disagree is told so, with an interval."""
    done = cli("study", "calibration", files / "gold.jsonl", files / "large.jsonl", "--json")
    [section] = json.loads(done.stdout)["sections"]
    assert any("Where people disagree more, it is less sure" in one for one in section["findings"])
    found = qt.calibration(files / "gold.jsonl", files / "large.jsonl")
    assert (found.calibration.correlation.low or 0.0) > 0.2
    assert found.table["figure"].to_list()[0] == "error"


def test_what_does_not_match_is_refused(files: Path) -> None:
    """Ids that differ, ids there twice, no votes or probabilities, too few examples: said with place and remedy."""
    gold = files / "gold.jsonl"
    with pytest.raises(BadInput, match="no prediction for 300 of the 300 ids"):
        qt.slices(gold, {"x": "yes"})
    twice = [{"id": "a", "text": "t", "label": "y"}] * 30
    with pytest.raises(BadInput, match="'a' is missing or there twice"):
        qt.slices(twice, {"a": "y"})
    with pytest.raises(BadInput, match="people's votes and the model's probabilities"):
        qt.calibration(gold, {f"e{at}": "yes" for at in range(300)})
    with pytest.raises(BadInput, match="5 examples are too few"):
        qt.slices([{"id": str(at), "text": "t", "label": "y"} for at in range(5)], {})


def test_a_negative_probability_is_named() -> None:
    """Not counted as missing: the model and the example are said."""
    gold = [{"id": str(at), "text": "t", "label": "yes", "votes": ["yes", "no"]} for at in range(30)]
    said = [{"id": str(at), "prediction": "yes", "probabilities": {"yes": 1.2, "no": -0.2}} for at in range(30)]
    with pytest.raises(BadInput, match=r"gives for '0' is no probability"):
        qt.calibration(gold, said, votes="votes")
