"""Submitting a model from the browser: an archive, its name, who may see it, and everything that is wrong with it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated

from fastapi import Query
from starlette.responses import Response

from quintain.adapters.contract import ADAPTERS
from quintain.adapters.scaffold import adapters_to_start, is_card_unsaid
from quintain.compose import rules_of
from quintain.conditions import sandbox_of
from quintain.core.errors import BadInput, Conflict, Fault, TooMany, Unavailable
from quintain.core.people import RoleName
from quintain.core.records.tasks import Visibility
from quintain.core.task import Task
from quintain.engine.sandbox.causes import Cause
from quintain.services.access.permissions import require_role
from quintain.services.evaluate.submissions.model_files import accepted_files
from quintain.services.evaluate.submissions.starter_archive import NAME, starter_archive
from quintain.services.evaluate.submissions.submit import ModelSubmission, quota_left, submit_file
from quintain.services.evaluate.submissions.typed_models import ways_to_type
from quintain.services.models.registry import VISIBILITIES
from quintain.services.tasks import definitions as tasks
from quintain.web.errors import Trouble, trouble_of
from quintain.web.files import on_disk
from quintain.web.pages.models.models import visibility_choices
from quintain.web.pages.tasks.tasks import title_of
from quintain.web.visit import Posting, Visit, Visiting


def submit_page(visit: Visiting, task: str) -> Response:
    """Ask for the archive, and say how it is made."""
    return _form(visit, tasks.get_task(visit.db, task), {"visibility": "public"})


def starter(visit: Visiting, task: str, adapter: Annotated[str, Query(max_length=80)] = "") -> Response:
    """Send an archive to start from: of the adapter that is asked for, or one that is accepted as it is."""
    content = starter_archive(visit.db, visit.actor, task, adapter)
    headers = {"content-disposition": f'attachment; filename="{NAME}.tar.gz"'}
    return Response(content, media_type="application/gzip", headers=headers)


def submit(post: Posting, task: str) -> Response:
    """Submit the archive, or list what is wrong with it and keep nothing."""
    visit = post.visit
    definition = tasks.get_task(visit.db, task)
    upload = post.file("file")
    try:
        if upload is None:
            raise BadInput(faults=[Fault("no file was chosen", field="file")])
        with on_disk(upload, None) as path:
            submission = submit_file(
                visit.db,
                visit.blobs,
                visit.actor,
                task,
                path,
                rules=rules_of(visit.workspace.settings),
                name=post.text("name").strip() or None,
                visibility=chosen_visibility(post.text("visibility")),
                filename=upload.filename or "",
            )
    except (BadInput, Conflict, TooMany, Unavailable) as error:
        values = {key: value for key, value in post.form.items() if isinstance(value, str)}
        return _form(visit, definition, values, trouble_of(error))
    return tell_submission(visit, task, submission)


def tell_submission(visit: Visit, task: str, submission: ModelSubmission) -> Response:
    """Lead to the page of the model, and say what happens to it now."""
    _ = visit.tongue.gettext
    if submission.waiting:
        toast = _("Submitted: a worker tries it on a few examples first.")
    elif submission.new:
        toast = _("Submitted: %(n)s runs are queued.", n=visit.tongue.number(submission.cells))
    else:
        toast = _("It was there already.")
    if submission.estimate is not None:
        number = visit.tongue.number
        calls, cost = number(submission.estimate.calls), number(round(submission.estimate.cost_at_most, 4))
        toast = f"{toast} {_('They make up to %(n)s calls, which cost %(cost)s at most.', n=calls, cost=cost)}"
    if is_card_unsaid(submission.version.card):
        toast = f"{toast} {_('Its card says nothing yet: fill it in here.')}"
    return visit.redirect(f"/tasks/{task}/models/{submission.version.model}?version={submission.version.number}", toast)


def lacking(visit: Visit) -> Sequence[Cause]:
    """Return what is in the way of submitted code here; nothing where another machine runs it."""
    settings = visit.workspace.settings
    report = None if rules_of(settings).elsewhere else sandbox_of(settings)
    return report.causes if report is not None and report.lacking(settings.sandbox) else ()


def chosen_visibility(typed: str) -> Visibility:
    """Read who may see the model."""
    for name in VISIBILITIES:
        if name == typed:
            return name
    raise BadInput(
        faults=[
            Fault(
                "'{name}' is not one of {known}",
                name=typed,
                known=", ".join(VISIBILITIES),
                field="visibility",
            )
        ]
    )


@dataclass(frozen=True, slots=True)
class WayToRun:
    """One way to have a model run: its adapter, what that is called, what is handed in, and where it runs.

    *missing* are packages that it needs and this server lacks.
    """

    adapter: str
    title: str
    files: tuple[str, ...]
    where: str
    missing: tuple[str, ...]


def _ways(gettext: Callable[[str], str]) -> list[WayToRun]:
    """List the ways to have a model run, each with a model to start from."""
    where = {"sandbox": gettext("run here"), "remote": gettext("called"), "file": gettext("scored, not run")}
    return [
        WayToRun(name, gettext(title), tuple(member.bare), where[member.place], tuple(member.missing()))
        for name, title in adapters_to_start()
        for member in (ADAPTERS.get(name),)
    ]


def _form(visit: Visit, task: Task, values: Mapping[str, str], error: Trouble | None = None) -> Response:
    require_role(visit.actor, RoleName.BUILDER, RoleName.OWNER, task=task.name)
    _ = visit.tongue.gettext
    return visit.render(
        "evaluate/submit.html",
        status=error.status if error else 200,
        task=task,
        section="models",
        values=values,
        error=error,
        lacking=lacking(visit),
        left=quota_left(visit.db, visit.actor, task.name, rules_of(visit.workspace.settings)),
        visibilities=visibility_choices(_),
        ways=_ways(_),
        way="",
        typed_ways=[(name, _(title)) for name, title in ways_to_type()],
        accepted=accepted_files(),
        address=visit.base_url,
        crumbs=[
            (title_of(visit, task), f"/tasks/{task.name}"),
            (_("Models"), f"/tasks/{task.name}/models"),
            (_("Submit a model"), None),
        ],
    )
