"""Calls about trials of protocols (`task/name`).

Written by scripts/make_client.py from the API's description; change that, not this.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any
from urllib.parse import quote

from quintain.client.refs import ref_path, task_path
from quintain.client.transport import Transport
from quintain.core.records.report import Report
from quintain.core.records.trial import (
    CrowdTrial,
    CrowdTrials,
    GradingTask,
    LetterDraft,
    LetterDrafts,
    NextGrading,
    NextStep,
    PoolAdded,
    QuizStep,
    TrialCosts,
    TrialEntries,
    TrialModels,
    TrialPart,
)


class TrialsCalls:
    """What `Client` can ask about trials."""

    _transport: Transport

    def trials(self, task: str, *, offset: int = 0, limit: int = 100) -> list[CrowdTrial]:
        """List the trials of a task, the newest first."""
        return self._transport.read(
            CrowdTrials, "GET", f"{task_path(task)}/trials", params={"offset": offset, "limit": limit}
        ).trials

    def trial(self, ref: str) -> CrowdTrial:
        """Return a trial; where its arms stand, for owners only."""
        return self._transport.read(CrowdTrial, "GET", ref_path(ref, "trials"))

    def put_trial(
        self, ref: str, protocols: Iterable[str], title: str = "", *, revision: str = "", remove: Iterable[str] = ()
    ) -> CrowdTrial:
        """Add a trial, or change one that is not open yet."""
        return self._transport.read(
            CrowdTrial,
            "PUT",
            ref_path(ref, "trials"),
            params={"revision": revision, "remove": list(remove)},
            json={"protocols": list(protocols), "title": title},
        )

    def open_trial(
        self,
        ref: str,
        source: str = "",
        *,
        contexts: Iterable[Mapping[str, Any]] = (),
        most: int = 0,
        models: Iterable[str] = (),
        genre: str = "genre",
    ) -> CrowdTrial:
        """Let people enter; from now on the protocols never change."""
        return self._transport.read(
            CrowdTrial,
            "POST",
            f"{ref_path(ref, 'trials')}/open",
            json={
                "source": source,
                "contexts": [dict(row) for row in contexts],
                "most": most,
                "models": list(models),
                "genre": genre,
            },
        )

    def close_trial(self, ref: str) -> CrowdTrial:
        """End a trial; its rounds close."""
        return self._transport.read(CrowdTrial, "POST", f"{ref_path(ref, 'trials')}/close")

    def close_stage(self, ref: str, arm: str, stage: str, *, force: bool = False) -> CrowdTrial:
        """Close a stage of an arm: those who wait there go on."""
        return self._transport.read(
            CrowdTrial,
            "POST",
            f"{ref_path(ref, 'trials')}/stages/{quote(arm, safe='')}/{quote(stage, safe='')}/close",
            json={"force": force},
        )

    def readmit(self, ref: str, arm: str, stage: str, person: str) -> CrowdTrial:
        """Let somebody go on whom a qualification turned away, as after an appeal."""
        return self._transport.read(
            CrowdTrial,
            "POST",
            f"{ref_path(ref, 'trials')}/stages/{quote(arm, safe='')}/{quote(stage, safe='')}/readmit",
            json={"person": person},
        )

    def letters(self, ref: str, arm: str, stage: str) -> list[LetterDraft]:
        """List the letters of a stage of feedback, with the replies."""
        return self._transport.read(
            LetterDrafts, "GET", f"{ref_path(ref, 'trials')}/letters/{quote(arm, safe='')}/{quote(stage, safe='')}"
        ).letters

    def edit_letter(self, ref: str, arm: str, stage: str, name: str, text: str, *, revision: str = "") -> None:
        """Change a letter before it goes out."""
        self._transport.ask(
            "PUT",
            f"{ref_path(ref, 'trials')}/letters/{quote(arm, safe='')}/{quote(stage, safe='')}/{quote(name, safe='')}",
            params={"revision": revision},
            json={"text": text},
        )

    def answer_reply(self, ref: str, arm: str, stage: str, name: str, text: str) -> None:
        """Answer what somebody replied to their letter."""
        self._transport.ask(
            "POST",
            f"{ref_path(ref, 'trials')}/replies/{quote(arm, safe='')}/{quote(stage, safe='')}/{quote(name, safe='')}",
            json={"text": text},
        )

    def enter_trial(self, ref: str, *, consent: bool = False) -> TrialPart:
        """Take part in a trial; `consent` says that one agrees to what it asks people to agree to."""
        return self._transport.read(TrialPart, "POST", f"{ref_path(ref, 'trials')}/enter", json={"consent": consent})

    def leave_trial(self, ref: str) -> TrialPart:
        """Leave a trial; what was finished is paid."""
        return self._transport.read(TrialPart, "POST", f"{ref_path(ref, 'trials')}/leave")

    def trial_part(self, ref: str) -> TrialPart:
        """Return where one stands in a trial, and what comes next."""
        return self._transport.read(TrialPart, "GET", f"{ref_path(ref, 'trials')}/part")

    def quiz_step(self, ref: str) -> QuizStep | None:
        """Return the next step of the tutorial's quizzes, if there is one."""
        return self._transport.read(NextStep, "GET", f"{ref_path(ref, 'trials')}/quiz").step

    def answer_quiz_step(self, ref: str, quiz: str, step: int, answer: str) -> QuizStep | None:
        """Answer one step of a quiz, and get the next."""
        return self._transport.read(
            NextStep, "POST", f"{ref_path(ref, 'trials')}/quiz", json={"quiz": quiz, "step": step, "answer": answer}
        ).step

    def reply_to_letter(self, ref: str, stage: str, text: str, *, appeal: bool = False) -> None:
        """Reply to a letter, or appeal against it."""
        self._transport.ask(
            "POST",
            f"{ref_path(ref, 'trials')}/part/letters/{quote(stage, safe='')}",
            json={"text": text, "appeal": appeal},
        )

    def grading_task(self, ref: str) -> GradingTask | None:
        """Be given an item to grade, if one waits; until it is graded or its time is over, one gets the same again."""
        return self._transport.read(NextGrading, "GET", f"{ref_path(ref, 'trials')}/grading").item

    def grade_item(self, ref: str, stage: str, item: str, answers: Mapping[str, Any]) -> GradingTask | None:
        """Grade an item that one was given, by the rubric, and get the next."""
        return self._transport.read(
            NextGrading,
            "POST",
            f"{ref_path(ref, 'trials')}/grading",
            json={"stage": stage, "item": item, "answers": dict(answers)},
        ).item

    def change_grade(self, ref: str, stage: str, item: str, answers: Mapping[str, Any]) -> GradingTask | None:
        """Change a grade that one gave, and get the next item."""
        return self._transport.read(
            NextGrading,
            "PUT",
            f"{ref_path(ref, 'trials')}/grading",
            json={"stage": stage, "item": item, "answers": dict(answers)},
        ).item

    def grade(self, ref: str, *, back: int = 1) -> GradingTask:
        """Return a grade that one gave before, while it can be changed."""
        return self._transport.read(
            GradingTask, "GET", f"{ref_path(ref, 'trials')}/grading/before", params={"back": back}
        )

    def trial_costs(self, ref: str) -> TrialCosts:
        """Return what a question has cost in each arm: with training and without; and what the judging has cost."""
        return self._transport.read(TrialCosts, "GET", f"{ref_path(ref, 'trials')}/costs")

    def trial_doors(self, ref: str) -> TrialEntries:
        """Return the addresses that panels send people to, to take part and to grade (owners)."""
        return self._transport.read(TrialEntries, "GET", f"{ref_path(ref, 'trials')}/doors")

    def put_trial_doors(self, ref: str, toml: str, *, revision: str = "", remove: Iterable[str] = ()) -> TrialEntries:
        """Set how people from panels come into a trial and go back (owners)."""
        return self._transport.read(
            TrialEntries,
            "PUT",
            f"{ref_path(ref, 'trials')}/doors",
            params={"revision": revision, "remove": list(remove)},
            json={"toml": toml},
        )

    def open_trial_pool(self, ref: str) -> PoolAdded:
        """Let the final items of all arms be judged, in one pool."""
        return self._transport.read(PoolAdded, "POST", f"{ref_path(ref, 'trials')}/pool")

    def trial_models(self, ref: str) -> TrialModels:
        """Return which models are run on the final items of a trial, and how far each is (owners)."""
        return self._transport.read(TrialModels, "GET", f"{ref_path(ref, 'trials')}/models")

    def run_trial_models(self, ref: str, models: Iterable[str] = ()) -> TrialModels:
        """Have models run on the final items of a trial, once they are judged (owners).

        Asking again adds models, and has those tried again that failed.
        """
        return self._transport.read(
            TrialModels, "POST", f"{ref_path(ref, 'trials')}/models", json={"models": list(models)}
        )

    def trial_report(self, ref: str) -> Report:
        """Report on a trial; of one with many judgements a worker makes it, the first time too."""
        return self._transport.read(Report, "GET", f"{ref_path(ref, 'trials')}/report")
