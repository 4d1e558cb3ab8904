"""How the API answers: records are written by the one encoder; the framework reads their types for OpenAPI only."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

from starlette.responses import Response

from quintain.core.records.base import Record, to_json


def as_json(view: Callable[..., Any], status: int = 200) -> Callable[..., Any]:
    """Wrap an endpoint: answer with the JSON of the record that it returns."""

    @wraps(view)
    def answer(**arguments: Any) -> Any:
        result = view(**arguments)
        if not isinstance(result, Record):
            return result
        return Response(to_json(result), status_code=status, media_type="application/json")

    return answer
