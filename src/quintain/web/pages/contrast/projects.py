"""Contrast projects on pages: the list, the form, one project with its sets, and what becomes of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from starlette.responses import Response

from quintain.core.contrast import ContrastSpec, ProjectState, VariantState
from quintain.core.errors import BadInput, Conflict, Fault, Forbidden
from quintain.core.example import Role
from quintain.core.records.contrasting import ContrastProject
from quintain.core.spec import read
from quintain.core.task import Task
from quintain.core.texts import Text
from quintain.services.access.permissions import require_owner
from quintain.services.contrast import authoring, checking, listing, people, projects, releasing, uploading
from quintain.services.contrast.projects import ProjectInfo
from quintain.services.data import datasets
from quintain.services.tasks import definitions as tasks
from quintain.stats.diff import Piece, word_diff
from quintain.tasks.contract import kind_of
from quintain.web.drafts import SpecDraft, refuse_other
from quintain.web.errors import Trouble, trouble_of
from quintain.web.files import on_disk
from quintain.web.forms import answer_text
from quintain.web.pages.tasks.tasks import title_of
from quintain.web.pages.written import shown_input
from quintain.web.paging import Paging
from quintain.web.spec_form import SpecForm
from quintain.web.visit import Post, Posting, Visit, Visiting

FORM = SpecForm(ContrastSpec)
PAGE_SIZE = 20
EDITED = {Role.TEST.value, Role.DEV.value}


def index(visit: Visiting, task: str) -> Response:
    """List the projects in which one may write, and the contrast sets there are."""
    definition = tasks.get_task(visit.db, task)
    _ = visit.tongue.gettext
    versions = [
        version for version in datasets.list_versions(visit.db, visit.actor, task) if version.role == Role.CONTRAST
    ]
    return visit.render(
        "contrast/projects.html",
        task=definition,
        section="contrast",
        projects=projects.list_projects(visit.db, visit.actor, task).projects,
        states=state_words(visit),
        versions={version.dataset: version for version in sorted(versions, key=lambda version: version.number)},
        crumbs=[(title_of(visit, definition), f"/tasks/{task}"), (_("Contrast sets"), None)],
    )


def new_page(visit: Visiting, task: str, file: str = "") -> Response:
    """Offer a form, or a file, to start from."""
    definition = tasks.get_task(visit.db, task)
    return _editor(visit, definition, None, _draft(visit, definition, None, as_file=bool(file)))


def create(post: Posting, task: str) -> Response:
    """Make a project."""
    return _save(post, tasks.get_task(post.visit.db, task), None)


def edit_page(visit: Visiting, task: str, name: str, file: str = "") -> Response:
    """Show what a project asks, to change it."""
    definition, info = tasks.get_task(visit.db, task), projects.find_project(visit.db, f"{task}/{name}")
    return _editor(visit, definition, info, _draft(visit, definition, info, as_file=bool(file)))


def save(post: Posting, task: str, name: str) -> Response:
    """Change a project."""
    visit = post.visit
    return _save(post, tasks.get_task(visit.db, task), projects.find_project(visit.db, f"{task}/{name}"))


def show(visit: Visiting, task: str, name: str, state: str = "", offset: int = 0) -> Response:
    """Show how far a project is and, to owners, what was written in it."""
    return _page(visit, f"{task}/{name}", state=state, offset=max(0, offset))


def set_state(post: Posting, task: str, name: str) -> Response:
    """Close a project, or open it again."""
    visit = post.visit
    ref = f"{task}/{name}"
    projects.set_state(visit.db, visit.actor, ref, ProjectState(post.text("state") or "closed"))
    return visit.redirect(f"/tasks/{task}/contrast/{name}", visit.tongue.gettext("Saved."))


def release(post: Posting, task: str, name: str) -> Response:
    """Make a data set version of what was accepted, and go to it."""
    visit = post.visit
    _ = visit.tongue.gettext
    try:
        released = releasing.release_project(visit.db, visit.blobs, visit.actor, f"{task}/{name}")
    except (BadInput, Conflict) as error:
        return _page(visit, f"{task}/{name}", trouble=trouble_of(error))
    toast = _("%(n)s sets were released.", n=released.sets) if released.new else _("It was there already.")
    dataset, number = released.version.rpartition("/")[2].split("@")
    return visit.redirect(f"/tasks/{task}/data/{dataset}?version={number}", toast)


def let_judge(post: Posting, task: str, name: str) -> Response:
    """Let people judge pairs that they did not write."""
    visit = post.visit
    try:
        judging = people.open_people(visit.db, visit.actor, f"{task}/{name}", pairs=post.number("pairs"))
    except (BadInput, Conflict) as error:
        return _page(visit, f"{task}/{name}", trouble=trouble_of(error))
    return visit.redirect(f"/tasks/{task}/validation/{judging.validation.rpartition('/')[2]}")


def add_file(post: Posting, task: str, name: str) -> Response:
    """Add variants that were written elsewhere."""
    visit, ref = post.visit, f"{task}/{name}"
    upload = post.file("file")
    try:
        if upload is None:
            raise BadInput(faults=[Fault("no file was chosen", field="file")])
        with on_disk(upload, visit.workspace.limits_at_once) as path:
            added = uploading.add_variants_file(visit.db, visit.actor, ref, path, checked=post.flag("checked"))
    except BadInput as error:
        visit.db.rollback()
        return _page(visit, ref, trouble=trouble_of(error))
    toast = visit.tongue.gettext("%(n)s variants were added.", n=added.added)
    return visit.redirect(f"/tasks/{task}/contrast/{name}", toast)


def withdraw(post: Posting, task: str, name: str, variant: int) -> Response:
    """Take a variant back, as its owner, and stay where it stood."""
    visit = post.visit
    authoring.withdraw_variant(visit.db, visit.actor, f"{task}/{name}", variant)
    return visit.redirect(f"/tasks/{task}/contrast/{name}", visit.tongue.gettext("Taken back."))


def state_words(visit: Visit) -> dict[str, str]:
    """Return in the reader's language where a project or a variant may stand."""
    _ = visit.tongue.gettext
    return {
        ProjectState.OPEN: _("open"),
        ProjectState.CLOSED: _("closed"),
        VariantState.WRITTEN: _("to be checked"),
        VariantState.ACCEPTED: _("accepted"),
        VariantState.CONTESTED: _("contested"),
        VariantState.REJECTED: _("rejected"),
        VariantState.WITHDRAWN: _("taken back"),
    }


