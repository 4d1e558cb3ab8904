"""`quintain study artefacts` on plain files: labels and options, the report, and what is wrong with a file."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from typer.testing import Result

import quintain as qt
from quintain.core.errors import BadInput
from quintain.services.plain.files.checkpoints import FOLDER

Cli = Callable[..., Result]


@pytest.fixture
def labelled(tmp_path: Path) -> Path:
    """Sixty premises with two hypotheses each; "never" gives one label away."""
    rng = np.random.default_rng(0)
    rows = []
    for at in range(120):
        label = ("no", "yes")[int(rng.integers(2))]
        said = " ".join(f"w{one}" for one in rng.integers(0, 30, 6)) + (" never" if label == "no" else "")
        rows.append({"premise": f"p{at // 2} is here", "hypothesis": said, "label": label, "who": f"a{at % 4}"})
    (file := tmp_path / "nli.jsonl").write_text("\n".join(map(json.dumps, rows)) + "\n")
    return file


def test_labels_that_a_word_gives_away(cli: Cli, labelled: Path, tmp_path: Path) -> None:
    """The report says that the hypothesis is enough and names the word; the same seed gives the same figures."""
    fields = ("--field", "premise,hypothesis", "--context", "premise", "--writer", "who")
    done = cli("study", "artefacts", labelled, *fields, "--out", tmp_path / "report", "--json")
    report = json.loads(done.stdout)
    sections = {one["key"]: one for one in report["sections"]}
    rows = {row[0]: row[1] for row in sections["partial"]["tables"][0]["rows"]}
    assert rows["hypothesis"]["low"] > 0.6
    assert sections["words"]["tables"][0]["rows"][0][:2] == ["never", "no"]
    assert "never" in sections["words"]["findings"][0]
    assert {"partial", "words", "lengths", "beginnings", "people", "identity"} == set(sections)
    assert "Can the answer be told from a part of the input?" in (tmp_path / "report" / "report.html").read_text()
    assert json.loads(cli("study", "artefacts", labelled, *fields, "--json").stdout) == report
    command = sections["partial"]["commands"][0]
    assert command.startswith("quintain study artefacts nli.jsonl --field premise,hypothesis")


def test_options_by_number_letter_or_name(cli: Cli, tmp_path: Path) -> None:
    """However the right option is named, the longest is right as often."""
    rows = [
        {"q": f"What is {at}?", "options": ["a b c d" if place == at % 3 else "x" for place in range(3)], "n": at % 3}
        for at in range(30)
    ]
    forms = {"index": str, "letter": lambda at: "ABC"[at], "name": lambda at: f"option{at + 1}"}
    for form, write in forms.items():
        file = tmp_path / f"{form}.jsonl"
        file.write_text("\n".join(json.dumps({**row, "n": write(int(str(row["n"])))}) for row in rows))
        asked = ("--field", "q", "--options", "options", "--label", "n", "--partial", "options")
        report = json.loads(cli("study", "artefacts", file, *asked, "--json").stdout)
        assert "right in 100.0%" in next(one for one in report["sections"] if one["key"] == "lengths")["findings"][0]


def test_what_is_wrong_with_examples_is_named(cli: Cli, labelled: Path, tmp_path: Path) -> None:
    """No such column or field, an answer that is no option, too few examples, a label for every row."""
    assert "hypthesis" in cli("study", "artefacts", labelled, "--field", "hypthesis").stderr
    wrong = cli("study", "artefacts", labelled, "--field", "hypothesis", "--partial", "premise")
    assert "no field 'premise'" in wrong.stderr
    (few := tmp_path / "few.csv").write_text("text,label\na,x\nb,y\n")
    assert "too few" in cli("study", "artefacts", few).stderr
    (bad := tmp_path / "bad.csv").write_text("text,o1,o2,label\n" + "a,b,c,d\n" * 30)
    done = cli("study", "artefacts", bad, "--options", "o1,o2")
    assert (done.exit_code, "'d' is none of the options" in done.stderr) == (1, True)
    (many := tmp_path / "many.csv").write_text("text,label\n" + "".join(f"t,{at}\n" for at in range(200)))
    assert "200 different values" in cli("study", "artefacts", many).stderr


def test_an_attribute_with_one_value_says_nothing() -> None:
    """One writer and one context: nothing is claimed of writers or order, and partial inputs have a reason."""
    rows = [{"text": f"w{at} x", "label": "yn"[at % 2], "who": "ann", "passage": "p"} for at in range(40)]
    found = qt.artefacts(rows, context="passage", writer="who")
    assert not any("Who wrote a text" in one or "read before" in one or "Within" in one for one in found.findings)
    assert found.table["accuracy"].to_list() == [None, None]


def test_a_column_that_is_not_there_is_said_as_it_can_be_mended(cli: Cli, labelled: Path) -> None:
    """The command has no map of names, so that none is advised; it names the columns of the file."""
    done = cli("study", "artefacts", labelled, "--field", "hypothesis", "--label", "lable")
    assert done.exit_code == 1
    assert "there is no column 'lable'" in done.stderr
    assert "The file has: premise, hypothesis, label, who. Name one of these." in " ".join(done.stderr.split())
    assert "--column" not in done.stderr


def test_one_label_leaves_nothing_to_draw() -> None:
    """Nothing can be learned where all answers are one: the table says so, and drawing is refused with the reason."""
    found = qt.artefacts({"text": [f"w{at}" for at in range(24)], "label": ["yes"] * 24})
    assert found.table["input"].to_list() == ["text", "text, content words hidden"]
    assert found.table["accuracy"].null_count() == 2
    with pytest.raises(BadInput, match="There is nothing to draw"):
        found.plot()


def test_options_are_told_apart_by_arm(cli: Cli, tmp_path: Path) -> None:
    """In one arm right options are long and stand in the passage, in the other they do neither; both are counted."""
    rows = []
    for at in range(40):
        easy = at % 2 == 0
        right = "the red gate" if easy else "so"
        options = [right, "nothing of the kind at all"] if at % 3 else ["nothing of the kind at all", right]
        rows.append(
            {
                "passage": f"{at} saw the red gate.",
                "question": "What did he see?" if easy else "Which of the following is true?",
                "options": options,
                "n": options.index(right),
                "arm": "AB"[at % 2],
            }
        )
    (file := tmp_path / "arms.jsonl").write_text("\n".join(map(json.dumps, rows)))
    asked = (
        "--field",
        "passage,question",
        "--options",
        "options",
        "--label",
        "n",
        "--partial",
        "options",
        "--arm",
        "arm",
    )
    report = json.loads(cli("study", "artefacts", file, *asked, "--json").stdout)
    section = next(one for one in report["sections"] if one["key"] == "lengths")
    lengths = {row[0]: (row[1], row[2]) for row in section["tables"][0]["rows"]}
    assert lengths["A: right options"] == (20, 3.0)
    assert lengths["B: right options"] == (20, 1.0)
    found = {(row[1], row[2]): row[3]["value"] for row in section["tables"][1]["rows"] if row[0] == "passage"}
    assert found == {("A", "right"): 1.0, ("A", "wrong"): 0.0, ("B", "right"): 0.0, ("B", "wrong"): 0.0}
    assert "--arm arm" in section["commands"][0]
    sections = {one["key"]: one for one in report["sections"]}
    partial = {(row[0], row[1]): row[2]["value"] for row in sections["partial"]["tables"][1]["rows"]}
    assert partial.keys() == {("options", "A"), ("options", "B")}
    beginnings = sections["beginnings"]
    assert [row[2]["value"] for row in beginnings["tables"][0]["rows"]] == [0.0, 1.0]
    assert beginnings["findings"][0].startswith("An estimate: 50.0% of question")
    assert "600 questions" in beginnings["note"]


def test_interrupted_looks_go_on(labelled: Path, tmp_path: Path) -> None:
    """Parts of the input that were tried are not tried again, and nothing is left once the report is saved."""

    def stop(share: float) -> None:
        if share > 0.3:
            raise KeyboardInterrupt

    fields = ("premise", "hypothesis")
    with pytest.raises(KeyboardInterrupt):
        qt.artefacts(labelled, fields, keep=tmp_path, progress=stop)
    kept = sorted((tmp_path / FOLDER).glob("*.json"))
    assert len(kept) == 2
    for one in kept:
        one.write_text(re.sub(r'"deviation":[0-9.e-]+', '"deviation":0.125', one.read_text()))
    found = qt.artefacts(labelled, fields, keep=tmp_path)
    assert found.table["deviation"].to_list()[:2] == [0.125, 0.125]
    assert qt.artefacts(labelled, fields, keep=tmp_path, seed=1).table["deviation"].to_list()[0] != 0.125
    found.save(tmp_path)
    assert len(list((tmp_path / FOLDER).glob("*.json"))) == 3  # those of the other seed


def test_a_recipe_chooses_among_options(cli: Cli, tmp_path: Path) -> None:
    """Its learner says of each how surely it is right: what gives the right one away is found, and nothing else."""
    rows = [
        {
            "q": f"What is {at}?",
            "options": [
                f"surely {place}" if place == at % 3 else f"maybe {place}" for place in range(2 + (at % 3 == 2))
            ],
            "same": ["a", "b"],
            "n": at % 3,
            "m": at % 2,
        }
        for at in range(60)
    ]
    file = tmp_path / "options.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    recipe = tmp_path / "words.toml"
    recipe.write_text('name = "words"\nlearner = "linear"\n')
    asked = ("--field", "q", "--partial", "options", "--recipe", recipe, "--json")
    found = json.loads(cli("study", "artefacts", file, *asked, "--options", "options", "--label", "n").stdout)
    assert found["sections"][0]["tables"][0]["rows"][0][1]["value"] == 1.0
    found = json.loads(cli("study", "artefacts", file, *asked, "--options", "same", "--label", "m").stdout)
    assert found["sections"][0]["tables"][0]["rows"][0][1]["value"] < 0.7
