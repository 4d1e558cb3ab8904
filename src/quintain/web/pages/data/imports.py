"""Bringing data in: a file, what its columns mean, and every row that is wrong."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from starlette.datastructures import UploadFile
from starlette.responses import Response

from quintain.core.errors import BadInput, Conflict, Fault
from quintain.core.example import Role
from quintain.core.task import Task
from quintain.data.plan import ImportPlan, parse_plan
from quintain.services.access.permissions import require_owner
from quintain.services.data import datasets, import_jobs
from quintain.services.data.bundles import find_data_file, has_images
from quintain.services.tasks import definitions as tasks
from quintain.tasks.contract import kind_of
from quintain.web.errors import Trouble, trouble_of
from quintain.web.files import several_on_disk
from quintain.web.pages.tasks.tasks import title_of
from quintain.web.visit import Post, Posting, Visit, Visiting

COLUMN = "column-"


def import_page(visit: Visiting, task: str) -> Response:
    """Ask for the file."""
    found = tasks.get_task(visit.db, task)
    # No role is chosen beforehand: what data is for is not to be overlooked.
    return _form(visit, found, {"language": found.languages[0]})


def run_import(post: Posting, task: str) -> Response:
    """Import the file, or list everything that is wrong with it and import nothing."""
    visit = post.visit
    found = tasks.get_task(visit.db, task)
    uploads = [one for one in post.form.getlist("file") if isinstance(one, UploadFile) and one.filename]
    try:
        if not uploads:
            raise BadInput(faults=[Fault("no file was chosen", field="file")])
        plan = plan_of(found, post)
        with several_on_disk(uploads, visit.workspace.file_limits) as place:
            path = find_data_file(place, visit.tongue.gettext("What was chosen")) if place.is_dir() else place
            name = post.text("name").strip()
            scores = post.flag("score")
            job = import_jobs.ask_import(visit.db, visit.blobs, visit.actor, task, name, path, plan, score=scores)
            if job is not None:
                return visit.redirect(f"/jobs/{job.id}", visit.tongue.gettext("A worker imports it."))
            made = datasets.import_dataset(visit.db, visit.blobs, visit.actor, task, name, path, plan, score=scores)
    except (BadInput, Conflict) as error:
        values = {key: value for key, value in post.form.items() if isinstance(value, str)}
        return _form(visit, found, values, trouble_of(error))
    _ = visit.tongue.gettext
    toast = _("%(n)s examples imported.", n=visit.tongue.number(made.rows)) if made.new else _("It was there already.")
    return visit.redirect(f"/tasks/{task}/data/{made.dataset}?version={made.number}", toast)


def plan_of(task: Task, post: Post) -> ImportPlan:
    """Make the plan that the form describes: the advanced TOML first, the controls on top of it."""
    names = [*(item.name for item in kind_of(task).fields(task)), "answer", "tags"]
    columns = {name: post.text(COLUMN + name).strip() for name in names if post.text(COLUMN + name).strip()}
    changes: dict[str, Any] = {
        "role": post.text("role"),
        "hidden": post.flag("hidden"),
        "language": post.text("language").strip(),
        "description": post.text("description").strip(),
        "columns": columns,
        "labels": label_map(post.text("labels")),
        "license": post.text("license").strip(),
        "citation": post.text("citation").strip(),
        "rows": post.text("rows").strip(),
        **{name: post.number(name) for name in ("sample", "seed") if post.text(name).strip()},
        "skip_bad": post.flag("skip_bad"),
    }
    return parse_plan(post.text("plan")).with_changes(**changes)


def label_map(text: str) -> dict[str, str]:
    r"""Read lines such as `4 = positive` into a map from values of the file to labels.

    >>> label_map("0 = negative\n1=positive")
    {'0': 'negative', '1': 'positive'}
    """
    found: dict[str, str] = {}
    faults = []
    for number, line in enumerate(text.splitlines(), start=1):
        value, equals, label = line.partition("=")
        if equals and label.strip():
            found[value.strip()] = label.strip()
        elif line.strip():
            faults.append(
                Fault(
                    "line {number}, '{text}', is not of the form value = label",
                    number=number,
                    text=line.strip()[:60],
                    field="labels",
                )
            )
    if faults:
        raise BadInput(faults=faults)
    return found


def _form(visit: Visit, task: Task, values: Mapping[str, str], trouble: Trouble | None = None) -> Response:
    require_owner(visit.actor, task.name)
    _ = visit.tongue.gettext
    roles = [
        (Role.TRAIN, _("train"), _("Models learn from it.")),
        (Role.DEV, _("dev"), _("For choosing between models.")),
        (Role.TEST, _("test"), _("For scoring models.")),
        (Role.CONTRAST, _("contrast"), _("Pivots and their perturbed neighbours.")),
    ]
    return visit.render(
        "data/import.html",
        status=trouble.status if trouble else 200,
        task=task,
        section="data",
        fields=kind_of(task).fields(task),
        images=has_images(task),
        roles=[(str(role), title, gloss) for role, title, gloss in roles],
        values=values,
        crumbs=[
            (title_of(visit, task), f"/tasks/{task.name}"),
            (_("Data"), f"/tasks/{task.name}/data"),
            (_("Import"), None),
        ],
        error=trouble,
    )
