"""Texts of people turn nothing around and command nothing, wherever they are shown: files, pages, terminals."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest

from quintain.cli import output
from quintain.core.errors import BadInput, Fault
from quintain.core.escaping import MARK, latex, markdown
from quintain.core.records.report import Column, Report, ReportFact, ReportSection, Table
from quintain.reports.html import to_html
from quintain.reports.latex import to_latex
from quintain.reports.markdown import to_markdown
from quintain.web.rendering import mark_overrides

TEXT = "evil\u202egnp.exe"
OBEYED = f"{TEXT}\x1b[31mred\x07\x9b2J\r"
REPORT = Report(
    "k",
    TEXT,
    TEXT,
    [ReportFact(TEXT, TEXT)],
    [ReportSection("s", TEXT, [TEXT], [], [Table("t", TEXT, [Column(TEXT)], [[TEXT]])])],
)


@pytest.mark.parametrize("write", [to_html, to_markdown, to_latex])
def test_reports_show_a_mark(write: Callable[[Report], str]) -> None:
    """Title, facts, paragraphs and cells of each kind of file."""
    text = write(REPORT)
    assert "\u202e" not in text
    assert text.count(MARK) >= 4


@pytest.mark.parametrize("write", [markdown, latex])
def test_cells_show_a_mark(write: Callable[[str], str]) -> None:
    """What other modules write into tables goes through these."""
    assert "\u202e" not in write(TEXT)


@pytest.mark.parametrize(
    "show",
    [
        output.print_line,
        output.print_heading,
        output.say,
        lambda text: output.warn([text]),
        lambda text: output.print_table((text,), [[text], [{text: [text]}]], title=text),
        lambda text: output.explain(BadInput("{text}", text=text, remedy=text)),
        lambda text: output.explain(BadInput(faults=[Fault("{text}", text=text, field=text)] * 2)),
        output.print_document,
        lambda text: output.print_json({text: text}),
        lambda text: output.print_json_line([text]),
    ],
)
def test_commands_write_nothing_that_a_terminal_obeys(
    show: Callable[[str], None], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither escape sequences nor overrides of direction, in results, messages and errors."""
    monkeypatch.setattr(output.out, "_force_terminal", True)
    monkeypatch.setattr(output.out, "_color_system", None)
    output.begin()
    show(OBEYED)
    captured = capsys.readouterr()
    for text in (captured.out, captured.err):
        assert not set(text) & {"\u202e", "\x07", "\x9b"}
        assert "\x1b[31mred" not in text
    assert "evil" in captured.out + captured.err


def test_json_and_documents_keep_what_they_hold(capsys: pytest.CaptureFixture[str]) -> None:
    """For programs nothing is lost: JSON has escapes for it, and a document goes into a file as it was stored."""
    output.print_json([OBEYED])
    output.print_document(TEXT)
    text = capsys.readouterr().out
    assert json.JSONDecoder().raw_decode(text)[0] == [OBEYED]
    assert text.endswith(TEXT)


def test_questions_on_buttons_are_marked() -> None:
    """What a button sends stays as it is; what it asks first is read by people."""
    page = mark_overrides(f'<button data-confirm="{TEXT}?" name="a" value="{TEXT}">{TEXT}</button>')
    assert page.count(MARK) == 2
    assert f'value="{TEXT}"' in page
