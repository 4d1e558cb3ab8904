"""What is remembered belongs to a workspace: no module keeps data of one in a variable, where another would see it."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.conftest import ROOT

SOURCE = ROOT / "src" / "quintain"
GROWING = {"dict", "list", "set", "OrderedDict", "defaultdict", "deque", "Counter", "WeakKeyDictionary",
           "WeakValueDictionary", "WarmValues", "ThreadPoolExecutor", "Lock", "RLock", "local"}  # fmt: skip
CHANGING = {"append", "add", "setdefault", "update", "pop", "popitem", "clear", "extend", "insert", "remove", "discard"}
# A function that is remembered may take none of these: what it gives would be of one workspace, or grow with its data.
OF_A_WORKSPACE = {"Session", "Engine", "Blobs", "Workspace", "Actor", "Settings", "Connection", "State"}

# What is the same for every workspace of a process, and what a command writes to the terminal.
ALLOWED = {
    ("cli/output.py", "_printed"): "what this command has printed, until it ends",
    ("engine/sandbox/layers.py", "_seen"): "what the sandbox of this machine can do, also where there is no workspace",
    ("web/rendering.py", "COMPILED"): "what our own templates were compiled to",
    ("cli/streams.py", "_open"): "the files that this command has open, until it ends",
}


def kept_in(tree: ast.Module) -> Iterator[tuple[str, int, str]]:
    """Find the variables of a module that hold what grows, and remembered functions over a workspace."""
    changed = set(_changed(tree))
    keeping = {node.name for node in tree.body if isinstance(node, ast.ClassDef) and _keeps(node)}
    for node in tree.body:
        if isinstance(node, ast.Assign | ast.AnnAssign) and node.value is not None:
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            for name in (target.id for target in targets if isinstance(target, ast.Name)):
                made = _called(node.value)
                empty = isinstance(node.value, ast.Dict | ast.List | ast.Set) or made in GROWING
                if (empty and name in changed) or made in GROWING - {"dict", "list", "set", "Counter"} | keeping:
                    yield name, node.lineno, "is data that changes"
    for node in ast.walk(tree):
        if isinstance(node, ast.Global):
            yield ", ".join(node.names), node.lineno, "is changed by a function"
        if isinstance(node, ast.FunctionDef) and any(
            _called(decorator) in {"cache", "lru_cache"} for decorator in node.decorator_list
        ):
            named = {name.id for name in ast.walk(node.args) if isinstance(name, ast.Name)}
            if named & OF_A_WORKSPACE:
                yield node.name, node.lineno, "is remembered for all workspaces"


def _keeps(kind: ast.ClassDef) -> bool:
    """Say whether objects of a class change after they were made."""
    methods = [node for node in kind.body if isinstance(node, ast.FunctionDef) and node.name != "__init__"]
    return any(_of_self(node) for method in methods for node in ast.walk(method))


def _of_self(node: ast.AST) -> bool:
    """Say whether something is stored in `self.name`, or under a key of it."""
    if not isinstance(getattr(node, "ctx", None), ast.Store) or not isinstance(node, ast.Attribute | ast.Subscript):
        return False
    inner = node.value if isinstance(node, ast.Attribute) else getattr(node.value, "value", None)
    return getattr(inner, "id", "") == "self"


def _called(node: ast.expr) -> str:
    function = node.func if isinstance(node, ast.Call) else node
    while isinstance(function, ast.Subscript):
        function = function.value
    return function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")


def _changed(tree: ast.Module) -> Iterator[str]:
    """Name what is changed in place within functions."""
    for function in (node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)):
        for node in ast.walk(function):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in CHANGING:
                yield getattr(node.func.value, "id", "")
            if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store | ast.Del):
                yield getattr(node.value, "id", "")


def test_no_module_keeps_data() -> None:
    """No module of ours has a variable that grows with use, and none remembers what depends on a workspace."""
    found = [
        (path.relative_to(SOURCE).as_posix(), name, line, why)
        for path in sorted(SOURCE.rglob("*.py"))
        for name, line, why in kept_in(ast.parse(path.read_text(encoding="utf-8")))
        if (path.relative_to(SOURCE).as_posix(), name) not in ALLOWED
    ]
    assert not found, "\n".join(f"{path}:{line} {name} {why}" for path, name, line, why in found)


@pytest.mark.parametrize(
    ("source", "names"),
    [
        ("_KEPT = {}\ndef f(a):\n    _KEPT[a] = 1\n", ["_KEPT"]),
        ("_SEEN: list[int] = []\ndef f(a):\n    _SEEN.append(a)\n", ["_SEEN"]),
        ("import weakref\n_K = weakref.WeakKeyDictionary[int, int]()\n", ["_K"]),
        ("from functools import cache\n@cache\ndef f(db: Session) -> int: ...\n", ["f"]),
        ("X = 1\ndef f():\n    global X\n    X = 2\n", ["X"]),
        ("class K:\n    def put(self, a):\n        self.a = a\n_k = K()\n", ["_k"]),
        ("class K:\n    def put(self, a):\n        self.kept[a] = a\n_k = K()\n", ["_k"]),
        ("NAMES = {'a': 1}\ndef f(a):\n    return NAMES[a]\n", []),
    ],
)
def test_what_would_be_found(source: str, names: list[str]) -> None:
    """A container that functions change, a remembered query and a global are found; a table of constants is not."""
    assert [name for name, _, _ in kept_in(ast.parse(source))] == names


def test_exceptions_are_still_there() -> None:
    """Every exception is of a variable that there is."""
    for path, name in ALLOWED:
        assert name in (Path(SOURCE) / path).read_text(encoding="utf-8")
