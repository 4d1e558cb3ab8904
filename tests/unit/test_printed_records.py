"""What commands print with `--json` is the record that the API answers; what more they have to say stands beside it."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

SOURCE = Path(__file__).parents[2] / "src" / "quintain"
COMMANDS = sorted((SOURCE / "cli").rglob("*.py"))


def printed(path: Path) -> Iterator[tuple[str, ast.expr]]:
    """Go through what the functions of a file print as JSON, each with the name of the function."""
    for function in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(function, ast.FunctionDef):
            for node in ast.walk(function):
                if isinstance(node, ast.Call) and ast.unparse(node.func).rpartition(".")[2] == "print_json":
                    yield f"{path.stem}: {function.name}", node.args[0]


def is_spread(value: ast.expr | None) -> bool:
    """Whether a value is a record that was taken apart: `plain(record)`, or `record.record()` of one."""
    return isinstance(value, ast.Call) and ast.unparse(value.func).rpartition(".")[2] in {"plain", "to_plain", "record"}


def listings() -> dict[str, str]:
    """Give the records that hold one list and no more, by the name of its field."""
    found = {}
    for path in (SOURCE / "core" / "records").glob("*.py"):
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.ClassDef):
                fields = [one for one in node.body if isinstance(one, ast.AnnAssign)]
                if len(fields) == 1 and ast.unparse(fields[0].annotation).startswith("list["):
                    found[ast.unparse(fields[0].target)] = node.name
    return found


def test_no_command_mixes_the_fields_of_a_record_with_others() -> None:
    """A record that is printed with something else is printed whole, under a name of its own."""
    mixed = [
        name
        for path in COMMANDS
        for name, value in printed(path)
        for node in ast.walk(value)
        if isinstance(node, ast.Dict)
        for key, one in zip(node.keys, node.values, strict=True)
        if key is None and is_spread(one)
    ]
    assert mixed == []


def test_no_command_writes_out_a_list_that_has_a_record() -> None:
    """A dictionary with one list, of a name that a record has for its only field, is that record."""
    known = listings()
    assert known["datasets"] == "DatasetVersions"
    found = {
        name: known[value.keys[0].value]
        for path in COMMANDS
        for name, value in printed(path)
        if isinstance(value, ast.Dict) and len(value.keys) == 1 and isinstance(value.keys[0], ast.Constant)
        if value.keys[0].value in known
    }
    assert found == {}
    assert sum(1 for path in COMMANDS for _ in printed(path)) > 150
