"""That every page which repeats a paper has a test that runs it."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

from tests.repeating_pages import PAGES

TESTS = Path(__file__).parent
NAMES = sorted(path.name for path in PAGES.glob("*.md") if path.name != "README.md")


def slow_tests_of(name: str) -> list[str]:
    """Return the slow tests of the files here that read the page."""
    found: list[str] = []
    for path in sorted(TESTS.glob("test_*.py")):
        source = path.read_text(encoding="utf-8")
        if path == Path(__file__) or f'"{name}"' not in source:
            continue
        all_slow = bool(re.search(r"^pytestmark = .*?pytest\.mark\.slow", source, re.DOTALL | re.MULTILINE))
        functions = [node for node in ast.parse(source).body if isinstance(node, ast.FunctionDef)]
        found += [
            function.name
            for function in functions
            if function.name.startswith("test_") and (all_slow or "slow" in map(_mark, function.decorator_list))
        ]
    return found


def _mark(decorator: ast.expr) -> str:
    return decorator.attr if isinstance(decorator, ast.Attribute) else ""


@pytest.mark.parametrize("name", NAMES)
def test_a_slow_test_runs_the_page(name: str) -> None:
    """A page without one would say what nobody has looked at."""
    assert slow_tests_of(name), f"no slow test in {TESTS.name} reads {name}"


@pytest.mark.parametrize("name", NAMES)
def test_the_list_leads_to_the_page(name: str) -> None:
    """Whoever reads the list gets to every page."""
    assert f"]({name})" in (PAGES / "README.md").read_text(encoding="utf-8")


def test_blocks_are_of_a_kind_that_tests_run() -> None:
    """Code in a block of another kind would be on the page and run by nobody."""
    for name in NAMES:
        kinds = set(re.findall(r"^```(\w*)$", (PAGES / name).read_text(encoding="utf-8"), re.MULTILINE)) - {""}
        assert kinds <= {"console", "sh", "python", "toml"}, name
