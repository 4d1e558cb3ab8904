"""Reports, for programs: as a record, or as a file that needs no network."""

from __future__ import annotations

from typing import Annotated

from fastapi import Depends, Path, Query
from starlette.responses import Response

from quintain.core.records.base import to_json
from quintain.core.records.report import ReportChoices, ReportKind
from quintain.services.study import reports as service
from quintain.services.study import stored_reports as kept
from quintain.services.study.reports import ReportRequest
from quintain.services.study.stored_reports import ShownReport
from quintain.web.api.call import Call, Calling
from quintain.web.api.params import TaskName
from quintain.web.api.shapes import Text
from quintain.web.report_files import ReportFormat, send_report

Kind = Annotated[ReportKind, Path(description="Which report.")]
Rounds = Annotated[
    tuple[Annotated[int, Query(ge=1, le=2**31 - 1)], ...],
    Query(description="Numbers of the rounds to compare.", max_length=20),
]
Harvests = Annotated[
    tuple[Text, ...],
    Query(description="Names of validations of harvested sentences, or of data sets, beside them.", max_length=20),
]
Name = Annotated[
    str, Query(description="Name of the validation: for relabel and workers.", pattern=r"^[a-z0-9_-]{0,80}$")
]
Seed = Annotated[int, Query(description="Seed of what is drawn.", ge=0, le=2**31 - 1)]


def _report_request(
    task: TaskName, kind: Kind, rounds: Rounds = (), harvests: Harvests = (), validation: Name = "", seed: Seed = 0
) -> ReportRequest:
    return ReportRequest(task, kind, rounds, harvests, validation, seed)


Asked = Annotated[ReportRequest, Depends(_report_request)]


def get_report_choices(call: Calling, task: TaskName) -> ReportChoices:
    """Return which reports can be made of a task, and of which rounds and validations."""
    return service.choices(call.db, call.actor, task)


def get_report(call: Calling, asked: Asked) -> Response:
    """Return a report: `models` for everybody; `compare`, `relabel` and `workers` for owners.

    Where there is much to read, a worker makes it, and the answer is 202 until it is there.
    """
    shown = kept.shown_report(call.db, call.blobs, call.actor, asked)
    return _on_the_way(call, shown) or Response(to_json(shown.require_report()), media_type="application/json")


def download_report(
    call: Calling,
    asked: Asked,
    format: Annotated[ReportFormat, Query(description="Format of the file; a ZIP has all of them.")] = "html",  # noqa: A002 - the word in the address
) -> Response:
    """Send a report as a file: HTML that needs no network, Markdown, LaTeX tables, JSON, or all of them as a ZIP."""
    shown = kept.shown_report(call.db, call.blobs, call.actor, asked)
    return _on_the_way(call, shown) or send_report(shown.require_report(), asked, format)


def _on_the_way(call: Call, shown: ShownReport) -> Response | None:
    """Answer with the job that makes the first report, and where it will be: at the address that was asked for."""
    if shown.report is not None or shown.job is None or shown.failed:
        return None
    query = f"?{call.request.url.query}" if call.request.url.query else ""
    headers = {"location": f"{call.request.url.path}{query}", "retry-after": str(kept.SOON_S)}
    return Response(to_json(shown.job), 202, headers, media_type="application/json")
