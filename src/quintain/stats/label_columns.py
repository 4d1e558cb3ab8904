"""Columns of labels, with each label in one spelling; see `quintain.core.label_form`."""

from __future__ import annotations

from collections.abc import Iterable

import polars as pl

from quintain.core.label_form import LabelNames, clean_label


def names_in(*columns: pl.Series) -> LabelNames:
    """Collect the labels of *columns*; empty cells are none."""
    labels = {label for column in columns for label in _texts(column).unique().drop_nulls().to_list()}
    return LabelNames(sorted(label for label in labels if clean_label(label)))


def in_names(column: pl.Series, names: LabelNames | Iterable[str] | None = None) -> pl.Series:
    """Return a column of labels as *names* spell them; labels that are none of those are joined by their forms.

    >>> in_names(pl.Series(["1.0", " 2", "1"]), ["1", "2"]).to_list()
    ['1', '2', '1']
    >>> in_names(pl.Series(["yes ", "yes", "Yes"])).to_list()
    ['yes', 'yes', 'Yes']
    """
    texts = _texts(column)
    if names is None:
        names = names_in(texts)
    known = names if isinstance(names, LabelNames) else LabelNames(names)
    called = known.renamed(texts.unique().drop_nulls().to_list())
    return texts.replace({old: new for old, new in called.items() if old != new})


def _texts(column: pl.Series) -> pl.Series:
    """Write a column as texts; whole numbers without a fraction, as people write labels."""
    if column.dtype.is_float():
        whole = (column % 1 == 0).fill_null(False) & (column.abs() < 1e15)
        written = pl.DataFrame({"whole": whole, "label": column}).select(
            pl.when("whole")
            .then(pl.col("label").cast(pl.Int64, strict=False).cast(pl.String))
            .otherwise(pl.col("label").cast(pl.String))
        )
        return written.to_series().alias(column.name)
    return column.cast(pl.String())
