"""Standard input and output as files, and errors for programs: what shells and scripts see of the commands."""

from __future__ import annotations

import gzip
import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import Result

Cli = Callable[..., Result]
VOTES = "item,worker,label\na,1,x\na,2,x\na,3,y\nb,1,y\nb,2,y\nb,3,y\n"


def piped(*arguments: str | Path, given: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    """Run a command as a shell does, with *given* on its standard input."""
    command = [sys.executable, "-m", "quintain", *(str(argument) for argument in arguments)]
    return subprocess.run(command, input=given, capture_output=True, timeout=120, check=False)


def as_jsonl() -> bytes:
    """Write the votes as JSON lines."""
    rows = [dict(zip(("item", "worker", "label"), line.split(","), strict=True)) for line in VOTES.split()[1:]]
    return "\n".join(json.dumps(row) for row in rows).encode()


@pytest.mark.parametrize(
    "given",
    [VOTES.encode(), VOTES.replace(",", "\t").encode(), as_jsonl(), gzip.compress(VOTES.encode())],
    ids=["csv", "tsv", "jsonl", "gzip"],
)
def test_a_table_comes_and_goes_through_pipes(given: bytes) -> None:
    """The format is told by what comes; the table alone is on stdout, and what is said of it on stderr."""
    result = piped("labels", "aggregate", "-", "--out", "-", given=given)
    assert result.returncode == 0, result.stderr
    rows = [line.split(",")[:2] for line in result.stdout.decode().split()]
    assert rows == [["item", "label"], ["a", "x"], ["b", "y"]]
    assert "Wrote standard output." in result.stderr.decode()


def test_a_faulty_table_from_a_pipe_leaves_stdout_empty() -> None:
    """Nothing is half written: the fault names the row, and no table comes."""
    result = piped("labels", "aggregate", "-", "--out", "-", given=b"item,worker,label\na,1,\n")
    assert result.returncode == 1
    assert b"stdin.csv" in result.stderr
    assert result.stdout == b""


def test_an_error_is_json_for_whoever_asked_for_json(tmp_path: Path) -> None:
    """The shape is that of the API's errors; people still read it on stderr."""
    result = piped("labels", "agreement", tmp_path / "none.csv", "--json")
    assert result.returncode == 1
    error = json.loads(result.stdout)["error"]
    assert "none.csv" in error["message"]
    assert {"code", "message", "remedy", "faults"} == error.keys()
    assert error["code"] == "not_found"
    assert b"none.csv" in result.stderr
    assert piped("labels", "agreement", tmp_path / "none.csv").stdout == b""


def test_faults_are_listed_in_json(tmp_path: Path) -> None:
    """Each has its file and row."""
    (tmp_path / "votes.csv").write_text("item,worker,label\na,1,x\na,1,y\n")
    result = piped("labels", "agreement", tmp_path / "votes.csv", "--json")
    faults = json.loads(result.stdout)["error"]["faults"]
    assert faults
    assert faults[0]["file"] == "votes.csv"


def test_a_workspace_is_named_once(cli: Cli, tmp_path: Path) -> None:
    """Two different folders for one new workspace are refused, and neither is made."""
    result = cli("-w", tmp_path / "a", "init", tmp_path / "b")
    assert result.exit_code == 1
    assert "Two folders are named" in result.stderr
    assert not list(tmp_path.iterdir())


def test_a_task_is_not_taken_for_a_table(cli: Cli) -> None:
    """Who means the board of a task is told the command for it."""
    result = cli("board", "rank", "sentiment")
    assert result.exit_code == 1
    assert "quintain board show sentiment" in result.stderr
