"""The client's calls about quizzes, qualifications and who may write."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from quintain.client.refs import place, task_path
from quintain.client.shapes import Eligible, Qualification, Quiz, QuizLine, QuizResults, QuizTry
from quintain.client.transport import Transport


class WorkCalls:
    """What `Client` can ask about quizzes (`task/name`), qualifications, and rounds (`task/number`)."""

    _transport: Transport

    def quizzes(self, task: str) -> list[QuizLine]:
        """List the quizzes of a task; retired ones for its owners only."""
        found = self._transport.ask("GET", f"{task_path(task)}/quizzes")
        return [QuizLine.read(item) for item in found["quizzes"]]

    def quiz(self, ref: str) -> Quiz:
        """Give a quiz and where one stands with it; right answers for owners only."""
        return Quiz.read(self._transport.ask("GET", place(ref, "quizzes")))

    def put_quiz(self, ref: str, definition: Mapping[str, Any]) -> Quiz:
        """Add the quiz that *definition* describes, with the keys of its file, or change it (owners)."""
        return Quiz.read(self._transport.ask("PUT", place(ref, "quizzes"), json={"definition": dict(definition)}))

    def retire_quiz(self, ref: str) -> Quiz:
        """Take a quiz out of use (owners)."""
        return Quiz.read(self._transport.ask("POST", f"{place(ref, 'quizzes')}/retire"))

    def quiz_results(self, ref: str) -> QuizResults:
        """Say who passed a quiz, and which questions are missed (owners)."""
        return QuizResults.read(self._transport.ask("GET", f"{place(ref, 'quizzes')}/results"))

    def take_quiz(self, ref: str, answers: Sequence[int]) -> QuizTry:
        """Take a quiz: the number of an option, counted from 0, for each question."""
        body = {"answers": list(answers)}
        return QuizTry.read(self._transport.ask("POST", f"{place(ref, 'quizzes')}/tries", json=body))

    def eligibility(self, ref: str, name: str | None = None) -> Eligible:
        """Say rule by rule whether one, or for an owner the person called *name*, may write in a round."""
        params = {"name": name} if name is not None else {}
        return Eligible.read(self._transport.ask("GET", f"{place(ref, 'rounds')}/eligibility", params=params))

    def eligible(self, ref: str, *, search: str = "", limit: int = 100, offset: int = 0) -> list[Eligible]:
        """Say of everybody with the role of a worker whether they may write in a round (owners)."""
        params = {"search": search, "limit": limit, "offset": offset}
        found = self._transport.ask("GET", f"{place(ref, 'rounds')}/people", params=params)
        return [Eligible.read(item) for item in found["people"]]

    def qualify(
        self, task: str, name: str, qualification: str, *, held: bool = True, reason: str = ""
    ) -> list[Qualification]:
        """Give somebody a qualification on a task, or end it, and list every change of theirs (owners)."""
        body = {"name": name, "qualification": qualification, "held": held, "reason": reason}
        found = self._transport.ask("POST", f"{task_path(task)}/qualifications", json=body)
        return [Qualification.read(item) for item in found["qualifications"]]

    def qualifications(self, task: str, name: str | None = None) -> list[Qualification]:
        """List every change of one's own qualifications on a task, or for an owner of those of *name*."""
        params = {"name": name} if name is not None else {}
        found = self._transport.ask("GET", f"{task_path(task)}/qualifications", params=params)
        return [Qualification.read(item) for item in found["qualifications"]]

    def state_fact(self, name: str, value: str) -> dict[str, str]:
        """Say one's country or language, and give what is known of oneself."""
        found = self._transport.ask("PUT", "/me/facts", json={"name": name, "value": value})
        return {item["name"]: item["value"] for item in found["facts"]}
