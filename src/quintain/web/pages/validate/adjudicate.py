"""Adjudication: an expert decides on contested items, one at a time, by keys, and can take a decision back."""

from __future__ import annotations

from starlette.responses import Response

from quintain.core.errors import BadInput, Forbidden, NotFound
from quintain.services.tasks import definitions as tasks
from quintain.services.validate.judging import adjudicate as adjudication
from quintain.services.validate.labels import choices, shows_answer
from quintain.services.validate.quality import validation_figures
from quintain.web.errors import Trouble, trouble_of
from quintain.web.pages.validate.console import crumbs
from quintain.web.pages.validate.judge_items import answer_of, cards_of, parts_of
from quintain.web.visit import Posting, Visit, Visiting


def show(visit: Visiting, task: str, name: str, at: int = 0, undo: int = 0) -> Response:
    """Show the contested item at place *at* of the queue; *undo* is the item that was decided last."""
    return _show(visit, task, name, at=at, undo=undo)


def decide(post: Posting, task: str, name: str) -> Response:
    """Keep a decision, or take one back where no label is given."""
    visit = post.visit
    item, label, at = post.number("item"), post.text("label"), post.number("at")
    base = f"/tasks/{task}/validation/{name}/adjudicate"
    back = post.flag("take-back")
    try:
        if not label and not back:
            raise BadInput("Choose a label first.")
        decision = "" if back else label
        adjudication.adjudicate(visit.db, visit.actor, f"{task}/{name}", item, decision, reason=post.text("reason"))
    except (BadInput, Forbidden, NotFound) as error:
        return _show(visit, task, name, at=at, trouble=trouble_of(error))
    return visit.redirect(f"{base}?at={at}" if back else f"{base}?at={at}&undo={item}")


def _show(visit: Visit, task: str, name: str, *, at: int, undo: int = 0, trouble: Trouble | None = None) -> Response:
    _ = visit.tongue.gettext
    definition = tasks.get_task(visit.db, task)
    queue = adjudication.adjudication_queue(visit.db, visit.actor, f"{task}/{name}", first=at)
    item = queue.items[0] if queue.items else None
    return visit.render(
        "validate/adjudicate.html",
        status=trouble.status if trouble else 200,
        task=definition,
        section="validation",
        name=name,
        home=f"/tasks/{task}/validation/{name}",
        owns=visit.owns(definition),
        counted=validation_figures.figure_status(visit.db, visit.actor, f"{task}/{name}"),
        item=item,
        place=queue.first,
        waiting=queue.total,
        undo=undo,
        votes=sum(item.votes.values()) if item else 0,
        texts=parts_of(definition, item.inputs) if item else [],
        cards=cards_of(choices(definition, item.inputs), visit.language) if item else [],
        answer=answer_of(definition, item.inputs, item.answer) if item and shows_answer(definition) else "",
        labels=[*definition.labels, *definition.extra_labels],
        crumbs=crumbs(visit, definition, name, _("Adjudicate")),
        error=trouble,
    )
