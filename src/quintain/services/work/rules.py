"""Qualifications as data: which rules there are, what each takes, and what is wrong with one.

A rule is a table such as `{rule = "account_age", days = 3}`. `quintain.services.work.qualify` decides on them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from quintain.core.texts import Text, hint


@dataclass(frozen=True, slots=True)
class Option:
    """One option of a rule: whether a value fits, what is wanted, and whether it must be there."""

    fits: Callable[[Any], bool]
    wanted: str
    required: bool = True


def _whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= 10**6


def _rate(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= 1


def _name(value: Any) -> bool:
    return isinstance(value, str) and 0 < len(value.strip()) <= 80


def _names(value: Any) -> bool:
    return isinstance(value, list | tuple) and bool(value) and all(_name(one) for one in value)


COUNT = Option(_whole, Text("a whole number, 0 or more"))
RATE = Option(_rate, Text("a rate between 0 and 1"))
NAME = Option(_name, Text("a name"))
NAMES = Option(_names, Text("a list of names"))
DAYS = Option(lambda value: _whole(value) and value >= 1, Text("a whole number of days, 1 or more"), required=False)
SAMPLE = Option(_whole, Text("a whole number, 0 or more"), required=False)
ROLE = Option(lambda value: value in {"worker", "expert", "builder", "owner"}, Text("worker, expert, builder or owner"))

RULES: Mapping[str, Mapping[str, Option]] = {
    "account_age": {"days": COUNT},
    "quiz": {"name": NAME},
    "validated_fooling": {"at_least": RATE, "of": SAMPLE, "rest_days": DAYS},
    "approval_rate": {"at_least": RATE, "of": SAMPLE},
    "completed": {"at_least": COUNT},
    "country": {"one_of": NAMES},
    "language": {"one_of": NAMES},
    "role": {"role": ROLE},
    "holds": {"name": NAME},
    "lacks": {"name": NAME},
}


def rule_faults(rule: Any) -> list[Text]:
    """Say everything that is wrong with a rule.

    >>> rule_faults({"rule": "account_age", "days": "three"})
    ["'days' is 'three', not a whole number, 0 or more"]
    """
    if not isinstance(rule, Mapping):
        return [Text("is not a table with a rule and its options")]
    name = rule.get("rule")
    if not isinstance(name, str) or name not in RULES:
        if name is None:
            return [Text("'rule' is missing")]
        return [Text("there is no rule {name}; {hint}", name=repr(name), hint=hint(name, list(RULES)))]
    options = RULES[name]
    faults = [
        Text("rule '{name}' has no option '{key}'; it has {options}", name=name, key=key, options=", ".join(options))
        for key in rule
        if key not in options and key != "rule"
    ]
    for key, option in options.items():
        if key not in rule:
            needs = Text("rule '{name}' needs '{key}', {wanted}", name=name, key=key, wanted=option.wanted)
            faults += [needs] if option.required else []
        elif not option.fits(rule[key]):
            faults.append(
                Text("'{key}' is {value}, not {wanted}", key=key, value=repr(rule[key]), wanted=option.wanted)
            )
    return faults
