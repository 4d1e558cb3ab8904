"""The policy of a validation as TOML: reading it with every fault named, and writing it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import asdict, fields, is_dataclass
from typing import Any

from quintain.core.errors import BadInput, Fault
from quintain.core.texts import Text, hint
from quintain.core.toml import parse_toml
from quintain.core.validation import (
    RULE_NAMES,
    SOURCES,
    Adaptive,
    EntryQuiz,
    Gold,
    JudgeReward,
    UnqualifyRule,
    ValidationPolicy,
)
from quintain.tasks.writing import dump_toml

TABLES: Mapping[str, type[Any]] = {"adaptive": Adaptive, "gold": Gold, "quiz": EntryQuiz, "reward": JudgeReward}
# Whole numbers (lowest, highest), and rates or times (above or at the lowest, at most the highest).
WHOLE: Mapping[str, tuple[int, int]] = {
    "judgements": (1, 100),
    "minimum": (1, 100),
    "page_size": (1, 100),
    "lease_seconds": (10, 86_400),
    "batch_size": (1, 10_000_000),
    "adaptive.least": (1, 100),
    "gold.exposures": (1, 10_000_000),
    "gold.per_worker": (0, 1_000_000),
    "gold.after": (1, 10_000),
    "gold.bonus": (0, 10**9),
    "gold.bonus_every": (1, 1000),
    "gold.bonus_right": (1, 1000),
    "quiz.questions": (1, 100),
    "quiz.right": (1, 100),
    "reward.amount": (0, 10**9),
    "rules.least": (1, 1_000_000),
}
NUMBERS: Mapping[str, tuple[float, float]] = {
    "seconds_per_item": (0.1, 36_000),
    "adaptive.threshold": (0.5, 0.999999),
    "adaptive.accuracy": (0.01, 0.999999),
    "gold.rate": (0, 0.9),
    "gold.below": (0, 1),
    "rules.limit": (0, 1),
    "rules.confidence": (0.5, 0.999999),
}
MINIMUM = ValidationPolicy().minimum
CHOICES: Mapping[str, tuple[str, ...]] = {"items": SOURCES, "rules.rule": RULE_NAMES}
PATTERNS: Mapping[str, tuple[str, Text]] = {
    "reward.currency": (r"[A-Z]{3}", Text("a currency code such as USD")),
    "quiz.name": (r"\S(.{0,78}\S)?", Text("a name of 1 to 80 characters")),
}


def stored_policy(text: str) -> ValidationPolicy:
    """Read a policy that was taken before; settings that were let through then and contradict each other are mended.

    A validation must be there to be looked at, whatever an earlier version took for a policy.
    """
    data = parse_toml(text)
    adaptive = data.get("adaptive")
    if isinstance(adaptive, Mapping) and adaptive.get("least", 0) < (minimum := data.get("minimum", MINIMUM)):
        data = {**data, "adaptive": {**adaptive, "least": minimum}}
    return policy_of(data)


def parse_policy(text: str, *, file: str | None = None) -> ValidationPolicy:
    r"""Make a policy of the TOML *text*, or raise BadInput with every fault in it; an empty text is the default.

    >>> parse_policy("page_size = 20\n[gold]\nrate = 0.05").gold.rate
    0.05
    """
    return policy_of(parse_toml(text, file=file), file=file)


def policy_of(data: Mapping[str, Any], *, file: str | None = None) -> ValidationPolicy:
    """Make a policy of plain data, as TOML or a page gives it."""
    faults: list[tuple[str, Text]] = []
    values = _checked("", ValidationPolicy, data, faults)
    if isinstance(values.get("adaptive"), Mapping):
        values["adaptive"] = {"least": values.get("minimum", MINIMUM), **values["adaptive"]}
    for name, make in TABLES.items():
        if name in values:
            values[name] = _table(name, make, values[name], faults)
    if "rules" in values:
        values["rules"] = _rules(values["rules"], faults)
    if not faults:
        policy = ValidationPolicy(**values)
        faults += _together(policy)
        if not faults:
            return policy
    raise BadInput(faults=[Fault(reason, file=file, field=key) for key, reason in faults])


def _checked(place: str, make: type[Any], data: Mapping[str, Any], faults: list[tuple[str, Text]]) -> dict[str, Any]:
    known = [item.name for item in fields(make)]
    good = {}
    for key, value in data.items():
        if key not in known:
            faults.append((f"{place}{key}", Text("no such key; {hint}", hint=hint(key, known))))
        elif (wanted := _wanted(f"{place}{key}", value)) is not None:
            faults.append((f"{place}{key}", Text("is {value}, not {wanted}", value=repr(value), wanted=wanted)))
        else:
            good[key] = value
    return good


def _wanted(key: str, value: Any) -> Text | None:
    """Say what *key* should be where *value* is not that."""
    number = isinstance(value, int | float) and not isinstance(value, bool)
    if key in WHOLE:
        low, high = WHOLE[key]
        fits = number and isinstance(value, int) and low <= value <= high
        return None if fits else Text("a whole number from {low} to {high}", low=low, high=high)
    if key in NUMBERS:
        least, most = NUMBERS[key]
        return (
            None
            if number and least <= value <= most
            else Text("a number from {least:g} to {most:g}", least=least, most=most)
        )
    if key in CHOICES:
        return None if value in CHOICES[key] else Text("one of {known}", known=", ".join(CHOICES[key]))
    if key in PATTERNS:
        pattern, words = PATTERNS[key]
        return None if isinstance(value, str) and re.fullmatch(pattern, value) else words
    if key == "automatic":
        return None if isinstance(value, bool) else Text("true or false")
    return None


def _table(name: str, make: type[Any], given: Any, faults: list[tuple[str, Text]]) -> Any:
    if not isinstance(given, Mapping):
        faults.append((name, Text("is not a table; write [{name}] and its keys below it", name=name)))
        return None
    return make(**_checked(f"{name}.", make, given, faults))


def _rules(given: Any, faults: list[tuple[str, Text]]) -> tuple[UnqualifyRule, ...]:
    if not isinstance(given, list | tuple) or not all(isinstance(one, Mapping) for one in given):
        faults.append(("rules", Text("is not a list of tables; write [[rules]] and rule = … below it")))
        return ()
    return tuple(UnqualifyRule(**_checked("rules.", UnqualifyRule, one, faults)) for one in given)


def _together(policy: ValidationPolicy) -> list[tuple[str, Text]]:
    """Find what is wrong only in combination."""
    faults = []
    if policy.minimum > policy.judgements:
        faults.append(
            (
                "minimum",
                Text(
                    "is {least}, more than the {most} judgements of an item",
                    least=policy.minimum,
                    most=policy.judgements,
                ),
            )
        )
    if policy.adaptive and policy.adaptive.least < policy.minimum <= policy.judgements:
        least, minimum = policy.adaptive.least, policy.minimum
        faults.append(
            (
                "adaptive.least",
                Text(
                    "is {least}, fewer than the {minimum} votes that a label needs ('minimum'), so that items would "
                    "end without one; set adaptive.least = {minimum}, or minimum = {least}",
                    minimum=minimum,
                    least=least,
                ),
            )
        )
    if policy.adaptive and policy.adaptive.least > policy.judgements:
        least, most = policy.adaptive.least, policy.judgements
        faults.append(
            ("adaptive.least", Text("is {least}, more than the {most} judgements of an item", least=least, most=most))
        )
    if policy.quiz and policy.quiz.right > policy.quiz.questions:
        faults.append(
            (
                "quiz.right",
                Text(
                    "is {right}, more than the {questions} questions",
                    right=policy.quiz.right,
                    questions=policy.quiz.questions,
                ),
            )
        )
    if policy.gold.bonus_right > policy.gold.bonus_every:
        faults.append(("gold.bonus_right", Text("is more than 'gold.bonus_every'")))
    return faults


def dump_policy(policy: ValidationPolicy) -> str:
    """Write *policy* as TOML; reading it again gives the same policy."""
    tables: dict[str, Any] = {}
    for item in fields(policy):
        value = getattr(policy, item.name)
        if item.name == "rules":
            tables["rules"] = [asdict(rule) for rule in value]
        elif is_dataclass(value) and not isinstance(value, type):
            tables[item.name] = asdict(value)
        elif value is not None:
            tables[item.name] = value
    return dump_toml(tables)
