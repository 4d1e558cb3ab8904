"""Taking a quiz out of use, and into use again, for programs."""

from __future__ import annotations

from quintain.core.records.work import (
    Quiz,
)
from quintain.services.validate.quality import quiz_use
from quintain.web.api.call import Calling
from quintain.web.api.params import TaskName
from quintain.web.api.work.quizzes import QuizName


def retire_quiz(call: Calling, task: TaskName, quiz: QuizName) -> Quiz:
    """Take a quiz out of use; who passed it has passed it (owners)."""
    return quiz_use.retire_quiz(call.db, call.actor, task, quiz)


def restore_quiz(call: Calling, task: TaskName, quiz: QuizName) -> Quiz:
    """Take a quiz that was retired into use again (owners)."""
    return quiz_use.restore_quiz(call.db, call.actor, task, quiz)
