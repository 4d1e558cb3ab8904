"""Tables of commands: nothing in them is cut, on a narrow screen or in a pipe."""

from __future__ import annotations

import io

import pytest
from rich.console import Console

from quintain.cli import output

COLUMNS = [f"figure {number}" for number in range(12)]
ROWS = [[f"{row}{number}.123456789" for number in range(12)] for row in range(2)]


def printed(monkeypatch: pytest.MonkeyPatch, *, terminal: bool, rows: list[list[str]] = ROWS) -> list[str]:
    """Give the lines that a screen of 80 characters shows, or that a file gets."""
    file = io.StringIO()
    monkeypatch.setattr(output, "out", Console(file=file, width=80, force_terminal=terminal, color_system=None))
    output.begin()
    output.print_table(COLUMNS, rows, title="Many figures")
    return file.getvalue().splitlines()


def test_a_file_has_a_line_for_each_row(monkeypatch: pytest.MonkeyPatch) -> None:
    """However long it gets."""
    title, head, *rows = printed(monkeypatch, terminal=False)
    assert title.strip() == "Many figures"
    assert [row.split() for row in rows] == ROWS
    assert head.count("figure") == 12


def test_a_narrow_screen_has_a_line_for_each_figure(monkeypatch: pytest.MonkeyPatch) -> None:
    """A few rows stand side by side, more of them under each other."""
    few = printed(monkeypatch, terminal=True)
    assert [line.split()[-2:] for line in few[1:]] == [list(both) for both in zip(*ROWS, strict=True)]
    many = printed(monkeypatch, terminal=True, rows=ROWS * 4)
    assert max(map(len, many)) <= 80
    assert [line.split()[-1] for line in many[1:] if line.strip()] == [cell for row in ROWS * 4 for cell in row]


def test_a_line_stands_between_two_tables(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """One table of a command begins where one can see it; the first has nothing above it."""
    monkeypatch.setattr(output, "out", Console(width=80, color_system=None))
    output.begin()
    output.print_table(["a"], [["1"]])
    output.print_table(["b"], [["2"]])
    assert [line.strip() for line in capsys.readouterr().out.splitlines()] == ["a", "1", "", "b", "2"]
