"""Find, in the source, every text with which something is refused: messages, remedies and reasons.

A text is written where it is raised, as plain English with values in it: `Conflict(f"{user.name} is the only admin.")`.
Here such a site becomes a template, `%(name)s is the only admin.`, which a catalogue can translate. A text that comes
to its site by another way is followed there (see `following.py`).
"""

from __future__ import annotations

import ast
import itertools
import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from following import Follower, Hole, Module, Place, Text, argument, letters

REFUSALS = ("QuintainError", "BadInput", "NotFound", "NotSignedIn", "Forbidden", "Conflict", "TooMany", "Unavailable")
# Where a class or a function takes a text that is shown: by position (if at all) and by name.
CARRIERS: dict[str, tuple[tuple[int | None, str], ...]] = {
    **dict.fromkeys(REFUSALS, ((0, "message"), (None, "remedy"), (None, "page"))),
    "Fault": ((0, "reason"),),
    "RowFault": ((2, "reason"),),
    "Rule": ((2, "reason"),),  # of an example, checked over a table
    "Reason": ((2, "text"),),  # why somebody may or may not do a work
    "Cause": ((1, "text"), (2, "remedy")),  # of a layer of the sandbox that is missing
    "Trouble": ((1, "message"), (2, "remedy")),
    "Kind": ((1, "wanted"),),  # what an option of a specification or a rule should be
    "fault": ((1, "reason"),),  # of readers of definitions
}
TABLES = ("_FIELDS", "_ANSWERS", "_CALLED", "PATTERNS")  # of words that are put into such texts
GIVERS = ("closed_because", "_wanted", "_known")  # functions that give such a text, or words for one
FEWEST_LETTERS = 5  # that a text with values in it must have to be known again


def templates(modules: Sequence[Module]) -> dict[str, tuple[str, int]]:
    """Give every template of *modules*, with a file and line where it is raised."""
    found: dict[str, tuple[str, tuple[str, int]]] = {}
    for text, place in _texts(modules):
        written = template(text)
        if written:
            shape = re.sub(r"%\(\w+\)s", "%()s", written)  # templates that differ in the names of values are one
            found[shape] = min(found.get(shape, (written, place)), (written, place))
    return dict(found.values())


def _texts(modules: Sequence[Module]) -> Iterator[tuple[Text, tuple[str, int]]]:
    follower = Follower(modules)
    for module in modules:
        for name, places in CARRIERS.items():
            for call, scope in module.calls.get(name, ()):
                for position, keyword in places:
                    given = argument(call, position, keyword)
                    read = follower.read(given, Place(module, scope)) if given is not None else ()
                    yield from ((text, (module.name, call.lineno)) for text in read)
        for function in itertools.chain.from_iterable(module.functions.get(name, ()) for name in GIVERS):
            read = follower.returned(function, Place(module, function, 1))
            yield from ((text, (module.name, function.lineno)) for text in read)
        for table in (module.constants[name] for name in TABLES if name in module.constants):
            yield from (((word,), (module.name, table.lineno)) for word in _words(table))


def _words(table: ast.expr) -> Iterator[str]:
    """List the words, rather than names, in what a table holds."""
    held: Iterable[ast.expr] = table.values if isinstance(table, ast.Dict) else [table]
    for node in itertools.chain.from_iterable(ast.walk(one) for one in held):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and " " in node.value:
            yield node.value


def template(text: Text) -> str | None:
    """Write a text as gettext does: `%(name)s` where a value goes; nothing for one that is hardly any words.

    >>> template((Hole("name"), " is 5 % of ", Hole("name")))
    '%(name)s is 5 %% of %(name_2)s'
    """
    merged: list[str | Hole] = []
    for part in text:
        if isinstance(part, Hole) and merged and isinstance(merged[-1], Hole):
            continue  # nobody can tell where one of two values ends
        if part:
            merged.append(part)
    has_holes = any(isinstance(part, Hole) for part in merged)
    if letters(text) < (FEWEST_LETTERS if has_holes else 2):
        return None
    used: dict[str, int] = {}
    written = ""
    for part in merged:
        if isinstance(part, str):
            written += part.replace("%", "%%")
            continue
        used[part.name] = used.get(part.name, 0) + 1
        written += f"%({part.name}{f'_{used[part.name]}' if used[part.name] > 1 else ''})s"
    return written.strip()


def read_modules(root: Path, rooms: Sequence[str], without: Sequence[str]) -> list[Module]:
    """Read the files of *rooms* (folders or files below *root*), those that begin as one of *without* left out."""
    paths = itertools.chain.from_iterable(
        [root / room] if room.endswith(".py") else sorted((root / room).rglob("*.py")) for room in rooms
    )
    named = ((path.relative_to(root).as_posix(), path) for path in paths)
    return [Module(name, ast.parse(path.read_text())) for name, path in named if not name.startswith(tuple(without))]
