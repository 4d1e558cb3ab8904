"""Errors in the words of a notebook: where a remedy names an option of a command, the caller reads of an argument."""

from __future__ import annotations

import inspect
import re
import warnings
from collections.abc import Callable
from functools import wraps
from typing import Any, ParamSpec, TypeVar, get_type_hints

from quintain.core.argument_types import check_type
from quintain.core.errors import BadInput, NotFound, QuintainError
from quintain.core.texts import Text
from quintain.library.results import Result

Given = ParamSpec("Given")
Found = TypeVar("Found")

_COLUMN = re.compile(r"--column (\S+)=COLUMN")
_WITH_VALUE = re.compile(r"--(metric|repeats) (\w+)")
_OPTION = re.compile(r"--([a-z]+(?:-[a-z]+)*)(?: [A-Z]+\b)?")
# Arguments that are called otherwise than the option, which is given once for each value, or is a mere switch.
_ARGUMENTS = {
    "all": "everything=True",
    "allow-missing": "allow_missing=True",
    "allow-unknown": "allow_unknown=True",
    "field": "fields",
    "kind": "kinds",
    "option": "options",
}


class QuintainWarning(UserWarning):
    """Something that was given may be a slip, and would make the figures wrong."""


def speaks_python(verb: Callable[Given, Found]) -> Callable[Given, Found]:
    """Let the errors of a function of the library name its arguments, and say its result's warnings aloud."""
    signature, hints = inspect.signature(verb), get_type_hints(verb)

    @wraps(verb)
    def called(*args: Given.args, **named: Given.kwargs) -> Found:
        try:
            for name, value in signature.bind(*args, **named).arguments.items():
                _check(signature.parameters[name], value, hints.get(name))
            result = verb(*args, **named)
        except NotFound as error:  # a file or a method that does not exist is bad input to who calls a function
            remedy = Text("{said}", said=in_python(error.remedy)) if error.remedy else None
            raise BadInput("{said}", said=error.message, remedy=remedy) from error
        except QuintainError as error:
            if error.remedy:
                error.remedy = Text("{said}", said=in_python(error.remedy))
            raise
        for text in result.warnings if isinstance(result, Result) else ():
            warnings.warn(str(text), QuintainWarning, stacklevel=2)
        return result

    return called


def _check(parameter: inspect.Parameter, value: Any, hint: Any) -> None:
    """Refuse a value of another type than the parameter's; of any number of values each is looked at."""
    if parameter.kind is inspect.Parameter.VAR_POSITIONAL:
        for at, part in enumerate(value):
            check_type(f"{parameter.name}[{at}]", part, hint)
    elif parameter.kind is not inspect.Parameter.VAR_KEYWORD:
        check_type(parameter.name, value, hint)


def in_python(remedy: str) -> str:
    """Return a *remedy* with arguments in the place of options.

    >>> in_python("Map names with --column NAME=COLUMN, or use --repeats first.")
    'Map names with columns={"NAME": "COLUMN"}, or use repeats="first".'
    >>> in_python("Mend the files; --allow-missing counts them as wrong. Name the texts with --field.")
    'Mend the files; allow_missing=True counts them as wrong. Name the texts with fields.'
    """
    if "`quintain " in remedy:  # a command has the options that it has
        return remedy
    text = _COLUMN.sub(r'columns={"\1": "COLUMN"}', remedy.replace("The file has:", "It has:"))
    text = _WITH_VALUE.sub(r'\1="\2"', text)
    return _OPTION.sub(lambda match: _ARGUMENTS.get(match[1], match[1].replace("-", "_")), text)
