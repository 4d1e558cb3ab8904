"""A class is known by its name: no two modules define public ones that are called the same."""

from __future__ import annotations

import ast
from collections import defaultdict
from pathlib import Path

SOURCE = Path(__file__).parents[2] / "src" / "quintain"
# A record is called what it is, as are the row that keeps it and the view that it is made from.
RECORDS = SOURCE / "core" / "records"
CLIENT = SOURCE / "client"  # the library is read by itself
SHARED = {
    "DecisionRequest": "of the API, where a request is named beside its endpoint",
    "PracticeRequest": "likewise",
}


def test_no_two_public_classes_have_one_name() -> None:
    """Whoever reads `Page` in one file does not have to ask which of three it is."""
    found: dict[str, list[str]] = defaultdict(list)
    for path in SOURCE.rglob("*.py"):
        if {RECORDS, CLIENT} & set(path.parents):
            continue
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                found[node.name].append(str(path.relative_to(SOURCE)))
    assert len(found) > 500
    assert {name: places for name, places in found.items() if len(places) > 1} == {}
