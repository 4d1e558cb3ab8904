"""Names and docstrings are plain: variables are named after what they hold, and docstrings say what comes back."""

from __future__ import annotations

import ast
import re
from pathlib import Path

SOURCE = Path(__file__).resolve().parents[2] / "src" / "quintain"
VAGUE = frozenset(
    "one found place wanted made said told there given kept standing look settle".split()  # noqa: SIM905 - read as words
)
# Names of parameters that the API has published: who calls it by them would be refused under another one.
PUBLIC: dict[str, list[str]] = {"client/calls/evaluation.py": ["said"], "web/api/params.py": ["said"]}


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


def test_variables_say_what_they_hold() -> None:
    """No module binds a vague name, but for what is published."""
    modules = {str(path.relative_to(SOURCE)): path for path in sorted(SOURCE.rglob("*.py"))}
    assert len(modules) > 1000
    names = {module: vague_names(ast.parse(path.read_text(encoding="utf-8"))) for module, path in modules.items()}
    assert {module: vague for module, vague in names.items() if vague} == PUBLIC


def test_what_counts_as_a_binding() -> None:
    """Assignments, loops and parameters count; comprehensions and fields of classes do not."""
    text = (
        "class A:\n    place: int\n\n"
        "def f(wanted):\n    found = [one for one in wanted]\n    for made in found:\n        pass\n"
    )
    assert sorted(vague_names(ast.parse(text))) == ["found", "made", "wanted"]


def riddles(tree: ast.Module) -> list[str]:
    """List the docstrings that begin with what is done to a caller instead of with what comes back."""
    documented = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Module
    texts = (ast.get_docstring(node) or "" for node in ast.walk(tree) if isinstance(node, documented))
    return [text.partition("\n")[0] for text in texts if re.split(r"\W", text, maxsplit=1)[0] in {"Give", "Say"}]


def test_docstrings_say_what_comes_back() -> None:
    """None begins with "Give" or "Say": a caller reads what is returned, what is refused and for whom."""
    modules = {str(path.relative_to(SOURCE)): path for path in sorted(SOURCE.rglob("*.py"))}
    left = {module: riddles(ast.parse(path.read_text(encoding="utf-8"))) for module, path in modules.items()}
    assert {module: texts for module, texts in left.items() if texts} == {}
    assert riddles(ast.parse('"""It says."""\n\ndef f():\n    """Give, for each, it."""')) == ["Give, for each, it."]
