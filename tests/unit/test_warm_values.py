"""What a process keeps in memory stays within its bounds."""

from __future__ import annotations

from quintain.services.jobs.memory import WarmValues


def test_what_was_used_last_is_kept() -> None:
    """The one that nobody asked for the longest goes first."""
    kept: WarmValues[str] = WarmValues(2)
    for key in ("a", "b"):
        kept.get(key, lambda key=key: key)  # type: ignore[misc]
    assert kept.find("a") == "a"
    kept.get("c", lambda: "c")
    assert [kept.find(key) for key in "abc"] == ["a", None, "c"]


def test_what_weighs_much_leaves_less_room() -> None:
    """Of large values fewer are kept, but always the newest."""
    kept: WarmValues[int] = WarmValues(10, weigh=lambda value: value, most=100)
    for value in (10, 40, 50):
        kept.get(value, lambda value=value: value)  # type: ignore[misc]
    assert [kept.find(value) for value in (10, 40, 50)] == [10, 40, 50]
    kept.get(60, lambda: 60)
    assert [kept.find(value) for value in (10, 40, 50, 60)] == [None, None, None, 60]
    kept.get(500, lambda: 500)
    assert [kept.find(value) for value in (60, 500)] == [None, 500]
