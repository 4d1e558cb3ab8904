"""What only one layer may do, nobody else does."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[2] / "src" / "quintain"
# A model's own process sets what its libraries look for.
ENVIRONMENT = {"settings.py", "adapters/onnx.py", "engine/guest/main.py", "engine/guest/install.py"}
PROCESSES = {"data/parquet.py"}


def _uses() -> Iterator[tuple[str, str]]:
    """Give each file with what it names of the environment and of processes."""
    for path in sorted(SOURCE.rglob("*.py")):
        name = str(path.relative_to(SOURCE))
        for node in ast.walk(ast.parse(path.read_bytes())):
            match node:
                case ast.Attribute(value=ast.Name(id="os"), attr="environ" | "getenv" | "fork" as what):
                    yield name, what
                case ast.Import(names=names) if any(one.name in {"subprocess", "multiprocessing"} for one in names):
                    yield name, "subprocess"
                case ast.ImportFrom(module="subprocess" | "multiprocessing"):
                    yield name, "subprocess"


@pytest.fixture(scope="module")
def uses() -> set[tuple[str, str]]:
    """Which file does what."""
    return set(_uses())


def test_only_settings_read_the_environment(uses: set[tuple[str, str]]) -> None:
    """What a command does is decided by its options and the settings, which `docs/operations.md` lists."""
    assert {name for name, what in uses if what in {"environ", "getenv"}} <= ENVIRONMENT


def test_only_the_engine_starts_processes(uses: set[tuple[str, str]]) -> None:
    """All but one, which says why, are started where they are bounded and ended."""
    found = {name for name, what in uses if what in {"subprocess", "fork"}}
    assert "engine/companion.py" in found
    assert {name for name in found if not name.startswith("engine/")} == PROCESSES
