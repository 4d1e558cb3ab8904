"""Qualifications as data: which rules there are, what each takes, and what is wrong with one.

A rule is a table such as `{rule = "account_age", days = 3}`. `quintain.services.work.qualify` decides on them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from quintain.core.spec import hint


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


COUNT = Option(_whole, "a whole number, 0 or more")
RATE = Option(_rate, "a rate between 0 and 1")
NAME = Option(_name, "a name")
NAMES = Option(_names, "a list of names")
DAYS = Option(lambda value: _whole(value) and value >= 1, "a whole number of days, 1 or more", required=False)
SAMPLE = Option(_whole, "a whole number, 0 or more", required=False)
ROLE = Option(lambda value: value in {"worker", "expert", "builder", "owner"}, "worker, expert, builder or owner")

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


def rule_faults(rule: Any) -> list[str]:
    """Say everything that is wrong with a rule.

    >>> rule_faults({"rule": "account_age", "days": "three"})
    ["'days' is 'three', not a whole number, 0 or more"]
    """
    if not isinstance(rule, Mapping):
        return ["is not a table with a rule and its options"]
    name = rule.get("rule")
    if not isinstance(name, str) or name not in RULES:
        return ["'rule' is missing" if name is None else f"there is no rule {name!r}; {hint(str(name), tuple(RULES))}"]
    options = RULES[name]
    faults = [
        f"rule '{name}' has no option '{key}'; it has {', '.join(options)}"
        for key in rule
        if key not in options and key != "rule"
    ]
    for key, option in options.items():
        if key not in rule:
            faults += [f"rule '{name}' needs '{key}', {option.wanted}"] if option.required else []
        elif not option.fits(rule[key]):
            faults.append(f"'{key}' is {rule[key]!r}, not {option.wanted}")
    return faults
