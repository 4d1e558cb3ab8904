"""Read tables of votes between two answers (`left, right, winner`), and name what is wrong in them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import polars as pl
import scipy

from quintain.core.errors import BadInput, Fault
from quintain.core.texts import Text
from quintain.data.in_memory import Source
from quintain.data.tables import FAULT_LIMIT, read_table, row_number
from quintain.stats.bootstrap import IntArray
from quintain.stats.paired_comparisons import Comparisons
from quintain.tasks.rules import SHOWN

COLUMNS = ("left", "right", "winner")
OPTIONAL = ("item", "judge", "language", "left_text", "right_text", "weight")
BOTH_BAD = "both_bad"
# What a winner is called, here and in the Arena's tables.
_WORDS: Mapping[str, int] = {"left": 1, "model_a": 1, "right": -1, "model_b": -1, "tie": 0, BOTH_BAD: 0}
_BAD = ("tie (bothbad)", "bothbad", "both bad")
_SIDES = ("left", "right")
_LIST, _HEADING = r"(?m)^[ \t]*(?:[-*+•]|\d+[.)])[ \t]+\S", r"(?m)^[ \t]*#{1,6}[ \t]+\S"
TWICE = 3.0  # (a - b) / (a + b) is a third where a is twice b
LENGTH, LISTS, HEADINGS, POSITION = "length", "lists", "headings", "position"
TEXT_STYLES = (LENGTH, LISTS, HEADINGS)


@dataclass(frozen=True, slots=True)
class VoteReading:
    """How to read the table: names of columns, the column to divide votes *by*, and whether texts are measured."""

    columns: Mapping[str, str] = field(default_factory=dict)
    by: str | None = None
    style: bool | None = None


@dataclass(frozen=True, slots=True)
class VoteTable:
    """Votes that are alike as one row: codes of *models*, outcome, how many (*times*), weights; styles beside them.

    *styles* are the columns of covariates, none where style is not asked for.
    """

    rows: pl.DataFrame
    models: list[str]
    judges: list[str]
    styles: Sequence[str]
    notes: Sequence[str]

    def part(self, name: str) -> VoteTable:
        """Return the votes of one group."""
        return VoteTable(self.rows.filter(pl.col("group") == name), self.models, self.judges, self.styles, ())

    @property
    def votes(self) -> int:
        """How many votes there are."""
        return int(self.rows["times"].sum())

    @property
    def ties(self) -> int:
        """How many found no winner."""
        return int(self.rows.filter(pl.col("outcome") == 0)["times"].sum())

    def votes_of(self) -> IntArray:
        """Count the votes in which each model is."""
        times, size = self.rows["times"].to_numpy(), len(self.models)
        sides = (np.bincount(self.rows[side].to_numpy(), times, size) for side in _SIDES)
        return np.asarray(sum(sides), dtype=np.int64)

    def comparisons(self, *, styles: bool = False) -> tuple[Comparisons, IntArray]:
        """Return the votes as numbers, of the models that are among them, and which these are.

        Without *styles* the order of sides does not count: one row a pair and outcome.
        """
        present = np.flatnonzero(self.votes_of() > 0)
        code = np.zeros(len(self.models), dtype=np.int64)
        code[present] = np.arange(len(present))
        keys = ["left", "right", "outcome"]
        names = [*self.styles] if styles else []
        table = self.rows if styles else _turned(self.rows)
        if not styles or not set(names) - {POSITION}:
            joined = table.group_by(*keys, *names).agg(pl.col("weight", "squares").sum()).sort(*keys)
        else:
            joined = table
        covariates = joined.select(pl.col(names).cast(pl.Float64)).to_numpy() if names else np.zeros((len(joined), 0))
        votes = Comparisons(
            len(present),
            code[joined["left"].to_numpy()],
            code[joined["right"].to_numpy()],
            joined["outcome"].to_numpy().astype(np.int64),
            joined["weight"].to_numpy().astype(np.float64),
            joined["squares"].to_numpy().astype(np.float64),
            covariates,
            self._judges(table, joined, [*keys, *names]),
        )
        return votes, present

    def _judges(self, table: pl.DataFrame, joined: pl.DataFrame, keys: list[str]) -> scipy.sparse.csr_array | None:
        """Return the weight of each judge's votes in each row of *joined*."""
        if "judge" not in table.columns:
            return None
        if joined is table:
            at = np.arange(len(table))
        else:
            places = joined.select(*keys).with_row_index("at")
            at = table.select(*keys).join(places, on=keys, how="left", maintain_order="left")["at"].to_numpy()
        judge = table["judge"].to_numpy()
        present, codes = np.unique(judge, return_inverse=True)
        shape = (len(present), len(joined))
        return scipy.sparse.csr_array((table["weight"].to_numpy().astype(np.float64), (codes, at)), shape=shape)


