"""The client's calls about validation, for owners and experts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import quote

from quintain.client.refs import format_of, place, task_path
from quintain.client.transport import Transport
from quintain.client.validation_shapes import (
    Act,
    Contested,
    Gold,
    ItemsAdded,
    Judge,
    JudgedItem,
    JudgedItems,
    JudgeHistory,
    JudgeReview,
    JudgingNote,
    PolicyVersion,
    RuleEffect,
    Validation,
    ValidationProgress,
)
from quintain.core.validation import RuleName


class ValidationCalls:
    """What `Client` can ask about validations: `task/number` for that of a round, or `task/name`."""

    _transport: Transport

    def validations(self, task: str) -> list[ValidationProgress]:
        """List the validations of a task with progress and forecast (owners)."""
        found = self._transport.ask("GET", f"{task_path(task)}/validations")
        return [ValidationProgress.read(item) for item in found["validations"]]

    def open_validation(self, ref: str, policy: str | None = None, *, seed: int = 0) -> ValidationProgress:
        """Begin to validate a round, or a table under a name of its own; *policy* is TOML (owners)."""
        body = {"policy": policy, "seed": seed}
        return ValidationProgress.read(self._transport.ask("POST", place(ref, "validations"), json=body))

    def validation(self, ref: str) -> Validation:
        """Say how far a validation is: progress, forecast, agreement, labels, judges, error rates (owners)."""
        return Validation.read(self._transport.ask("GET", place(ref, "validations")))

    def validation_progress(self, ref: str) -> ValidationProgress:
        """Give progress and forecast only: cheap enough to ask again and again (owners)."""
        return ValidationProgress.read(self._transport.ask("GET", f"{place(ref, 'validations')}/progress"))

    def set_validation_state(self, ref: str, state: str) -> ValidationProgress:
        """Let people judge or not: open, paused or closed (owners)."""
        where = f"{place(ref, 'validations')}/state"
        return ValidationProgress.read(self._transport.ask("POST", where, json={"state": state}))

    def validation_policy(self, ref: str) -> str:
        """Give the policy as TOML (owners)."""
        return self.validation_policies(ref)[0].policy

    def validation_policies(self, ref: str) -> list[PolicyVersion]:
        """List every state that the policy had, the newest first (owners)."""
        found = self._transport.ask("GET", f"{place(ref, 'validations')}/policy")
        return [PolicyVersion.read(one) for one in found["versions"]]

    def foresee_adaptive(self, ref: str, policy: str | None = None) -> dict[str, Any]:
        """Say what asking adaptively would save and risk, by the policy that stands or another TOML text (owners).

        Each of `settings` has `minimum` and `least`, the `saving` of judgements, and the shares of items that would be
        `changed` or `unlabelled`; the first one is that of the policy.
        """
        body = None if policy is None else {"policy": policy}
        found: dict[str, Any] = self._transport.ask("POST", f"{place(ref, 'validations')}/adaptive", json=body)
        return found

    def set_validation_policy(self, ref: str, policy: str) -> PolicyVersion:
        """Change the policy, a TOML text; slots that are there stay (owners)."""
        found = self._transport.ask("PUT", f"{place(ref, 'validations')}/policy", json={"policy": policy})
        return PolicyVersion.read(found)

    def judging_notes(self, ref: str) -> list[JudgingNote]:
        """List what judges flagged and skipped, with their reasons (owners)."""
        found = self._transport.ask("GET", f"{place(ref, 'validations')}/notes")
        return [JudgingNote.read(one) for one in found["notes"]]

    def validation_trail(self, ref: str, *, limit: int = 100) -> list[Act]:
        """List what was done to a validation and its judges, the newest first (owners)."""
        found = self._transport.ask("GET", f"{place(ref, 'validations')}/trail", params={"limit": limit})
        return [Act.read(one) for one in found["entries"]]

    def items(
        self,
        ref: str,
        *,
        state: str = "",
        label: str = "",
        text: str = "",
        sort: str = "item",
        down: bool = False,
        offset: int = 0,
        limit: int = 50,
    ) -> JudgedItems:
        """List items with votes and labels: waiting, labelled, undecided or contested ones where *state* says so.

        They are sorted by item, share, judgements or label.
        """
        params: dict[str, Any] = {"label": label, "text": text, "sort": sort, "down": down}
        params |= {"offset": offset, "limit": limit}
        params |= {"state": state} if state else {}
        found = self._transport.ask("GET", f"{place(ref, 'validations')}/items", params=params)
        return JudgedItems.read({**found, "items": [JudgedItem.read(item) for item in found["items"]]})

    def add_items(self, ref: str, items: Iterable[Mapping[str, Any]]) -> ItemsAdded:
        """Add items that no round wrote, at most 10,000 at once (owners).

        Each has `inputs`, and may have the `answer` that is judged and `predictions`, each `model` and `answer`.
        """
        body = {"items": [dict(item) for item in items]}
        return ItemsAdded.read(self._transport.ask("POST", f"{place(ref, 'validations')}/items", json=body))

    def gold(self, ref: str) -> list[Gold]:
        """List the gold items with how judges do on them (owners)."""
        return [Gold.read(item) for item in self._transport.ask("GET", f"{place(ref, 'validations')}/gold")["gold"]]

    def add_gold(self, ref: str, items: Iterable[Mapping[str, Any]]) -> int:
        """Add gold items, at most 1,000 at once, each with `inputs`, `label`, and maybe `note` and `answer` (owners).

        Give how many were added.
        """
        body = {"items": [dict(item) for item in items]}
        added: int = self._transport.ask("POST", f"{place(ref, 'validations')}/gold", json=body)["added"]
        return added

    def make_gold(self, ref: str, item: int, *, note: str = "") -> str:
        """Make a gold item of one that is judged to the end, and give its label; *note* says why (owners)."""
        where = f"{place(ref, 'validations')}/items/{item}/gold"
        label: str = self._transport.ask("POST", where, json={"note": note})["label"]
        return label

    def retire_gold(self, ref: str, item: int) -> None:
        """Show a gold item no more (owners)."""
        self._transport.ask("POST", f"{place(ref, 'validations')}/gold/{item}/retire")

    def restore_gold(self, ref: str, item: int) -> None:
        """Show a gold item again that was retired; refused where a quiz has told its label (owners)."""
        self._transport.ask("POST", f"{place(ref, 'validations')}/gold/{item}/restore")

    def make_entry_quiz(self, ref: str, *, instructions: str = "") -> str:
        """Make the entry quiz from gold items and ask for it; give its name (owners)."""
        where = f"{place(ref, 'validations')}/quiz"
        name: str = self._transport.ask("POST", where, json={"instructions": instructions})["quiz"]
        return name

    def judges(self, ref: str) -> list[Judge]:
        """List the judges with their figures, the lowest accuracy first (owners)."""
        found = self._transport.ask("GET", f"{place(ref, 'validations')}/judges")
        return [Judge.read(one) for one in found["judges"]]

    def judge_history(self, ref: str, name: str) -> JudgeHistory:
        """Tell everything that happened to one judge (owners)."""
        where = f"{place(ref, 'validations')}/judges/{quote(name, safe='')}"
        return JudgeHistory.read(self._transport.ask("GET", where))

    def review_judges(self, ref: str, *, apply: bool | None = None) -> JudgeReview:
        """Measure all judges by the policy's rules now, and unqualify whom they catch if *apply* says so (owners).

        Where it says nothing, the policy decides.
        """
        where = f"{place(ref, 'validations')}/review"
        return JudgeReview.read(self._transport.ask("POST", where, json={"apply": apply}))

    def try_rule(
        self, ref: str, rule: RuleName = "disagreement", *, limit: float | None = None, least: int = 10
    ) -> RuleEffect:
        """Say whom a rule would catch among judges with at least *least* judgements; change nothing (owners)."""
        return self._rule(ref, {"rule": rule, "limit": limit, "least": least})

    def apply_rule(
        self, ref: str, rule: RuleName = "disagreement", *, limit: float | None = None, least: int = 10
    ) -> RuleEffect:
        """Unqualify everybody whom a rule catches, and collect anew what they judged (owners)."""
        return self._rule(ref, {"rule": rule, "limit": limit, "least": least, "apply": True})

    def _rule(self, ref: str, body: Mapping[str, Any]) -> RuleEffect:
        return RuleEffect.read(self._transport.ask("POST", f"{place(ref, 'validations')}/unqualify", json=body))

    def unqualify(self, ref: str, names: Sequence[str], reason: str) -> int:
        """Unqualify judges by name with the *reason* that they will read; give how many slots opened again (owners)."""
        body = {"workers": list(names), "reason": reason}
        opened: int = self._transport.ask("POST", f"{place(ref, 'validations')}/unqualify", json=body)["opened"]
        return opened

    def requalify(self, ref: str, name: str, *, reason: str = "", restore: bool = False) -> JudgeHistory:
        """Let a judge work again; with *restore*, what was set aside counts again (owners).

        Give the judge's history; `standings` has every change, with `qualified` and `reason`.
        """
        where = f"{place(ref, 'validations')}/judges/{quote(name, safe='')}/requalify"
        return JudgeHistory.read(self._transport.ask("POST", where, json={"reason": reason, "restore": restore}))

    def contested(self, ref: str, *, limit: int = 50) -> list[Contested]:
        """List the items on which judges disagree most (experts, owners)."""
        found = self._transport.ask("GET", f"{place(ref, 'validations')}/contested", params={"limit": limit})
        return [Contested.read(item) for item in found["items"]]

    def adjudicate(self, ref: str, item: int, label: str, *, reason: str = "") -> None:
        """Decide on an item as an expert; an empty *label* takes the decision back."""
        where = f"{place(ref, 'validations')}/items/{item}/decision"
        self._transport.ask("POST", where, json={"label": label, "reason": reason})

    def error_rates(self, ref: str) -> dict[str, Any]:
        """Give the validated model error rate and aimed success (owners).

        Over all, and for each of `models`, `workers` and `labels`: how many were `collected`, `validated`, and `errors`
        of the model, and as `value`, `low` and `high` the rates `vmer` and `aimed_success`.
        """
        found: dict[str, Any] = self._transport.ask("GET", f"{place(ref, 'validations')}/rates")
        return found

    def download_judgements(self, ref: str, path: Path | str, *, format: str | None = None) -> Path:  # noqa: A002 - the API's word
        """Write all judgements, judges under numbers; the file's ending chooses the format (owners)."""
        target = Path(path)
        params = {"format": format_of(target, format)}
        self._transport.fetch(f"{place(ref, 'validations')}/judgements", target, params=params)
        return target

    def download_labels(self, ref: str, path: Path | str, *, format: str | None = None) -> Path:  # noqa: A002 - the API's word
        """Write the judged items with their labels and votes; the file's ending chooses the format (owners)."""
        target = Path(path)
        params = {"format": format_of(target, format)}
        self._transport.fetch(f"{place(ref, 'validations')}/labels", target, params=params)
        return target
