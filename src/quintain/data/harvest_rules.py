"""What a harvest takes: a small TOML file of strata, each with a condition and a share, and of limits.

    where = "sentence <= 20"                      # all sentences must meet it

    [limits]
    words = [3, 60]                               # the shortest and the longest
    languages = ["en"]                            # as told by small words, see `quintain.data.languages`
    near_duplicates = 0.7                         # overlap of letters from which two are one; 1 switches it off

    [[strata]]
    name = "one star, predicted positive"
    where = "rating == 1 and predicted == 'positive'"
    share = 0.25
    group = "contradiction"

    [[strata]]
    name = "rest"
    share = 0.75
    across = ["predicted", "rating"]              # the same number of each combination

A sentence belongs to the first stratum whose condition it meets. `count` can stand for `share`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from quintain.core.errors import BadInput, Fault
from quintain.core.hashing import content_id
from quintain.core.texts import Text, as_text
from quintain.core.toml import parse_toml, read_text
from quintain.data.languages import LANGUAGES
from quintain.data.where import Condition, parse_where

DEFAULT_RULES = """\
# Half of the sample are sentences whose predicted label contradicts the stars of their review, as in section 3.2 of the
# DynaSent paper (Potts et al., 2021). The rest has the same number of each predicted label and each rating.

[limits]
words = [3, 60]
characters = [10, 500]
near_duplicates = 0.7

[[strata]]
name = "one star, predicted positive"
group = "contradiction"
where = "rating == 1 and predicted == 'positive'"
share = 0.25

[[strata]]
name = "five stars, predicted negative"
group = "contradiction"
where = "rating == 5 and predicted == 'negative'"
share = 0.25

