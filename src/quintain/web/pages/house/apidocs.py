"""The API, described from its own OpenAPI document, without a script from elsewhere."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from starlette.responses import Response

from quintain.web.visit import Visiting


@dataclass(frozen=True, slots=True)
class Operation:
    """One endpoint as the page shows it."""

    method: str
    path: str
    summary: str
    parameters: tuple[tuple[str, str, str], ...]
    body: str
    answer: str


def show(visit: Visiting) -> Response:
    """List all endpoints by what they are about."""
    document: dict[str, Any] = visit.request.app.openapi()
    groups: dict[str, list[Operation]] = {}
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            groups.setdefault(operation["tags"][0], []).append(_operation(method.upper(), path, operation))
    schemas = document["components"]["schemas"]
    return visit.render(
        "house/apidocs.html",
        groups=groups,
        schemas={name: _properties(schema) for name, schema in sorted(schemas.items())},
        crumbs=[(visit.tongue.gettext("API"), None)],
    )


def _operation(method: str, path: str, operation: dict[str, Any]) -> Operation:
    parameters = tuple(
        (item["name"], item["in"], item.get("description", "")) for item in operation.get("parameters", [])
    )
    good = next(answer for status, answer in operation["responses"].items() if status.startswith("2"))
    body = operation.get("requestBody", {})
    summary = re.sub(r"[*`]", "", operation["summary"])  # marks of docstrings, which a page does not need
    return Operation(method, path, summary, parameters, _schema_name(body), _schema_name(good))


def _schema_name(holder: dict[str, Any]) -> str:
    for media_type, content in holder.get("content", {}).items():
        schema = content.get("schema", {})
        options = [schema, *schema.get("anyOf", ())]  # what may be left out is the shape or null
        named = [str(option["$ref"]).rpartition("/")[2] for option in options if "$ref" in option]
        return named[0] if len(named) == 1 else str(media_type)
    return ""


def _properties(schema: dict[str, Any]) -> list[tuple[str, str]]:
    return [(name, _type(value)) for name, value in schema.get("properties", {}).items()]


def _type(schema: dict[str, Any]) -> str:
    if "$ref" in schema:
        return str(schema["$ref"]).rpartition("/")[2]
    if "anyOf" in schema:
        return " | ".join(_type(option) for option in schema["anyOf"])
    if schema.get("type") == "array":
        return f"list of {_type(schema.get('items', {}))}"
    return str(schema.get("format") or schema.get("type") or "any")
