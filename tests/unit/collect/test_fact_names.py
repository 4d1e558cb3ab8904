"""Names of facts about workers."""

from __future__ import annotations

from quintain.services.work.qualify import LONGEST_FACT, fooling_fact


def test_long_task_names_keep_facts_apart() -> None:
    """Two tasks that share a long beginning have two facts, and both fit into the column."""
    first, second = (fooling_fact(f"a-rather-long-name-of-a-task-{number}") for number in (1, 2))
    assert first != second
    assert max(len(first), len(second)) <= LONGEST_FACT
