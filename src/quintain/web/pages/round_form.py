"""The form in which an owner decides what a round asks, and back: spec to fields, fields to plain data."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from datetime import UTC, datetime
from decimal import Decimal, InvalidOperation
from typing import Any

from quintain.core.errors import BadInput, Fault
from quintain.core.rounds import MINOR_DIGITS, Condition, Money, RoundSpec
from quintain.services.round_definition import dump_round
from quintain.web.visit import Post

TEXTS = ("title", "instructions", "aiming", "content_warning", "consent")
WRITINGS = ("prompt", "blank", "both")  # conditions that the form offers; a file may have others


def values_of(spec: RoundSpec) -> dict[str, Any]:
    """Give what the form's fields hold for *spec*."""
    return {
        **{name: getattr(spec, name) for name in TEXTS},
        "mode": spec.targets.mode,
        "models": list(spec.targets.models),
        "fooled": spec.fooled.rule,
        "threshold": f"{spec.fooled.threshold:g}",
        "writing": _writing(spec.conditions),
        "attempts": str(spec.attempts),
        "keep_nonfooling": spec.keep_nonfooling,
        "minutes": f"{spec.minutes:g}",
        "reward": _amount(spec.reward.base),
        "bonus": _amount(Money(spec.reward.bonus, spec.reward.currency)),
        "currency": spec.reward.currency,
        "cap_worker": str(spec.caps.worker or ""),
        "cap_round": str(spec.caps.round or ""),
        "starts": _local(spec.starts),
        "ends": _local(spec.ends),
        "occlusion": spec.helps.occlusion,
        "inspiration": spec.helps.inspiration,
        "confirm": spec.asks.confirm,
        "reason": spec.asks.reason,
        "tags": ", ".join(spec.asks.tags),
        "quizzes": list(spec.quizzes),
    }


def values_in(post: Post) -> dict[str, Any]:
    """Give what was typed, to show it again."""
    flags = ("keep_nonfooling", "occlusion", "inspiration", "confirm", "reason")
    names = (*TEXTS, "mode", "fooled", "threshold", "writing", "attempts", "minutes", "reward", "bonus", "currency")
    return {
        **{name: post.text(name) for name in (*names, "cap_worker", "cap_round", "starts", "ends", "tags")},
        **{name: post.flag(name) for name in flags},
        "models": post.texts("models"),
        "quizzes": post.texts("quizzes"),
    }


def data_of(task: str, values: Mapping[str, Any], before: RoundSpec | None) -> dict[str, Any]:
    """Turn the form's fields into a round's plain data; what the form does not show stays as it was."""
    reading = _Reading(values)
    data: dict[str, Any] = tomllib.loads(dump_round(before)) if before else {}
    currency = str(values["currency"]).strip().upper()
    data |= {"task": task, **{name: str(values[name]).replace("\r\n", "\n").strip() for name in TEXTS}}
    data["targets"] = {"mode": values["mode"], "models": values["models"] if values["mode"] != "best" else []}
    data["fooled"] = {"rule": values["fooled"], "threshold": reading.number("threshold")}
    if values["writing"] in WRITINGS:
        data["conditions"] = _conditions(str(values["writing"]))
    data["attempts"] = reading.whole("attempts")
    data["minutes"] = reading.number("minutes")
    data["keep_nonfooling"] = values["keep_nonfooling"]
    data["reward"] = {
        "amount": reading.money("reward", currency),
        "bonus": reading.money("bonus", currency),
        "currency": currency,
    }
    data["caps"] = {name: reading.whole(f"cap_{name}") for name in ("worker", "round") if values[f"cap_{name}"]}
    for name in ("starts", "ends"):
        data.pop(name, None)
        if values[name]:
            data[name] = reading.moment(name)
    data["helps"] = {name: values[name] for name in ("occlusion", "inspiration")}
    tags = [tag.strip() for tag in str(values["tags"]).split(",") if tag.strip()]
    data["asks"] = {"confirm": values["confirm"], "reason": values["reason"], "tags": tags}
    data["quizzes"] = values["quizzes"]
    if reading.faults:
        raise BadInput(faults=reading.faults)
    return data


class _Reading:
    """Reads numbers and dates out of texts and gathers what cannot be read."""

    def __init__(self, values: Mapping[str, Any]) -> None:
        self.values = values
        self.faults: list[Fault] = []

    def _wrong(self, name: str, wanted: str) -> None:
        self.faults.append(Fault(f"'{self.values[name]}' is not {wanted}", field=name))

    def whole(self, name: str) -> int:
        text = str(self.values[name]).strip()
        if text.isdecimal() and len(text) < 10:
            return int(text)
        self._wrong(name, "a whole number")
        return 0

    def number(self, name: str) -> float:
        try:
            return float(str(self.values[name]).strip().replace(",", "."))
        except ValueError:
            self._wrong(name, "a number")
            return 0.0

    def money(self, name: str, currency: str) -> int:
        text = str(self.values[name]).strip().replace(",", ".") or "0"
        try:
            amount = Decimal(text).scaleb(MINOR_DIGITS.get(currency, 2))
        except InvalidOperation:
            amount = Decimal("NaN")
        if amount.is_finite() and amount == amount.to_integral_value() and abs(amount) < 10**10:
            return int(amount)
        self._wrong(name, "an amount of money such as 0.30")
        return 0

    def moment(self, name: str) -> datetime | None:
        try:
            return datetime.fromisoformat(str(self.values[name])).replace(tzinfo=UTC)
        except ValueError:
            self._wrong(name, "a date and time")
            return None


def _writing(conditions: tuple[Condition, ...]) -> str:
    kinds = {one.prompt for one in conditions}
    plain = all(one.weight == 1 for one in conditions) and len(conditions) == len(kinds)
    if not plain:
        return "file"
    return "both" if len(kinds) == 2 else "prompt" if True in kinds else "blank"


def _conditions(writing: str) -> list[dict[str, Any]]:
    both = [{"name": "prompt", "prompt": True}, {"name": "blank", "prompt": False}]
    return both if writing == "both" else [one for one in both if one["name"] == writing]


def _amount(money: Money) -> str:
    return str(money).split(" ", maxsplit=1)[0] if money.amount else "0"


def _local(moment: datetime | None) -> str:
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M") if moment else ""
