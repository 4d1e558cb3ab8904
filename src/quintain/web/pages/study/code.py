"""The desk of hand coding: one item, its categories on keys, and the way back to the last one."""

from __future__ import annotations

from starlette.responses import Response

from quintain.core.coding import GLOSSES, NONE
from quintain.core.errors import BadInput, Conflict
from quintain.core.records.coding import ItemToCode
from quintain.services.study import coding_work, codings
from quintain.services.tasks import definitions as tasks
from quintain.web.error_text import translated
from quintain.web.errors import Trouble, trouble_of
from quintain.web.forms import answer_text
from quintain.web.pages.study.codings import category_word, crumbs_of
from quintain.web.pages.validate.judge_items import parts_of
from quintain.web.visit import Posting, Visit, Visiting


def show(visit: Visiting, task: str, name: str, back: str = "", before: int = 0) -> Response:
    """Show the next item; with *back* the one that this person coded last, or the one *before* another."""
    ref = f"{task}/{name}"
    if back:
        coded = coding_work.look_back(visit.db, visit.actor, ref, before or None)
        if coded is not None:
            return _desk(visit, ref, coded)
    try:
        asked = coding_work.next_to_code(visit.db, visit.actor, ref)
    except Conflict:  # it is closed, which the page says
        visit.db.rollback()
        asked = None
    return _desk(visit, ref, asked)


def save(post: Posting, task: str, name: str, item: int) -> Response:
    """Take down what was said of an item, and go on to the next."""
    visit, ref = post.visit, f"{task}/{name}"
    ticked = [category for category in post.texts("category") if category]
    try:
        if not ticked:
            raise BadInput("Choose a category, or say that it is in none of them.")
        categories = [category for category in ticked if category != NONE]
        if NONE in ticked and categories:
            raise BadInput("An item is in some categories, or in none of them.")
        coding_work.code_item(visit.db, visit.actor, ref, item, categories, note=post.text("note"))
    except BadInput as error:
        visit.db.rollback()
        return _desk(visit, ref, coding_work.get_to_code(visit.db, visit.actor, ref, item), trouble=trouble_of(error))
    except Conflict as error:  # somebody else has it now: there is a next one
        return visit.redirect(f"/tasks/{task}/codings/{name}/code", translated(visit.language, error.message))
    return visit.redirect(f"/tasks/{task}/codings/{name}/code")


def _desk(visit: Visit, ref: str, asked: ItemToCode | None, *, trouble: Trouble | None = None) -> Response:
    _ = visit.tongue.gettext
    coding = codings.get_coding(visit.db, visit.actor, ref)
    spec = codings.find_coding(visit.db, ref).spec
    task = tasks.get_task(visit.db, coding.task)
    cards = [
        (name, category_word(visit, name), _(GLOSSES[name]) if name in GLOSSES else "") for name in spec.categories
    ]
    return visit.render(
        "study/code.html",
        status=trouble.status if trouble else 200,
        task=task,
        section="codings",
        coding=coding,
        spec=spec,
        base=f"/tasks/{task.name}/codings/{coding.name}",
        asked=asked,
        texts=parts_of(task, asked.inputs) if asked else [],
        answer=answer_text(task, asked.inputs, asked.answer) if asked and asked.answer is not None else "",
        cards=[*cards, (NONE, _("none of them"), _("Nothing is wrong with it in this respect."))],
        chosen=[] if asked is None or asked.chosen is None else (asked.chosen or [NONE]),
        crumbs=crumbs_of(visit, task, coding.title, coding.name, _("Code")),
        error=trouble,
    )
