"""Counting what is asked of a database."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from sqlalchemy import event

from quintain.compose import Workspace


@contextmanager
def counted(workspace: Workspace) -> Iterator[list[str]]:
    """Collect the statements that a block sends, without the BEGINs."""
    sent: list[str] = []

    def note(connection: Any, cursor: Any, statement: str, *rest: Any) -> None:
        if not statement.startswith("BEGIN"):
            sent.append(statement)

    event.listen(workspace.engine, "before_cursor_execute", note)
    try:
        yield sent
    finally:
        event.remove(workspace.engine, "before_cursor_execute", note)
