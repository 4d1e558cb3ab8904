"""A round as a TOML file: reading it with every fault named, and writing it."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import MISSING, dataclass, fields
from datetime import UTC, datetime
from typing import Any, TypeVar

from quintain.core.errors import BadInput, Fault
from quintain.core.rounds import (
    AIMINGS,
    FLAGS,
    FOOLED_RULES,
    PROVIDERS,
    TARGET_MODES,
    Asks,
    Caps,
    Condition,
    Entry,
    Fooled,
    Helps,
    Reward,
    RoundSpec,
    Targets,
)
from quintain.core.texts import Text, as_text, hint
from quintain.core.toml import parse_toml
from quintain.services.collect.writing_systems import SCRIPTS
from quintain.services.work.rules import rule_faults
from quintain.tasks.writing import dump_toml

NAME = re.compile(r"[a-z0-9]([a-z0-9_-]{0,38}[a-z0-9])?")
CURRENCY = re.compile(r"[A-Z]{3}")
MAX_TEXT = 50_000
Made = TypeVar("Made")
TABLES: Mapping[str, type[Any]] = {
    "targets": Targets,
    "fooled": Fooled,
    "reward": Reward,
    "caps": Caps,
    "helps": Helps,
    "asks": Asks,
    "entry": Entry,
}
KEYS = tuple(item.name for item in fields(RoundSpec))


def parse_round(text: str, *, file: str | None = None) -> RoundSpec:
    r"""Make a round of the TOML *text*, or raise BadInput with every fault in it; *file* is named in them.

    >>> parse_round('task = "mood"\ntitle = "Fool it"\n[targets]\nmodels = ["mood/ngram"]').attempts
    10
    """
    if len(text) > 1_000_000:
        raise BadInput("This is larger than 1 MB, which no round is.")
    return round_of(parse_toml(text, file=file), file=file)


def round_of(data: Mapping[str, Any], *, file: str | None = None) -> RoundSpec:
    """Make a round of plain data, as TOML or a page gives it."""
    reading = _Reading(file)
    spec = reading.read(data)
    if reading.faults or spec is None:
        raise BadInput(faults=reading.faults)
    return spec


@dataclass(frozen=True, slots=True)
class _Check:
    fits: Callable[[Any], bool]
    wanted: str


def _whole(low: int, high: int) -> _Check:
    return _Check(
        lambda value: isinstance(value, int) and not isinstance(value, bool) and low <= value <= high,
        Text("a whole number from {low} to {high}", low=low, high=high),
    )


def _text(most: int, least: int = 0) -> _Check:
    return _Check(
        lambda value: isinstance(value, str) and least <= len(value.strip()) and len(value) <= most and _clean(value),
        Text("a text of 1 to {most} characters" if least else "a text of at most {most} characters", most=most),
    )


def _texts(most: int) -> _Check:
    return _Check(
        lambda value: (
            isinstance(value, list | tuple)
            and len(value) <= most
            and all(isinstance(one, str) and one.strip() and len(one) <= 200 for one in value)
            and len(set(value)) == len(value)
        ),
        Text("a list of at most {most} different texts", most=most),
    )


def _one_of(known: Sequence[str]) -> _Check:
    return _Check(lambda value: value in known, Text("one of {known}", known=", ".join(known)))


def _number(low: float, high: float) -> _Check:
    return _Check(
        lambda value: isinstance(value, int | float) and not isinstance(value, bool) and low < value <= high,
        Text("a number above {low:g} and at most {high:g}", low=low, high=high),
    )


def _clean(value: str) -> bool:
    return not re.search(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]", value)


_FLAG = _Check(lambda value: isinstance(value, bool), Text("true or false"))
_MOMENT = _Check(lambda value: isinstance(value, datetime), Text("a date and time such as 2026-12-01T09:00:00Z"))
_URL = _Check(
    lambda value: isinstance(value, str) and (not value or re.fullmatch(r"https?://\S{1,480}", value) is not None),
    Text("an http(s) address"),
)
CHECKS: Mapping[str, _Check] = {
    "task": _text(80, 1),
    "title": _text(200, 1),
    "number": _whole(1, 1_000_000),
    "instructions": _text(MAX_TEXT),
    "aiming": _one_of(AIMINGS),
    "attempts": _whole(1, 100),
    "keep_nonfooling": _FLAG,
    "minutes": _number(0, 600),
    "starts": _MOMENT,
    "ends": _MOMENT,
    "content_warning": _text(MAX_TEXT),
    "consent": _text(MAX_TEXT),
    "scripts": _texts(20),
    "flags": _Check(
        lambda value: isinstance(value, list | tuple) and all(one in FLAGS for one in value),
        Text("a list with any of {flags}", flags=", ".join(FLAGS)),
    ),
    "quizzes": _texts(20),
    "targets.mode": _one_of(TARGET_MODES),
    "targets.models": _texts(50),
    "fooled.rule": _one_of(FOOLED_RULES),
    "fooled.threshold": _number(0, 1),
    "reward.amount": _whole(0, 10**9),
    "reward.bonus": _whole(0, 10**9),
    "reward.currency": _Check(
        lambda value: isinstance(value, str) and CURRENCY.fullmatch(value) is not None,
        Text("a currency code such as USD"),
    ),
    "caps.worker": _whole(1, 10**6),
    "caps.round": _whole(1, 10**9),
    "helps.occlusion": _FLAG,
    "helps.inspiration": _FLAG,
    "asks.confirm": _FLAG,
    "asks.reason": _FLAG,
    "asks.tags": _texts(100),
    "entry.provider": _one_of(PROVIDERS),
    "entry.study": _text(200),
    "entry.id_parameter": _text(40, 1),
    "entry.completion_code": _text(80),
    "entry.completion_url": _URL,
    "conditions.name": _Check(
        lambda value: isinstance(value, str) and NAME.fullmatch(value) is not None,
        Text("a name of up to 40 small letters, digits, - and _"),
    ),
    "conditions.prompt": _FLAG,
    "conditions.weight": _whole(1, 1000),
}


class _Reading:
    """One pass over plain data, which gathers faults instead of stopping at the first."""

    def __init__(self, file: str | None) -> None:
        self.file = file
        self.faults: list[Fault] = []

    def fault(self, key: str, reason: str, /, **values: object) -> None:
        self.faults.append(Fault(as_text(reason, values), file=self.file, field=key))

    def read(self, data: Mapping[str, Any]) -> RoundSpec | None:
        self._unknown("", data, KEYS)
        values: dict[str, Any] = {}
        for key in KEYS:
            if key not in data:
                continue
            if key in TABLES:
                values[key] = self._table(key, TABLES[key], data[key])
            elif key == "conditions":
                values[key] = self._conditions(data[key])
            elif key == "qualifications":
                values[key] = self._rules(data[key])
            elif self._fits(key, data[key]):
                values[key] = _kept(data[key])
        for key in ("task", "title"):
            if key not in data:
                self.fault(key, 'is missing; add a line such as {key} = "…"', key=key)
        if self.faults:
            return None
        spec = RoundSpec(**values)
        self._together(spec)
        return spec

    def _unknown(self, place: str, data: Mapping[str, Any], known: Sequence[str]) -> None:
        for key in data:
            if key not in known:
                self.fault(f"{place}{key}", "no such key; {hint}", hint=hint(key, known))

    def _fits(self, key: str, value: Any) -> bool:
        check = CHECKS[key]
        if not check.fits(value):
            shown = repr(value)
            self.fault(
                key,
                "is {value}, not {wanted}",
                value=shown if len(shown) < 60 else shown[:59] + "…",
                wanted=check.wanted,
            )
            return False
        return True

    def _table(self, name: str, make: type[Made], given: Any) -> Made | None:
        if not isinstance(given, Mapping):
            self.fault(name, "is not a table; write [{name}] and its keys below it", name=name)
            return None
        places = fields(make)  # type: ignore[arg-type]  # every table is made by a dataclass
        known = [item.name for item in places]
        self._unknown(f"{name}.", given, known)
        missing = [item.name for item in places if item.default is MISSING and item.name not in given]
        for key in missing:
            self.fault(f"{name}.{key}", "is missing; it is {wanted}", wanted=CHECKS[f"{name}.{key}"].wanted)
        good = {
            key: _kept(value) for key, value in given.items() if key in known and self._fits(f"{name}.{key}", value)
        }
        return make(**good) if not missing and len(good) == len(given) else None

    def _conditions(self, given: Any) -> tuple[Condition, ...]:
        if not isinstance(given, list | tuple) or not given:
            self.fault("conditions", "is not a list of tables; write [[conditions]] and name = … below it")
            return ()
        made = [self._table("conditions", Condition, one) for one in given]
        names = [one.name for one in made if one]
        for name in {name for name in names if names.count(name) > 1}:
            self.fault("conditions", "'{name}' is given twice", name=name)
        return tuple(one for one in made if one)

    def _rules(self, given: Any) -> tuple[Mapping[str, Any], ...]:
        if not isinstance(given, list | tuple):
            self.fault("qualifications", "is not a list of tables; write [[qualifications]] and rule = … below it")
            return ()
        for number, rule in enumerate(given, 1):
            for reason in rule_faults(rule):
                self.fault("qualifications", "entry {number}: {reason}", number=number, reason=reason)
        return tuple(dict(rule) for rule in given if isinstance(rule, Mapping))

    def _together(self, spec: RoundSpec) -> None:
        """Find what is wrong only in combination."""
        mode, models = spec.targets.mode, spec.targets.models
        if mode == "best" and models:
            self.fault("targets.models", "is given, and mode 'best' takes the best of the board; leave it out")
        if mode == "one" and len(models) != 1:
            self.fault("targets.models", "names {n} models, and mode 'one' takes exactly one", n=len(models))
        if mode in {"random", "ensemble"} and len(models) < 2:
            self.fault(
                "targets.models", "names {n} models, and mode '{mode}' takes at least two", n=len(models), mode=mode
            )
        if spec.starts and spec.ends and spec.starts >= spec.ends:
            self.fault("ends", "is not after 'starts'")
        for script in spec.scripts:
            if script not in SCRIPTS:
                self.fault(
                    "scripts",
                    "there is no script '{script}'; there are {scripts}",
                    script=script,
                    scripts=", ".join(SCRIPTS),
                )


def _kept(value: Any) -> Any:
    if isinstance(value, list):
        return tuple(value)
    if isinstance(value, datetime) and value.tzinfo is None:
        return value.replace(tzinfo=UTC)
    return value


def dump_round(spec: RoundSpec) -> str:
    """Write *spec* as TOML; reading it again gives the same round."""
    tables: dict[str, Any] = {}
    for item in fields(RoundSpec):
        value = getattr(spec, item.name)
        if value is None or (value == item.default and item.name not in {"attempts", "keep_nonfooling"}):
            continue
        if item.name in TABLES:
            tables[item.name] = _said({one.name: getattr(value, one.name) for one in fields(value)})
        elif item.name == "conditions":
            tables[item.name] = [_said({"name": one.name, "prompt": one.prompt, "weight": one.weight}) for one in value]
        elif item.name == "qualifications":
            tables[item.name] = [_said(rule) for rule in value]
        else:
            tables[item.name] = value
    return dump_toml(tables)


def _said(values: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in values.items() if value not in (None, "")}
