"""Calls about quizzes (`task/name`), qualifications, and who may write in rounds (`task/number`).

Written by scripts/make_client.py from the API's description; change that, not this.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from quintain.client.refs import ref_path, task_path
from quintain.client.transport import Transport
from quintain.core.records.work import (
    Crowd,
    Eligible,
    Feedback,
    Qualification,
    Qualifications,
    Quiz,
    QuizLine,
    QuizResults,
    QuizTry,
    Quizzes,
)


class QuizzesCalls:
    """What `Client` can ask about quizzes."""

    _transport: Transport

    def quizzes(self, task: str) -> list[QuizLine]:
        """List the quizzes of a task; retired ones to its owners only."""
        return self._transport.read(Quizzes, "GET", f"{task_path(task)}/quizzes").quizzes

    def quiz(self, ref: str) -> Quiz:
        """Return a quiz for whoever is to take it and has signed in; right answers for the task's owners only."""
        return self._transport.read(Quiz, "GET", ref_path(ref, "quizzes"))

    def put_quiz(
        self, ref: str, definition: Mapping[str, Any], *, revision: str = "", remove: Iterable[str] = ()
    ) -> Quiz:
        """Add the quiz that *definition* describes, with the keys of its file, or change it (owners)."""
        return self._transport.read(
            Quiz,
            "PUT",
            ref_path(ref, "quizzes"),
            params={"revision": revision, "remove": list(remove)},
            json={"definition": dict(definition)},
        )

    def retire_quiz(self, ref: str) -> Quiz:
        """Take a quiz out of use; who passed it has passed it (owners)."""
        return self._transport.read(Quiz, "POST", f"{ref_path(ref, 'quizzes')}/retire")

    def restore_quiz(self, ref: str) -> Quiz:
        """Take a quiz that was retired into use again (owners)."""
        return self._transport.read(Quiz, "POST", f"{ref_path(ref, 'quizzes')}/restore")

    def quiz_results(self, ref: str, *, limit: int = 100, offset: int = 0) -> QuizResults:
        """Return who passed a quiz, a page of them, and which questions are missed (owners)."""
        return self._transport.read(
            QuizResults, "GET", f"{ref_path(ref, 'quizzes')}/results", params={"limit": limit, "offset": offset}
        )

    def take_quiz(self, ref: str, answers: Iterable[int]) -> QuizTry:
        """Take a quiz: the number of an option, counted from 0, for each question."""
        return self._transport.read(
            QuizTry, "POST", f"{ref_path(ref, 'quizzes')}/tries", json={"answers": list(answers)}
        )

    def practise_quiz(self, ref: str, question: int, answer: int) -> Feedback:
        """Have an answer in practice explained; nothing is kept."""
        return self._transport.read(
            Feedback, "POST", f"{ref_path(ref, 'quizzes')}/practice", json={"question": question, "answer": answer}
        )

    def eligibility(self, ref: str, name: str | None = None) -> Eligible:
        """Return rule by rule whether one, or for an owner the person called *name*, may write in a round."""
        return self._transport.read(Eligible, "GET", f"{ref_path(ref, 'rounds')}/eligibility", params={"name": name})

    def eligible(self, ref: str, *, search: str = "", limit: int = 100, offset: int = 0) -> list[Eligible]:
        """Return of everybody with the role of a worker whether they may write in a round (owners)."""
        return self._transport.read(
            Crowd,
            "GET",
            f"{ref_path(ref, 'rounds')}/people",
            params={"search": search, "limit": limit, "offset": offset},
        ).people

    def qualifications(self, task: str, name: str | None = None) -> list[Qualification]:
        """List every change of one's own qualifications on a task, or for an owner of those of *name*."""
        return self._transport.read(
            Qualifications, "GET", f"{task_path(task)}/qualifications", params={"name": name}
        ).qualifications

    def qualify(
        self, task: str, name: str, qualification: str, *, held: bool = True, reason: str = ""
    ) -> list[Qualification]:
        """Grant somebody a qualification on a task, or end it, and list every change of theirs (owners)."""
        return self._transport.read(
            Qualifications,
            "POST",
            f"{task_path(task)}/qualifications",
            json={"name": name, "qualification": qualification, "held": held, "reason": reason},
        ).qualifications
