"""`quintain contest score` on plain tables, with no workspace."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import Result

from quintain.core.records.base import decode
from quintain.core.records.contest import ContestScore

Cli = Callable[..., Result]

MATRIX = """breaker,pair_id,side,sentence,gold,tags,one,two
X,1,a,Good.,1,sarcasm,1,1
X,1,b,"Good", -1,sarcasm,1,-1
X,2,a,Bad.,-1,,-1,1
X,2,b,Not bad.,1,,-1,-1
Y,1,a,Fine.,1,negation,0,-1
Y,1,b,Not fine.,-1,negation,-1,-1
"""


def table(tmp_path: Path, text: str = MATRIX) -> Path:
    """Write a table."""
    path = tmp_path / "matrix.csv"
    path.write_text(text, encoding="utf-8")
    return path


def score(cli: Cli, *arguments: str | Path) -> dict[str, Any]:
    """Run the command with --json and give what it prints."""
    result = cli("contest", "score", *arguments, "--json")
    assert result.exit_code == 0, result.output
    found: dict[str, Any] = json.loads(result.stdout)
    return found


def test_the_figures(cli: Cli, tmp_path: Path) -> None:
    """A pair breaks a system that has one side right; breakers score by accuracy × share broken."""
    found = score(cli, table(tmp_path), "--dev-accuracy", "one=0.8,two=0.5")

    one = found["systems"]["one"]
    assert (one["broken"], one["pairs"], one["broken_rate_pairs"], one["broken_rate_sentences"]) == (3, 3, 1.0, 0.5)
    # Classes 1 and -1; the answer 0 is none of them: F1 of 1 is 2·1/(3+2), of -1 is 2·2/(3+3).
    assert one["average_f1"] == pytest.approx((2 / 5 + 4 / 6) / 2)
    x = found["breakers"]["X"]
    assert x["break_rate"] == {"one": 1.0, "two": 0.0}
    assert x["score"] == pytest.approx((0.8 * 1 + 0.5 * 0) / 2)
    assert x["score_per_sentence"] == pytest.approx(x["score"] / 2)
    assert found["breakers"]["Y"]["score"] == pytest.approx((0.8 + 0.5) / 2)
    assert decode(ContestScore, found).systems["one"].broken == 3


def test_what_lies_behind_the_figures(cli: Cli, tmp_path: Path) -> None:
    """Directions, what breaks together, and tags with intervals stand beside the score tables."""
    found = score(cli, table(tmp_path))

    assert found["directions"]["one"] == {"original_only": 2, "modified_only": 1}
    assert found["together"] == [
        {"systems": ["one", "two"], "both": 1, "either": 3, "overlap": 1 / 3, "correlation": None}
    ]
    assert found["broken_systems"] == [0, 2, 1]
    tag = found["by_tag"]["negation"]
    assert tag["pairs"] == 1
    assert tag["break_rate"]["two"]["low"] < tag["break_rate"]["two"]["value"] == 1.0


def test_without_dev_accuracy_there_is_a_reason(cli: Cli, tmp_path: Path) -> None:
    """Scores are null, with the reason; a system without an accuracy does not enter them, and that is said."""
    path = table(tmp_path)
    x = score(cli, path)["breakers"]["X"]
    partly = cli("contest", "score", path, "--dev-accuracy", "one=0.8", "--json")

    assert x["score"] is None
    assert x["score_per_sentence"] is None
    assert "--dev-accuracy" in x["reason"]
    assert "No dev accuracy was given for two" in partly.stderr
    assert json.loads(partly.stdout)["breakers"]["X"]["score"] == pytest.approx(0.8)


def test_contested_pairs(cli: Cli, tmp_path: Path) -> None:
    """Contested pairs leave the score until they are settled, and both scores are shown."""
    states = ["status", "contested", "contested", "settled", "settled", "", ""]
    text = "".join(f"{line},{state}\n" for line, state in zip(MATRIX.strip().splitlines(), states, strict=True))
    found = score(cli, table(tmp_path, text))

    assert found["contested"] == 1
    assert found["systems"]["one"]["pairs"] == 2
    assert found["with_contested"]["systems"]["one"]["pairs"] == 3
    assert found["breakers"]["X"]["pairs"] == 1
    assert score(cli, table(tmp_path))["with_contested"] is None


def test_a_breaker_of_whom_all_is_contested(cli: Cli, tmp_path: Path) -> None:
    """A breaker whose pairs are all contested has no score, with the reason; both tables are printed."""
    states = ["status", *["contested"] * 4, "", ""]
    text = "".join(f"{line},{state}\n" for line, state in zip(MATRIX.strip().splitlines(), states, strict=True))
    path = table(tmp_path, text)
    x = score(cli, path, "--dev-accuracy", "one=1,two=1")["breakers"]["X"]
    printed = cli("contest", "score", path)

    assert (x["pairs"], x["score"], x["reason"]) == (0, None, "the labels of all of its pairs are in doubt")
    assert "With the 2 pairs whose labels are in doubt" in printed.stdout


def test_spans(cli: Cli, tmp_path: Path) -> None:
    """QA-SRL: an answer is right whose F1 is above the threshold, and builders are scored by mean token F1."""
    text = (
        'breaker,pair_id,side,gold,one\nX,1,a,the old baker,old baker\nX,1,b,"[""the baker"", ""a man""]",the woman\n'
    )
    found = score(cli, table(tmp_path, text), "--metric", "f1")

    assert found["systems"]["one"]["average_f1"] == pytest.approx(0.5)
    assert found["systems"]["one"]["broken"] == 1
    assert found["threshold"] == 0.8


@pytest.mark.parametrize(
    ("before", "after", "complaint"),
    [
        ("X,2,b,Not bad.,1,,-1,-1\n", "", "row 4: pair '2' of 'X' has one side only"),
        ("X,2,b", "X,2,a", "row 5: side 'a' of pair '2' of 'X' is in row 4 already"),
        ("X,2,b", "X,2,c", "row 5, field 'side': 'c' is neither a nor b"),
        ("X,2,b,Not bad.,1", "X,2,b,Not bad.,", "row 5, field 'gold': is empty"),
        ("breaker,pair_id", "team,pair_id", "there is no column 'breaker'"),
    ],
)
def test_what_is_wrong_is_named_with_its_row(cli: Cli, tmp_path: Path, before: str, after: str, complaint: str) -> None:
    """Half a pair, a side twice, a gap: each with its row, and both rows where two clash."""
    result = cli("contest", "score", table(tmp_path, MATRIX.replace(before, after)))

    assert result.exit_code == 1
    assert complaint in result.stderr


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["--dev-accuracy", "three=0.5"], "There is no system 'three'"),
        (["--dev-accuracy", "one=80"], "The dev accuracy of 'one' is 80"),
        (["--skip", "none"], "There is no column 'none' to skip"),
        (["--skip", "one,two"], "there is no column of a system's answers"),
        (["--metric", "set_exact_match"], "is not for contests"),
    ],
)
def test_wrong_options(cli: Cli, tmp_path: Path, arguments: list[str], complaint: str) -> None:
    """Options that fit nothing in the table are refused."""
    result = cli("contest", "score", table(tmp_path), *arguments)

    assert result.exit_code == 1
    assert complaint in result.stderr


def test_the_contest_of_2017(cli: Cli, shared_data: Path) -> None:
    """The released matrix gives the break counts behind Table 1, and macro F1 in its printed order."""
    found = score(cli, shared_data / "bibi-2017" / "bibi_sentiment_matrix.csv", "--resamples", "0")
    systems = {name: one for name, one in found["systems"].items() if "not_in_paper" not in name}

    assert {name: one["broken"] for name, one in systems.items()} == {
        "strawman": 146, "pcnn": 140, "scnn": 164, "rntn": 149, "dcnn": 144, "bag_of_ngrams": 142
    }  # fmt: skip
    assert all(one["pairs"] == 287 for one in systems.values())
    ranked = sorted(systems, key=lambda name: -systems[name]["average_f1"])
    assert ranked == ["strawman", "pcnn", "bag_of_ngrams", "scnn", "dcnn", "rntn"]
    figures = [round(systems[name]["average_f1"], 3) for name in ranked]
    assert figures == [0.668, 0.665, 0.654, 0.636, 0.613, 0.611]
    assert systems["strawman"]["broken_rate_sentences"] == pytest.approx(0.2544, abs=0.0001)
