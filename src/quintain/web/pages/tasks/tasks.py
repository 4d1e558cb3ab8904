"""A task: what it asks and, for its owner, its definition."""

from __future__ import annotations

from starlette.responses import Response

from quintain.core.task import Task
from quintain.services.tasks import definitions as tasks
from quintain.web.i18n import in_language
from quintain.web.visit import Posting, Visit, local_path


def go_past_warning(post: Posting, task: str) -> Response:
    """Note that the reader has read what the task warns of, and lead on to the page that was asked for."""
    post.visit.go_past_warning(tasks.get_task(post.visit.db, task))
    return post.visit.redirect(local_path(post.text("next")))


def title_of(visit: Visit, task: Task) -> str:
    """Return a task's title in the reader's language."""
    return in_language(task.title, visit.language, task.languages) or task.name
