"""Training data out of several sources: filtered, sampled, copied and weighed, with people's votes as labels.

Every example is there once, with what it says about each label; how often it is taken is a number beside it. Learners
that go through examples one after another ask for `units`; those that add up ask for `mass`.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from quintain.core.errors import BadInput
from quintain.core.recipe import RecipeSpec, SourceSpec
from quintain.core.records.training import MixedSource
from quintain.data.selecting import priorities
from quintain.labels import views

Floats = npt.NDArray[np.float32]
Whole = npt.NDArray[np.int64]
VOTE_KEYS = ("label_distribution", "distribution")


@dataclass(frozen=True, slots=True)
class MixSource:
    """A source as it was found: what it is called, its content's hash, its examples and how they are to be taken."""

    name: str
    hash: str
    table: pl.DataFrame
    spec: SourceSpec


@dataclass(frozen=True, slots=True)
class Units:
    """Training examples one by one: their *rows* in the table, *targets* over the labels, and *weights*."""

    rows: Whole
    targets: Floats
    weights: Floats


@dataclass(frozen=True, slots=True)
class Mix:
    """Examples to learn from. *says* has what one copy of each says of every label; *soft* marks shares of votes."""

    labels: tuple[str, ...]
    table: pl.DataFrame
    says: Floats
    copies: Whole
    weights: Floats
    soft: npt.NDArray[np.bool_]
    parts: tuple[MixedSource, ...] = ()

    @property
    def examples(self) -> int:
        """How many training examples it makes."""
        return sum(part.examples for part in self.parts)

    def mass(self) -> Floats:
        """Return how much each row speaks for each label, copies and weights included."""
        return np.asarray(self.says * (self.copies * self.weights)[:, None], dtype=np.float32)

    def units(self) -> Units:
        """Return the training examples one by one, in an order that follows from the mix alone."""
        size = len(self.labels)
        whole = np.flatnonzero(self.soft)
        rows = [np.repeat(whole, self.copies[whole])]
        targets = [self.says[rows[0]]]
        for number in range(size):
            times = np.where(self.soft, 0, np.rint(self.says[:, number]).astype(np.int64) * self.copies)
            rows.append(np.repeat(np.arange(len(times)), times))
            targets.append(np.broadcast_to(np.eye(size, dtype=np.float32)[number], (len(rows[-1]), size)))
        every = np.concatenate(rows)
        return Units(every, np.concatenate(targets), self.weights[every])

    def subset(self, rows: Whole) -> Mix:
        """Return the mix of some of the rows."""
        return Mix(
            self.labels, self.table[rows], self.says[rows], self.copies[rows], self.weights[rows], self.soft[rows]
        )


def mix_of(sources: Sequence[MixSource], labels: Sequence[str], columns: Sequence[str], recipe: RecipeSpec) -> Mix:
    """Mix *sources* for a task with these *labels* and input *columns*; refuse where no example has a label."""
    pieces = [_part(source, tuple(labels), columns, recipe) for source in sources]
    mix = Mix(
        tuple(labels),
        pl.concat([piece.table for piece in pieces]),
        np.concatenate([piece.says for piece in pieces]),
        np.concatenate([piece.copies for piece in pieces]),
        np.concatenate([piece.weights for piece in pieces]),
        np.concatenate([piece.soft for piece in pieces]),
        tuple(part for piece in pieces for part in piece.parts),
    )
    totals = mix.says.sum(axis=0)
    absent = [label for label, total in zip(labels, totals.tolist(), strict=True) if not total]
    if absent:
        raise BadInput(
            "No example of the mix is '{label}'.",
            label=absent[0],
            remedy="Add a source that has some; without any, the model could never answer it.",
        )
    return mix


def _part(source: MixSource, labels: tuple[str, ...], columns: Sequence[str], recipe: RecipeSpec) -> Mix:
    spec = source.spec
    table = _sampled(_filtered(source), spec)
    view = spec.labels or recipe.labels
    says, soft = _says(source.name, table, labels, view, recipe.mixes, demanded=bool(spec.labels))
    taken = says.sum(axis=1) > 0
    if not taken.any():
        raise BadInput(
            "Nothing is left of {source}: none of its {n} rows has a label.", source=source.name, n=table.height
        )
    table, says, soft = table.filter(pl.Series(taken)), says[taken], soft[taken]
    each = np.where(soft, 1, np.rint(says.sum(axis=1))).astype(np.int64)
    part = MixedSource(
        name=source.name,
        hash=source.hash,
        has=source.table.height,
        rows=table.height,
        copies=spec.copies,
        weight=spec.weight,
        labels=view,
        examples=int(each.sum()) * spec.copies,
        by_label={
            label: round(float(total) * spec.copies, 2)
            for label, total in zip(labels, says.sum(axis=0, dtype=np.float64), strict=True)
        },
    )
    return Mix(
        labels,
        table.select(columns),
        says,
        np.full(table.height, spec.copies, dtype=np.int64),
        np.full(table.height, spec.weight, dtype=np.float32),
        soft,
        (part,),
    )


def _filtered(source: MixSource) -> pl.DataFrame:
    table = source.table
    for name, value in source.spec.only.items():
        keep = _has(source, name, value if isinstance(value, list | tuple) else [value])
        table = table.filter(pl.col("id").is_in(source.table.filter(keep)["id"].implode()))
    if not table.height:
        fields = ", ".join(source.spec.only)
        raise BadInput(
            "Nothing is left of {source} after its filter on {fields}." if fields else "{source} has no rows.",
            source=source.name,
            fields=fields,
            remedy="Look at its examples, and mend `only`." if fields else "Leave it out.",
        )
    return table


