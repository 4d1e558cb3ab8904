"""Files of Build It Break It 2017 as they were released: one column for pair and side, loose quotes, old encodings."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import Result

from quintain.core.errors import BadInput
from quintain.data.shared_task import read_shared_task
from quintain.services.plain.files.shared_task import answers_table, matrix, read_folder
from tests.shared_task import GOLD, SPACED, released


@pytest.mark.parametrize("data", [GOLD, SPACED])
def test_lines_are_read_as_they_are(tmp_path: Path, data: bytes) -> None:
    """Quotes are letters, `+1` is 1, old letters are letters, and a name that comes again is another pair."""
    file = tmp_path / "Team1_breaker_test.tsv"
    file.write_bytes(data)
    rows = read_shared_task(file)
    assert [(row.number, row.name, row.side, row.label) for row in rows[:4]] == [
        (2, "569", "a", "1"),
        (3, "569", "b", "-1"),
        (4, "657", "a", "-1"),
        (5, "657", "b", "1"),
    ]
    assert rows[1].sentence == 'Russell is "terrific" as coach.'
    assert rows[2].sentence == '"""Flawed, cliché, and poor..""'
    assert rows[3].sentence == "I will love … it."
    assert [(row.name, row.side) for row in rows[4:]] == [("569-2", "a"), ("569-2", "b")]


def test_what_is_no_line_of_theirs_is_named(tmp_path: Path) -> None:
    """A table of another shape is refused by its rows, and an empty one as empty."""
    file = tmp_path / "pairs.csv"
    file.write_text("pair_id,side,text,label\n1,a,Good.,1\n")
    with pytest.raises(BadInput) as caught:
        read_shared_task(file)
    assert [fault.row for fault in caught.value.faults] == [1, 2]
    file.write_text("sentence_id\tsentence\tlabel\n")
    with pytest.raises(BadInput, match="no rows"):
        read_shared_task(file)


def test_a_folder_becomes_a_matrix_and_answers(tmp_path: Path) -> None:
    """Every builder's answers stand beside the pairs; of pairs with one name all count, or the last as they did."""
    event = read_folder(released(tmp_path), {"Team1": "osu", "Builder_Team_2": "opinion"})
    table = matrix(event)
    assert table.columns == ["breaker", "pair_id", "side", "sentence", "gold", "Builder_Team_1", "opinion"]
    assert table["breaker"].unique().to_list() == ["osu"]
    assert (table["gold"] == table["Builder_Team_1"]).all()
    assert table["opinion"].to_list()[1:3] == ["0", "0"]
    assert matrix(event, "last")["pair_id"].unique(maintain_order=True).to_list() == ["657", "569-2"]
    answers = answers_table(event, "Builder_Team_1")
    assert (answers.columns, answers.height) == (["id", "prediction"], 5)
    with pytest.raises(BadInput, match="There is no team 'Team9'"):
        read_folder(tmp_path, {"Team9": "x"})


def test_convert_writes_tables(cli: Callable[..., Result], tmp_path: Path) -> None:
    """The command turns a file into pairs, a folder into a matrix that can be scored, and a builder into answers."""
    folder = released(tmp_path / "released")
    out = tmp_path / "matrix.csv"
    assert cli("contest", "convert", folder, out, "--repeats", "last").exit_code == 0
    assert '"broken": 2' in cli("contest", "score", out, "--json").stdout
    pairs = tmp_path / "pairs.csv"
    assert cli("contest", "convert", folder / "test_ground_truth_data" / "Team1_breaker_test.tsv", pairs).exit_code == 0
    assert pairs.read_text().startswith("pair_id,side,sentence,label\n569,a,Russell")
    answers = tmp_path / "answers.csv"
    assert cli("contest", "convert", folder, answers, "--answers-of", "Builder_Team_2").exit_code == 0
    assert cli("contest", "convert", folder, tmp_path / "x.csv", "--answers-of", "nobody").exit_code == 1
    assert cli("contest", "convert", folder, tmp_path / "x.csv", "--repeats", "first").exit_code == 1
