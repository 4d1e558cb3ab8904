"""The expert's desk: an example with its gold answer, copies of it to edit, and no model in sight."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from starlette.responses import Response

from quintain.core.errors import BadInput, Conflict, Forbidden, NotFound, Unavailable
from quintain.core.records.contrasting import ContrastDraft, ContrastLook, ContrastPivot, ContrastProject
from quintain.core.task import Task
from quintain.services.contrast import authoring, drafts, projects, scouting
from quintain.services.contrast.authoring import Edit
from quintain.services.contrast.images import gallery, keep_image
from quintain.services.contrast.projects import ProjectInfo
from quintain.services.models import registry as models
from quintain.services.models.ask import limit_calls
from quintain.services.tasks import definitions as tasks
from quintain.stats.diff import word_diff
from quintain.tasks.contract import kind_of
from quintain.web.errors import Trouble, trouble_of
from quintain.web.forms import answer_text
from quintain.web.pages.collect.write_form import (
    Box,
    SpanPlace,
    Typed,
    boxes_of,
    places_of,
    read,
    target_of,
    word_places,
)
from quintain.web.pages.contrast.projects import crumbs_of, differences, state_words, titled
from quintain.web.pages.written import shown_input
from quintain.web.visit import Post, Posting, Visit, Visiting

SAID = ("rationale", "reason", "draft")


def start(visit: Visiting, task: str, name: str) -> Response:
    """Go on with the example in hand, or say what taking one means: a look at the page takes none."""
    project = projects.get_project(visit.db, visit.actor, f"{task}/{name}")
    try:
        pivot = authoring.pivot_in_hand(visit.db, visit.actor, project.ref)
    except Conflict as error:
        return _before_desk(visit, project, blocked=trouble_of(error))
    if pivot is None:
        return _before_desk(visit, project)
    return visit.redirect(f"/tasks/{task}/contrast/{name}/write/{pivot.id}")


def take(post: Posting, task: str, name: str) -> Response:
    """Take the next example, or go on with the one in hand; say what stands in the way."""
    visit = post.visit
    project = projects.get_project(visit.db, visit.actor, f"{task}/{name}")
    try:
        pivot = authoring.take_pivot(visit.db, visit.actor, project.ref)
    except (Conflict, NotFound) as error:
        return _before_desk(visit, project, blocked=trouble_of(error))
    return visit.redirect(f"/tasks/{task}/contrast/{name}/write/{pivot.id}")


def _before_desk(visit: Visit, project: ContrastProject, blocked: Trouble | None = None) -> Response:
    definition = tasks.get_task(visit.db, project.task)
    return visit.render(
        "contrast/nothing.html" if blocked else "contrast/begin.html",
        task=definition,
        section="contrast",
        project=project,
        base=f"/tasks/{project.task}/contrast/{project.name}",
        blocked=blocked,
        crumbs=crumbs_of(visit, definition, project.title, project.name, visit.tongue.gettext("Write")),
    )


def desk(visit: Visiting, task: str, name: str, pivot: int) -> Response:
    """Show the example in hand."""
    ref = f"{task}/{name}"
    try:
        in_hand = authoring.get_pivot(visit.db, visit.actor, ref, pivot)
    except (Conflict, Forbidden) as error:
        return visit.redirect(f"/tasks/{task}/contrast/{name}", str(error))
    return _desk(visit, ref, in_hand)


def add(post: Posting, task: str, name: str, pivot: int) -> Response:
    """Keep a variant; what is wrong is said on the page, and what was typed stays."""
    visit, ref = post.visit, f"{task}/{name}"
    in_hand = authoring.get_pivot(visit.db, visit.actor, ref, pivot)
    definition = tasks.get_task(visit.db, task)
    typed = Typed({}, None)
    try:
        typed = _typed(post, definition, in_hand)
        stays = post.flag("keeps_label")
        edit = Edit(
            typed.inputs,
            None if stays and _is_original(definition, in_hand, typed) else typed.target,
            post.texts("tags"),
            post.text("rationale"),
            post.text("reason"),
            keeps_label=stays,
            draft=post.text("draft"),
            confirmed=post.flag("confirmed"),
        )
        authoring.add_variant(visit.db, visit.actor, ref, pivot, edit, generation=post.number("generation"))
    except (BadInput, Conflict) as error:
        visit.db.rollback()
        return _desk(visit, ref, in_hand, post=post, typed=typed, trouble=trouble_of(error))
    toast = visit.tongue.gettext("The variant is kept. Write another one, or go on.")
    return visit.redirect(f"/tasks/{task}/contrast/{name}/write/{pivot}", toast)


def finish(post: Posting, task: str, name: str, pivot: int) -> Response:
    """Be done with an example, skip it or give it back; then go on to the next, or leave."""
    visit, ref, base = post.visit, f"{task}/{name}", f"/tasks/{task}/contrast/{name}"
    if post.text("how") == "return":
        authoring.release_pivot(visit.db, visit.actor, ref, pivot)
        return visit.redirect(base, visit.tongue.gettext("The example is free for somebody else."))
    try:
        authoring.finish_pivot(visit.db, visit.actor, ref, pivot, skip=post.text("how") == "skip")
    except Conflict as error:
        visit.db.rollback()
        in_hand = authoring.get_pivot(visit.db, visit.actor, ref, pivot)
        return _desk(visit, ref, in_hand, trouble=trouble_of(error))
    return take(post, task, name)


def withdraw(post: Posting, task: str, name: str, pivot: int, variant: int) -> Response:
    """Take one's own variant back; what is typed meanwhile stays."""
    visit, ref = post.visit, f"{task}/{name}"
    authoring.withdraw_variant(visit.db, visit.actor, ref, variant)
    return _show_again(post, ref, pivot)


