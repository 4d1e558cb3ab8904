"""The page on which a task's owner answers what only they can say in its datasheets."""

from __future__ import annotations

from typing import Any

from starlette.responses import Response

from quintain.core.datasheet import DatasheetSpec, open_questions
from quintain.core.errors import BadInput
from quintain.core.spec import plain
from quintain.services.release import datasheet_answers as service
from quintain.services.tasks import definitions as tasks
from quintain.web.confirming import form_edit
from quintain.web.errors import Trouble, trouble_of
from quintain.web.form_reading import FormReading
from quintain.web.pages.tasks.tasks import title_of
from quintain.web.spec_form import Sheet, SpecForm
from quintain.web.visit import Posting, Visit, Visiting, local_path

FORM = SpecForm(DatasheetSpec)


def show(visit: Visiting, task: str, back: str = "") -> Response:
    """Show the questions, those that are open first, with what was answered; *back* is the page to return to."""
    return _page(visit, task, back)


def save(post: Posting, task: str) -> Response:
    """Keep the answers, or say beside each what is wrong."""
    visit, typed, back = post.visit, FORM.typed(post), post.text("back")
    try:
        data = FORM.data(FormReading(dict(typed)), service.get_answers(visit.db, visit.actor, task))
        service.save_answers(visit.db, visit.actor, task, data, edit=form_edit(post))
    except BadInput as error:
        return _page(visit, task, back, typed, trouble_of(error))
    toast = visit.tongue.gettext("Saved. The next release has these answers in its datasheet.")
    return visit.redirect(local_path(back) if back else f"/tasks/{task}/datasheet", toast)


def _page(
    visit: Visit, task: str, back: str, typed: dict[str, Any] | None = None, trouble: Trouble | None = None
) -> Response:
    definition = tasks.get_task(visit.db, task)
    spec = service.get_answers(visit.db, visit.actor, task)
    faults = FORM.faults_by_control(trouble.faults, visit.language) if trouble else {}
    sheet = Sheet(FORM, visit.tongue, typed or FORM.show(spec), faults, {})
    unanswered = set(open_questions(spec))
    controls = sheet.rest("what")
    _ = visit.tongue.gettext
    return visit.render(
        "release/datasheet.html",
        status=trouble.status if trouble else 200,
        task=definition,
        section="settings",
        unanswered=[control for control in controls if control.name in unanswered or control.fault],
        answered=[control for control in controls if control.name not in unanswered and not control.fault],
        back=local_path(back) if back else "",
        made_from=visit.made_from("datasheet", plain(spec)),
        crumbs=[
            (title_of(visit, definition), f"/tasks/{task}"),
            (_("Settings"), f"/tasks/{task}/settings"),
            (_("Datasheet"), None),
        ],
        error=trouble,
    )
