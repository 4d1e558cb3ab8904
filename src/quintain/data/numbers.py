"""Numbers as people write them: digits of every script, full-width ones, decimal commas.

A comma is a decimal one where its column shows it: "3,5" does, "1,234" alone may be a thousand and stays as it is.
"""

from __future__ import annotations

import unicodedata

import polars as pl

_SIGNS = {"\u2212": "-", "\uff0d": "-", "\uff0e": ".", "\u066b": ".", "\uff0c": ",", "\u066c": ""}
_THOUSANDS = r"^[-+]?\d{1,3}(,\d{3})+$"
_DECIMAL = r"^[-+]?(\d+|\d{1,3}(\.\d{3})+),\d+$"


def plain_numbers(texts: pl.Series) -> pl.Series:
    """Return a column of texts in which numbers are written as programs read them; other texts stay.

    >>> plain_numbers(pl.Series(["３", "٤٫٥", "1.234,5", "2,25", "two"])).to_list()
    ['3', '4.5', '1234.5', '2.25', 'two']
    >>> plain_numbers(pl.Series(["1,234", "12,000"])).to_list()
    ['1,234', '12,000']
    """
    if texts.dtype != pl.String():
        return texts
    if not texts.str.contains(r"^[\x00-\x7f]*$").fill_null(True).all():
        unique = texts.unique().drop_nulls().to_list()
        texts = texts.replace({text: written for text in unique if (written := _in_ascii(text)) != text})
    decimal = texts.str.contains(_DECIMAL).fill_null(False)
    if not (decimal & ~texts.str.contains(_THOUSANDS).fill_null(False)).any():
        return texts
    pointed = texts.str.replace_all(".", "", literal=True).str.replace(",", ".", literal=True)
    return pl.select(pl.when(decimal).then(pointed).otherwise(texts)).to_series().alias(texts.name)


def _in_ascii(text: str) -> str:
    """Return a number in plain digits and signs; what is no number stays."""
    digits = [unicodedata.decimal(letter, None) for letter in text]
    written = "".join(
        _SIGNS.get(letter, letter) if digit is None else str(digit) for letter, digit in zip(text, digits, strict=True)
    )
    return written if written.isascii() else text
