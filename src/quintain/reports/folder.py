"""A report as a folder: an HTML file that needs no network, Markdown, LaTeX tables, and all of it as JSON."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Mapping
from pathlib import Path

from quintain.core.errors import OutOfOrder
from quintain.core.records.base import to_json
from quintain.core.records.report import Report
from quintain.reports.html import to_html
from quintain.reports.latex import to_latex
from quintain.reports.markdown import to_markdown
from quintain.reports.words import Wording

HTML = "report.html"


def files_of(report: Report, wording: Wording | None = None, *, language: str = "en") -> Mapping[str, str]:
    """Return the files of *report* by their names."""
    return {
        HTML: to_html(report, wording, language=language),
        "report.md": to_markdown(report, wording),
        "tables.tex": to_latex(report, wording),
        "report.json": to_json(report) + "\n",
    }


def write_folder(report: Report, folder: Path) -> Path:
    """Write *report* into *folder*, which is made where there is none, and give the HTML file."""
    written = files_of(report)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, text in written.items():
            (folder / name).write_text(text, encoding="utf-8")
    except OSError as error:
        raise OutOfOrder(
            "{folder} cannot be written: {strerror}.",
            folder=folder,
            strerror=error.strerror,
            remedy="Name another folder.",
        ) from error
    return folder / HTML


def to_archive(report: Report, wording: Wording | None = None, *, language: str = "en") -> bytes:
    """Return the folder as a ZIP file."""
    with io.BytesIO() as buffer:
        with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
            for name, text in files_of(report, wording, language=language).items():
                archive.writestr(name, text)
        return buffer.getvalue()
