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

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from quintain.core import spec_kinds as kinds
from quintain.core.errors import BadInput, Fault
from quintain.core.hashing import content_id
from quintain.core.spec import option, read, specification, table, tables, twice
from quintain.core.spec_kinds import Kind
from quintain.core.texts import Text
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
BY_LABEL = """\
# As many sentences of each predicted label: for corpora without ratings.

[limits]
words = [3, 60]
characters = [10, 500]
near_duplicates = 0.7

[[strata]]
name = "each predicted label"
share = 1.0
across = ["predicted"]
"""
UNSURE = """\
# Half of the sample are sentences about which the model is least sure, the rest has as many of each predicted label.

[limits]
words = [3, 60]
characters = [10, 500]
near_duplicates = 0.7

[[strata]]
name = "unsure"
where = "probability < 0.6"
share = 0.5
across = ["predicted"]

[[strata]]
name = "rest"
share = 0.5
across = ["predicted"]
"""
NAMED_RULES = {"contradictions": DEFAULT_RULES, "labels": BY_LABEL, "unsure": UNSURE}
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
DEFAULT_SIZE = 1000
MAX_SIZE = 1_000_000
MAX_STRATA = 200


@dataclass(frozen=True, slots=True)
class Where:
    """A condition, as it was written and as it was read; *source* says where it stands."""

    text: str
    condition: Condition
    source: str


def _parsed(text: str) -> Where:
    return Where(text, parse_where(text, source="the condition"), "the condition")


def _why_not(value: Any) -> Text | None:
    """Return why *value* is no condition; None where it is one."""
    if not isinstance(value, str) or not value.strip():
        return Text("is not a condition in quotation marks")
    try:
        _parsed(value)
    except BadInput as error:
        return error.message
    return None


def _are_bounds(value: Any) -> bool:
    pair = value if isinstance(value, list | tuple) else ()
    return len(pair) == 2 and all(map(kinds.is_whole, pair)) and 0 <= pair[0] <= pair[1]


CONDITION = Kind(lambda value: not _why_not(value), Text("a condition"), kept=_parsed, why=_why_not)
BOUNDS = Kind(_are_bounds, Text("the least and the most, such as [3, 60]"), kept=tuple)


@specification
class Stratum:
    """One part of the sample: *share* of it or *count* sentences, evenly *across* the values of some names."""

    name: str = option(kinds.text(200), default="", help="what it is called; by its number by default")
    where: Where | None = option(CONDITION, default=None, help="which sentences it takes; all by default")
    share: float | None = option(kinds.fraction(above=True), default=None, help="which share of the sample it gives")
    count: int | None = option(kinds.whole(1, MAX_SIZE), default=None, help="or how many sentences")
    across: tuple[str, ...] = option(
        kinds.texts(100), default=(), help="names of whose combinations it gives the same number each"
    )
    group: str = option(kinds.text(200), default="", help="strata that stand in for each other first")

    def check(self) -> Iterator[Fault]:
        """See that it says how much it gives, once."""
        if (self.share is None) == (self.count is None):
            yield Fault("'{name}' needs either a share or a count", name=self.name, field="share")


@specification
class SentenceLimits:
    """What a sentence must be like to be taken at all."""

    words: tuple[int, int] = option(BOUNDS, default=(1, UNBOUNDED), help="how many words it has")
    characters: tuple[int, int] = option(BOUNDS, default=(1, UNBOUNDED), help="how many characters it has")
    scripts: tuple[str, ...] = option(kinds.some_of(SCRIPTS), default=(), help="scripts that it may be written in")
    script_share: float = option(
        kinds.fraction(above=True), default=0.8, help="how many of its letters must be of those"
    )
    languages: tuple[str, ...] = option(kinds.some_of(LANGUAGES), default=(), help="languages that it may be in")
    near_duplicates: float = option(
        kinds.fraction(above=True),
        default=0.7,
        help="overlap of letters from which two sentences are one; 1 switches it off",
    )
    per_text: int = option(
        kinds.whole(0, MAX_SIZE), default=0, help="how many sentences one text may give; 0 for any number"
    )


@specification
class Rules:
    """What to take. *hash* names the content of the file, whatever its layout."""

    strata: tuple[Stratum, ...] = option(tables(Stratum, least=1), help="the parts of the sample")
    limits: SentenceLimits = option(table(SentenceLimits), default=SentenceLimits())
    where: Where | None = option(CONDITION, default=None, help="a condition that every sentence must meet")
    size: int | None = option(kinds.whole(1, MAX_SIZE), default=None, help="how many sentences to take")
    hash: str = ""

    @property
    def conditions(self) -> list[Where]:
        """All conditions, in the order of the file."""
        optional = [self.where, *(one.where for one in self.strata)]
        return [one for one in optional if one is not None]

    @property
    def counted(self) -> bool:
        """Whether the strata say how many they take, rather than which share."""
        return any(one.count is not None for one in self.strata)

    def check(self) -> Iterator[Fault]:
        """Compare the strata with each other and with the size."""
        if len(self.strata) > MAX_STRATA:
            yield Fault("has {n} tables; {most} are the most", n=len(self.strata), most=MAX_STRATA, field="strata")
        for name in twice([one.name for one in self.strata]):
            yield Fault("the name '{name}' is there twice", name=name, field="strata")
        counts = sum(one.count or 0 for one in self.strata)
        shares = sum(one.share or 0.0 for one in self.strata)
        if counts and shares:
            yield Fault("some have a share and some a count; give all of them the same", field="strata")
        elif counts and self.size is not None and self.size != counts:
            yield Fault("is {size}, but the counts add up to {count}", size=self.size, count=counts, field="size")
        elif not counts and abs(shares - 1) > 1e-6:
            yield Fault("the shares add up to {total:g}, not to 1", total=shares, field="strata")


def read_rules(path: Path) -> Rules:
    """Read the rules in the TOML file at *path*."""
    text = read_text(path, remedy=Text("`quintain harvest --show-rules` prints one."))
    return parse_rules(text, file=path.name)


def parse_rules(text: str, *, file: str = "the rules") -> Rules:
    """Make rules of TOML *text*, or raise BadInput with every fault; *file* is named in them."""
    data = parse_toml(text, file=file)
    rules = read(Rules, {**data, **_named(data)}, file=file)
    strata = tuple(
        replace(one, where=_placed(one.where, f"{file}, strata {number}.where"))
        for number, one in enumerate(rules.strata, 1)
    )
    return replace(rules, strata=strata, where=_placed(rules.where, f"{file}, where"), hash=content_id(data))


def _named(data: dict[str, Any]) -> dict[str, Any]:
    """Return the strata, those without a name called by their number."""
    strata = data.get("strata")
    if not isinstance(strata, list) or not all(isinstance(one, dict) for one in strata):
        return {}
    return {"strata": [{"name": f"stratum {number}", **one} for number, one in enumerate(strata, 1)]}


def _placed(where: Where | None, source: str) -> Where | None:
    """Return a condition that knows its source, for the message where a name in it is not known."""
    return replace(where, source=source) if where else None
