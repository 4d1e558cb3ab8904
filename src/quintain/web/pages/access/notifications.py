"""Messages to the person."""

from __future__ import annotations

from starlette.responses import Response

from quintain.services.access import notify
from quintain.web.visit import Posting, Visiting, local_path


def notifications(visit: Visiting) -> Response:
    """List the messages."""
    messages = notify.list_notifications(visit.db, visit.actor)
    title = visit.tongue.gettext("Notifications")
    return visit.render("access/notifications.html", messages=messages, local_path=local_path, crumbs=[(title, None)])


def read_notifications(post: Posting) -> Response:
    """Mark all messages as read."""
    notify.mark_read(post.visit.db, post.visit.actor)
    return post.visit.redirect("/notifications")