def _has(source: MixSource, name: str, options: Sequence[Any]) -> pl.Series:
    """Return for each row whether its field, tag or what is kept beside it is one of *options*."""
    table = source.table
    texts = list({form for value in options for form in _forms(value)})
    if name == "tags":
        return table.select(pl.col("tags").list.eval(pl.element().is_in(texts)).list.any())["tags"].fill_null(False)
    if name in table.columns and name != "meta":
        values = table[name].cast(pl.String, strict=False)
    elif "meta" in table.columns:
        values = table["meta"].str.json_path_match(f"$.{name}")
    else:
        values = pl.Series([None] * table.height, dtype=pl.String)
    if values.null_count() == table.height:
        raise BadInput(
            "No example of {source} has '{field}'.",
            source=source.name,
            field=name,
            remedy="Name a field, `tags`, or what the import kept beside an example (which only owners may use).",
        )
    return values.is_in(texts).fill_null(False)


def _forms(value: Any) -> list[str]:
    """Return the ways in which a value may be written: 5 also as 5.0."""
    if isinstance(value, bool):
        return [str(value).lower()]
    if isinstance(value, int | float) and float(value).is_integer():
        return [str(int(value)), str(float(value))]
    return [str(value)]


def _sampled(table: pl.DataFrame, spec: SourceSpec) -> pl.DataFrame:
    """Draw the rows by their ids, so that it is the same sample in whatever order they come."""
    size = table.height
    if spec.sample is not None:
        size = min(size, spec.sample)
    elif spec.share is not None:
        size = max(1, round(size * spec.share))
    return table[drawn(table["id"], size, spec.seed)] if size < table.height else table


def drawn(ids: pl.Series, size: int, seed: int) -> Whole:
    """Return the positions of *size* of the *ids*, in their order; a larger size holds all of a smaller one's."""
    key = np.frombuffer(hashlib.sha256(f"quintain mix {seed}".encode()).digest()[:8], dtype="<u8")[0]
    order = np.argsort(priorities(ids, key), kind="stable")[:size]
    return np.asarray(np.sort(order), dtype=np.int64)


def _says(
    source: str,
    table: pl.DataFrame,
    labels: tuple[str, ...],
    view: str,
    mixes: Mapping[str, Sequence[str]],
    *,
    demanded: bool,
) -> tuple[Floats, npt.NDArray[np.bool_]]:
    """Return what one copy of each row says of every label, and which rows are shares of votes."""
    says = _answers(table["answer"], labels)
    soft = np.zeros(table.height, dtype=np.bool_)
    if view == "majority":
        return says, soft
    counts = _counts(table, [*labels, *(name for name in mixes if name not in labels)])
    voted = counts.sum(axis=1) > 0
    if not voted.any():
        if demanded:
            raise BadInput(
                "The examples of {source} have no votes, so their labels cannot be {view}.",
                source=source,
                view=view,
                remedy="Take `labels` away from this source; votes are for owners of the task, and stand in "
                "`label_distribution` beside an example.",
            )
        return says, soft
    says[voted] = _viewed(source, counts[voted], labels, view, mixes)
    soft = voted & (view == "soft")
    return says, soft


def _answers(answers: pl.Series, labels: tuple[str, ...]) -> Floats:
    codes = answers.cast(pl.String).replace_strict(list(labels), list(range(len(labels))), default=-1)
    numbers = codes.fill_null(-1).to_numpy().astype(np.int64)
    return np.asarray(numbers[:, None] == np.arange(len(labels)), dtype=np.float32)


def _counts(table: pl.DataFrame, names: Sequence[str]) -> npt.NDArray[np.float64]:
    """Return the votes for each of *names* of every row: numbers, or the length of a list of those who voted."""
    if "meta" not in table.columns:
        return np.zeros((table.height, len(names)))
    by_key = [table["meta"].str.json_path_match(f"$.{key}") for key in VOTE_KEYS]
    text = by_key[0].fill_null(by_key[1])
    columns = []
    for name in names:
        value = text.str.json_path_match(f"$[{name!r}]")
        listed = pl.when(value.str.starts_with("[")).then(value).otherwise(None)
        frame = pl.DataFrame({"value": value}).select(
            number=pl.col("value").cast(pl.Float64, strict=False),
            listed=listed.str.json_decode(pl.List(pl.String)).list.len().cast(pl.Float64),
        )
        columns.append(frame["listed"].fill_null(frame["number"]).fill_null(0.0).clip(lower_bound=0).to_numpy())
    return np.column_stack(columns)


def _viewed(
    source: str,
    counts: npt.NDArray[np.float64],
    labels: tuple[str, ...],
    view: str,
    mixes: Mapping[str, Sequence[str]],
) -> Floats:
    """Turn votes into training labels; there are few different ways to vote, so each is looked at once."""
    if view == "distributional" and not np.array_equal(counts, np.rint(counts)):
        raise BadInput(
            "The votes of {source} are shares, which cannot be repeated.", source=source, remedy='Use labels = "soft".'
        )
    names = [*labels, *(name for name in mixes if name not in labels)]
    ways, which = np.unique(counts, axis=0, return_inverse=True)
    targets = np.zeros((len(ways), len(labels)), dtype=np.float32)
    for number, way in enumerate(ways.tolist()):
        distribution = dict(zip(names, way, strict=True))
        if view == "soft":
            shares = views.soft(distribution, labels, mixes)
            targets[number] = [shares.get(label, 0.0) for label in labels]
        else:
            copies = views.repeated(distribution, labels, mixes)
            targets[number] = [copies.count(label) for label in labels]
    return np.asarray(targets[which.ravel()])
