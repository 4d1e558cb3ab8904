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


def split_numbers(value: str, option: str) -> list[float]:
    """Read numbers that were given by commas; *option* is named where one is none.

    >>> split_numbers("0.25, 1", "--guessing-prior")
    [0.25, 1.0]
    """
    try:
        return [float(name) for name in split_names([value])]
    except ValueError:
        raise BadInput(
            "{option} takes numbers by commas, and '{value}' are none.",
            option=option,
            value=value,
            remedy="Write numbers such as 0.25,1.",
        ) from None
