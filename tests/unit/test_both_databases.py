"""Which tests run on PostgreSQL at once, and which leave its turn to the slow ones. None loses it."""

from __future__ import annotations

from typing import Any

import pytest

from tests.conftest import pytest_collection_modifyitems


class Collected:
    """A collected test, of which only the marks matter."""

    def __init__(self, *marks: str) -> None:
        self.marks = set(marks)

    def get_closest_marker(self, name: str) -> str | None:
        """Give the mark of that name, if the test has it."""
        return name if name in self.marks else None

    def add_marker(self, mark: Any) -> None:
        """Take another mark."""
        self.marks.add(mark.name)


@pytest.mark.parametrize(
    ("marks", "slow"), [((), False), (("postgres",), True), (("postgres", "both_databases"), False)]
)
def test_where_nothing_differs_postgresql_is_left_to_the_slow_tests(marks: tuple[str, ...], slow: bool) -> None:
    """A test on PostgreSQL is slow, unless it or its file says `both_databases`; one on SQLite stays as it is."""
    item: Any = Collected(*marks)

    pytest_collection_modifyitems([item])

    assert ("slow" in item.marks) == slow