def add_phenomenon(post: Posting, task: str, name: str, pivot: int) -> Response:
    """Add to the list of phenomena; the new one is ticked."""
    visit, ref = post.visit, f"{task}/{name}"
    try:
        listed = projects.add_phenomenon(visit.db, visit.actor, ref, post.text("phenomenon"))
    except BadInput as error:
        visit.db.rollback()
        return _show_again(post, ref, pivot, trouble=trouble_of(error))
    return _show_again(
        post, ref, pivot, ticked=[tag for tag in listed if tag == " ".join(post.text("phenomenon").split())]
    )


def show_drafts(post: Posting, task: str, name: str, pivot: int) -> Response:
    """Offer drafts by rules."""
    visit, ref = post.visit, f"{task}/{name}"
    try:
        offered = drafts.list_drafts(visit.db, visit.actor, ref, pivot)
    except Conflict as error:
        return _show_again(post, ref, pivot, trouble=trouble_of(error))
    return _show_again(post, ref, pivot, offered=offered.drafts)


def search(post: Posting, task: str, name: str, pivot: int) -> Response:
    """Offer edits that turn what a named model says."""
    visit, ref, runners = post.visit, f"{task}/{name}", post.visit.workspace.runners
    try:
        limit_calls(visit.db, visit.actor, visit.address, visit.workspace.settings.model_calls)
        model = post.text("draft-model")
        offered = drafts.search_drafts(visit.db, visit.blobs, visit.actor, ref, pivot, model, runners=runners)
    except (BadInput, Conflict, NotFound, Unavailable) as error:
        return _show_again(post, ref, pivot, trouble=trouble_of(error))
    return _show_again(post, ref, pivot, offered=offered.drafts)


def look(post: Posting, task: str, name: str, pivot: int) -> Response:
    """Look at what a model says of another example, which leaves the project by that."""
    visit, ref, runners = post.visit, f"{task}/{name}", post.visit.workspace.runners
    try:
        limit_calls(visit.db, visit.actor, visit.address, visit.workspace.settings.model_calls)
        seen = scouting.scout(visit.db, visit.blobs, visit.actor, ref, post.text("look-model"), runners=runners)
    except (BadInput, Conflict, NotFound, Unavailable) as error:
        return _show_again(post, ref, pivot, trouble=trouble_of(error))
    return _show_again(post, ref, pivot, seen=seen)


def _show_again(
    post: Post,
    ref: str,
    pivot: int,
    *,
    trouble: Trouble | None = None,
    offered: Sequence[ContrastDraft] | None = None,
    seen: ContrastLook | None = None,
    ticked: Sequence[str] = (),
) -> Response:
    """Show the desk again with everything that was typed on it."""
    visit = post.visit
    held = authoring.get_pivot(visit.db, visit.actor, ref, pivot)
    definition = tasks.get_task(visit.db, projects.find_project(visit.db, ref).task)
    try:
        typed = _typed(post, definition, held)
    except BadInput as error:  # an upload that is no image
        typed, trouble = Typed({}, None), trouble or trouble_of(error)
    return _desk(visit, ref, held, post=post, typed=typed, trouble=trouble, offered=offered, seen=seen, ticked=ticked)


