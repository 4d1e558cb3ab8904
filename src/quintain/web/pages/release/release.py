"""The page that releases a validation: what must hold, what would come of it, and what was released."""

from __future__ import annotations

from typing import Any

from starlette.responses import Response

from quintain.core.datasheet import open_questions
from quintain.core.errors import BadInput, Conflict
from quintain.core.records.jobs import JobStanding
from quintain.core.records.release import Release
from quintain.core.release import ReleaseSpec
from quintain.core.spec import options_of, read, restore
from quintain.services.access.permissions import require_owner
from quintain.services.release import bundle, datasheet_answers, release_jobs, releases
from quintain.services.tasks import definitions as tasks
from quintain.web.errors import Trouble, trouble_of
from quintain.web.exporting import export_page
from quintain.web.pages.stations import station_line
from quintain.web.pages.validate.console import crumbs, home_of
from quintain.web.spec_form import Sheet, SpecForm
from quintain.web.visit import Posting, Visit, Visiting

FORM = SpecForm(ReleaseSpec)


def show(visit: Visiting, task: str, name: str, job: int = 0, following: str = "") -> Response:
    """Show the form, filled in as the newest release was made, and the releases there are.

    Where a *job* looks at one or makes it, say how far it is; who is *following* is told to look again once it is over.
    """
    asked = release_jobs.queued_release(visit.db, visit.blobs, visit.actor, f"{task}/{name}", job) if job else None
    if asked is None:
        return _page(visit, task, name)
    over = {"HX-Refresh": "true"} if following and not asked.job.going else None
    looked = asked.release if asked.release is not None and asked.release.number is None else None
    return _page(visit, task, name, FORM.show(asked.spec), looked=looked, job=asked.job, headers=over)


def act(post: Posting, task: str, name: str) -> Response:
    """Show what would be released, or release it."""
    visit, ref = post.visit, f"{task}/{name}"
    values = FORM.typed(post)
    try:
        spec = _spec(values)
        job = release_jobs.ask_release(visit.db, visit.actor, ref, spec, preview_only=not post.flag("release"))
        if job is not None:
            return visit.redirect(f"{home_of(task, name)}/release?job={job.id}")
        if not post.flag("release"):
            return _page(
                visit, task, name, values, looked=releases.preview(visit.db, visit.blobs, visit.actor, ref, spec)
            )
        released = releases.release(visit.db, visit.blobs, visit.actor, ref, spec)
    except (BadInput, Conflict) as error:
        return _page(visit, task, name, values, trouble=trouble_of(error))
    _ = visit.tongue.gettext
    toast = _("Released.") if released.new else _("This release was there already.")
    return visit.redirect(f"{home_of(task, name)}/release", toast)


def fetch(visit: Visiting, task: str, name: str, number: int, file: str) -> Response:
    """Send a text of a release, or all of it as a ZIP."""
    ref = f"{task}/{name}"
    if file == "bundle.zip":
        return export_page(visit, bundle.wanted_bundle(ref, number))
    text = bundle.text_of(visit.db, visit.blobs, visit.actor, ref, number, file)
    headers = {"content-disposition": f'attachment; filename="{task}-{name}-release-{number}-{file}"'}
    return Response(text, media_type="text/markdown; charset=utf-8", headers=headers)


def _spec(values: dict[str, Any]) -> ReleaseSpec:
    return read(ReleaseSpec, FORM.read(values))


def _page(
    visit: Visit,
    task: str,
    name: str,
    values: dict[str, Any] | None = None,
    *,
    looked: Release | None = None,
    trouble: Trouble | None = None,
    job: JobStanding | None = None,
    headers: dict[str, str] | None = None,
) -> Response:
    definition = tasks.get_task(visit.db, task)
    require_owner(visit.actor, task)
    earlier = releases.list_releases(visit.db, visit.actor, f"{task}/{name}").releases
    last = restore(ReleaseSpec, earlier[0].spec) if earlier else ReleaseSpec()
    faults = FORM.faults_by_control(trouble.faults, visit.language) if trouble else {}
    _ = visit.tongue.gettext
    return visit.render(
        "release/release.html",
        status=trouble.status if trouble else 200,
        headers=headers,
        job=job,
        task=definition,
        section="validation",
        name=name,
        wheel=station_line(visit, definition, name),
        home=home_of(task, name),
        sheet=Sheet(FORM, visit.tongue, values or FORM.show(last), faults, {}),
        values=values,
        looked=looked,
        made=earlier,
        unanswered=len(open_questions(datasheet_answers.get_answers(visit.db, visit.actor, task))),
        reasons={
            "waiting for judgements": _("waiting for judgements"),
            "writer is in dev or test": _("the writer is in dev or test"),
            "nearly the same is in dev or test": _("nearly the same is in dev or test"),
            "another of its prompt is in dev or test": _("another of its prompt is in dev or test"),
            "another of its review is in dev or test": _("another of its review is in dev or test"),
        },
        titles={key: _(option.title) for key, option in options_of(ReleaseSpec).items()},
        crumbs=crumbs(visit, definition, name, _("Release")),
        error=trouble,
    )
