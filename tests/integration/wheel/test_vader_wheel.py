"""The wheel on real ratings: how the snippets are read and, where the data are, two rounds judged by their raters."""

from __future__ import annotations

import gzip
import runpy
from pathlib import Path
from typing import Any

import pytest

from quintain.compose import create_workspace
from quintain.settings import Settings

ROOT = Path(__file__).parents[3]
FOLDER = "vader-icwsm2014"


@pytest.fixture(scope="module")
def script() -> dict[str, Any]:
    """The names of `scripts/wheel_vader.py`."""
    return runpy.run_path(str(ROOT / "scripts" / "wheel_vader.py"))


def test_snippets_are_read_with_their_votes(script: dict[str, Any], tmp_path: Path) -> None:
    """Ratings become labels by their sign; what has too few ratings, and a text's second time, is left out."""
    scores = {"a": [2, 0, -1] * 5, "b": [1] * 15, "c": [1] * 14, "d": [-3] * 15}
    (tmp_path / "x_anonDataRatings.txt").write_text(
        "\ufeff" + "".join(f"{key}\t0\t0\t{given}\n" for key, given in scores.items()), encoding="utf-8"
    )
    texts = {"a": 'It "works" so so.', "b": "Good.", "c": "Fine.", "d": "good."}
    with gzip.open(tmp_path / "x_GroundTruth.txt.gz", "wt", encoding="utf-8") as file:
        file.writelines(f"{key}\t0\t{text}\n" for key, text in texts.items())
    first, second = script["read_snippets"](tmp_path, "x")
    assert (first.text, first.votes[:3], first.majority) == (texts["a"], ("positive", "neutral", "negative"), None)
    assert (second.text, second.majority) == ("Good.", "positive")


@pytest.mark.slow
def test_the_post_moves_on_real_ratings(script: dict[str, Any], shared_data: Path, tmp_path: Path) -> None:
    """Each target is at chance on its round and the next model is better there; people are far above both."""
    workspace = create_workspace(Settings(workspace=tmp_path / "workspace"))
    try:
        models, turns = script["turn"](shared_data / FOLDER, workspace)
    finally:
        workspace.close()
    for number, one in enumerate(turns):
        scores = {row.model: row.score.value for row in one.parity.models}
        assert scores[models[number]] == pytest.approx(1 / 3)
        assert scores[models[number + 1]] > scores[models[number]]
        assert one.parity.human is not None
        assert one.parity.human.value > max(scores.values())
    assert "| people |" in script["report"](models, turns, items=1800, seed=1, seconds=1.0)
