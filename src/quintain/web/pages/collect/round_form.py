"""The form of a round, where it is more than its options: conditions, of which there are usual ones, and rules."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from quintain.core.errors import BadInput, Fault
from quintain.core.rounds import Condition, RoundSpec
from quintain.web.form_reading import FormReading
from quintain.web.pages.collect.rule_form import NAMES as RULE_NAMES
from quintain.web.pages.collect.rule_form import read_rules, rule_values
from quintain.web.spec_form import SpecForm
from quintain.web.visit import Post

FORM = SpecForm(RoundSpec)
BOTH = ({"name": "prompt", "prompt": True}, {"name": "blank", "prompt": False})
ROWS = 4  # of conditions; more where a file has more


def values_of(spec: RoundSpec) -> dict[str, Any]:
    """Return what the form's fields hold for *spec*."""
    return {
        **FORM.show(spec),
        "writing": _writing(spec.conditions),
        "conditions": _rows(
            [(condition.name, condition.prompt, str(condition.weight)) for condition in spec.conditions]
        ),
        **rule_values(spec.qualifications),
    }


def values_in(post: Post) -> dict[str, Any]:
    """Return what was typed, to show it again."""
    rows = zip(
        _column(post, "condition-name"),
        _column(post, "condition-prompt"),
        _column(post, "condition-weight"),
        strict=False,
    )
    return {
        **FORM.typed(post),
        **{name: post.text(name) for name in ("writing", *RULE_NAMES)},
        "conditions": _rows([(name.strip(), prompt != "blank", weight.strip()) for name, prompt, weight in rows]),
    }


def data_of(task: str, values: Mapping[str, Any], before: RoundSpec | None) -> dict[str, Any]:
    """Turn the form's fields into a round's plain data, or raise BadInput with a fault for each wrong field."""
    reading = FormReading(values)
    data = FORM.data(reading, before)
    if data["targets"].get("mode") == "best":  # what was ticked for another mode does not matter
        data["targets"]["models"] = []
    data |= {
        "task": task,
        "conditions": _conditions(reading, before),
        "qualifications": read_rules(reading, before.qualifications if before else ()),
    }
    if reading.faults:
        raise BadInput(faults=reading.faults)
    return data


def _column(post: Post, name: str) -> list[str]:
    return [str(value) for value in post.form.getlist(name) if isinstance(value, str)]


def _rows(rows: list[tuple[str, bool, str]]) -> list[tuple[str, bool, str]]:
    filled = [row for row in rows if row[0]]
    return filled + [("", True, "1")] * max(1, ROWS - len(filled))


def _writing(conditions: tuple[Condition, ...]) -> str:
    plain = [{"name": condition.name, "prompt": condition.prompt} for condition in conditions]
    if any(condition.weight != 1 for condition in conditions) or any(one not in BOTH for one in plain):
        return "own"
    return {1: conditions[0].name, 2: "both"}[len(conditions)]


def _conditions(reading: FormReading, before: RoundSpec | None) -> list[dict[str, Any]]:
    writing = reading.text("writing")
    if writing != "own":
        if before and _writing(before.conditions) == writing:  # in the order that they had
            return [{"name": condition.name, "prompt": condition.prompt} for condition in before.conditions]
        return [one for one in BOTH if writing in {"both", one["name"]}]
    conditions = []
    for name, prompt, weight in reading.values["conditions"]:
        if name and not (weight.isdecimal() and len(weight) < 6):
            reading.faults.append(
                Fault(
                    "the weight '{weight}' of '{name}' is not a whole number",
                    weight=weight,
                    name=name,
                    field="conditions",
                )
            )
        elif name:
            conditions.append({"name": name, "prompt": prompt, "weight": int(weight)})
    return conditions
