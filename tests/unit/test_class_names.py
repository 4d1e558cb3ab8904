"""A class is known by its name: no two modules define public ones that are called the same."""

from __future__ import annotations

import ast
from collections import defaultdict
from pathlib import Path

SOURCE = Path(__file__).parents[2] / "src" / "quintain"
ROWS = SOURCE / "store" / "tables"  # a row is called what the record is that it keeps
FRONTS = (SOURCE / "client", SOURCE / "library")  # each is read by itself, by people who see no other module


def test_no_two_public_classes_have_one_name() -> None:
    """Whoever reads `Page` in one file does not have to ask which of three it is; records are no exception."""
    found: dict[str, list[str]] = defaultdict(list)
    for path in SOURCE.rglob("*.py"):
        if set(FRONTS) & set(path.parents):
            continue
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                kept = "" if ROWS in path.parents else "other than rows"
                found[f"{node.name} {kept}"].append(str(path.relative_to(SOURCE)))
    assert len(found) > 500
    assert {name: places for name, places in found.items() if len(places) > 1} == {}
