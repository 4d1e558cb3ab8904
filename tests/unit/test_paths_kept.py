"""What cannot be written is said with its path to operators alone: commands print it, and the log has it."""

from __future__ import annotations

import ast
from pathlib import Path

import quintain

NAMES = {"path", "folder", "workspace", "address", "where", "file", "target"}


def test_no_error_for_everybody_names_a_path() -> None:
    """An `Unavailable` that is told to whoever asks has no path among its values; `OutOfOrder` is the one that may."""
    source = Path(quintain.__file__).parent
    named = []
    for path in sorted(source.rglob("*.py")):
        if path.is_relative_to(source / "cli"):
            continue
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "Unavailable":
                values = {keyword.arg for keyword in node.keywords}
                named += [f"{path.relative_to(source)}:{node.lineno}"] if values & NAMES else []
    assert named == []
