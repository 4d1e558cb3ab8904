"""The front matter of a README, as far as data files are named in it.

Only the block `configs:` is read, and of YAML only what stands in such blocks: nested mappings and lists by
indentation, plain and quoted values, and lists in square brackets.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from quintain.core.errors import BadInput, Fault


@dataclass(frozen=True, slots=True)
class _Line:
    number: int
    indent: int
    text: str


def read_configs(readme: str, *, file: str) -> list[dict[str, Any]]:
    """Give the list `configs` of the front matter in *readme*; an empty one where there is none."""
    lines = _config_lines(readme.removeprefix("\ufeff").splitlines(), file)
    if not lines:
        return []
    value, rest = _block(lines, lines[0].indent, file)
    if rest:
        raise _problem(file, rest[0], "the indentation does not fit")
    configs = value if isinstance(value, list) else [value]
    if not all(isinstance(config, dict) for config in configs):
        raise _problem(file, lines[0], "'configs' is not a list of mappings")
    return configs


def _config_lines(lines: list[str], file: str) -> list[_Line]:
    if not lines or lines[0].strip() != "---":
        return []
    if "---" not in (line.strip() for line in lines[1:]):
        raise BadInput(faults=[Fault("the front matter has no end: a line '---' is missing", file=file, line=1)])
    found: list[_Line] = []
    inside = False
    for number, line in enumerate(lines[1:], 2):
        text = line.strip()
        if text == "---":
            break
        if not line.startswith((" ", "\t", "-", "#")) and text:
            inside = text.split("#")[0].strip() == "configs:"
        elif inside and text and not text.startswith("#"):
            if "\t" in line[: len(line) - len(line.lstrip())]:
                raise BadInput(faults=[Fault("a tab in the indentation", file=file, line=number)])
            found.append(_Line(number, len(line) - len(line.lstrip()), _without_comment(text)))
    return found


def _without_comment(text: str) -> str:
    quote = ""
    for index, sign in enumerate(text):
        if quote:
            quote = "" if sign == quote else quote
        elif sign in "\"'":
            quote = sign
        elif sign == "#" and text[index - 1] == " ":
            return text[:index].rstrip()
    return text


def _block(lines: list[_Line], indent: int, file: str) -> tuple[Any, list[_Line]]:
    """Read the mapping or list whose lines begin at *indent*; give it and the lines after it."""
    if lines[0].text.startswith("- ") or lines[0].text == "-":
        return _sequence(lines, indent, file)
    mapping: dict[str, Any] = {}
    while lines and lines[0].indent == indent and not lines[0].text.startswith("- "):
        line = lines[0]
        key, colon, value = line.text.partition(":")
        if not colon or (value and not value.startswith(" ")):
            raise _problem(file, line, f"'{line.text}' is not 'key: value'")
        lines = lines[1:]
        if value.strip():
            mapping[_scalar(key)] = _value(value.strip(), line, file)
        elif lines and (lines[0].indent > indent or (lines[0].indent == indent and lines[0].text.startswith("-"))):
            mapping[_scalar(key)], lines = _block(lines, lines[0].indent, file)
        else:
            mapping[_scalar(key)] = None
    return mapping, lines


def _sequence(lines: list[_Line], indent: int, file: str) -> tuple[list[Any], list[_Line]]:
    entries: list[Any] = []
    while lines and lines[0].indent == indent and lines[0].text.startswith("-"):
        line = lines[0]
        text = line.text[1:].lstrip()
        if not text:
            entry, lines = _block(lines[1:], lines[1].indent, file) if len(lines) > 1 else (None, [])
        elif ":" in text and not text.startswith(('"', "'", "[")):
            inner = _Line(line.number, indent + len(line.text) - len(text), text)
            entry, lines = _block([inner, *lines[1:]], inner.indent, file)
        else:
            entry, lines = _value(text, line, file), lines[1:]
        entries.append(entry)
    return entries, lines


def _value(text: str, line: _Line, file: str) -> Any:
    if text.startswith("["):
        if not text.endswith("]"):
            raise _problem(file, line, "a list in brackets must end on its line")
        return [_scalar(part) for part in text[1:-1].split(",") if part.strip()]
    if text[0] in "{|>&*!":
        raise _problem(file, line, f"'{text}' is YAML that is not read here; write it out by indentation")
    return _scalar(text)


def _scalar(text: str) -> str:
    text = text.strip()
    quoted = len(text) > 1 and text[0] == text[-1] and text[0] in "\"'"
    return text[1:-1] if quoted else text


def _problem(file: str, line: _Line, reason: str) -> BadInput:
    return BadInput(faults=[Fault(f"front matter: {reason}", file=file, line=line.number)])
