"""Lists of names on the command line."""

from __future__ import annotations

from collections.abc import Iterable


def split_names(values: Iterable[str] | None) -> list[str]:
    """Read names that were given by commas, by repeating the option, or both.

    >>> split_names(["f1, accuracy", "mcc"])
    ['f1', 'accuracy', 'mcc']
    """
    return [name.strip() for value in values or () for name in value.split(",") if name.strip()]
