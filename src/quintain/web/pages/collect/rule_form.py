"""Qualification rules on a form: a control for each option of a rule, and back. What a form cannot hold stays."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from quintain.core.errors import Fault
from quintain.services.work.rules import RULES, rule_faults
from quintain.web.form_reading import FormReading
from quintain.web.i18n import Tongue
from quintain.web.spec_form import READ, Control, drawn, shown

PREFIX = "rule_"
HELD = ("holds", "lacks")  # of which one control takes several
Rules = Sequence[Mapping[str, Any]]


def _controls(rule: str) -> dict[str, str]:
    """Return the name of the control of each option of *rule*; that of the first has the rule's own name."""
    first, *others = RULES[rule]
    names = {key: f"{PREFIX}{rule}_{RULES[rule][key].control or key}" for key in others}
    return {first: f"{PREFIX}{rule}", **names}


CONTROLS = {rule: _controls(rule) for rule in RULES if rule != "quiz"}  # quizzes are ticked
NAMES = tuple(name for controls in CONTROLS.values() for name in controls.values())


def rule_values(rules: Rules) -> dict[str, str]:
    """Return what the controls hold for *rules*."""
    values = dict.fromkeys(NAMES, "")
    for rule in rules:
        if rule in other_rules(rules):
            continue
        for key, name in CONTROLS[rule["rule"]].items():
            value = rule.get(key)
            if rule["rule"] in HELD:
                value = [part for part in (values[name], value) if part]
            values[name] = shown(RULES[rule["rule"]][key].kind, value)
    return values


def rule_controls(tongue: Tongue, values: Mapping[str, str], faults: Mapping[str, str]) -> list[Control]:
    """Return the controls as they are drawn."""
    return [
        drawn(RULES[rule][key], name, tongue, values[name], faults.get(name, ""), none=tongue.gettext("any"))
        for rule, controls in CONTROLS.items()
        for key, name in controls.items()
    ]


def other_rules(rules: Rules) -> list[Mapping[str, Any]]:
    """List the rules that the form has no control for: quizzes as rules, and the second of a kind."""
    others, seen = [], set[str]()
    for rule in rules:
        kind = rule["rule"]
        comma = any("," in str(name) for name in rule.get("one_of", [rule.get("name", "")]))
        if kind == "quiz" or comma or (kind in seen and kind not in HELD):
            others.append(rule)
        seen.add(kind)
    return others


def read_rules(reading: FormReading, before: Rules) -> list[dict[str, Any]]:
    """Read the controls; a rule that is wrong is a fault of its own control."""
    others = [dict(rule) for rule in other_rules(before)]
    typed = [rule for kind in CONTROLS for rule in _rules(reading, kind)]
    return _in_order(typed + others, before)


def _rules(reading: FormReading, kind: str) -> list[dict[str, Any]]:
    (first, decides), *_ = CONTROLS[kind].items()
    filled = {key: name for key, name in CONTROLS[kind].items() if reading.text(name)}
    if first not in filled:
        reading.faults += [Fault("say which rate is needed, too", field=decides)] if filled else []
        return []
    so_far = len(reading.faults)
    values = {
        key: READ.get(RULES[kind][key].kind.widget, FormReading.text)(reading, name) for key, name in filled.items()
    }
    several = [{first: name} for name in values[first]] if kind in HELD else [values]
    rules = [{"rule": kind, **one} for one in several]
    if len(reading.faults) == so_far:
        reading.faults += [Fault(reason, field=decides) for rule in rules for reason in rule_faults(rule)]
    return rules


def _in_order(rules: list[dict[str, Any]], before: Rules) -> list[dict[str, Any]]:
    """Keep rules where they were, so that saving without a change changes nothing."""
    places = [{**rule, "one_of": list(rule["one_of"])} if "one_of" in rule else dict(rule) for rule in before]
    return sorted(rules, key=lambda rule: places.index(rule) if rule in places else len(places))
