"""Files that people write by hand: read as text and as TOML, with faults that name the line."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

from quintain.core.errors import BadInput, Fault, NotFound
from quintain.core.jsontext import MAX_DEPTH, deeper_than
from quintain.core.texts import Text

MAX_BYTES = 1_000_000
LOOK_AGAIN = Text("Check the spelling and the folder.")
_DOTS = re.compile(r"""(?<![\w"'.-])(?>[\w"'-]++[ \t]*+\.[ \t]*+){64}""")


def read_text(path: Path, *, remedy: Text = LOOK_AGAIN) -> str:
    """Read the text of the file at *path*, or say why that cannot be; *remedy* is for where there is none."""
    try:
        if path.stat().st_size > MAX_BYTES:
            raise BadInput("{path} is larger than 1 MB, which no file of this kind is.", path=path)
        return path.read_bytes().decode("utf-8-sig")
    except FileNotFoundError:
        raise NotFound("There is no file {path}.", path=path, remedy=remedy) from None
    except UnicodeDecodeError as error:
        line = error.object[: error.start].count(b"\n") + 1
        fault = Fault("byte {object:#04x} is not UTF-8", object=error.object[error.start], file=str(path), line=line)
        raise BadInput(faults=[fault], remedy="Save the file as UTF-8.") from None
    except OSError as error:
        raise BadInput("{path} cannot be read: {strerror}.", path=path, strerror=error.strerror) from error


def parse_toml(text: str, *, file: str | None = None) -> dict[str, Any]:
    """Return the tables in TOML *text*; BadInput says where it is none, and names *file*.

    >>> parse_toml("pages = 10")
    {'pages': 10}
    >>> parse_toml("pages = ", file="round.toml")
    Traceback (most recent call last):
    quintain.core.errors.BadInput: round.toml, line 1: not valid TOML: Invalid value. Mend the TOML first.
    """
    try:
        if _DOTS.search(text):  # the parser takes the square of a key's parts
            raise RecursionError
        values = tomllib.loads(text)
        if deeper_than(values, MAX_DEPTH):
            raise RecursionError
    except tomllib.TOMLDecodeError as error:
        raise BadInput(faults=[_syntax_fault(str(error), file, text)], remedy="Mend the TOML first.") from None
    except RecursionError:
        raise _refused(Text("it is nested more than {max_depth} deep", max_depth=MAX_DEPTH), file) from None
    except ValueError:
        raise _refused(Text("it holds a number of thousands of digits, or a date that does not exist"), file) from None
    return values


def _refused(reason: str, file: str | None) -> BadInput:
    return BadInput(faults=[Fault("not valid TOML: {reason}", reason=reason, file=file)], remedy="Mend the TOML first.")


def _syntax_fault(message: str, file: str | None, text: str) -> Fault:
    match = re.search(r"\(at line (\d+), column (\d+)\)", message)
    line = int(match[1]) if match else text.count("\n") + 1
    reason = message.rpartition(" (at ")[0] or message
    if match:
        shown = text.splitlines()[line - 1].strip() if line <= len(text.splitlines()) else ""
        reason += f" at column {match[2]}" + (f" of: {shown[:80]}" if shown else "")
    return Fault("not valid TOML: {reason}", reason=reason, file=file, line=line)
