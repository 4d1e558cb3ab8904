"""Who holds a role on a task, given and taken by its owners on its settings page."""

from __future__ import annotations

from starlette.responses import Response

from quintain.core.errors import BadInput, Fault, QuintainError
from quintain.core.people import RoleName
from quintain.services.access import accounts
from quintain.services.tasks import definitions as tasks
from quintain.web.errors import trouble_of
from quintain.web.pages.house.task_settings import show_settings
from quintain.web.visit import Posting

GIVEN = tuple(role.value for role in RoleName if role in accounts.GIVEN_BY_OWNERS)


def grant(post: Posting, task: str) -> Response:
    """Grant somebody a role on the task."""
    visit, name = post.visit, post.text("person").strip()
    try:
        accounts.grant_role(visit.db, visit.actor, name, _role(post.text("role")), task=task)
    except QuintainError as error:
        return _refused(post, task, error)
    toast = visit.tongue.gettext("%(name)s has the role now.", name=name)
    return visit.redirect(f"/tasks/{task}/settings#roles", toast)


def revoke(post: Posting, task: str) -> Response:
    """Take a role on the task from somebody."""
    visit, name = post.visit, post.text("person").strip()
    try:
        accounts.revoke_role(visit.db, visit.actor, name, _role(post.text("role")), task=task)
    except QuintainError as error:
        return _refused(post, task, error)
    toast = visit.tongue.gettext("%(name)s does not have the role any more.", name=name)
    # Who gave up being an owner may not see the settings any more.
    return visit.redirect(f"/tasks/{task}" if visit.actor.name == name else f"/tasks/{task}/settings#roles", toast)


def _refused(post: Posting, task: str, error: QuintainError) -> Response:
    post.visit.db.rollback()
    return show_settings(post.visit, tasks.get_task(post.visit.db, task), trouble_of(error))


def _role(name: str) -> RoleName:
    if name not in GIVEN:
        raise BadInput(
            faults=[Fault("'{name}' is not one of {known}", name=name, known=", ".join(GIVEN), field="role")]
        )
    return RoleName(name)
