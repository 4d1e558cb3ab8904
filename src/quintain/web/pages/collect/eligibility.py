"""Who may write in a round, and why not: for workers about themselves, for owners about everybody."""

from __future__ import annotations

from urllib.parse import quote

from starlette.responses import Response

from quintain.core.errors import BadInput, NotFound
from quintain.core.records.work import Eligible
from quintain.services.access.permissions import require_signed_in
from quintain.services.collect.rounds import eligible, manage
from quintain.services.tasks import definitions as tasks
from quintain.services.work import qualify
from quintain.web.errors import Trouble, trouble_of
from quintain.web.pages.tasks.tasks import title_of
from quintain.web.paging import Paging
from quintain.web.visit import Posting, Visit, Visiting

PEOPLE = 50


def show(visit: Visiting, task: str, number: int, name: str = "", search: str = "", offset: int = 0) -> Response:
    """Show rule by rule why the reader, or for an owner the person called *name*, may or may not write."""
    require_signed_in(visit.actor)
    return _show(visit, task, number, name=name.strip(), search=search.strip()[:200], offset=offset)


def state(post: Posting, task: str, number: int) -> Response:
    """Take down what a worker says of themselves: country, language."""
    visit = post.visit
    try:
        for name in qualify.STATED:
            value = post.text(name).strip()
            if value:
                qualify.state_fact(visit.db, visit.actor, name, value)
    except BadInput as error:
        return _show(visit, task, number, trouble=trouble_of(error))
    return visit.redirect(f"/tasks/{task}/rounds/{number}/eligibility", visit.tongue.gettext("Saved."))


def set_qualification(post: Posting, task: str, number: int) -> Response:
    """Grant somebody a qualification, or end it."""
    visit, name = post.visit, post.text("name").strip()
    held = post.text("act") != "end"
    qualification = post.text("qualification").strip()
    try:
        qualify.set_qualification(
            visit.db, visit.actor, task, name, qualification, held=held, reason=post.text("reason")
        )
    except (BadInput, NotFound) as error:
        return _show(visit, task, number, name=name, trouble=trouble_of(error))
    address = f"/tasks/{task}/rounds/{number}/eligibility?name={quote(name)}"
    return visit.redirect(address, visit.tongue.gettext("Saved."))


def _show(
    visit: Visit,
    task: str,
    number: int,
    *,
    name: str = "",
    search: str = "",
    offset: int = 0,
    trouble: Trouble | None = None,
) -> Response:
    _ = visit.tongue.gettext
    definition = tasks.get_task(visit.db, task)
    owner = visit.owns(definition)
    ref = f"{task}/{number}"
    info = manage.get_round(visit.db, visit.actor, ref)
    eligible_person, history = None, []
    try:
        eligible_person = eligible.may_write(visit.db, visit.actor, ref, name if owner and name else None)
        history = qualify.qualification_history(visit.db, visit.actor, task, name if owner and name else None)
    except NotFound as error:
        trouble = trouble or trouble_of(error)
    crowd = None
    if owner and not name:
        crowd = eligible.crowd(visit.db, visit.actor, ref, search=search, limit=PEOPLE, offset=max(0, offset))
    base = f"/tasks/{task}/rounds/{number}/eligibility"
    return visit.render(
        "collect/round_eligibility.html",
        status=trouble.status if trouble else 200,
        task=definition,
        section="rounds" if owner else "write",
        round=info,
        name=name if owner else "",
        one=eligible_person,
        facts=_facts(visit, eligible_person) if not (owner and name) else {},
        history=history,
        crowd=crowd,
        search=search,
        page=Paging(base, {"search": search}, max(0, offset), len(crowd.people), crowd.total, PEOPLE)
        if crowd
        else None,
        crumbs=[
            (title_of(visit, definition), f"/tasks/{task}"),
            (info.spec.title, f"/tasks/{task}/rounds/{number}"),
            (_("Who may write"), None),
        ],
        error=trouble,
    )


def _facts(visit: Visit, person: Eligible | None) -> dict[str, str]:
    """Return what rules of the round ask a worker to state, with what is known."""
    asked = [reason.rule for reason in person.reasons if reason.rule in qualify.STATED] if person else []
    known = {fact.name: fact.value for fact in qualify.facts(visit.db, visit.actor)} if asked else {}
    return {name: known.get(name, "") for name in asked}
