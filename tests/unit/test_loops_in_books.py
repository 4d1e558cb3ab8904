"""Whatever goes on beside requests is in a book, so that Health and /readyz say how it fares."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import quintain

# Loops of one piece of work, which ends with them: its own failure is said there.
OF_ONE_PIECE = {
    "services/jobs/lease.py": "lease of",
    "services/evaluate/cells/run_cell.py": "lease of cell",
    "engine/sandbox/process.py": "sandbox",
    "services/jobs/loops.py": "pulse",
}


def test_every_loop_is_in_a_book() -> None:
    """A module that makes a loop writes it into a book, unless the loop ends with the one piece of work it is for."""
    source = Path(quintain.__file__).parent
    unseen = []
    for path in sorted(source.rglob("*.py")):
        calls = [node for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))) if isinstance(node, ast.Call)]
        makes = any(isinstance(call.func, ast.Name) and call.func.id == "Loop" for call in calls)
        books = any(re.search(r"(book|loops|LoopBook\(\)\))\.(add|holding)$", ast.unparse(call.func)) for call in calls)
        name = str(path.relative_to(source))
        if makes and not books and name not in OF_ONE_PIECE:
            unseen.append(name)
    assert unseen == []
