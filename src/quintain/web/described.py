"""The API's own description (OpenAPI). What every endpoint may refuse stands in it once, and each refers to it."""

from __future__ import annotations

from typing import Any

from fastapi import FastAPI

from quintain.web.api.shapes import ErrorShape

REFUSALS = {
    400: "The body is not JSON.",
    401: "The token is missing, unknown or expired.",
    403: "The caller may not do this.",
    404: "There is no such thing.",
    409: "It clashes with what is there.",
    413: "The body is too large.",
    422: "Something given is wrong; the faults say what.",
    429: "A limit was reached; Retry-After says how long to wait.",
    503: "Something outside is missing, full or down.",
}
# What FastAPI says of a wrong request, where our own answer is not known to it.
NOT_OURS = ("HTTPValidationError", "ValidationError")


class Described(FastAPI):
    """An application whose description names the refusals that all endpoints have in common."""

    def openapi(self) -> dict[str, Any]:
        """Return the description; it is made when it is first asked for."""
        if self.openapi_schema is None:
            self.openapi_schema = with_refusals(super().openapi())
        return self.openapi_schema


def with_refusals(described: dict[str, Any]) -> dict[str, Any]:
    """Add the answer to each kind of refusal to *described*, and refer to it from every operation."""
    shape = ErrorShape.model_json_schema(ref_template="#/components/schemas/{model}")
    parts = described.setdefault("components", {})
    schemas = parts.setdefault("schemas", {})
    for name in NOT_OURS:
        schemas.pop(name, None)
    schemas |= {**shape.pop("$defs", {}), ErrorShape.__name__: shape}
    content = {"application/json": {"schema": {"$ref": f"#/components/schemas/{ErrorShape.__name__}"}}}
    parts["responses"] = {f"Error{code}": {"description": text, "content": content} for code, text in REFUSALS.items()}
    common = {str(code): {"$ref": f"#/components/responses/Error{code}"} for code in REFUSALS}
    for path in described["paths"].values():
        for operation in path.values():
            operation["responses"] |= common
    return described
