"""Results that are told as a report."""

from __future__ import annotations

from pathlib import Path

from quintain.core.records.report import Report
from quintain.library.results import Result
from quintain.reports.folder import write_folder


class ReportedResult(Result):
    """A result that has a report."""

    report: Report

    @property
    def findings(self) -> list[str]:
        """What was found, in sentences."""
        return [str(finding) for section in self.report.sections for finding in section.findings]

    def save(self, folder: str | Path) -> Path:
        """Write the report to a folder: HTML with its charts, Markdown, LaTeX tables and JSON."""
        return write_folder(self.report, Path(folder))
