"""Reports as files: HTML that asks no network, Markdown, LaTeX, JSON, and texts in another language."""

from __future__ import annotations

import json
import re
import zipfile
from dataclasses import replace
from html import unescape
from io import BytesIO
from pathlib import Path

import pytest

from quintain.core.errors import Unavailable
from quintain.core.records.base import decode, to_json
from quintain.core.records.figures import Estimate
from quintain.core.records.report import Chart, Column, Report, ReportFact, ReportSection, Table
from quintain.core.texts import Text
from quintain.reports.charts import heat_map, interval_chart, ranked_chart
from quintain.reports.folder import files_of, to_archive, write_folder
from quintain.reports.line_charts import distribution_chart
from quintain.reports.words import Wording, map_texts

NASTY = "<script>alert(1)</script> 50% of a|b & $x_1$ \\ end"


@pytest.fixture
def report() -> Report:
    """A report with everything in it, and with a text that would break each of its formats."""
    chart = ranked_chart([1, 3, 2], rank=Text("People"), value=NASTY)
    table = Table(
        "numbers",
        Text("Numbers of {name}", name="x"),
        [Column(Text("Name")), Column("n", "count"), Column("share", "share"), Column("a", "parameter")],
        [[NASTY, 1234, Estimate(0.5, 0.25, 0.75), 0.8264], ["none", None, Estimate(None), -1.0]],
        "A note.",
    )
    findings: list[str] = [Text("It is: {share:.1%}.", share=0.5)]
    section = ReportSection("first", Text("Is it so?"), findings, [Chart("c", "Why?", chart)], [table], ["q"])
    return Report("r", Text("A report"), Text("On {what}.", what=NASTY), [ReportFact(Text("Seed"), "0")], [section])


def test_the_html_file_needs_nothing_else(report: Report) -> None:
    """No address is asked for, what people wrote is text, and the libraries are in it."""
    html = files_of(report)["report.html"]
    assert "default-src 'none'" in html
    assert not re.search(r'<[^>]+(src|href)="', html.partition("<script>")[0])
    assert "<script>alert(1)" not in html
    assert html.count("<script>") == html.count("</script>") == 4
    assert "vegaEmbed" in html
    spec = re.search(r'data-spec="([^"]+)"', html)
    assert spec is not None
    drawn = json.loads(unescape(spec[1]))["data"]["values"]
    assert [row["value"] for row in drawn] == [3, 2, 1]


def test_markdown_and_latex_show_texts_as_they_are(report: Report) -> None:
    """What has a meaning in a format is escaped there; figures have their intervals."""
    files = files_of(report)
    assert (
        r"&lt;script&gt;alert(1)&lt;/script&gt; 50% of a\|b & $x\_1$ \\ end | 1,234 | 50.0% (25.0%–75.0%) | 0.826 |"
        in (files["report.md"])
    )
    assert "| none | – | – | −1.000 |" in files["report.md"]
    assert (
        r"50\% of a|b \& \$x\_1\$ \textbackslash{} end & 1,234 & 50.0\% (25.0\%--75.0\%) & 0.826 \\"
        in (files["tables.tex"])
    )
    assert r"\label{tab:numbers}" in files["tables.tex"]


def test_a_report_is_read_back_from_its_json(report: Report) -> None:
    """What is written as JSON is the same report when it is read."""
    again = decode(Report, json.loads(files_of(report)["report.json"]))
    assert to_json(again) == to_json(report)
    assert again.sections[0].tables[0].rows[0][2] == Estimate(0.5, 0.25, 0.75)


def test_texts_of_ours_are_said_and_others_left_alone(report: Report) -> None:
    """Titles, findings and titles within charts are said; labels, names and examples are not."""
    told = map_texts(report, str.upper)
    section = told.sections[0]
    assert (told.title, section.findings, section.tables[0].columns[1].title) == ("A REPORT", ["IT IS: 50.0%."], "n")
    assert section.charts[0].spec["encoding"]["x"]["title"] == "PEOPLE"
    assert section.charts[0].spec["encoding"]["y"]["title"] == NASTY
    assert section.tables[0].rows[0][0] == NASTY


def test_a_folder_is_written_or_refused(report: Report, tmp_path: Path) -> None:
    """All four files are there, in the archive too; a place that cannot be written is named."""
    page = write_folder(report, tmp_path / "new" / "report")
    names = {"report.html", "report.md", "tables.tex", "report.json"}
    assert {one.name for one in page.parent.iterdir()} == names
    assert set(zipfile.ZipFile(BytesIO(to_archive(report))).namelist()) == names
    (tmp_path / "file").write_text("")
    with pytest.raises(Unavailable, match="cannot be written"):
        write_folder(report, tmp_path / "file")


def test_numbers_are_written_by_their_kind() -> None:
    """Counts have separators, shares are percentages, and a figure without a value is a dash."""
    wording = Wording()
    assert wording.cell(12345, "count") == "12,345"
    assert wording.cell(0.1234, "share") == "12.3%"
    assert wording.cell(Estimate(None, reason="no"), "share") == "–"
    assert wording.cell(61.0, "number") == "61.0"


def test_charts_hold_their_numbers() -> None:
    """Every value that is drawn is in the specification; the last step is drawn out to its end."""
    steps = distribution_chart([0.0, 1.0, 2.0], {"a": [0.5, 0.5], "b": [1.0, 0.0]}, value="v", share="s")
    assert [row["share"] for row in steps["data"]["values"]] == [0.5, 0.5, 0.5, 1.0, 0.0, 0.0]
    figures = [("x", "a", Estimate(0.5, 0.4, 0.6), 90), ("x", "b", Estimate(None), 0)]
    points = interval_chart(figures, row="", series="", value="")
    row = {"row": "x", "series": "a", "value": 0.5, "low": 0.4, "high": 0.6, "n": 90}
    assert points["data"]["values"] == [{**row, "after": "a"}]
    squares = heat_map(["a"], [[1, 3]], row="old", column="new", columns=["a", "b"])
    assert [(row["column"], row["share"]) for row in squares["data"]["values"]] == [("a", 0.25), ("b", 0.75)]


def test_a_command_that_gives_several_sections_stands_once(report: Report) -> None:
    """Below the last of those that it gives; another command stands below its own."""
    (first,) = report.sections
    named = [replace(first, key=key, commands=[command]) for key, command in (("a", "q"), ("b", "q"), ("c", "r"))]
    files = files_of(replace(report, sections=named))
    assert re.findall(r"```sh\n(\w)\n```", files["report.md"]) == ["q", "r"]
    assert re.findall(r'<pre class="commands" tabindex="0"><code>(\w)</code>', files["report.html"]) == ["q", "r"]
