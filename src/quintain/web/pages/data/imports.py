"""Bringing data in: a file is looked at, its columns and labels are matched by menus, and every bad row is listed.

First comes the file alone. It is kept for a day, so that nothing is chosen or typed twice until all of it fits.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from starlette.datastructures import UploadFile
from starlette.responses import Response

from quintain.core.errors import BadInput, Conflict, Fault
from quintain.core.example import Role
from quintain.core.task import Task
from quintain.core.texts import Text
from quintain.data.encodings import NAMES
from quintain.services.access.permissions import require_owner
from quintain.services.data import datasets, import_jobs
from quintain.services.data.bundles import find_data_file, has_images
from quintain.services.data.import_parts import import_parts
from quintain.services.tasks import definitions as tasks
from quintain.tasks.contract import kind_of
from quintain.web.error_text import translated
from quintain.web.errors import Trouble, trouble_of
from quintain.web.files import keep_upload, kept_on_disk, several_on_disk
from quintain.web.pages.data.import_form import LEAVE_OUT, PARTS, ImportPreview, chosen_labels, plan_of, preview
from quintain.web.pages.tasks.tasks import title_of
from quintain.web.visit import Post, Posting, Visit, Visiting

BUNDLE = "files.zip"  # what several files are kept as


@dataclass(frozen=True, slots=True)
class SentFile:
    """The file of a form: where it is, and by which names it is found again when the form is sent once more."""

    path: Path
    kept: str
    name: str


def import_page(visit: Visiting, task: str) -> Response:
    """Ask for the file."""
    return _form(visit, tasks.get_task(visit.db, task), {})


def run_import(post: Posting, task: str) -> Response:
    """Look at the file, or import it: all of it, or a list of everything that is wrong with it and nothing."""
    visit = post.visit
    definition = tasks.get_own_task(visit.db, visit.actor, task)
    seen: ImportPreview | None = None
    values = {key: value for key, value in post.form.items() if isinstance(value, str)}
    try:
        with sent_file(post) as sent:
            if post.flag("step") or post.text("kept"):
                values |= {"kept": sent.kept, "kept_name": sent.name}
                plan, first = plan_of(definition, post), post.text("step") == "look"
                seen = preview(sent.path, definition, plan, chosen_labels(post), guess=first)
            if post.flag("step"):
                return _form(visit, definition, _with_guesses(values, sent, definition, post), seen=seen)
            return _import(post, definition, sent.path)
    except (BadInput, Conflict) as error:
        return _form(visit, definition, values, trouble_of(error), seen=seen)


@contextmanager
def sent_file(post: Post) -> Iterator[SentFile]:
    """Yield the file that came with a form, or the one that was kept when it was first looked at."""
    visit, limits = post.visit, post.visit.workspace.file_limits
    uploads = [item for item in post.form.getlist("file") if isinstance(item, UploadFile) and item.filename]
    if not uploads and post.text("kept"):
        with kept_on_disk(visit.blobs, post.text("kept"), post.text("kept_name"), limits) as path:
            yield SentFile(path, post.text("kept"), path.name)
        return
    if not uploads:
        raise BadInput(faults=[Fault("no file was chosen", field="file")])
    with several_on_disk(uploads, limits) as sent:
        key = keep_upload(visit.blobs, sent) if post.flag("step") else ""
        if sent.is_dir():
            yield SentFile(find_data_file(sent, visit.tongue.gettext("What was chosen")), key, BUNDLE)
        else:
            yield SentFile(sent, key, sent.name)


def _import(post: Post, task: Task, path: Path) -> Response:
    visit = post.visit
    plan, name = plan_of(task, post), post.text("name").strip()
    score, parts = post.flag("score"), post.text("role") == PARTS
    where = (visit.db, visit.blobs, visit.actor, task.name, name, path, plan)
    job = import_jobs.ask_import(*where, score=score, parts=parts)
    if job is not None:
        return visit.redirect(f"/jobs/{job.id}", visit.tongue.gettext("A worker imports it."))
    versions = import_parts(*where, score=score) if parts else [datasets.import_dataset(*where, score=score)]
    _ = visit.tongue.gettext
    rows = sum(version.rows for version in versions)
    toast = (
        _("%(n)s examples imported.", n=visit.tongue.number(rows)) if versions[0].new else _("It was there already.")
    )
    toast = " ".join([toast, *(translated(visit.language, hint) for hint in _of_language(versions[0]))])
    if parts:  # what comes next stands on the task's first page
        return visit.redirect(f"/tasks/{task.name}", toast)
    return visit.redirect(f"/tasks/{task.name}/data/{versions[0].dataset}?version={versions[0].number}", toast)


def _of_language(version: datasets.VersionInfo) -> list[str]:
    """List what the import said of the language of the texts: a form that was sent at once has shown it nowhere."""
    return [hint for hint in version.report.hints if isinstance(hint, Text)] if version.report else []


def name_from_file(called: str) -> str:
    """Return the name of a file as one that data sets and tasks may have.

    >>> name_from_file("My Reviews (2024).csv.gz")
    'my-reviews-2024'
    """
    signs = (sign if sign.isascii() and sign.isalnum() else "-" for sign in called.partition(".")[0].lower())
    return "-".join(filter(None, "".join(signs).split("-")))[:60] or "data"


def _with_guesses(values: Mapping[str, str], sent: SentFile, task: Task, post: Post) -> dict[str, str]:
    """Fill in what follows from the file, where nothing was typed.

    A board that has nothing to rank by is offered its first set; one that ranks waits for its owner's word.
    """
    guesses = {"name": name_from_file(sent.name), "language": task.languages[0]}
    if post.text("step") == "look" and not values.get("role"):
        versions = datasets.list_versions(post.visit.db, post.visit.actor, task.name)
        if not any(version.scores for version in versions):
            guesses["score"] = "on"
    return {**values, **{key: value for key, value in guesses.items() if not values.get(key)}}


def _form(
    visit: Visit,
    task: Task,
    values: Mapping[str, str],
    trouble: Trouble | None = None,
    *,
    seen: ImportPreview | None = None,
) -> Response:
    require_owner(visit.actor, task.name)
    _ = visit.tongue.gettext
    return visit.render(
        "data/import.html",
        status=trouble.status if trouble else 200,
        task=task,
        section="data",
        fields=kind_of(task).fields(task),
        images=has_images(task),
        roles=_roles(visit, divisible=not has_images(task)),
        values=values,
        seen=seen,
        content_names=content_names(visit),
        encodings=NAMES,
        leave_out=LEAVE_OUT,
        crumbs=[
            (title_of(visit, task), f"/tasks/{task.name}"),
            (_("Data"), f"/tasks/{task.name}/data"),
            (_("Import"), None),
        ],
        error=trouble,
    )


def content_names(visit: Visit) -> dict[str, str]:
    """Return in words what a column may hold."""
    _ = visit.tongue.gettext
    return {
        "nothing": _("nothing"),
        "number": _("numbers"),
        "value": _("a few values"),
        "text": _("texts"),
        "list": _("lists"),
    }


def _roles(visit: Visit, *, divisible: bool) -> list[tuple[str, str, str]]:
    # No role is chosen beforehand: what data is for is not to be overlooked.
    _ = visit.tongue.gettext
    whole = [
        (Role.TRAIN.value, _("train"), _("Models learn from it.")),
        (Role.DEV.value, _("dev"), _("For choosing between models.")),
        (Role.TEST.value, _("test"), _("For scoring models.")),
        (Role.CONTRAST.value, _("contrast"), _("Pivots and their perturbed neighbours.")),
    ]
    parts = (PARTS, _("divide it"), _("A tenth dev, a tenth but at least 100 test, the rest train."))
    return [parts, *whole] if divisible else whole