def _turned(rows: pl.DataFrame) -> pl.DataFrame:
    """Let the left be the model that comes first in the alphabet."""
    turn = pl.col("left") > pl.col("right")
    return rows.with_columns(
        left=pl.when(turn).then("right").otherwise("left"),
        right=pl.when(turn).then("left").otherwise("right"),
        outcome=pl.when(turn).then(-pl.col("outcome")).otherwise("outcome"),
    )


def read_votes(path: Source, reading: VoteReading) -> VoteTable:
    """Read the table at *path*; refused with their rows: words that name no winner, a model against itself, no model.

    The side that won is `left` or `right`; `model_a` and `model_b`, as the Arena's tables have it, are the same.
    """
    optional = OPTIONAL if reading.by in (None, *OPTIONAL) else (*OPTIONAL, str(reading.by))
    types = {"weight": pl.Float64()}
    frame = read_table(path, required=COLUMNS, optional=optional, columns=reading.columns, types=types)
    used = [name for name in (*COLUMNS, *optional) if name in frame.columns and name != "item"]
    if reading.by is not None and reading.by not in frame.columns:
        there = ", ".join(frame.columns)
        raise BadInput(
            "There is no column '{name}' to divide votes by.",
            name=reading.by,
            there=there,
            remedy="Use one of {there}.",
        )
    if reading.by is not None and reading.by not in used:
        used.append(reading.by)
    nested = [name for name in used if frame[name].dtype.is_nested()]
    if nested:
        raise BadInput("The column '{name}' has lists.", name=nested[0], remedy="Write one value in each cell.")
    _check_weights(frame, path)
    notes: list[str] = []
    styles = _styles(frame, reading.style, notes)
    votes = _alike(frame.select(used), reading.by, styles)
    votes = _named(votes, frame, path)
    return _coded(votes, styles, notes)


def _styles(frame: pl.DataFrame, asked: bool | None, notes: list[str]) -> tuple[str, ...]:
    texts = {"left_text", "right_text"} <= set(frame.columns)
    if asked is False or (asked is None and not texts):
        return ()
    if not texts:
        notes.append(Text("Without the columns left_text and right_text, style is the position alone."))
        return (POSITION,)
    missing = int(frame.select((pl.col("left_text").is_null() | pl.col("right_text").is_null()).sum()).item())
    if missing:
        notes.append(Text("Votes without both texts, whose style counts as equal: {n:,}.", n=missing))
    return (*TEXT_STYLES, POSITION)


def _check_weights(frame: pl.DataFrame, path: Source) -> None:
    if "weight" not in frame.columns:
        return
    weight = frame["weight"]
    wrong = (weight.is_null() | ~weight.is_finite() | (weight <= 0)).fill_null(value=True).arg_true().to_list()
    faults = [
        Fault("a weight is a number above 0", file=path.name, row=row_number(path, row), field="weight")
        for row in wrong[:FAULT_LIMIT]
    ]
    if faults:
        raise BadInput(faults=faults, total=len(wrong))


def _alike(frame: pl.DataFrame, by: str | None, styles: Sequence[str]) -> pl.DataFrame:
    """Count the votes that are alike: all of them where texts are measured, and otherwise by their words."""
    weight = pl.col("weight") if "weight" in frame.columns else pl.lit(1.0)
    keys = [*COLUMNS, *(["judge"] if "judge" in frame.columns else [])]
    group = [pl.col(by).alias("group")] if by else []
    if LENGTH in styles:
        measured = [_apart(name).cast(pl.Float32).alias(name) for name in TEXT_STYLES]
        counts = [pl.lit(1, dtype=pl.UInt32).alias("times"), weight.alias("weight"), (weight**2).alias("squares")]
        return frame.select(*keys, *group, *counts, *measured)
    named = frame.lazy().select(*keys, *group, *([weight] if "weight" in frame.columns else []))
    names = [*keys, *(["group"] if by else [])]
    if "weight" in frame.columns:
        sums = [pl.col("weight").sum(), (pl.col("weight") ** 2).sum().alias("squares")]
        return named.group_by(names).agg(pl.len().alias("times"), *sums).collect()
    counted = named.group_by(names).agg(pl.len().alias("times")).collect()
    return counted.with_columns(pl.col("times").cast(pl.Float64).alias("weight")).with_columns(squares="weight")


