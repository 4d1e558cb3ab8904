"""Columns of texts as lists of their words, by the one rule of what a word is."""

from __future__ import annotations

from typing import TypeVar

import polars as pl

from quintain.core.words import WORD

Column = TypeVar("Column", pl.Series, pl.Expr)


def word_lists(texts: Column) -> Column:
    """Return the words of each text: in lower case, and in NFC, so that an accent is one however it was typed.

    >>> word_lists(pl.Series(["It wasn't well-made!"])).to_list()
    [['it', "wasn't", 'well-made']]
    """
    return texts.str.normalize("NFC").str.to_lowercase().str.extract_all(WORD)
