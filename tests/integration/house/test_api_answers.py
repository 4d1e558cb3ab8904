"""What the API says of its answers, and the client's calls that are written from it."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from fastapi import FastAPI

from quintain.web.routes import API

ROOT = Path(__file__).parent.parent.parent.parent


@pytest.fixture(scope="module")
def description() -> dict[str, Any]:
    """Give the API's description."""
    app = FastAPI()
    for endpoint in API:
        endpoint.add_to(app)
    return app.openapi()


def operations(description: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Go through every operation, each with its name."""
    for methods in description["paths"].values():
        for operation in methods.values():
            yield operation["operationId"], operation


def described(description: dict[str, Any], schema: dict[str, Any]) -> bool:
    """Whether a schema says what an answer holds: properties, or a file."""
    if "$ref" in schema:
        return described(description, description["components"]["schemas"][schema["$ref"].rpartition("/")[2]])
    if "anyOf" in schema:
        return all(described(description, one) for one in schema["anyOf"])
    return bool(schema.get("properties")) or schema.get("format") == "binary"


def test_every_answer_is_described(description: dict[str, Any]) -> None:
    """No endpoint answers a bare dictionary: each has properties, is a file, or has no answer at all."""
    for name, operation in operations(description):
        (status, answer), *_ = [one for one in operation["responses"].items() if one[0].startswith("2")]
        if status == "204":
            assert "content" not in answer, name
            continue
        for content in answer["content"].values():
            assert described(description, content["schema"]), name


def test_operations_have_names_of_their_own(description: dict[str, Any]) -> None:
    """The client calls them by these."""
    names = [name for name, _ in operations(description)]
    assert len(names) == len(set(names)) > 100


def test_the_clients_calls_are_those_of_the_api() -> None:
    """Change the API, and `python scripts/make_client.py` brings the client in step."""
    command = [sys.executable, "scripts/make_client.py", "--check"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
