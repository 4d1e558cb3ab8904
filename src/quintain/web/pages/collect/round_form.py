"""The form in which an owner decides what a round asks, and back: spec to fields, fields to plain data."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from typing import Any

from quintain.core.errors import BadInput, Fault
from quintain.core.rounds import FLAGS, Condition, Entry, Money, RoundSpec
from quintain.services.collect.definition import dump_round
from quintain.web.i18n import SOURCE_LANGUAGE
from quintain.web.pages.collect.form_reading import Reading, amount_text, moment_text, number_text
from quintain.web.pages.collect.rule_form import NAMES as RULE_NAMES
from quintain.web.pages.collect.rule_form import read_rules, rule_values
from quintain.web.said import say
from quintain.web.visit import Post

TEXTS = ("title", "instructions", "aiming", "content_warning", "consent")
TYPED = (
    *TEXTS,
    *("mode", "fooled", "threshold", "writing", "attempts", "minutes", "reward", "bonus", "currency"),
    *("cap_worker", "cap_round", "starts", "ends", "tags"),
)
ENTRY = ("provider", "study", "id_parameter", "completion_code", "completion_url")
FLAG_BOXES = ("keep_nonfooling", "occlusion", "inspiration", "confirm", "reason")
LISTS = ("models", "quizzes", "scripts", "flags")
BOTH = ({"name": "prompt", "prompt": True}, {"name": "blank", "prompt": False})
ROWS = 4  # of conditions; more where a file has more
# Where a fault of the file's key is shown, if not under the key's own name.
CONTROLS = {
    "targets.mode": "mode",
    "targets.models": "models",
    "fooled.rule": "fooled",
    "fooled.threshold": "threshold",
    "reward.amount": "reward",
    "reward.bonus": "bonus",
    "reward.currency": "currency",
    "caps.worker": "cap_worker",
    "caps.round": "cap_round",
    "asks.tags": "tags",
    **{f"entry.{name}": f"entry_{name}" for name in ENTRY},
    **{f"conditions.{name}": "conditions" for name in ("name", "prompt", "weight")},
}


def values_of(spec: RoundSpec) -> dict[str, Any]:
    """Give what the form's fields hold for *spec*."""
    entry = spec.entry or Entry("prolific")
    return {
        **{name: getattr(spec, name) for name in TEXTS},
        "mode": spec.targets.mode,
        "models": list(spec.targets.models),
        "fooled": spec.fooled.rule,
        "threshold": number_text(spec.fooled.threshold),
        "writing": _writing(spec.conditions),
        "conditions": _rows([(one.name, one.prompt, str(one.weight)) for one in spec.conditions]),
        "attempts": str(spec.attempts),
        "keep_nonfooling": spec.keep_nonfooling,
        "minutes": number_text(spec.minutes),
        "reward": amount_text(spec.reward.base),
        "bonus": amount_text(Money(spec.reward.bonus, spec.reward.currency)),
        "currency": spec.reward.currency,
        "cap_worker": str(spec.caps.worker or ""),
        "cap_round": str(spec.caps.round or ""),
        "starts": moment_text(spec.starts),
        "ends": moment_text(spec.ends),
        "occlusion": spec.helps.occlusion,
        "inspiration": spec.helps.inspiration,
        "confirm": spec.asks.confirm,
        "reason": spec.asks.reason,
        "tags": ", ".join(spec.asks.tags),
        "quizzes": list(spec.quizzes),
        "scripts": list(spec.scripts),
        "flags": list(spec.flags),
        **rule_values(spec.qualifications),
        **{f"entry_{name}": getattr(entry, name) for name in ENTRY},
        "entry_provider": spec.entry.provider if spec.entry else "",
    }


def values_in(post: Post) -> dict[str, Any]:
    """Give what was typed, to show it again."""
    rows = zip(
        _column(post, "condition-name"),
        _column(post, "condition-prompt"),
        _column(post, "condition-weight"),
        strict=False,
    )
    return {
        **{name: post.text(name) for name in (*TYPED, *RULE_NAMES, *(f"entry_{name}" for name in ENTRY))},
        **{name: post.flag(name) for name in FLAG_BOXES},
        **{name: post.texts(name) for name in LISTS},
        "conditions": _rows([(name.strip(), prompt != "blank", weight.strip()) for name, prompt, weight in rows]),
    }


def data_of(task: str, values: Mapping[str, Any], before: RoundSpec | None) -> dict[str, Any]:
    """Turn the form's fields into a round's plain data, or raise BadInput with a fault for each wrong field."""
    reading = Reading(values)
    data: dict[str, Any] = tomllib.loads(dump_round(before)) if before else {}
    currency = reading.text("currency").upper()
    data |= {"task": task, **{name: _text(reading, name, before) for name in TEXTS}}
    data["targets"] = {"mode": values["mode"], "models": values["models"] if values["mode"] != "best" else []}
    data["fooled"] = {"rule": values["fooled"], "threshold": reading.number("threshold")}
    data["conditions"] = _conditions(reading, before)
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
    data["asks"] = {"confirm": values["confirm"], "reason": values["reason"], "tags": reading.names("tags")}
    data |= {"quizzes": values["quizzes"], "scripts": values["scripts"]}
    data["flags"] = [name for name in FLAGS if name in values["flags"]]
    data["qualifications"] = read_rules(reading, before.qualifications if before else ())
    data.pop("entry", None)
    if values["entry_provider"]:
        data["entry"] = {name: reading.text(f"entry_{name}") for name in ENTRY if reading.text(f"entry_{name}")}
    if reading.faults:
        raise BadInput(faults=reading.faults)
    return data


def faults_by_control(faults: Sequence[Fault], language: str = SOURCE_LANGUAGE) -> dict[str, str]:
    """Give what is wrong with each control, to be said beside it in *language*."""
    found: dict[str, str] = {}
    for fault in faults:
        name = CONTROLS.get(fault.field or "", fault.field or "")
        reason = say(language, fault.reason)
        found[name] = f"{found[name]}; {reason}" if name in found else reason
    return found


def _column(post: Post, name: str) -> list[str]:
    return [str(value) for value in post.form.getlist(name) if isinstance(value, str)]


def _rows(rows: list[tuple[str, bool, str]]) -> list[tuple[str, bool, str]]:
    given = [row for row in rows if row[0]]
    return given + [("", True, "1")] * max(1, ROWS - len(given))


def _text(reading: Reading, name: str, before: RoundSpec | None) -> str:
    """Give a text as typed; one that was only trimmed on its way through the form is not a change."""
    text = reading.text(name)
    old = str(getattr(before, name)) if before else ""
    return old if old.replace("\r\n", "\n").strip() == text else text


def _writing(conditions: tuple[Condition, ...]) -> str:
    plain = [{"name": one.name, "prompt": one.prompt} for one in conditions]
    if any(one.weight != 1 for one in conditions) or any(one not in BOTH for one in plain):
        return "own"
    return {1: conditions[0].name, 2: "both"}[len(conditions)]


def _conditions(reading: Reading, before: RoundSpec | None) -> list[dict[str, Any]]:
    writing = reading.text("writing")
    if writing != "own":
        if before and _writing(before.conditions) == writing:  # in the order that they had
            return [{"name": one.name, "prompt": one.prompt} for one in before.conditions]
        return [one for one in BOTH if writing in {"both", one["name"]}]
    found = []
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
            found.append({"name": name, "prompt": prompt, "weight": int(weight)})
    return found
