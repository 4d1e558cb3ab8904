"""Reports, for programs: as a record, or as a file that needs no network."""

from __future__ import annotations

from typing import Annotated

from fastapi import Depends, Path, Query
from starlette.responses import Response

from quintain.core.records.report import Report, ReportChoices, ReportKind
from quintain.services.study import reports as service
from quintain.services.study.reports import WantedReport
from quintain.web.api.call import Calling
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


def _wanted(
    task: TaskName, kind: Kind, rounds: Rounds = (), harvests: Harvests = (), validation: Name = "", seed: Seed = 0
) -> WantedReport:
    return WantedReport(task, kind, rounds, harvests, validation, seed)


Asked = Annotated[WantedReport, Depends(_wanted)]


def get_report_choices(call: Calling, task: TaskName) -> ReportChoices:
    """Say which reports can be made of a task, and of which rounds and validations."""
    return service.choices(call.db, call.actor, task)


def get_report(call: Calling, wanted: Asked) -> Report:
    """Make a report: `models` for everybody; `compare`, `relabel` and `workers` for owners."""
    return service.make_report(call.db, call.blobs, call.actor, wanted)


def download_report(
    call: Calling,
    wanted: Asked,
    format: Annotated[ReportFormat, Query(description="Format of the file; a ZIP has all of them.")] = "html",  # noqa: A002 - the word in the address
) -> Response:
    """Send a report as a file: HTML that needs no network, Markdown, LaTeX tables, JSON, or all of them as a ZIP."""
    return send_report(service.make_report(call.db, call.blobs, call.actor, wanted), wanted, format)
