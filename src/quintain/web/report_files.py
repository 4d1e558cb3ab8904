"""Reports as files to download, in the reader's language."""

from __future__ import annotations

from functools import partial
from typing import Literal, get_args

from starlette.responses import Response

from quintain.core.errors import BadInput
from quintain.core.records.report import Report
from quintain.reports.folder import files_of, to_archive
from quintain.reports.words import Wording, map_texts
from quintain.services.study.reports import ReportRequest
from quintain.web.error_text import translated
from quintain.web.i18n import SOURCE_LANGUAGE, Tongue

ReportFormat = Literal["html", "md", "tex", "json", "zip"]
_FILES = {"html": "report.html", "md": "report.md", "tex": "tables.tex", "json": "report.json"}
_MEDIA = {
    "html": "text/html; charset=utf-8",
    "md": "text/markdown; charset=utf-8",
    "tex": "application/x-tex",
    "json": "application/json",
    "zip": "application/zip",
}


def in_words(report: Report, language: str) -> tuple[Report, Wording]:
    """Return a report in *language*, and how that language writes its numbers."""
    tongue = Tongue(language)
    return map_texts(report, partial(translated, language)), Wording(tongue.number, tongue.percent)


def send_report(report: Report, request: ReportRequest, form: str, *, language: str = SOURCE_LANGUAGE) -> Response:
    """Send *report* as a file to keep, named after what was wanted."""
    return send_file(report, "-".join(filter(None, (request.task, request.kind, request.validation))), form, language)


def send_file(report: Report, name: str, form: str, language: str = SOURCE_LANGUAGE) -> Response:
    """Send *report* as a file to keep: it has scripts in it, and is not to be opened as a page of ours."""
    if form not in get_args(ReportFormat):
        raise BadInput(
            "'{form}' is not a format of reports.",
            form=form,
            known=", ".join(get_args(ReportFormat)),
            remedy="Choose one of: {known}.",
        )
    worded, wording = in_words(report, language)
    if form == "zip":
        body: bytes | str = to_archive(worded, wording, language=language)
    else:
        body = files_of(worded, wording, language=language)[_FILES[form]]
    headers = {"content-disposition": f'attachment; filename="{name}.{form}"'}
    return Response(body, media_type=_MEDIA[form], headers=headers)
