"""Typing a model into the page: Python, or an endpoint; tried at once with what it answers, and submitted."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from starlette.responses import Response

from quintain.adapters.contract import ADAPTERS
from quintain.compose import rules_of
from quintain.core.errors import BadInput, Conflict, Forbidden, NotFound, TooMany, Unavailable
from quintain.core.people import RoleName
from quintain.core.task import Task
from quintain.services.access.permissions import require_role
from quintain.services.evaluate.submissions.check_model import CheckReport
from quintain.services.evaluate.submissions.submit import may_submit, submit_folder, try_model
from quintain.services.evaluate.submissions.typed_models import (
    CODE,
    first_values,
    takes_code,
    typed_model,
    ways_to_type,
)
from quintain.services.tasks import definitions as tasks
from quintain.web.errors import Trouble, trouble_of
from quintain.web.pages.evaluate.submit import chosen_visibility, lacking, tell_submission
from quintain.web.pages.models.models import visibility_choices
from quintain.web.pages.tasks.tasks import title_of
from quintain.web.visit import Posting, Visit, Visiting

REFUSED = (BadInput, Conflict, Forbidden, NotFound, TooMany, Unavailable)
LONG = frozenset({"prompt", "system"})  # options that take several lines


@dataclass(frozen=True, slots=True)
class OptionField:
    """One option of an endpoint as a control."""

    name: str
    meaning: str
    value: str
    long: bool
    first: bool  # among those that an endpoint begins with


def page(visit: Visiting, task: str, way: str) -> Response:
    """Show the form, with something that works to start from."""
    definition = tasks.get_task(visit.db, task)
    require_role(visit.actor, RoleName.BUILDER, RoleName.OWNER, task=task)
    return _page(visit, definition, way, first_values(way, definition))


def send(post: Posting, task: str, way: str) -> Response:
    """Try what was typed, or submit it."""
    visit = post.visit
    definition = tasks.get_task(visit.db, task)
    may_submit(visit.actor, task)
    names = [CODE] if takes_code(way) else list(ADAPTERS.get(way).options)
    values = {name: post.text(f"option-{name}") for name in names}
    values |= {name: post.text(name).strip() for name in ("name", "visibility")}
    rules = rules_of(visit.workspace.settings)
    where = (visit.db, visit.blobs, visit.actor, task)
    try:
        with typed_model(way, definition, values, name=values["name"]) as folder:
            if post.flag("try"):
                return _page(visit, definition, way, values, report=try_model(*where, folder, rules=rules))
            visibility = chosen_visibility(values["visibility"])
            submission = submit_folder(*where, folder, rules=rules, name=values["name"] or None, visibility=visibility)
    except REFUSED as error:
        return _page(visit, definition, way, values, trouble=trouble_of(error))
    return tell_submission(visit, task, submission)


def _page(
    visit: Visit,
    task: Task,
    way: str,
    values: Mapping[str, str],
    *,
    report: CheckReport | None = None,
    trouble: Trouble | None = None,
) -> Response:
    _ = visit.tongue.gettext
    begun = first_values(way, task)
    return visit.render(
        "evaluate/submit_typed.html",
        status=trouble.status if trouble else 200,
        task=task,
        section="models",
        way=way,
        ways=[(name, _(title)) for name, title in ways_to_type()],
        code=values.get(CODE, "") if takes_code(way) else None,
        options=[
            OptionField(name, _(meaning), values.get(name, ""), name in LONG, bool(begun.get(name)))
            for name, meaning in ADAPTERS.get(way).options.items()
        ],
        values=values,
        report=report,
        lacking=lacking(visit) if takes_code(way) else (),
        visibilities=visibility_choices(_),
        crumbs=[
            (title_of(visit, task), f"/tasks/{task.name}"),
            (_("Models"), f"/tasks/{task.name}/models"),
            (_("Submit a model"), f"/tasks/{task.name}/submit"),
            (_(ADAPTERS.get(way).title), None),
        ],
        error=trouble,
    )
