"""The client's calls about validation, for owners and experts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import quote

from quintain.client.refs import format_of, place, task_path
from quintain.client.transport import Transport
from quintain.client.validation_shapes import (
    Contested,
    Gold,
    ItemsAdded,
    JudgedItem,
    JudgedItems,
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

    def items(
        self, ref: str, *, state: str = "", label: str = "", text: str = "", offset: int = 0, limit: int = 50
    ) -> JudgedItems:
        """List items with votes and labels: waiting, labelled, undecided or contested ones where *state* says so."""
        params = {"label": label, "text": text, "offset": str(offset), "limit": str(limit)}
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

    def requalify(self, ref: str, name: str, *, reason: str = "", restore: bool = False) -> dict[str, Any]:
        """Let a judge work again; with *restore*, what was set aside counts again (owners).

        Give the judge's history; `standings` has every change, with `qualified` and `reason`.
        """
        where = f"{place(ref, 'validations')}/judges/{quote(name, safe='')}/requalify"
        found: dict[str, Any] = self._transport.ask("POST", where, json={"reason": reason, "restore": restore})
        return found

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
