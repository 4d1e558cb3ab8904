"""Read tables of votes between two answers (`left, right, winner`), and name what is wrong in them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
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
    if reading.by is not None and reading.by not in frame.columns:
        columns = ", ".join(frame.columns)
        raise BadInput(
            "There is no column '{name}' to divide votes by.",
            name=reading.by,
            columns=columns,
            remedy="Use one of {columns}.",
        )
    used = [name for name in (*COLUMNS, *optional) if name in frame.columns and name != "item"]
    nested = [name for name in used if frame[name].dtype.is_nested()]
    if nested:
        raise BadInput("The column '{name}' has lists.", name=nested[0], remedy="Write one value in each cell.")
    _check_weights(frame, path)
    notes: list[str] = []
    styles = _styles(frame, reading.style, notes)
    coded, models, judges = _coded(frame, path, reading.by, notes)
    if LENGTH in styles:
        measured = frame.select(_apart(name).cast(pl.Float32).alias(name) for name in TEXT_STYLES)
        votes = coded.hstack(measured).with_columns(pl.lit(1, dtype=pl.UInt32).alias("times"))
        weight = pl.col("weight") if "weight" in votes.columns else pl.lit(1.0)
        votes = votes.with_columns(weight=weight, squares=weight**2)
    else:
        del frame
        votes = _alike(coded)
    if POSITION in styles:
        votes = votes.with_columns(pl.lit(1.0, dtype=pl.Float32).alias(POSITION))
    return VoteTable(votes, models, judges, styles, notes)


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


def _alike(votes: pl.DataFrame) -> pl.DataFrame:
    """Count the votes that are alike."""
    keys = [name for name in votes.columns if name != "weight"]
    if "weight" in votes.columns:
        return votes.group_by(keys).agg(
            pl.len().alias("times"), pl.col("weight").sum(), (pl.col("weight") ** 2).sum().alias("squares")
        )
    counted = votes.group_by(keys).agg(pl.len().alias("times"))
    return counted.with_columns(weight=pl.col("times").cast(pl.Float64), squares=pl.col("times").cast(pl.Float64))


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


def _coded(
    frame: pl.DataFrame, path: Source, by: str | None, notes: list[str]
) -> tuple[pl.DataFrame, list[str], list[str]]:
    """Write names as numbers, in the order of the alphabet, and winners as outcomes; refuse what is none."""
    models = sorted({name for side in _SIDES for name in _distinct(frame[side], _clean)})
    words = [*_WORDS]
    left, right = (_codes(frame[side], models, _clean) for side in _SIDES)
    winner = _codes(frame["winner"], words, _word)
    wrong = (left < 0) | (right < 0) | (winner < 0) | (left == right)
    if wrong.any():
        raise _faults(frame[np.flatnonzero(wrong)[:FAULT_LIMIT]], np.flatnonzero(wrong), path)
    outcomes = np.array([_WORDS[word] for word in words], dtype=np.int8)
    bad = np.array([word == BOTH_BAD for word in words])
    coded = pl.DataFrame({"left": left, "right": right, "outcome": outcomes[winner], "both_bad": bad[winner]})
    judges: list[str] = []
    if "judge" in frame.columns:
        judges = ["", *_distinct(frame["judge"], _clean)]
        judge = _codes(frame["judge"], judges, _clean)
        nameless = int((judge < 0).sum())
        if nameless:
            notes.append(Text("Votes without a judge, counted as those of one person: {n:,}.", n=nameless))
        coded = coded.with_columns(pl.Series("judge", np.maximum(judge, 0)))
    if by is not None:
        coded = coded.with_columns(_clean(frame[by]).fill_null("").cast(pl.Categorical).alias("group"))
    return coded.with_columns(frame["weight"]) if "weight" in frame.columns else coded, models, judges


def _distinct(column: pl.Series, clean: Callable[[pl.Series], pl.Series]) -> list[str]:
    """List the names of a column, in order."""
    return clean(column.unique()).drop_nulls().unique().sort().to_list()


def _codes(column: pl.Series, names: Sequence[str], clean: Callable[[pl.Series], pl.Series]) -> IntArray:
    """Return the places of a column's values among *names*, -1 for what is none of them."""
    texts = column.cast(pl.String).cast(pl.Categorical)
    distinct = texts.unique().drop_nulls()
    codes_of = {name: at for at, name in enumerate(names)}
    known = [codes_of.get(name, -1) for name in clean(distinct.cast(pl.String)).to_list()]
    numbers = distinct.to_physical().to_numpy()
    codes = np.full(int(numbers.max(initial=0)) + 1, -1, dtype=np.int32)
    codes[numbers] = known
    at = texts.to_physical()
    return np.where(at.is_null().to_numpy(), -1, codes[at.fill_null(0).to_numpy()]).astype(np.int32)


def _clean(names: pl.Series) -> pl.Series:
    return names.cast(pl.String).str.strip_chars().str.normalize("NFC").replace("", None)


def _word(words: pl.Series) -> pl.Series:
    return words.cast(pl.String).str.strip_chars().str.to_lowercase().replace(dict.fromkeys(_BAD, BOTH_BAD))


def _faults(wrong: pl.DataFrame, rows: IntArray, path: Source) -> BadInput:
    """Name what is wrong in the first *rows*, which are *wrong*."""
    faults: list[Fault] = []
    columns = (_clean(wrong["left"]), _clean(wrong["right"]), _word(wrong["winner"]), wrong["winner"])
    for row, left, right, word, raw in zip(rows.tolist(), *columns, strict=False):
        file, number = path.name, row_number(path, row)
        if left is None or right is None:
            faults.append(Fault("no model is named", file=file, row=number, field="left" if left is None else "right"))
        elif left == right:
            faults.append(Fault("'{model}' stands against itself", file=file, row=number, model=left[:SHOWN]))
        if word not in _WORDS:
            known, shown = "left, right, tie, both_bad", str(raw or "")[:SHOWN]
            reason = Text("'{word}' is not one of {known}", word=shown, known=known)
            faults.append(Fault(reason, file=file, row=number, field="winner"))
    return BadInput(
        faults=faults[:FAULT_LIMIT],
        total=max(len(rows), len(faults)),
        remedy="Name two different models, and who won: left, right, tie or both_bad.",
    )
