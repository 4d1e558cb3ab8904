"""Studies and participant groups on Prolific, from the page of a task's pay."""

from __future__ import annotations

from starlette.responses import Response

from quintain.services.collect.panels import prolific as panel
from quintain.services.trial import studies
from quintain.web.listing import ListQuery
from quintain.web.pages.pay.task_pay import REFUSED, show_task_pay
from quintain.web.visit import Posting


def study(post: Posting, task: str) -> Response:
    """Make a study that leads to a round, a judging, a trial or its grading, or change one."""
    visit = post.visit
    number = post.text("study")
    ref = task if number else f"{task}/{post.text('place').strip()}"
    places, outside = post.number("places") if post.text("places") else 0, visit.workspace.outside
    try:
        if number:
            action = post.text("action")
            changed = panel.change_study(visit.db, visit.actor, ref, number, outside, action=action, places=places)
        else:
            changed = studies.create_study(
                visit.db,
                visit.actor,
                ref,
                outside,
                visit.base_url,
                to=post.text("to"),  # type: ignore[arg-type] # the service refuses what it does not know
                places=places,
                group=post.text("group"),
                reward=post.number("reward") if post.text("reward") else None,
            )
    except REFUSED as error:
        return show_task_pay(visit, task, ListQuery(), error)
    toast = visit.tongue.gettext("Study %(study)s: %(status)s", study=changed.study, status=changed.status)
    return visit.redirect(f"/tasks/{task}/pay", toast)


def group(post: Posting, task: str) -> Response:
    """Let a participant group hold who holds a qualification."""
    visit = post.visit
    outside, qualification = visit.workspace.outside, post.text("qualification")
    try:
        synced = panel.sync_group(visit.db, visit.actor, task, qualification, outside, group=post.text("group"))
    except REFUSED as error:
        return show_task_pay(visit, task, ListQuery(), error)
    toast = visit.tongue.ngettext(
        "Group %(group)s: %(num)s person", "Group %(group)s: %(num)s people", synced.people, group=synced.group
    )
    return visit.redirect(f"/tasks/{task}/pay", toast)
