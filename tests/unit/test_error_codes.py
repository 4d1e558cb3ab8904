"""The codes of errors: what programs tell one error from another by."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import httpx2
import pytest

from quintain.client.transport import error_of
from quintain.core.errors import BadInput, Conflict, QuintainError, TooMany

ROOT = Path(__file__).parent.parent.parent
PLACES = ("code", "PAY_CAP", "TOOK_TOO_LONG")  # a keyword of an error, an attribute of its class, or a constant


def _codes() -> set[str]:
    """Every code that is written in the source."""
    found = set()
    for path in (ROOT / "src" / "quintain").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            match node:
                case ast.keyword(arg="code", value=ast.Constant(value=str(code))):
                    found.add(code)
                case ast.Assign(targets=[ast.Name(id=name)], value=ast.Constant(value=str(code))) if name in PLACES:
                    found.add(code)
    return found


def test_every_code_is_documented() -> None:
    """The table of the API's page has every code that an error carries, and no other."""
    table = (ROOT / "docs" / "api.md").read_text().partition("## Errors")[2].partition("\n## ")[0]
    rows = [line.split("|") for line in table.splitlines() if re.match(r"\| \d{3} ", line)]
    listed = {code for row in rows for code in re.findall(r"`([a-z_]+)`", row[4])}
    assert listed - {"too_large", "internal_error"} == _codes()


def test_a_code_belongs_to_its_class() -> None:
    """Without one of its own an error has that of its class, which says what kind it is."""
    assert [kind.code for kind in (QuintainError, BadInput, Conflict, TooMany)] == [
        "error",
        "bad_input",
        "conflict",
        "too_many",
    ]
    assert Conflict("Round {ref} is closed.", ref="s/1", code="round_not_open").code == "round_not_open"
    assert Conflict.code == "conflict"


@pytest.mark.parametrize("status", [401, 403, 404, 409, 422, 429, 500, 503])
def test_the_client_gives_the_code_back(status: int) -> None:
    """What the server answers is in the error that the client raises, words with braces and all."""
    body = {"error": {"code": "name_taken", "message": "'{x}' is taken.", "remedy": "Use {y}.", "faults": []}}
    error = error_of(httpx2.Response(status, json=body))
    assert (error.code, error.message, error.remedy) == ("name_taken", "'{x}' is taken.", "Use {y}.")


def test_an_answer_without_a_code_has_that_of_its_kind() -> None:
    """An older server, or a proxy before it, sends none."""
    assert error_of(httpx2.Response(409, json={"error": {"message": "No."}})).code == "conflict"
    assert error_of(httpx2.Response(502, text="<html>")).code == "unavailable"
