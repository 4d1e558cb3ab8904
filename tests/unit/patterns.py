"""Finding every regular expression in the source, and texts that hold it up."""

from __future__ import annotations

import ast
import importlib
import itertools
import re
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import quintain

SOURCE = Path(quintain.__file__).parent
CALLS = frozenset({"match", "search", "fullmatch", "sub", "split", "findall", "finditer"})
PUMPS = [*" \t\na1A0.,-_'#[(<\"@=;:/$\\é", "a ", " a", "1.", "1 ", "a.", "a-", "a'", "a@", "=1,", ", ", "I", "\\ud8"]
STARTS = ["", "a", "# ", "http://", "<e1>"]
ENDS = ["", "!\x00"]
SIZE = 1500
SUSPECT = 0.0015  # seconds of processor; a pattern that is linear takes a tenth of that


@dataclass(frozen=True)
class Use:
    """A pattern, where it stands, and how it is used there."""

    place: str
    pattern: re.Pattern[Any]
    calls: frozenset[str]


def uses() -> list[Use]:
    """Find every pattern of the source: compiled ones, and literals given to `re` on the spot."""
    found: list[Use] = []
    for path in sorted(SOURCE.rglob("*.py")):
        text = path.read_text()
        if re.search(r"^import re$", text, re.MULTILINE):
            name = path.relative_to(SOURCE.parent).with_suffix("").as_posix().replace("/", ".")
            found += _literals(name, ast.parse(text))
            found += _compiled(name, text)
    return found


def _literals(module: str, tree: ast.AST) -> Iterator[Use]:
    for node in ast.walk(tree):
        match node:
            case ast.Call(
                func=ast.Attribute(value=ast.Name(id="re"), attr=call), args=[ast.Constant(value=str() as text), *_]
            ) if call in CALLS:
                yield Use(f"{module}:{node.lineno}", re.compile(text), frozenset({call}))


def _compiled(module: str, text: str) -> Iterator[Use]:
    for key, value in vars(importlib.import_module(module)).items():
        inside = value if isinstance(value, (list, tuple)) else [value]
        flat = itertools.chain.from_iterable(one if isinstance(one, tuple) else [one] for one in inside)
        calls = CALLS & set(re.findall(rf"\b{key}\.(\w+)", text))
        for one in flat:
            if isinstance(one, re.Pattern):
                yield Use(f"{module}.{key}", one, frozenset(calls or CALLS))


def held_up_by(use: Use) -> str:
    """Give a text that takes the pattern more than its length's share of time, or "" where none was found."""
    for call in sorted(use.calls & {"match", "fullmatch"}) + ["finditer"] * bool(use.calls - {"match", "fullmatch"}):
        for start, pump, end in itertools.product(STARTS, PUMPS, ENDS):
            run = _runner(use.pattern, call)
            if _seconds(run, start + pump * (SIZE // len(pump)) + end) > SUSPECT and _grows(run, start, pump, end):
                return f"{start!r} + {pump!r} * n + {end!r}"
    return ""


def _runner(pattern: re.Pattern[Any], call: str) -> Callable[[str], object]:
    def run(text: str) -> object:
        given: Any = text.encode() if isinstance(pattern.pattern, bytes) else text
        return sum(1 for _ in pattern.finditer(given)) if call == "finditer" else getattr(pattern, call)(given)

    return run


def _grows(run: Callable[[str], object], start: str, pump: str, end: str) -> bool:
    """Say whether four times the text takes much more than four times as long."""
    small, large = (start + pump * (size // len(pump)) + end for size in (SIZE, 4 * SIZE))
    return min(_seconds(run, large) for _ in range(2)) > 8 * min(_seconds(run, small) for _ in range(3))


def _seconds(run: Callable[[str], object], text: str) -> float:
    """Give the processor's time, which others on the machine do not change."""
    began = time.thread_time()
    run(text)
    return time.thread_time() - began
