"""Calls about validations (`task/number` for that of a round, or `task/name`), and pages to judge, by their token.

Written by scripts/make_client.py from the API's description; change that, not this.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any
from urllib.parse import quote

from quintain.client.refs import ref_path, task_path
from quintain.client.transport import Transport
from quintain.core.records.collect import Round
from quintain.core.records.judging import (
    Contested,
    ContestedItems,
    GoldAdded,
    GoldItems,
    GoldLabel,
    HeldPage,
    JudgeHistory,
    JudgeReview,
    JudgingEntry,
    JudgingPage,
    Lease,
    QuizName,
    Receipt,
    RuleEffect,
    SavedNumber,
)
from quintain.core.records.release import Release, Releases
from quintain.core.records.validate import (
    Act,
    AdaptiveForecast,
    ErrorRates,
    ItemsAdded,
    Judge,
    JudgedItems,
    Judges,
    JudgingNote,
    JudgingNotes,
    Outcomes,
    Policies,
    PolicyVersion,
    Validation,
    ValidationProgress,
    Validations,
    ValidationTrail,
)
from quintain.core.records.wheel import RoundParity


class ValidationCalls:
    """What `Client` can ask about validation."""

    _transport: Transport

    def validations(self, task: str) -> list[ValidationProgress]:
        """List the validations of a task with progress and forecast (owners)."""
        return self._transport.read(Validations, "GET", f"{task_path(task)}/validations").validations

    def open_validation(
        self, ref: str, policy: str | None = None, *, seed: int = 0, revision: str = "", remove: Iterable[str] = ()
    ) -> ValidationProgress:
        """Begin to validate a round, or a table under a name of its own, or open it again (owners)."""
        return self._transport.read(
            ValidationProgress,
            "POST",
            ref_path(ref, "validations"),
            params={"revision": revision, "remove": list(remove)},
            json={"policy": policy, "seed": seed},
        )

    def validation(self, ref: str) -> Validation:
        """Return how far a validation is: progress, forecast, agreement, labels, judges, error rates (owners)."""
        return self._transport.read(Validation, "GET", ref_path(ref, "validations"))

    def judging_entry(self, ref: str) -> JudgingEntry:
        """Return the address that a panel sends judges to (owners)."""
        return self._transport.read(JudgingEntry, "GET", f"{ref_path(ref, 'validations')}/entry")

    def validation_progress(self, ref: str) -> ValidationProgress:
        """Return progress and forecast only: cheap enough to ask again and again (owners)."""
        return self._transport.read(ValidationProgress, "GET", f"{ref_path(ref, 'validations')}/progress")

    def set_validation_state(self, ref: str, state: str) -> ValidationProgress:
        """Let people judge or not: open, paused or closed (owners)."""
        return self._transport.read(
            ValidationProgress, "POST", f"{ref_path(ref, 'validations')}/state", json={"state": state}
        )

    def validation_policies(self, ref: str) -> list[PolicyVersion]:
        """Return the policy as TOML, and every state that it had, the newest first (owners)."""
        return self._transport.read(Policies, "GET", f"{ref_path(ref, 'validations')}/policy").versions

    def set_validation_policy(
        self, ref: str, policy: str, *, revision: str = "", remove: Iterable[str] = ()
    ) -> Policies:
        """Change the policy, a TOML text; slots that are there stay (owners)."""
        return self._transport.read(
            Policies,
            "PUT",
            f"{ref_path(ref, 'validations')}/policy",
            params={"revision": revision, "remove": list(remove)},
            json={"policy": policy},
        )

    def foresee_adaptive(self, ref: str, policy: str | None = None) -> AdaptiveForecast:
        """Return what asking adaptively would save and risk, by the current policy or another TOML text (owners)."""
        return self._transport.read(
            AdaptiveForecast, "POST", f"{ref_path(ref, 'validations')}/adaptive", json={"policy": policy}
        )

    def judging_notes(self, ref: str) -> list[JudgingNote]:
        """List what judges flagged and skipped, with their reasons (owners)."""
        return self._transport.read(JudgingNotes, "GET", f"{ref_path(ref, 'validations')}/notes").notes

    def validation_trail(self, ref: str, *, limit: int = 100) -> list[Act]:
        """List what was done to a validation and its judges, the newest first (owners)."""
        return self._transport.read(
            ValidationTrail, "GET", f"{ref_path(ref, 'validations')}/trail", params={"limit": limit}
        ).entries

    def items(
        self,
        ref: str,
        *,
        state: str | None = None,
        label: str = "",
        text: str = "",
        sort: str = "item",
        down: bool = False,
        offset: int = 0,
        limit: int = 50,
    ) -> JudgedItems:
        """List the items with their votes and labels, a page at a time (owners)."""
        return self._transport.read(
            JudgedItems,
            "GET",
            f"{ref_path(ref, 'validations')}/items",
            params={
                "state": state,
                "label": label,
                "text": text,
                "sort": sort,
                "down": down,
                "offset": offset,
                "limit": limit,
            },
        )

    def add_items(self, ref: str, items: Iterable[Mapping[str, Any]]) -> ItemsAdded:
        """Add items that no round wrote, at most 10,000 at once; those that are there are left alone (owners)."""
        return self._transport.read(
            ItemsAdded, "POST", f"{ref_path(ref, 'validations')}/items", json={"items": [dict(row) for row in items]}
        )

    def error_rates(self, ref: str) -> ErrorRates:
        """Return the validated model error rate and aimed success, by model, writer and label (owners)."""
        return self._transport.read(ErrorRates, "GET", f"{ref_path(ref, 'validations')}/rates")

    def outcomes(self, ref: str, *, limit: int = 1000, offset: int = 0) -> Outcomes:
        """Tell what became of what one wrote."""
        return self._transport.read(
            Outcomes, "GET", f"{ref_path(ref, 'validations')}/outcomes", params={"limit": limit, "offset": offset}
        )

    def claim_page(self, ref: str) -> JudgingPage | None:
        """Take a page of items to judge, or get the one that is held; none where nothing is left."""
        return self._transport.read(HeldPage, "POST", f"{ref_path(ref, 'validations')}/pages").page

    def review_judges(self, ref: str, *, apply: bool | None = None) -> JudgeReview:
        """Measure all judges by the policy's rules now, and unqualify whom they catch if *apply* says so (owners).

        Where it says nothing, the policy decides. Where there are many judgements, a worker does it: *job* is its
        number.
        """
        return self._transport.read(
            JudgeReview, "POST", f"{ref_path(ref, 'validations')}/review", json={"apply": apply}
        )

    def try_rule(
        self, ref: str, rule: str = "disagreement", *, limit: float | None = None, least: int = 10
    ) -> RuleEffect:
        """Return whom a rule would catch among judges with at least *least* judgements; change nothing (owners)."""
        return self._transport.read(
            RuleEffect,
            "POST",
            f"{ref_path(ref, 'validations')}/rules/try",
            json={"rule": rule, "limit": limit, "least": least},
        )

    def apply_rule(
        self, ref: str, rule: str = "disagreement", *, limit: float | None = None, least: int = 10
    ) -> RuleEffect:
        """Unqualify everybody whom a rule catches, and collect anew what they judged (owners)."""
        return self._transport.read(
            RuleEffect,
            "POST",
            f"{ref_path(ref, 'validations')}/rules/apply",
            json={"rule": rule, "limit": limit, "least": least},
        )

    def judges(self, ref: str, *, limit: int = 100, offset: int = 0) -> list[Judge]:
        """Return a page of the judges with their figures, the lowest accuracy first (owners)."""
        return self._transport.read(
            Judges, "GET", f"{ref_path(ref, 'validations')}/judges", params={"limit": limit, "offset": offset}
        ).judges

    def judge_history(self, ref: str, name: str) -> JudgeHistory:
        """Tell everything that happened to one judge (owners)."""
        return self._transport.read(
            JudgeHistory, "GET", f"{ref_path(ref, 'validations')}/judges/{quote(name, safe='')}"
        )

    def requalify(self, ref: str, name: str, reason: str = "", *, restore: bool = False) -> JudgeHistory:
        """Let a judge work again; with *restore*, what was set aside counts again (owners).

        Give the judge's history; `standings` has every change, with `qualified` and `reason`.
        """
        return self._transport.read(
            JudgeHistory,
            "POST",
            f"{ref_path(ref, 'validations')}/judges/{quote(name, safe='')}/requalify",
            json={"reason": reason, "restore": restore},
        )

    def gold(
        self,
        ref: str,
        *,
        use: str | None = None,
        text: str = "",
        sort: str = "added",
        down: bool = False,
        offset: int = 0,
        limit: int = 50,
    ) -> GoldItems:
        """List the gold items with how judges do on them, a page at a time (owners)."""
        return self._transport.read(
            GoldItems,
            "GET",
            f"{ref_path(ref, 'validations')}/gold",
            params={"use": use, "text": text, "sort": sort, "down": down, "offset": offset, "limit": limit},
        )

    def add_gold(self, ref: str, items: Iterable[Mapping[str, Any]]) -> int:
        """Add gold items, at most 1,000 at once, and give how many are new (owners)."""
        return self._transport.read(
            GoldAdded, "POST", f"{ref_path(ref, 'validations')}/gold", json={"items": [dict(row) for row in items]}
        ).added

    def make_gold(self, ref: str, item: int, note: str = "") -> str:
        """Make a gold item of one that is judged to the end, and give its label; *note* says why (owners)."""
        return self._transport.read(
            GoldLabel, "POST", f"{ref_path(ref, 'validations')}/items/{item}/gold", json={"note": note}
        ).label

    def retire_gold(self, ref: str, item: int) -> None:
        """Show a gold item no more (owners)."""
        self._transport.ask("POST", f"{ref_path(ref, 'validations')}/gold/{item}/retire")

    def restore_gold(self, ref: str, item: int) -> None:
        """Show a gold item again; refused where a quiz has told its label (owners)."""
        self._transport.ask("POST", f"{ref_path(ref, 'validations')}/gold/{item}/restore")

    def make_entry_quiz(self, ref: str, instructions: str = "") -> str:
        """Make the entry quiz from gold items and ask for it; give its name (owners)."""
        return self._transport.read(
            QuizName, "POST", f"{ref_path(ref, 'validations')}/quiz", json={"instructions": instructions}
        ).quiz

    def contested(self, ref: str, *, limit: int = 50) -> list[Contested]:
        """List the items on which judges disagree most (experts, owners)."""
        return self._transport.read(
            ContestedItems, "GET", f"{ref_path(ref, 'validations')}/contested", params={"limit": limit}
        ).items

    def adjudicate(self, ref: str, item: int, label: str, reason: str = "") -> None:
        """Decide on an item as an expert; an empty *label* takes the decision back (experts, owners)."""
        self._transport.ask(
            "POST", f"{ref_path(ref, 'validations')}/items/{item}/decision", json={"label": label, "reason": reason}
        )

    def releases(self, ref: str) -> list[Release]:
        """List the releases of a validation, the newest first (owners)."""
        return self._transport.read(Releases, "GET", f"{ref_path(ref, 'validations')}/releases").releases

    def make_release(self, ref: str, spec: str = "") -> Release:
        """Make train, dev and test of what was judged, as data set versions: all of them, or nothing (owners).

        Where much was judged, a worker makes them, and the answer is 202 with where the release will be.
        """
        return self._transport.read(Release, "POST", f"{ref_path(ref, 'validations')}/releases", json={"spec": spec})

    def asked_release(self, ref: str, job: int) -> Release:
        """Return what a job has made or looked at: a release; 202 while it is at it (owners)."""
        return self._transport.read(Release, "GET", f"{ref_path(ref, 'validations')}/releases/asked/{job}")

    def preview_release(self, ref: str, spec: str = "") -> Release:
        """Return what a release would be, with a number for every property; nothing is written (owners).

        Where much was judged, a worker looks, and the answer is 202 with where it will be.
        """
        return self._transport.read(
            Release, "POST", f"{ref_path(ref, 'validations')}/releases/preview", json={"spec": spec}
        )

    def parity(self, ref: str) -> RoundParity:
        """Whether models do as well as people on a released round, with the evidence (owners)."""
        return self._transport.read(RoundParity, "GET", f"{ref_path(ref, 'validations')}/parity")

    def start_next(self, ref: str, model: str = "") -> Round:
        """Add a draft of the next round: the same options, aimed at a model that solved this one (owners)."""
        return self._transport.read(Round, "POST", f"{ref_path(ref, 'validations')}/next", json={"model": model})

    def judging_page(self, token: str) -> JudgingPage | None:
        """Return a page that one holds."""
        return self._transport.read(HeldPage, "GET", f"/pages/{quote(token, safe='')}").page

    def submit_page(
        self, token: str, answers: Iterable[Mapping[str, Any]] = (), *, finish: bool = True, saved: bool = False
    ) -> Receipt:
        """Hand in answers to a page; the same answers again change nothing.

        Each has `item` and `label`, or `skip` with its reason; `flag` and `seconds` go with either. With *saved*, what
        was saved before is handed in as well. With *finish* the page ends, and what was not answered goes back.
        """
        return self._transport.read(
            Receipt,
            "POST",
            f"/pages/{quote(token, safe='')}",
            json={"answers": [dict(row) for row in answers], "finish": finish, "saved": saved},
        )

    def save_answer(
        self,
        token: str,
        item: int,
        label: str | None = None,
        *,
        skip: str | None = None,
        flag: str | None = None,
        seconds: float | None = None,
        number: int | None = None,
    ) -> int:
        """Save an answer on the server until the page is handed in; without label, skip and flag, take it back.

        Of two changes to an item the one with the higher *number* stays; without one it is the last that comes. Give
        the number of what is saved.
        """
        return self._transport.read(
            SavedNumber,
            "PUT",
            f"/pages/{quote(token, safe='')}/answers/{item}",
            json={"label": label, "skip": skip, "flag": flag, "seconds": seconds, "number": number},
        ).number

    def extend_page(self, token: str) -> datetime:
        """Keep a page alive, and say until when."""
        return self._transport.read(Lease, "POST", f"/pages/{quote(token, safe='')}/extend").lease_until

    def return_page(self, token: str) -> None:
        """Return a page without an answer: others get its items at once."""
        self._transport.ask("POST", f"/pages/{quote(token, safe='')}/return")
