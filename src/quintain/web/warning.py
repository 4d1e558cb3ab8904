"""The page that stands before the texts of a task that warns of its content, until the reader has gone on once.

It stands before every page of such a task but those that are known to show none of its texts: a new page is behind it
until somebody says that it need not be.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from quintain.core.hashing import content_id
from quintain.core.task import Task

WARNED_COOKIE = "quintain_warned"
MOST_REMEMBERED = 40
# Pages of a task without texts of its data, of writers or of quizzes. What warns of them itself is among them.
WITHOUT_TEXTS = frozenset(
    {
        "board/board.html",
        "board/claim.html",
        "board/pending.html",
        "board/settings.html",
        "board/top.html",
        "trial/entry.html",
        "trial/entry_done.html",
        "trial/entry_proof.html",
        "collect/panel_people.html",
        "collect/round_eligibility.html",
        "collect/rounds.html",
        "collect/write_rounds.html",
        "collect/write_start.html",
        "confirm_changes.html",
        "conflict.html",
        "contest/contests.html",
        "contrast/import.html",
        "contrast/projects.html",
        "data/datasets.html",
        "data/import.html",
        "error.html",
        "evaluate/runs.html",
        "evaluate/submit.html",
        "evaluate/train.html",
        "evaluate/training.html",
        "jobs/job.html",
        "board/models.html",
        "pay/payout.html",
        "collect/round_pay.html",
        "pay/task_pay.html",
        "spec_edit.html",
        "study/codings.html",
        "study/reports.html",
        "house/task.html",
        "house/task_new.html",
        "house/task_settings.html",
        "tasks/warning.html",
        "trial/trials.html",
        "validate/index.html",
        "validate/judge_offers.html",
        "validate/judge_start.html",
        "wheel/timeline.html",
    }
)


def mark_of(task: Task) -> str:
    """Name the warning of *task* in the words that it has now: one that was changed is shown again."""
    return content_id([task.name, dict(task.content_warning)])[:16]


def is_due(template: str, values: Mapping[str, Any], seen: str) -> bool:
    """Whether the warning has to be shown before a page; *seen* are the warnings that the reader has gone past."""
    task = values.get("task")
    if not isinstance(task, Task) or not task.content_warning or template in WITHOUT_TEXTS:
        return False
    return mark_of(task) not in seen.split(".")


def with_mark(task: Task, seen: str) -> str:
    """Return the warnings that the reader has gone past, with that of *task*; the oldest are forgotten."""
    earlier = [mark for mark in seen.split(".") if mark and mark != mark_of(task)]
    return ".".join([*earlier, mark_of(task)][-MOST_REMEMBERED:])
