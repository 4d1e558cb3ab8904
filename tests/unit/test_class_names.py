"""A class is known by its name: no two modules define public ones that are called the same."""

from __future__ import annotations

import ast
from collections import defaultdict
from pathlib import Path

SOURCE = Path(__file__).parents[2] / "src" / "quintain"
# A record is called what its concept is called, also where a table or a service has a class of its own for that;
# the client's words are those of the server.
REPEATS = {SOURCE / "core" / "records", SOURCE / "client"}


def test_no_two_public_classes_have_one_name() -> None:
    """Whoever reads `Page` in one file does not have to ask which of three it is."""
    found: dict[str, list[str]] = defaultdict(list)
    for path in SOURCE.rglob("*.py"):
        if REPEATS & set(path.parents):
            continue
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                found[node.name].append(str(path.relative_to(SOURCE)))
    assert len(found) > 500
    assert {name: places for name, places in found.items() if len(places) > 1} == {}