def _apart(name: str) -> pl.Expr:
    """Return how much more the left text has of something, from -1 to 1; of length, 1 is twice as much."""
    left, right = (_measure(pl.col(f"{side}_text"), name).cast(pl.Float64) for side in _SIDES)
    share = (left - right) / (left + right)
    share = pl.when((left + right) > 0).then(share).otherwise(0.0)
    return (share * TWICE if name == LENGTH else share).fill_null(0.0)


def _measure(text: pl.Expr, name: str) -> pl.Expr:
    if name == LENGTH:
        return text.str.len_chars()
    return text.str.count_matches(_LIST if name == LISTS else _HEADING)


def _named(votes: pl.DataFrame, frame: pl.DataFrame, path: Source) -> pl.DataFrame:
    """Clean names and words; where some are wrong, look for their rows."""
    votes = votes.with_columns(_clean(pl.col("left")), _clean(pl.col("right")), _word())
    strange = pl.col("winner").is_null() | ~pl.col("winner").is_in([*_WORDS])
    strange = strange | pl.col("left").is_null() | pl.col("right").is_null() | (pl.col("left") == pl.col("right"))
    if votes.select(strange.any()).item():
        raise _faults(frame, path)
    return votes.with_columns(
        both_bad=pl.col("winner") == BOTH_BAD,
        outcome=pl.col("winner").replace_strict(_WORDS, return_dtype=pl.Int8),
    ).drop("winner")


def _clean(name: pl.Expr) -> pl.Expr:
    return name.cast(pl.String).str.strip_chars().str.normalize("NFC").replace("", None)


def _word() -> pl.Expr:
    word = pl.col("winner").cast(pl.String).str.strip_chars().str.to_lowercase()
    return word.replace(dict.fromkeys(_BAD, BOTH_BAD))


def _faults(frame: pl.DataFrame, path: Source) -> BadInput:
    rows = frame.select(_clean(pl.col("left")), _clean(pl.col("right")), _word(), said="winner").with_row_index("row")
    faults: list[Fault] = []
    wrong = rows.filter(
        pl.col("left").is_null()
        | pl.col("right").is_null()
        | (pl.col("left") == pl.col("right"))
        | pl.col("winner").is_null()
        | ~pl.col("winner").is_in([*_WORDS])
    )
    for row, left, right, word, said in wrong.head(FAULT_LIMIT).iter_rows():
        at = {"file": path.name, "row": row_number(path, row)}
        if left is None or right is None:
            faults.append(Fault("no model is named", **at, field="left" if left is None else "right"))
        elif left == right:
            faults.append(Fault("'{model}' stands against itself", model=left[:SHOWN], **at))
        if word not in _WORDS:
            known = "left, right, tie, both_bad"
            shown = str(said or "")[:SHOWN]
            faults.append(Fault("'{word}' is not one of {known}", word=shown, known=known, **at, field="winner"))
    return BadInput(
        faults=faults,
        total=max(len(wrong), len(faults)),
        remedy="Name two different models, and who won: left, right, tie or both_bad.",
    )


def _coded(votes: pl.DataFrame, styles: Sequence[str], notes: list[str]) -> VoteTable:
    """Write names as their numbers, in the order of the alphabet."""
    models = sorted({*votes["left"].unique().to_list(), *votes["right"].unique().to_list()})
    kind = pl.Enum(models)
    votes = votes.with_columns(pl.col(*_SIDES).cast(kind).to_physical().cast(pl.Int32))
    judges: list[str] = []
    if "judge" in votes.columns:
        votes = votes.with_columns(pl.col("judge").cast(pl.String).str.strip_chars().fill_null(""))
        judges = sorted(votes["judge"].unique().to_list())
        nameless = int(votes.filter(pl.col("judge") == "")["times"].sum())
        if nameless:
            notes.append(Text("Votes without a judge, counted as those of one person: {n:,}.", n=nameless))
        votes = votes.with_columns(pl.col("judge").cast(pl.Enum(judges)).to_physical().cast(pl.Int32))
    if "group" in votes.columns:
        votes = votes.with_columns(pl.col("group").cast(pl.String).str.strip_chars().fill_null(""))
    if POSITION in styles:
        votes = votes.with_columns(pl.lit(1.0, dtype=pl.Float32).alias(POSITION))
    return VoteTable(votes, models, judges, styles, notes)
