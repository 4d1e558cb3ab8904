"""Bringing in a published contrast set: its files as they were published, and which one it is."""

from __future__ import annotations

from collections.abc import Mapping

from starlette.datastructures import UploadFile
from starlette.responses import Response

from quintain.core.errors import BadInput, Conflict, Fault, NotFound
from quintain.data.contrast.contract import CONTRAST_FORMATS, ContrastFiles
from quintain.data.plan import ImportPlan
from quintain.services.access.permissions import require_owner
from quintain.services.data.contrast import import_contrast
from quintain.services.tasks import definitions as tasks
from quintain.web.errors import Trouble, trouble_of
from quintain.web.files import several_on_disk
from quintain.web.pages.data.import_form import label_map
from quintain.web.pages.tasks.tasks import title_of
from quintain.web.visit import Posting, Visit, Visiting


def import_page(visit: Visiting, task: str) -> Response:
    """Ask for the files."""
    return _form(visit, task, {"split": "test"})


def run_import(post: Posting, task: str) -> Response:
    """Import the files, or say everything that is wrong with them and import nothing."""
    visit = post.visit
    values = {key: value for key, value in post.form.items() if isinstance(value, str)}
    uploads = [one for one in post.form.getlist("files") if isinstance(one, UploadFile) and one.filename]
    beside, limits = post.file("originals"), post.visit.workspace.limits_at_once
    try:
        if not uploads:
            raise BadInput(faults=[Fault("no file was chosen", field="files")])
        plan = ImportPlan(role="contrast", hidden=post.flag("hidden"), labels=label_map(post.text("labels")))
        with several_on_disk(uploads, limits) as path, several_on_disk([beside] if beside else [], limits) as originals:
            uploaded = ContrastFiles(path, originals if beside else None, post.text("split").strip() or "test")
            name, form = post.text("name").strip(), post.text("format")
            version, report = import_contrast(visit.db, visit.blobs, visit.actor, task, name, form, uploaded, plan)
    except (BadInput, Conflict, NotFound) as error:
        return _form(visit, task, values, trouble_of(error))
    _ = visit.tongue.gettext
    toast = _("%(n)s sets were imported.", n=report.usable.sets) if version.new else _("It was there already.")
    return visit.redirect(f"/tasks/{task}/data/{version.dataset}?version={version.number}", toast)


def _form(visit: Visit, task: str, values: Mapping[str, str], trouble: Trouble | None = None) -> Response:
    require_owner(visit.actor, task)
    definition = tasks.get_task(visit.db, task)
    _ = visit.tongue.gettext
    formats = [CONTRAST_FORMATS.get(name) for name in CONTRAST_FORMATS.names()]
    return visit.render(
        "contrast/import.html",
        status=trouble.status if trouble else 200,
        task=definition,
        section="contrast",
        values=values,
        formats=[(one.name, one.name) for one in formats],
        about=formats,
        crumbs=[
            (title_of(visit, definition), f"/tasks/{task}"),
            (_("Contrast sets"), f"/tasks/{task}/contrast"),
            (_("Import"), None),
        ],
        error=trouble,
    )