[[strata]]
name = "rest"
where = "not missing(rating)"
share = 0.5
across = ["predicted", "rating"]
"""
SCRIPTS = (
    "Arabic",
    "Cyrillic",
    "Devanagari",
    "Greek",
    "Han",
    "Hangul",
    "Hebrew",
    "Hiragana",
    "Katakana",
    "Latin",
    "Thai",
)
UNBOUNDED = 1 << 31
MAX_SIZE = 1_000_000
MAX_STRATA = 200


@dataclass(frozen=True, slots=True)
class Where:
    """A condition, as it was written and as it was read; *source* says where it stands."""

    text: str
    condition: Condition
    source: str


@dataclass(frozen=True, slots=True)
class Stratum:
    """One part of the sample: *share* of it or *count* sentences, evenly *across* the values of some names.

    What is short is made up for within the *group* before others are asked.
    """

    name: str
    where: Where | None = None
    share: float | None = None
    count: int | None = None
    across: tuple[str, ...] = ()
    group: str = ""


@dataclass(frozen=True, slots=True)
class Limits:
    """What a sentence must be like to be taken at all.

    *scripts* are those that at least *script_share* of its letters must be written in; *languages* those that it may be
    in. *per_text* is how many sentences one text may give (0 for any number).
    """

    words: tuple[int, int] = (1, UNBOUNDED)
    characters: tuple[int, int] = (1, UNBOUNDED)
    scripts: tuple[str, ...] = ()
    script_share: float = 0.8
    languages: tuple[str, ...] = ()
    near_duplicates: float = 0.7
    per_text: int = 0


@dataclass(frozen=True, slots=True)
class Rules:
    """What to take. *hash* names the content of the file, whatever its layout."""

    strata: tuple[Stratum, ...]
    limits: Limits = field(default_factory=Limits)
    where: Where | None = None
    size: int | None = None
    hash: str = ""

    @property
    def conditions(self) -> list[Where]:
        """All conditions, in the order of the file."""
        found = [self.where, *(one.where for one in self.strata)]
        return [one for one in found if one is not None]

    @property
    def counted(self) -> bool:
        """Whether the strata say how many they take, rather than which share."""
        return any(one.count is not None for one in self.strata)


def read_rules(path: Path) -> Rules:
    """Read the rules in the TOML file at *path*."""
    text = read_text(path, remedy=Text("`quintain harvest --show-rules` prints one."))
    return parse_rules(text, file=path.name)


def parse_rules(text: str, *, file: str = "the rules") -> Rules:
    """Make rules of TOML *text*, or raise BadInput with every fault; *file* is named in them."""
    return _Reading(parse_toml(text, file=file), file).rules()


class _Reading:
    """Reads one file of rules and gathers what is wrong with it."""

    def __init__(self, data: Mapping[str, Any], file: str) -> None:
        self.data = data
        self.file = file
        self.faults: list[Fault] = []

    def rules(self) -> Rules:
        self.unknown("", self.data, ("where", "size", "limits", "strata"))
        where = self.where("where", self.data, "where")
        size = self.whole("size", self.data.get("size"), 1, MAX_SIZE) if "size" in self.data else None
        limits = self.limits()
        strata = self.strata()
        self.shares(strata, size)
        if self.faults:
            raise BadInput(faults=self.faults)
        return Rules(tuple(strata), limits, where, size, content_id(dict(self.data)))

    def fault(self, place: str, reason: str, /, **values: object) -> None:
        self.faults.append(Fault(as_text(reason, values), file=self.file, field=place))

    def unknown(self, place: str, table: Mapping[str, Any], known: Sequence[str]) -> None:
        for name in table:
            if name not in known:
                close = get_close_matches(name, known, n=1)
                hint = (
                    Text("did you mean '{close}'?", close=close[0])
                    if close
                    else Text("known are {known}", known=", ".join(known))
                )
                self.fault(f"{place}.{name}" if place else name, "is not known; {hint}", hint=hint)

    def where(self, place: str, table: Mapping[str, Any], name: str) -> Where | None:
        text = table.get(name)
        if text is None:
            return None
        if not isinstance(text, str) or not text.strip():
            self.fault(place, "is not a condition in quotation marks")
            return None
        source = f"{self.file}, {place}"
        return Where(text, parse_where(text, source=source), source)

    def limits(self) -> Limits:
        table = self.data.get("limits", {})
        if not isinstance(table, Mapping):
            self.fault("limits", "is not a table")
            return Limits()
        known = ("words", "characters", "scripts", "script_share", "languages", "near_duplicates", "per_text")
        self.unknown("limits", table, known)
        found: dict[str, Any] = {}
        for name in ("words", "characters"):
            if name in table:
                found[name] = self.bounds(f"limits.{name}", table[name])
        for name in ("script_share", "near_duplicates"):
            if name in table:
                found[name] = self.fraction(f"limits.{name}", table[name])
        if "per_text" in table:
            found["per_text"] = self.whole("limits.per_text", table["per_text"], 0, MAX_SIZE)
        for name, there in (("scripts", SCRIPTS), ("languages", LANGUAGES)):
            if name in table:
                found[name] = self.some_of(f"limits.{name}", table[name], there)
        return Limits(**found)

    def some_of(self, place: str, value: Any, there: Sequence[str]) -> tuple[str, ...]:
        names = self.texts(place, value)
        wrong = [name for name in names if name not in there]
        if wrong:
            self.fault(place, "'{name}' is not one of {known}", name=wrong[0], known=", ".join(there))
        return names

    def strata(self) -> list[Stratum]:
        tables = self.data.get("strata")
        if not isinstance(tables, list) or not tables or not all(isinstance(one, dict) for one in tables):
            self.fault("strata", "is missing: write one [[strata]] for each part of the sample")
            return []
        if len(tables) > MAX_STRATA:
            self.fault("strata", "has {n} tables; {most} are the most", n=len(tables), most=MAX_STRATA)
            return []
        found = [self.stratum(number, table) for number, table in enumerate(tables, start=1)]
        names = [one.name for one in found]
        for name in dict.fromkeys(one for one in names if names.count(one) > 1):
            self.fault("strata", "the name '{name}' is there twice", name=name)
        return found

    def stratum(self, number: int, table: Mapping[str, Any]) -> Stratum:
        place = f"strata {number}"
        self.unknown(place, table, ("name", "where", "share", "count", "across", "group"))
        name, group = table.get("name", f"stratum {number}"), table.get("group", "")
        for key, value in (("name", name), ("group", group)):
            if not isinstance(value, str):
                self.fault(f"{place}.{key}", "is {value}, which is not a text", value=repr(value))
        if ("share" in table) == ("count" in table):
            self.fault(place, "'{name}' needs either a share or a count", name=name)
        share = self.fraction(f"{place}.share", table["share"]) if "share" in table else None
        count = self.whole(f"{place}.count", table["count"], 1, MAX_SIZE) if "count" in table else None
        across = self.texts(f"{place}.across", table.get("across", []))
        return Stratum(str(name), self.where(f"{place}.where", table, "where"), share, count, across, str(group))

    def shares(self, strata: Sequence[Stratum], size: int | None) -> None:
        if self.faults or not strata:
            return
        counted = [one for one in strata if one.count is not None]
        if counted and len(counted) < len(strata):
            self.fault("strata", "some have a share and some a count; give all of them the same")
        elif counted and size is not None and size != sum(one.count or 0 for one in strata):
            self.fault(
                "size",
                "is {size}, but the counts add up to {count}",
                size=size,
                count=sum(one.count or 0 for one in strata),
            )
        elif not counted:
            total = sum(one.share or 0.0 for one in strata)
            if abs(total - 1) > 1e-6:
                self.fault("strata", "the shares add up to {total:g}, not to 1", total=total)

    def bounds(self, place: str, value: Any) -> tuple[int, int]:
        pair = value if isinstance(value, list) else []
        if len(pair) != 2 or not all(isinstance(one, int) and not isinstance(one, bool) and one >= 0 for one in pair):
            self.fault(place, "is {value}; write the least and the most, such as [3, 60]", value=repr(value))
            return (1, UNBOUNDED)
        if pair[0] > pair[1]:
            self.fault(place, "the least, {least}, is more than the most, {most}", least=pair[0], most=pair[1])
        return (pair[0], pair[1])

    def fraction(self, place: str, value: Any) -> float:
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value <= 1:
            self.fault(place, "is {value}; give a fraction above 0 and at most 1", value=repr(value))
            return 1.0
        return float(value)

    def whole(self, place: str, value: Any, least: int, most: int) -> int:
        if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
            self.fault(
                place,
                "is {value}; give a whole number from {least} to {most:,}",
                value=repr(value),
                least=least,
                most=most,
            )
            return least
        return value

    def texts(self, place: str, value: Any) -> tuple[str, ...]:
        if not isinstance(value, list) or not all(isinstance(one, str) for one in value):
            self.fault(place, "is {value}, which is not a list of texts", value=repr(value))
            return ()
        return tuple(dict.fromkeys(value))
