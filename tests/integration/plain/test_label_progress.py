"""How far an aggregation is, and names that are kept once each while rows are numbers."""

from __future__ import annotations

from pathlib import Path

from quintain.services.plain.labels.aggregation import Aggregating, aggregate_source
from quintain.services.plain.labels.judgements import read_judgements

VOTES = "item,worker,label\n z ,ann,é\nz,bob,e\u0301\na, ann,no\n,,\nb,bob,\n"


def test_an_aggregation_says_how_far_it_is(tmp_path: Path) -> None:
    """Reading and aggregating are each begun and brought to their end."""
    (tmp_path / "votes.csv").write_text(VOTES, encoding="utf-8")
    told: list[tuple[str, int, int]] = []
    aggregate_source(tmp_path / "votes.csv", Aggregating(), progress=lambda *step: told.append(step))
    assert list(dict.fromkeys(what for what, _, _ in told)) == ["Reading", "Aggregating"]
    assert {what: (done, total) for what, done, total in told} == {"Reading": (3, 3), "Aggregating": (3, 3)}


def test_names_that_nobody_judged_with_leave_no_code(tmp_path: Path) -> None:
    """Spaces and forms of Unicode make no second name, and an item without any label is none."""
    (tmp_path / "votes.csv").write_text(VOTES, encoding="utf-8")
    table = read_judgements(tmp_path / "votes.csv")
    assert list(table.judgements.items) == ["a", "z"]
    assert list(table.judgements.workers) == ["ann", "bob"]
    assert table.judgements.classes == ("no", "é")
    assert table.order.tolist() == [1, 0]  # as the file names them first
