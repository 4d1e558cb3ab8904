"""Names on the command line."""

from __future__ import annotations

from collections.abc import Iterable

from quintain.core.errors import BadInput


def split_names(values: Iterable[str] | None) -> list[str]:
    """Read names that were given by commas, by repeating the option, or both.

    >>> split_names(["f1, accuracy", "mcc"])
    ['f1', 'accuracy', 'mcc']
    """
    return [name.strip() for value in values or () for name in value.split(",") if name.strip()]


def split_round(name: str) -> tuple[str, int | None]:
    """Read `task` or `task/number`.

    >>> split_round("sentiment/2"), split_round("sentiment")
    (('sentiment', 2), ('sentiment', None))
    """
    task, _, number = name.partition("/")
    if not number:
        return task, None
    if not number.isdecimal() or len(number) > 9:
        raise BadInput("'{name}' is not a round.", name=name, remedy="Write task/number, such as sentiment/2.")
    return task, int(number)
