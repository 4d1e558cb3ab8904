"""Whether the examples of one file turn up in another: exactly, or nearly."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import polars as pl

from quintain.core.errors import BadInput, NotFound
from quintain.core.records.evaluate import AlikePair, Overlap
from quintain.data.tables import read_table
from quintain.stats.near_duplicates import THRESHOLD, Nearest, find_nearest

SHOWN = 20
# Columns that say something about an example and are not part of it.
BESIDE = frozenset({"id", "answer", "label", "gold_label", "tags", "group", "meta", "split", "distribution"})


def overlap_files(
    train: Path, test: Path, *, fields: Sequence[str] = (), threshold: float = THRESHOLD, limit: int = SHOWN
) -> Overlap:
    """Look for the examples of the file *test* in the file *train*, by the text in *fields* or in all shared ones."""
    tables = [read_table(path, required=list(fields), mapped=False) for path in (train, test)]
    names = list(fields) or _shared_texts(*tables)
    if not names:
        raise BadInput(
            "{name} and {other} share no column of texts.",
            name=train.name,
            other=test.name,
            remedy="Name the columns with --field.",
        )
    texts = joined_texts(tables[0], names), joined_texts(tables[1], names)
    return compare_texts((train.name, test.name), texts, threshold, limit)


def compare_texts(
    names: tuple[str, str], texts: tuple[Sequence[str], Sequence[str]], threshold: float, limit: int
) -> Overlap:
    """Look for the texts of the second in the first, of which the *names* are told."""
    train, test = texts
    if not train or not test:
        raise NotFound("{names} has no examples.", names=names[0] if not train else names[1])
    nearest = find_nearest(test, train, threshold=threshold)
    pairs = _pairs(nearest, train, test, limit)
    exact, near = int(nearest.exact.sum()), int(nearest.near.sum())
    return counted(names, (len(train), len(test)), exact, near, threshold, pairs)


def counted(
    names: tuple[str, str],
    rows: tuple[int, int],
    exact: int,
    near: int,
    threshold: float,
    pairs: Sequence[AlikePair] = (),
) -> Overlap:
    """Return what was found as a record."""
    share = (exact + near) / rows[1] if rows[1] else 0.0
    return Overlap(*names, *rows, exact, near, share, threshold, list(pairs))


def _pairs(nearest: Nearest, train: Sequence[str], test: Sequence[str], limit: int) -> list[AlikePair]:
    order = np.argsort(-nearest.similarity, kind="stable")[:limit]
    return [
        AlikePair(test[i], train[nearest.index[i]], round(float(nearest.similarity[i]), 4))
        for i in order
        if nearest.index[i] >= 0
    ]


def _shared_texts(first: pl.DataFrame, second: pl.DataFrame) -> list[str]:
    shared = [name for name in first.columns if name in second.columns and name not in BESIDE]
    return [name for name in shared if pl.String() in {first.schema[name], second.schema[name]}]


def joined_texts(table: pl.DataFrame, names: Sequence[str]) -> list[str]:
    """Join the inputs of each example into one text."""
    missing = [name for name in names if name not in table.columns]
    if missing:
        raise BadInput("There is no column '{missing}'.", missing=missing[0])
    parts = []
    for name in names:
        column = pl.col(name)
        if isinstance(table.schema[name], pl.List):
            column = column.cast(pl.List(pl.String())).list.join(" ", ignore_nulls=True)
        parts.append(column.cast(pl.String()).fill_null(""))
    return table.select(pl.concat_str(parts, separator=" ")).to_series().to_list()
