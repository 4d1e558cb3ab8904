"""`quintain contrast score` on plain files, with no workspace."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import Result

from quintain.core.records.base import decode
from quintain.core.records.contrast import ContrastScore

Cli = Callable[..., Result]
Write = Callable[..., tuple[Path, Path]]

EXAMPLES: list[dict[str, Any]] = [
    {"id": "a0", "set": "a", "role": "original", "gold": "pos"},
    {"id": "a1", "set": "a", "role": "contrast", "gold": "neg", "tags": ["negation"]},
    {"id": "a2", "set": "a", "role": "contrast", "gold": "pos", "tags": ["negation", "number"]},
    {"id": "b0", "set": "b", "role": "original", "gold": "neg"},
    {"id": "b1", "set": "b", "role": "contrast", "gold": "pos", "tags": ["number"]},
]
SAID = {"a0": "pos", "a1": "neg", "a2": "pos", "b0": "neg", "b1": "neg"}


@pytest.fixture
def files(tmp_path: Path) -> Write:
    """A function that writes both files."""

    def write(examples: list[dict[str, Any]] = EXAMPLES, said: dict[str, Any] | list[Any] = SAID) -> tuple[Path, Path]:
        paths = tmp_path / "examples.jsonl", tmp_path / "predictions.jsonl"
        rows = said if isinstance(said, list) else [{"id": key, "prediction": value} for key, value in said.items()]
        for path, lines in zip(paths, (examples, rows), strict=True):
            path.write_text("\n".join(json.dumps(line) for line in lines) + "\n", encoding="utf-8")
        return paths

    return write


def score(cli: Cli, *arguments: str | Path) -> dict[str, Any]:
    """Run the command with --json and give what it prints."""
    result = cli("contrast", "score", *arguments, "--json")
    assert result.exit_code == 0, result.output
    found: dict[str, Any] = json.loads(result.stdout)
    return found


def test_the_figures(cli: Cli, files: Write) -> None:
    """Scores on both roles, their difference, consistency, and the same by tag and by what became of the label."""
    found = score(cli, *files(), "--metric", "accuracy")

    assert {name: found[name] for name in ("original", "difference", "consistency", "sets", "examples")} == {
        "original": 1.0, "difference": pytest.approx(-1 / 3), "consistency": 0.5, "sets": 2, "examples": 5
    }  # fmt: skip
    assert found["contrast"] == pytest.approx(2 / 3)
    assert found["by_tag"] == {
        "negation": {"examples": 2, "sets": 1, "original": 1.0, "contrast": 1.0, "consistency": 1.0},
        "number": {"examples": 2, "sets": 2, "original": 1.0, "contrast": 0.5, "consistency": 0.5},
    }
    assert {name: part["contrast"] for name, part in found["by_transition"].items()} == {
        "pos → neg": 1.0, "pos → pos": 1.0, "neg → pos": 0.0
    }  # fmt: skip
    own = found["intervals"]["by_tag"]["number"]["consistency"]
    assert own["low"] <= own["value"] == 0.5 <= own["high"]
    assert decode(ContrastScore, found).consistency == 0.5
    assert "never prove" in found["caveat"]


def test_the_order_of_the_files_does_not_matter(cli: Cli, files: Write) -> None:
    """Lines may stand in any order, in either file."""
    first = score(cli, *files())
    second = score(cli, *files(EXAMPLES[::-1], dict(reversed(SAID.items()))))

    assert first["by_tag"] == second["by_tag"]
    assert first["consistency"] == second["consistency"]


def test_a_person_reads_percentages(cli: Cli, files: Write) -> None:
    """Without --json there are tables, the counts, and the sentence on what a contrast set cannot do."""
    result = cli("contrast", "score", *files())

    assert result.exit_code == 0
    assert "5 examples in 2 sets" in result.stdout
    assert "negation" in result.stdout
    assert "never prove" in result.stdout


def test_f1_has_to_be_above_the_threshold(cli: Cli, files: Write) -> None:
    """The scores are means of F1; a member is right above the threshold and not at it."""
    examples = [
        {"id": 1, "set": 7, "role": "original", "gold": ["p q r s x", "no"]},
        {"id": 2, "set": 7, "role": "contrast", "gold": "p q"},
    ]
    paths = files(examples, {"1": "p q r s t", "2": "p q"})
    at, below = (score(cli, *paths, "--metric", "f1", "--threshold", one) for one in ("0.8", "0.79"))

    assert (at["original"], at["contrast"], at["consistency"], at["threshold"]) == (0.8, 1.0, 0.0, 0.8)
    assert below["consistency"] == 1.0
    assert at["by_transition"]["changed"]["examples"] == 1


def test_sets_of_answers(cli: Cli, files: Write) -> None:
    """With set_exact_match the gold answer is the set of all right answers, in any order."""
    examples = [
        {"id": "1", "set": "s", "role": "original", "gold": ["two hours", "a day"]},
        {"id": "2", "set": "s", "role": "contrast", "gold": []},
    ]
    found = score(cli, *files(examples, {"1": ["a day", "two hours"], "2": ["a day"]}), "--metric", "set_exact_match")

    assert (found["original"], found["contrast"], found["consistency"]) == (1.0, 0.0, 0.0)


def test_tables_are_read_alike(cli: Cli, tmp_path: Path) -> None:
    """A CSV is read as JSON lines are, with columns of other names."""
    examples, said = tmp_path / "examples.csv", tmp_path / "said.csv"
    examples.write_text('id,query,role,gold,tags\n1,q,original,"[""yes""]",\n2,q,contrast,no,negation;short\n')
    said.write_text("id,prediction\n1,yes\n2,no\n")
    found = score(cli, examples, said, "--column", "set=query")

    assert found["consistency"] == 1.0
    assert list(found["by_tag"]) == ["negation", "short"]


@pytest.mark.parametrize(
    ("change", "said", "complaint"),
    [
        ({0: {"role": "contrast"}}, SAID, "examples.jsonl, row 1: set 'a' has no original"),
        ({1: {"role": "original"}}, SAID, "row 2: set 'a' has its original in row 1 already"),
        ({4: {"set": "c", "role": "original"}}, SAID, "row 5: set 'c' has nothing but its original"),
        ({1: {"id": "a0"}}, SAID, "row 2: id 'a0' is in row 1 already"),
        ({1: {"role": "pivot"}}, SAID, "row 2, field 'role': 'pivot' is neither original nor contrast"),
        ({1: {"gold": None}}, SAID, "row 2, field 'gold'"),
        ({1: {"gold": {"a": 1}}}, SAID, "row 2, field 'gold'"),
        ({1: {"tags": [1]}}, SAID, "row 2, field 'tags'"),
        ({1: {"set": ""}}, SAID, "row 2, field 'set'"),
        ({}, {"a0": "pos"}, "predictions.jsonl: no prediction for id 'a1' (row 2 of the examples)"),
        ({}, {**SAID, "x": "pos"}, "predictions.jsonl, row 6: id 'x' is not among the examples"),
        ({}, {**SAID, "a0": ["pos"]}, "predictions.jsonl, row 1, field 'prediction'"),
        ({}, [*({"id": key, "prediction": "pos"} for key in SAID), {"id": "a0", "prediction": "pos"}],
         "row 6: id 'a0' is in row 1 already"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_named_with_its_line(
    cli: Cli, files: Write, change: dict[int, dict[str, Any]], said: Any, complaint: str
) -> None:
    """A set that is not whole, a member without an answer, a value of another shape: each with its place."""
    examples = [{**one, **change.get(at, {})} for at, one in enumerate(EXAMPLES)]
    result = cli("contrast", "score", *files(examples, said))

    assert result.exit_code == 1
    assert complaint in result.stderr


def test_labels_outside_the_set(cli: Cli, files: Write) -> None:
    """A label that no gold answer has is pointed out; where the labels are named, it is refused with its line."""
    paths = files(said={**SAID, "a1": "negativ"})
    noted = cli("contrast", "score", *paths)
    refused = cli("contrast", "score", *paths, "--labels", "pos,neg")

    assert noted.exit_code == 0
    assert "'negativ'" in noted.stderr
    assert refused.exit_code == 1
    assert "row 2, field 'prediction': 'negativ' is not one of pos, neg" in refused.stderr


def test_an_answer_that_was_not_given_is_wrong(cli: Cli, files: Write) -> None:
    """Null stands for a model that gave no answer; it is counted, and wrong."""
    found = score(cli, *files(said={**SAID, "a0": None}))

    assert found["unanswered"] == 1
    assert found["consistency"] == 0.0


def test_damaged_lines(cli: Cli, tmp_path: Path, files: Write) -> None:
    """A line that is no JSON object is named."""
    examples, said = files()
    examples.write_text(examples.read_text() + "\n{broken\n[1]\n")
    result = cli("contrast", "score", examples, said)

    assert result.exit_code == 1
    assert "row 7: not JSON" in result.stderr
    assert "row 8: not a JSON object" in result.stderr


def test_several_spans_are_compared_as_drop_does(cli: Cli, files: Write) -> None:
    """A right answer that is a list has several spans: numbers count by value, and spans in any order."""
    examples = [
        {"id": "1", "set": "s", "role": "original", "gold": [["1,000"]]},
        {"id": "2", "set": "s", "role": "contrast", "gold": [["Rams", "Bears"], ["both"]]},
    ]
    paths = files(examples, {"1": 1000, "2": ["the Bears", "Rams"]})

    assert score(cli, *paths, "--metric", "exact_match")["consistency"] == 1.0
    assert score(cli, *paths, "--metric", "f1")["contrast"] == 1.0


def test_answers_on_originals_in_a_file_of_their_own(cli: Cli, files: Write, tmp_path: Path) -> None:
    """Published answers share ids between roles: two files are matched by what the examples call their source."""
    examples = [
        {"id": "7/original", "source": "7", "set": "7", "role": "original", "gold": "a"},
        {"id": "7/contrast-1", "source": "7", "set": "7", "role": "contrast", "gold": "b"},
    ]
    path, _ = files(examples, {})
    said, first = tmp_path / "said.json", tmp_path / "first.json"
    said.write_text('{"7": "b"}')
    first.write_text('{"7": "a"}')

    assert score(cli, path, said, "--originals", first)["consistency"] == 1.0
    first.write_text('{"8": "a"}')
    refused = cli("contrast", "score", path, said, "--originals", first)
    assert refused.exit_code == 1
    assert "first.json, row 1: id '8' is not among the examples" in refused.stderr


def test_the_published_answers_on_ropes(cli: Cli, shared_data: Path, tmp_path: Path) -> None:
    """RoBERTa's answers give the figures of the paper's Table 2: 47.7, 32.5 and a consistency of 17.6."""
    folder, path = shared_data / "contrast-sets" / "ropes", tmp_path / "ropes.jsonl"
    made = cli("contrast", "import", folder / "data", "--format", "ropes", "--out", path, "--json")
    said = [folder / "predictions" / f"predictions_{one}_032820.json" for one in ("contrast_set", "original")]
    arguments = (path, said[0], "--originals", said[1], "--metric", "exact_match", "--resamples", "0")
    found = score(cli, *arguments)

    assert json.loads(made.stdout)["usable"] == {"contrasts": 974, "sets": 974}
    figures = [round(100 * found[name], 1) for name in ("original", "contrast", "consistency")]
    assert figures == [47.7, 32.5, 17.6]
