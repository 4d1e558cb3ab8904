"""Variables are named after what they hold: words that could hold anything are bound nowhere but in comprehensions."""

from __future__ import annotations

import ast
from collections import Counter
from pathlib import Path

SOURCE = Path(__file__).resolve().parents[2] / "src" / "quintain"
VAGUE = frozenset(
    "one found place wanted made said told there given kept standing look settle".split()  # noqa: SIM905 - read as words
)
# Where some are left, and how many at most. The list only gets shorter; what is written anew has none.
LEFT: dict[str, int] = {
    "client/calls": 1,
    "models/checkpoint_folder.py": 1,
    "perturbations/fairness": 1,
    "services/collect": 112,
    "services/contest": 7,
    "services/contrast": 1,
    "services/evaluate": 124,
    "services/plain": 2,
    "services/release": 1,
    "services/validate": 142,
    "store/migrations": 12,
    "store/queries": 1,
    "web/api": 94,
    "web/conflicts.py": 1,
    "web/error_text.py": 3,
    "web/errors.py": 2,
    "web/exporting.py": 6,
    "web/form_reading.py": 2,
    "web/i18n.py": 1,
    "web/listing.py": 1,
    "web/middleware.py": 2,
    "web/pages": 289,
    "web/peers.py": 1,
    "web/rendering.py": 1,
    "web/report_files.py": 2,
    "web/spec_form.py": 11,
    "web/switchboard.py": 2,
    "web/tour.py": 1,
    "web/visit.py": 4,
}


def vague_names(tree: ast.Module) -> list[str]:
    """List the vague names that a module binds as variables or parameters, outside of comprehensions.

    Fields of classes are not meant: they are what files and programs read.
    """
    apart = {id(target) for node in ast.walk(tree) for target in _not_variables(node)}
    stored = [node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and _is_bound(node, apart)]
    return [*stored, *(node.arg for node in ast.walk(tree) if isinstance(node, ast.arg) and node.arg in VAGUE)]


def _is_bound(node: ast.Name, apart: set[int]) -> bool:
    return isinstance(node.ctx, ast.Store) and node.id in VAGUE and id(node) not in apart


def _not_variables(node: ast.AST) -> list[ast.AST]:
    if isinstance(node, ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp):
        return [target for part in node.generators for target in ast.walk(part.target)]
    if isinstance(node, ast.ClassDef):
        fields = [statement.target for statement in node.body if isinstance(statement, ast.AnnAssign)]
        return [*fields, *(target for part in node.body if isinstance(part, ast.Assign) for target in part.targets)]
    return []


def counted() -> Counter[str]:
    """Count vague names by room: the first two parts of a module's path."""
    counts: Counter[str] = Counter()
    for path in SOURCE.rglob("*.py"):
        names = vague_names(ast.parse(path.read_text(encoding="utf-8")))
        if names:
            counts["/".join(path.relative_to(SOURCE).parts[:2])] += len(names)
    return counts


def test_variables_say_what_they_hold() -> None:
    """No room binds more vague names than it is known to, and the list says no more than there are."""
    counts = counted()
    assert {room: number for room, number in counts.items() if number > LEFT.get(room, 0)} == {}
    assert {room: number for room, number in LEFT.items() if number > counts[room]} == {}


def test_what_counts_as_a_binding() -> None:
    """Assignments, loops and parameters count; comprehensions and fields of classes do not."""
    text = (
        "class A:\n    place: int\n\n"
        "def f(wanted):\n    found = [one for one in wanted]\n    for made in found:\n        pass\n"
    )
    assert sorted(vague_names(ast.parse(text))) == ["found", "made", "wanted"]
