"""What tests of pages, services and commands share."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from quintain.compose import Workspace
from tests.evaluated import evaluated_workspace


@pytest.fixture(scope="session")
def evaluated_site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workspace]:
    """A workspace with two models that have been run, and people with passwords."""
    workspace = evaluated_workspace(tmp_path_factory.mktemp("evaluated"))
    yield workspace
    workspace.engine.dispose()
