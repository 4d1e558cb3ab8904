"""Qualifications as data: which rules there are, what each takes, and what is wrong with one.

A rule is a table such as `{rule = "account_age", days = 3}`. `quintain.services.work.qualify` decides on them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from quintain.core import spec_kinds as kinds
from quintain.core.spec import N_, Option
from quintain.core.spec_kinds import Kind
from quintain.core.texts import Text, hint


def _name(value: Any) -> bool:
    return isinstance(value, str) and 0 < len(value.strip()) <= 80


def _names(value: Any) -> bool:
    return isinstance(value, list | tuple) and bool(value) and all(_name(one) for one in value)


COUNT = Kind(kinds.whole(0, 10**6).fits, Text("a whole number, 0 or more"), "whole")
DAYS = Kind(kinds.whole(1, 10**6).fits, Text("a whole number of days, 1 or more"), "whole")
RATE = Kind(kinds.fraction().fits, Text("a rate between 0 and 1"), "percent")
NAME = Kind(_name, Text("a name"), "names")
NAMES = Kind(_names, Text("a list of names"), "names")
ROLES = {"worker": N_("worker"), "expert": N_("expert"), "builder": N_("builder"), "owner": N_("owner")}
ROLE = Kind(
    kinds.one_of(ROLES).fits, Text("worker, expert, builder or owner"), "choice", choices=kinds.one_of(ROLES).choices
)

# The options of each rule, the first of which decides; on a form, in this order.
RULES: Mapping[str, Mapping[str, Option]] = {
    "account_age": {"days": Option(COUNT, title=N_("Days that the account is old, at least"))},
    "completed": {"at_least": Option(COUNT, title=N_("Tasks completed, at least"))},
    "approval_rate": {
        "at_least": Option(RATE, title=N_("Approval rate in percent, at least")),
        "of": Option(COUNT, None, title=N_("… over so many pieces of work, at least")),
    },
    "validated_fooling": {
        "at_least": Option(RATE, title=N_("Examples that fooled and were confirmed, in percent, at least")),
        "of": Option(COUNT, None, title=N_("… over so many examples, at least")),
        "rest_days": Option(DAYS, None, title=N_("… else they rest for so many days"), control="rest"),
    },
    "country": {"one_of": Option(NAMES, title=N_("Countries"), help=N_("As codes, with commas between them: DE, AT"))},
    "language": {"one_of": Option(NAMES, title=N_("Languages"), help=N_("As codes, with commas between them: en, de"))},
    "holds": {"name": Option(NAME, title=N_("Qualifications that must be held"))},
    "lacks": {"name": Option(NAME, title=N_("Qualifications that must not be held"))},
    "role": {"role": Option(ROLE, title=N_("Role"))},
    "quiz": {"name": Option(NAME)},
}


def rule_faults(rule: Any) -> list[Text]:
    """Return everything that is wrong with a rule.

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
            needs = Text("rule '{name}' needs '{key}', {wanted}", name=name, key=key, wanted=option.kind.wanted)
            faults += [needs] if option.required else []
        elif not option.kind.fits(rule[key]):
            faults.append(
                Text("'{key}' is {value}, not {wanted}", key=key, value=repr(rule[key]), wanted=option.kind.wanted)
            )
    return faults