def _typed(post: Post, task: Task, pivot: ContrastPivot) -> Typed:
    """Read the copy; an image that was uploaded, or picked from the gallery, stands for the one that was there."""
    typed = read(task, post, pivot.inputs, fixed=pivot.fixed)
    inputs = dict(typed.inputs)
    for field in kind_of(task).form(task).inputs:
        if field.widget != "image":
            continue
        upload, picked = post.file(f"upload-{field.name}"), post.text(f"pick-{field.name}")
        if upload is not None:
            inputs[field.name] = keep_image(post.visit.blobs, upload.file.read(), field.name)
        elif picked:
            inputs[field.name] = picked
    return Typed(inputs, typed.target)


def _desk(
    visit: Visit,
    ref: str,
    pivot: ContrastPivot,
    *,
    post: Post | None = None,
    typed: Typed | None = None,
    trouble: Trouble | None = None,
    offered: Sequence[ContrastDraft] | None = None,
    seen: ContrastLook | None = None,
    ticked: Sequence[str] = (),
) -> Response:
    _ = visit.tongue.gettext
    info = projects.find_project(visit.db, ref)
    task = tasks.get_task(visit.db, info.task)
    choices = _models(visit, task, info)
    started = typed is not None and bool(typed.inputs)
    boxes = boxes_of(task, pivot.inputs, typed.inputs if typed else {}, started=started, fixed=pivot.fixed)
    answer = typed.target if typed and typed.target is not None else _first_answer(task, pivot)
    return visit.render(
        "contrast/write.html",
        status=trouble.status if trouble else 200,
        task=task,
        section="contrast",
        project=info,
        spec=info.spec,
        pivot=pivot,
        base=f"/tasks/{task.name}/contrast/{info.name}",
        boxes=boxes,
        target=target_of(task, boxes, answer, None),
        gold_control=_gold_control(task, pivot),
        original_words={box.field.name: box.value for box in boxes_of(task, pivot.inputs, {}, started=False)},
        words_meant=word_places(task, typed) if typed else {},
        before=json.dumps({f"in-{box.field.name}": _before(box) for box in boxes if not box.given}),
        original=[(field, shown_input(field, pivot.inputs)) for field in kind_of(task).form(task).inputs],
        gold=answer_text(task, pivot.inputs, pivot.answer),
        said={name: post.text(name) if post else "" for name in SAID},
        tags=[*(post.texts("tags") if post else ()), *ticked],
        keeps=post.flag("keeps_label") if post else False,
        places=_places(task, pivot, typed),
        offered=offered,
        seen=seen,
        seen_answer=answer_text(task, seen.inputs, seen.answer) if seen else "",
        seen_gold=answer_text(task, seen.inputs, seen.gold) if seen else "",
        models=[(model.ref, f"{model.name} @ {model.number}") for model in choices.models],
        more_models=choices.more,
        gallery=gallery(visit.db, task, info.id) if any(box.field.widget == "image" for box in boxes) else [],
        states=state_words(visit),
        differences=differences,
        word_diff=word_diff,
        answer_text=answer_text,
        crumbs=crumbs_of(visit, task, info.spec.title, info.name, _("Write")),
        error=titled(visit, task, trouble) if trouble else None,
    )


def _first_answer(task: Task, pivot: ContrastPivot) -> Any:
    """Return the answer that the form begins with: none where it is chosen, the original's where it is a place."""
    return pivot.answer if kind_of(task).answers.is_text or kind_of(task).answers.several else None


def _is_original(task: Task, pivot: ContrastPivot, typed: Typed) -> bool:
    """Whether the answer on the form is still what it began with: all of the original's then stay."""
    kind = kind_of(task).answers
    if not kind.is_text or typed.target is None or not kind.fits(typed.target):
        return False
    return kind.texts(typed.target)[:1] == kind.texts(pivot.answer)[:1]


def _gold_control(task: Task, pivot: ContrastPivot) -> str:
    """Return for the page's script what the control of the answer holds for the original."""
    gold = target_of(task, boxes_of(task, pivot.inputs, {}, started=False, fixed=pivot.fixed), pivot.answer, None)
    return json.dumps({"widget": gold.field.widget, "chosen": gold.chosen, "text": gold.text, "start": gold.start})


def _before(box: Box) -> dict[str, str]:
    """Return for the page's script how a field began, and how it is compared."""
    return {"widget": box.field.widget, "text": box.before or ""}


def _places(task: Task, pivot: ContrastPivot, typed: Typed | None) -> list[SpanPlace]:
    return places_of(task, {**pivot.inputs, **typed.inputs}, typed.target) if typed else []


def _models(visit: Visit, task: Task, info: ProjectInfo) -> models.ModelChoices:
    """Return the models that drafts are sought against and whose answers are looked at, where either is allowed."""
    if not (info.spec.drafts or info.spec.scouting):
        return models.ModelChoices((), more=False)
    return models.models_to_choose(visit.db, visit.actor, task.name)
