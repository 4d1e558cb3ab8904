"""What the source imports is declared in pyproject.toml, so that no installation lacks it by chance."""

from __future__ import annotations

import ast
import sys
import tomllib
from functools import cache
from importlib.metadata import packages_distributions

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tests.conftest import ROOT

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
ALWAYS = {canonicalize_name(Requirement(one).name) for one in PROJECT["dependencies"]}
EXTRAS = {
    canonicalize_name(Requirement(one).name) for some in PROJECT["optional-dependencies"].values() for one in some
}
# What an optional part brings along, and models may use with it.
BROUGHT = {"joblib": "scikit-learn"}
# The package, and a program of the sandbox that another one beside it imports.
OURS = {"quintain", "main"}
# Declared for their own sake: uvicorn, FastAPI and the time zones of the standard library look for them.
NOT_IMPORTED = {"httptools", "python-multipart", "tzdata", "uvloop"}


@cache
def imported() -> dict[str, set[str]]:
    """Give the distributions that the source imports, each with the files that do."""
    known = packages_distributions()
    found: dict[str, set[str]] = {}
    for file in sorted((ROOT / "src").rglob("*.py")):
        for name in _top_levels(ast.parse(file.read_text(encoding="utf-8"))):
            if name not in sys.stdlib_module_names and name not in OURS:
                for one in known.get(name, [name]):
                    found.setdefault(canonicalize_name(one), set()).add(str(file.relative_to(ROOT)))
    return found


def _top_levels(tree: ast.Module) -> set[str]:
    names: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names |= {one.name.partition(".")[0] for one in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            names.add(node.module.partition(".")[0])
    return names


def test_what_is_imported_is_declared() -> None:
    """A package that only another one brings along is gone the day that one does without it."""
    found = imported()
    missing = {name: sorted(files) for name, files in found.items() if BROUGHT.get(name, name) not in ALWAYS | EXTRAS}
    assert not missing


@pytest.mark.parametrize(
    ("extra", "module"),
    [*((name, name) for name in ("onnx", "sklearn", "transformers", "embeddings")), ("local-llm", "llama")],
)
def test_an_adapter_imports_what_its_extra_installs(extra: str, module: str) -> None:
    """Whoever installs the extra of an adapter can run all of its models: no other extra is needed as well."""
    own = {canonicalize_name(Requirement(one).name) for one in PROJECT["optional-dependencies"][extra]}
    file = f"src/quintain/adapters/{module}.py"
    wanted = {BROUGHT.get(name, name) for name, files in imported().items() if file in files}
    assert wanted & own
    assert wanted <= ALWAYS | own


def test_the_language_model_has_a_lock_of_its_own() -> None:
    """The extra and its lock name the same packages: scripts install them alone, without what one of them names."""
    lock = (ROOT / "requirements" / "local-llm.lock").read_text(encoding="utf-8")
    locked = [Requirement(line.removesuffix(" \\")) for line in lock.splitlines() if not line.startswith(" ")]
    asked = {Requirement(one).name: Requirement(one) for one in PROJECT["optional-dependencies"]["local-llm"]}
    assert {one.name for one in locked} == set(asked)
    assert all(next(iter(one.specifier)).version in asked[one.name].specifier for one in locked)


def test_what_is_declared_is_imported() -> None:
    """Nothing is installed that nobody needs."""
    assert ALWAYS - NOT_IMPORTED - set(imported()) == set()
