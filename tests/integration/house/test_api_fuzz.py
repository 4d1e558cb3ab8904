"""The API under random fire, from its own OpenAPI document: whatever comes, no 5xx."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from schemathesis.checks import not_a_server_error

from quintain.compose import Workspace
from quintain.web.app import create_app
from tests.web_support import copy_demo, token_for


@pytest.fixture(scope="module")
def fuzzed(demo: Workspace, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workspace]:
    """A copy of the demo that may be ruined."""
    copied = copy_demo(demo, tmp_path_factory.mktemp("fuzz") / "workspace")
    made = replace(copied, settings=replace(copied.settings, model_calls=100_000))
    yield made
    made.engine.dispose()


@pytest.fixture(scope="module")
def headers(fuzzed: Workspace) -> dict[str, str]:
    """The admin's token: an admin gets furthest."""
    return {"Authorization": f"Bearer {token_for(fuzzed, 'admin')}"}


@pytest.fixture(scope="module")
def document(fuzzed: Workspace) -> schemathesis.BaseSchema:
    """The API's own description, served in process."""
    return schemathesis.openapi.from_asgi("/api/v1/openapi.json", create_app(fuzzed))


def _fire(document: schemathesis.BaseSchema, headers: dict[str, str], examples: int) -> int:
    """Send so many generated requests to each endpoint that changes something, and half as many to the others."""
    count = 0
    for result in document.get_all_operations():
        operation = result.ok()

        @settings(
            max_examples=examples // 2 if operation.method == "get" else examples,
            deadline=None,
            database=None,
            derandomize=True,
            phases=[Phase.generate],
            suppress_health_check=list(HealthCheck),
        )
        def attack(case: schemathesis.Case) -> None:
            case.call_and_validate(headers=headers, checks=[not_a_server_error])

        given(case=operation.as_strategy())(attack)()
        count += 1
    return count


def test_no_request_breaks_the_server(document: schemathesis.BaseSchema, headers: dict[str, str]) -> None:
    """A few generated requests to every endpoint."""
    assert _fire(document, headers, 2) > 30


@pytest.mark.slow
def test_many_requests_do_not_break_the_server(document: schemathesis.BaseSchema, headers: dict[str, str]) -> None:
    """Many generated requests to every endpoint."""
    assert _fire(document, headers, 60) > 30