def differences(task: Task, before: Mapping[str, Any], after: Mapping[str, Any]) -> list[tuple[str, list[Piece], bool]]:
    """Return, for each field, its title, what changed in it, and whether anything did."""
    fields = []
    for field in kind_of(task).form(task).inputs:
        old, new = shown_input(field, before), shown_input(field, after)
        if old or new:
            fields.append((field.title, word_diff(old, new), old != new))
    return fields


def crumbs_of(visit: Visit, task: Task, title: str, name: str, *more: str) -> list[tuple[str, str | None]]:
    """Return the way to a page of a project."""
    base = f"/tasks/{task.name}/contrast"
    first = [(title_of(visit, task), f"/tasks/{task.name}"), (visit.tongue.gettext("Contrast sets"), base)]
    if not more:
        return [*first, (title, None)]
    return [*first, (title, f"{base}/{name}"), *((one, None) for one in more)]


def titled(visit: Visit, task: Task, trouble: Trouble) -> Trouble:
    """Name fields in faults as the pages of a project name them."""
    _ = visit.tongue.gettext
    form = kind_of(task).form(task)
    titles = {field.name: _(field.title) for field in (*form.inputs, form.answer)}
    titles |= {
        "answer": _("Right answer now"),
        "tags": _("Phenomena"),
        "reason": _("Why it has to be larger"),
        "draft": _("Automatic draft"),
        "inputs": _("Your copy"),
        "note": _("Note"),
    }
    faults = tuple(
        Fault("{title}: {reason}", title=titles[fault.field], reason=fault.reason) if fault.field in titles else fault
        for fault in trouble.faults
    )
    return replace(trouble, faults=faults, message=Text("This cannot be kept yet.")) if faults else trouble


