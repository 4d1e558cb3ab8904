"""A room asks those below it in every layer: a page of a low room may not call the service of a higher one either.

`lint-imports` keeps the order inside of each layer; this keeps it across them.
"""

from __future__ import annotations

import ast
import tomllib
from collections.abc import Iterator, Mapping
from functools import cache

import pytest

from tests.conftest import ROOT

SOURCE = ROOT / "src" / "quintain"
LAYERS = ("web/pages", "web/api", "cli", "services", "store/queries")
MOST = 25  # modules in a folder that somebody can still take in; more are divided by meaning


@cache
def heights() -> Mapping[str, int]:
    """Read from the contract of `services` how high each room lies."""
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]
    layers = next(contract for contract in contracts if contract["name"].startswith("The rooms of services"))["layers"]
    return {room: -number for number, rooms in enumerate(layers) for room in rooms.split(" : ")}


def room_of(module: str) -> str | None:
    """Name the room that *module* (`web/pages/pay/earnings`) lies in; nothing where a layer's rooms share it."""
    layer = next((layer for layer in LAYERS if module.startswith(f"{layer}/")), None)
    room = module.removeprefix(f"{layer}/").split("/")[0] if layer else ""
    return room if room in heights() else None


def imported(text: str) -> Iterator[str]:
    """List what a source imports from the package, as `services/pay/ledger` or `services/pay/ledger/post`."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("quintain."):
            yield from (f"{node.module}.{alias.name}".replace(".", "/")[9:] for alias in node.names)
        elif isinstance(node, ast.Import):
            yield from (alias.name.replace(".", "/")[9:] for alias in node.names if alias.name.startswith("quintain."))


def reaching_up(module: str, text: str) -> Iterator[str]:
    """List what a module imports from rooms above its own, or beside it."""
    own = room_of(module)
    for target in imported(text) if own else ():
        other = room_of(target)
        if own and other and other != own and heights()[other] >= heights()[own]:
            yield f"{module} -> {_module(target)}"


def _module(target: str) -> str:
    """Leave out the name that is imported from a module."""
    there = (SOURCE / f"{target}.py").exists() or (SOURCE / target).is_dir()
    return target if there else target.rpartition("/")[0]


def test_no_room_reaches_above_itself_across_layers() -> None:
    """Pages, commands and the API call services of their room and those below; services ask such queries."""
    modules = {path: str(path.relative_to(SOURCE).with_suffix("")) for path in SOURCE.rglob("*.py")}
    upward = {line for path, module in modules.items() for line in reaching_up(module, path.read_text())}
    assert sorted(upward) == []


def test_no_folder_of_a_room_holds_too_many_modules() -> None:
    """Who opens a folder sees what is in it: a room that grows past that becomes two or three by meaning."""
    folders = [folder for layer in LAYERS for folder in (SOURCE / layer).rglob("*") if folder.is_dir()]
    sizes = {folder: sum(path.name != "__init__.py" for path in folder.glob("*.py")) for folder in folders}
    assert len(sizes) > 80
    assert {str(folder.relative_to(SOURCE)): size for folder, size in sizes.items() if size > MOST} == {}


@pytest.mark.parametrize(
    ("module", "text", "upward"),
    [
        ("web/pages/pay/earnings", "from quintain.services.house import health", ["services/house/health"]),
        (
            "services/pay/ledger",
            "from quintain.store.queries.wheel.standings import due",
            ["store/queries/wheel/standings"],
        ),
        ("cli/board/board", "import quintain.services.work.quizzes", ["services/work/quizzes"]),
        ("web/pages/house/health", "from quintain.services.pay import ledger", []),
        ("web/pages/pay/earnings", "from quintain.web.pages.rounds_shared import words", []),
        ("web/pages/stations", "from quintain.services.house import health", []),
    ],
)
def test_what_counts_as_reaching_up(module: str, text: str, upward: list[str]) -> None:
    """A room above counts in whatever layer, and one beside; what no room owns is free to ask."""
    assert list(reaching_up(module, text)) == [f"{module} -> {target}" for target in upward]
