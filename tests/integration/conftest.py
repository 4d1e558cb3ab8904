"""What tests of pages, services and commands share."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack

import pytest

from quintain.compose import Workspace
from tests.evaluated import evaluated_workspace
from tests.web_support import browser_of, copy_demo, made_once
from tests.write_site import Site


@pytest.fixture(scope="session")
def evaluated_site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workspace]:
    """A workspace with two models that have been run, and people with passwords."""
    workspace = made_once(tmp_path_factory, "evaluated", evaluated_workspace, login_attempts=1000)
    yield workspace
    workspace.engine.dispose()


@pytest.fixture(scope="module")
def site(demo: Workspace, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """A copy of the demo that the tests of one file share."""
    folder = tmp_path_factory.mktemp("write")
    workspace = copy_demo(demo, folder / "demo")
    with ExitStack() as stack:
        worker, owner = (stack.enter_context(browser_of(workspace, name)) for name in ("demo-worker", "demo-owner"))
        yield Site(workspace, worker, owner, folder)
