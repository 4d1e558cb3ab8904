"""Reports of a task: which there are, and each of them as a page with its files."""

from __future__ import annotations

from typing import Annotated
from urllib.parse import urlencode

from fastapi import Query
from starlette.responses import Response

from quintain.core.errors import BadInput, NotFound
from quintain.core.records.report import ReportKind
from quintain.core.texts import hint
from quintain.reports.html import body_of
from quintain.services.study import reports as service
from quintain.services.study import stored_reports as kept
from quintain.services.study.reports import ReportRequest
from quintain.services.tasks import definitions as tasks
from quintain.web.errors import Trouble, trouble_of
from quintain.web.pages.tasks.tasks import title_of
from quintain.web.report_files import in_words, send_report
from quintain.web.visit import Visit, Visiting

KINDS: tuple[ReportKind, ...] = ("models", "compare", "relabel", "workers")
Numbers = Annotated[list[int], Query()]
Names = Annotated[list[str], Query()]


def index(visit: Visiting, task: str) -> Response:
    """List the reports that can be made of a task."""
    return _index(visit, task)


def show(
    visit: Visiting,
    task: str,
    kind: str,
    *,
    rounds: Numbers = [],  # noqa: B006 - what the framework asks for, and nobody changes
    harvests: Names = [],  # noqa: B006
    validation: str = "",
) -> Response:
    """Show a report, and how far the next one is; where something is missing, say so beside the choices."""
    request = _report_request(task, kind, rounds, harvests, validation)
    try:
        shown = kept.shown_report(visit.db, visit.blobs, visit.actor, request)
    except BadInput as error:
        return _index(visit, task, trouble_of(error), request)
    definition = tasks.get_task(visit.db, task)
    report, wording = in_words(shown.report, visit.language) if shown.report else (None, None)
    asked = [("rounds", one) for one in rounds] + [("harvests", harvest) for harvest in harvests]
    query = urlencode([*asked, *([("validation", validation)] if validation else [])])
    _ = visit.tongue.gettext
    here = f"/tasks/{task}/reports/{kind}"
    return visit.render(
        "study/report.html",
        task=definition,
        section="reports",
        shown=shown,
        report=report,
        body=body_of(report, wording) if report and wording else "",
        here=f"{here}?{query}" if query else here,
        files=f"{here}/download?{query}{'&' if query else ''}format=",
        crumbs=[
            (title_of(visit, definition), f"/tasks/{task}"),
            (_("Reports"), f"/tasks/{task}/reports"),
            (report.title if report else _("A report on its way"), None),
        ],
    )


def fetch(
    visit: Visiting,
    task: str,
    kind: str,
    *,
    rounds: Numbers = [],  # noqa: B006
    harvests: Names = [],  # noqa: B006
    validation: str = "",
    format: str = "html",  # noqa: A002 - the word in the address
) -> Response:
    """Send a report as a file, in the reader's language."""
    request = _report_request(task, kind, rounds, harvests, validation)
    report = kept.shown_report(visit.db, visit.blobs, visit.actor, request).require_report()
    return visit.finish(send_report(report, request, format, language=visit.language))


def _report_request(task: str, kind: str, rounds: list[int], harvests: list[str], validation: str) -> ReportRequest:
    chosen = next((one for one in KINDS if one == kind), None)
    if chosen is None:
        raise NotFound("There is no report '{kind}'; {hint}", kind=kind, hint=hint(kind, KINDS))
    return ReportRequest(task, chosen, tuple(rounds), tuple(harvest for harvest in harvests if harvest), validation)


def _index(visit: Visit, task: str, trouble: Trouble | None = None, request: ReportRequest | None = None) -> Response:
    definition = tasks.get_task(visit.db, task)
    return visit.render(
        "study/reports.html",
        status=trouble.status if trouble else 200,
        task=definition,
        section="reports",
        choices=service.choices(visit.db, visit.actor, task),
        wanted=request,
        crumbs=[(title_of(visit, definition), f"/tasks/{task}"), (visit.tongue.gettext("Reports"), None)],
        error=trouble,
    )
