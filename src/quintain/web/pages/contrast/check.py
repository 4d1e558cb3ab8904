"""Checking what others wrote, and deciding where people disagree."""

from __future__ import annotations

from starlette.responses import Response

from quintain.core.errors import BadInput, Conflict
from quintain.core.records.contrasting import VariantToCheck
from quintain.services.contrast import checking, projects
from quintain.services.contrast.checking import Opinion
from quintain.services.contrast.images import read_image
from quintain.services.tasks import definitions as tasks
from quintain.tasks.contract import kind_of
from quintain.web.errors import Trouble, trouble_of
from quintain.web.forms import answer_text
from quintain.web.pages.collect.write_form import boxes_of, read, target_of
from quintain.web.pages.contrast.projects import crumbs_of, differences, titled
from quintain.web.visit import Post, Posting, Visit, Visiting

ONE = 1  # is decided at a time, as one is checked at a time


def check_page(visit: Visiting, task: str, name: str) -> Response:
    """Show the next variant that this person may check."""
    ref = f"{task}/{name}"
    return _check(visit, ref, checking.next_check(visit.db, visit.actor, ref))


def check(post: Posting, task: str, name: str, variant: int) -> Response:
    """Take down what was said of a variant, and go on to the next."""
    visit, ref = post.visit, f"{task}/{name}"
    definition = tasks.get_task(visit.db, task)
    asked = checking.next_check(visit.db, visit.actor, ref)
    inputs = asked.inputs if asked and asked.id == variant else {}
    typed = read(definition, post, inputs, fixed=list(inputs))
    opinion = Opinion(
        typed.target, minimal=post.text("minimal") == "1", sound=post.text("sound") == "1", note=post.text("note")
    )
    try:
        if not post.text("minimal") or not post.text("sound"):
            raise BadInput("Say of both whether they hold.")
        checking.check_variant(visit.db, visit.actor, ref, variant, opinion)
    except (BadInput, Conflict) as error:
        visit.db.rollback()
        return _check(visit, ref, asked, trouble=trouble_of(error), post=post)
    return visit.redirect(f"/tasks/{task}/contrast/{name}/check", visit.tongue.gettext("Thank you."))


def contested_page(visit: Visiting, task: str, name: str) -> Response:
    """Show what people disagree on."""
    return _contested(visit, f"{task}/{name}")


def settle(post: Posting, task: str, name: str, variant: int) -> Response:
    """Decide on a contested variant."""
    visit, ref = post.visit, f"{task}/{name}"
    definition = tasks.get_task(visit.db, task)
    how = post.text("how")
    try:
        answer = None
        if how == "change":
            waiting = checking.list_contested(visit.db, visit.actor, ref, limit=ONE).variants
            inputs = next((one.variant.inputs for one in waiting if one.variant.id == variant), {})
            answer = read(definition, post, inputs, fixed=list(inputs)).target
            if answer is None:
                raise BadInput("Say which answer is right.")
        checking.settle_variant(
            visit.db, visit.actor, ref, variant, accept=how != "reject", answer=answer, note=post.text("note")
        )
    except (BadInput, Conflict) as error:
        visit.db.rollback()
        return _contested(visit, ref, trouble=trouble_of(error))
    return visit.redirect(f"/tasks/{task}/contrast/{name}/contested", visit.tongue.gettext("Decided."))


def image(visit: Visiting, key: str) -> Response:
    """Send an image that was uploaded."""
    content, kind = read_image(visit.blobs, visit.actor, key)
    return Response(content, media_type=kind, headers={"cache-control": "private, max-age=31536000, immutable"})


def _check(
    visit: Visit,
    ref: str,
    asked: VariantToCheck | None,
    *,
    trouble: Trouble | None = None,
    post: Post | None = None,
) -> Response:
    _ = visit.tongue.gettext
    project = projects.get_project(visit.db, visit.actor, ref)
    task = tasks.get_task(visit.db, project.task)
    spec = projects.find_project(visit.db, ref).spec
    boxes = boxes_of(task, asked.inputs, {}, started=False, fixed=list(asked.inputs)) if asked else ()
    return visit.render(
        "contrast/check.html",
        status=trouble.status if trouble else 200,
        task=task,
        section="contrast",
        project=project,
        spec=spec,
        base=f"/tasks/{task.name}/contrast/{project.name}",
        asked=asked,
        boxes=boxes,
        form=kind_of(task).form(task),
        target=target_of(task, boxes, None, None),
        changes=differences(task, asked.original, asked.inputs) if asked else [],
        said={name: post.text(name) if post else "" for name in ("minimal", "sound", "note")},
        crumbs=crumbs_of(visit, task, project.title, project.name, _("Check")),
        error=titled(visit, task, trouble) if trouble else None,
    )


def _contested(visit: Visit, ref: str, *, trouble: Trouble | None = None) -> Response:
    _ = visit.tongue.gettext
    project = projects.get_project(visit.db, visit.actor, ref)
    task = tasks.get_task(visit.db, project.task)
    contested = checking.list_contested(visit.db, visit.actor, ref, limit=ONE)
    rows = []
    for disputed in contested.variants:
        boxes = boxes_of(task, disputed.variant.inputs, {}, started=False, fixed=list(disputed.variant.inputs))
        rows.append((disputed, boxes, target_of(task, boxes, disputed.variant.answer, None)))
    return visit.render(
        "contrast/contested.html",
        status=trouble.status if trouble else 200,
        task=task,
        section="contrast",
        project=project,
        base=f"/tasks/{task.name}/contrast/{project.name}",
        found=contested,
        rows=rows,
        differences=differences,
        answer_text=answer_text,
        crumbs=crumbs_of(visit, task, project.title, project.name, _("Decide")),
        error=titled(visit, task, trouble) if trouble else None,
    )
