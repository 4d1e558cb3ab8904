"""Qualification rules on a form: one control for each rule, and back. What a form cannot hold stays as it was."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from quintain.core.errors import Fault
from quintain.services.work.rules import rule_faults
from quintain.web.pages.collect.form_reading import Reading, number_text

PREFIX = "rule_"
COUNTS = {"account_age": "days", "completed": "at_least"}
RATES = ("validated_fooling", "approval_rate")
RESTS = ("validated_fooling",)
LISTS = ("country", "language")
HELD = ("holds", "lacks")
NAMES = (
    *(PREFIX + name for name in (*COUNTS, *RATES, *LISTS, "role", *HELD)),
    *(f"{PREFIX}{name}_of" for name in RATES),
    *(f"{PREFIX}{name}_rest" for name in RESTS),
)

Rules = Sequence[Mapping[str, Any]]


def rule_values(rules: Rules) -> dict[str, str]:
    """Give what the controls hold for *rules*."""
    values = dict.fromkeys(NAMES, "")
    shown = [rule for rule in rules if rule not in other_rules(rules)]
    for rule in shown:
        name = PREFIX + rule["rule"]
        match rule["rule"]:
            case kind if kind in COUNTS:
                values[name] = str(rule[COUNTS[kind]])
            case kind if kind in RATES:
                values[name] = number_text(round(rule["at_least"] * 100, 10))
                values[f"{name}_of"] = str(rule.get("of", ""))
                if kind in RESTS:
                    values[f"{name}_rest"] = str(rule.get("rest_days", ""))
            case kind if kind in LISTS:
                values[name] = ", ".join(rule["one_of"])
            case "role":
                values[name] = rule["role"]
            case kind if kind in HELD:
                values[name] = ", ".join(part for part in (values[name], rule["name"]) if part)
    return values


def other_rules(rules: Rules) -> list[Mapping[str, Any]]:
    """List the rules that the form has no control for: quizzes as rules, and the second of a kind."""
    found, seen = [], set[str]()
    for rule in rules:
        kind = rule["rule"]
        comma = any("," in str(name) for name in rule.get("one_of", [rule.get("name", "")]))
        if kind == "quiz" or comma or (kind in seen and kind not in HELD):
            found.append(rule)
        seen.add(kind)
    return found


def read_rules(reading: Reading, before: Rules) -> list[dict[str, Any]]:
    """Read the controls; a rule that is wrong is a fault of its own control."""
    kept = [dict(rule) for rule in other_rules(before)]
    made = [(name, rule) for name in NAMES if reading.text(name) for rule in _rules(reading, name)]
    for name in (PREFIX + rate for rate in RATES):
        if reading.text(f"{name}_of") and not reading.text(name):
            reading.faults.append(Fault("say which rate is needed, too", field=name))
    for name, rule in made:
        if not any(fault.field in {name, f"{name}_of"} for fault in reading.faults):
            reading.faults += [Fault(reason, field=name) for reason in rule_faults(rule)]
    return _in_order([rule for _, rule in made] + kept, before)


def _rules(reading: Reading, control: str) -> list[dict[str, Any]]:
    kind = control.removeprefix(PREFIX)
    if kind in COUNTS:
        return [{"rule": kind, COUNTS[kind]: reading.whole(control)}]
    if kind in RATES:
        of = {"of": reading.whole(f"{control}_of")} if reading.text(f"{control}_of") else {}
        rest = f"{control}_rest"
        days = {"rest_days": reading.whole(rest)} if kind in RESTS and reading.text(rest) else {}
        return [{"rule": kind, "at_least": reading.percent(control), **of, **days}]
    if kind in LISTS:
        return [{"rule": kind, "one_of": reading.names(control)}]
    if kind == "role":
        return [{"rule": kind, "role": reading.text(control)}]
    return [{"rule": kind, "name": name} for name in reading.names(control)] if kind in HELD else []


def _in_order(rules: list[dict[str, Any]], before: Rules) -> list[dict[str, Any]]:
    """Keep rules where they were, so that saving without a change changes nothing."""
    places = [{**rule, "one_of": list(rule["one_of"])} if "one_of" in rule else dict(rule) for rule in before]
    return sorted(rules, key=lambda rule: places.index(rule) if rule in places else len(places))