def _page(visit: Visit, ref: str, *, state: str = "", offset: int = 0, trouble: Trouble | None = None) -> Response:
    project = projects.get_project(visit.db, visit.actor, ref)
    info = projects.find_project(visit.db, ref)
    task = tasks.get_task(visit.db, project.task)
    owns = visit.owns(task)
    path = f"/tasks/{task.name}/contrast/{project.name}"
    page = listing.list_sets(visit.db, visit.actor, ref, state=state, offset=offset, limit=PAGE_SIZE)
    return visit.render(
        "contrast/project.html",
        status=trouble.status if trouble else 200,
        task=task,
        section="contrast",
        project=project,
        spec=info.spec,
        base=path,
        page=page,
        state=state,
        states=state_words(visit),
        filters=_filters(visit),
        paging=Paging(path, {"state": state}, offset, len(page.sets), page.total, PAGE_SIZE),
        differences=differences,
        answer_text=answer_text,
        contested=_contested(visit, project),
        human=people.people_figures(visit.db, visit.actor, ref) if owns else None,
        crumbs=crumbs_of(visit, task, project.title, project.name),
        error=trouble,
    )


def _contested(visit: Visit, project: ContrastProject) -> int:
    """Count what waits for this person's decision."""
    if not project.progress.contested:
        return 0
    try:
        return checking.list_contested(visit.db, visit.actor, project.ref, limit=1).total
    except Forbidden:  # who may only write
        return 0


def _filters(visit: Visit) -> list[tuple[str, str]]:
    words = state_words(visit)
    shown = (VariantState.WRITTEN, VariantState.ACCEPTED, VariantState.CONTESTED, VariantState.REJECTED)
    return [("", visit.tongue.gettext("all")), *((one.value, words[one]) for one in shown)]


def _starter(visit: Visit, task: Task) -> ContrastSpec:
    first = next(iter(_editable(visit, task)), None)
    title = visit.tongue.gettext("Near misses")
    return ContrastSpec(task.name, "near-misses", title, first.ref if first else "")


def _sources(visit: Visit, task: Task) -> list[tuple[str, str]]:
    return [(one.ref, f"{one.dataset} @ {one.number} ({one.role}, {one.rows})") for one in _editable(visit, task)]


def _editable(visit: Visit, task: Task) -> list[datasets.VersionInfo]:
    """List the newest version of each data set that may be edited, test sets first."""
    versions_to_edit = [
        version for version in datasets.list_versions(visit.db, visit.actor, task.name) if version.role in EDITED
    ]
    newest = {version.dataset: version for version in sorted(versions_to_edit, key=lambda version: version.number)}
    return sorted(newest.values(), key=lambda version: (version.role != Role.TEST, version.dataset))


def _draft(visit: Visit, task: Task, info: ProjectInfo | None, *, as_file: bool = False) -> SpecDraft:
    spec = info.spec if info else _starter(visit, task)
    stored = info.spec if info else None
    return SpecDraft(FORM, FORM.show(spec), projects.dump_contrast(spec), as_file, stored=stored)


def _save(post: Post, task: Task, info: ProjectInfo | None) -> Response:
    visit = post.visit
    draft = _draft(visit, task, info).typed(post)
    try:
        if draft.as_file:
            spec = projects.parse_contrast(draft.text)
        else:
            named = {"name": info.name} if info else {}
            spec = read(ContrastSpec, FORM.read(draft.values, info.spec if info else None, task=task.name, **named))
        refuse_other(spec, task.name, info.name if info else None)
        saved = projects.put_spec(visit.db, visit.blobs, visit.actor, spec, new=info is None, edit=post.edit)
    except (BadInput, Conflict) as error:
        return _editor(visit, task, info, draft.refused(error))
    return visit.redirect(f"/tasks/{task.name}/contrast/{saved.name}", visit.tongue.gettext("Saved."))


def _editor(visit: Visit, task: Task, info: ProjectInfo | None, draft: SpecDraft) -> Response:
    require_owner(visit.actor, task.name)
    _ = visit.tongue.gettext
    base = f"/tasks/{task.name}/contrast"
    title = _("Edit the project") if info else _("New contrast project")
    return visit.render(
        "contrast/project_edit.html",
        task=task,
        section="contrast",
        project=info,
        title=title,
        action=f"{base}/{info.name}/edit" if info else f"{base}/new",
        back=f"{base}/{info.name}" if info else base,
        sources=_sources(visit, task),
        crumbs=crumbs_of(visit, task, info.spec.title if info else title, info.name if info else ""),
        **draft.shown(visit),
    )
