"""What the report of a trial calls its slices, and what it counts."""

from __future__ import annotations

import pytest

from quintain.core.records.figures import Estimate
from quintain.core.records.report import Report
from quintain.data.trials import TrialArm, TrialItem
from quintain.services.plain.reports.trial_measures import ReportOptions, slice_words
from quintain.services.plain.reports.trial_report import make_report


def items(name: str, number: int, votes: tuple[str, ...]) -> list[TrialItem]:
    """Make items of four writers that all get the same votes."""
    given = tuple((f"j{place}", label) for place, label in enumerate(votes))
    return [TrialItem(f"{name}{at}", f"w{at % 4}", "a", given, {"model": "a"}) for at in range(number)]


def cells(found: Report, section: str, column: int) -> list[object]:
    """Give a column of the first table of a section."""
    return [row[column] for one in found.sections if one.key == section for row in one.tables[0].rows]


def test_slices_have_the_number_of_votes_of_the_protocol() -> None:
    """Two drawn votes and the writer's are three; where arms differ in it, what they share is said by the share."""
    with_writer = TrialArm("one", items("x", 12, ("a", "a", "a")))
    without = TrialArm("two", items("y", 12, ("a", "a", "a")), writer_votes=False)
    options = ReportOptions(sample=2, draws=3, resamples=50)
    names = [str(one) for one in cells(make_report("t", [with_writer], options), "results", 1)]
    assert names == ["all that was judged", "judged often", "at least 3 of 3 votes agree", "all 3 votes agree"]
    both = make_report("t", [with_writer, without], options)
    assert "all 2 votes agree" in {str(one) for one in cells(both, "results", 1)}
    assert "at least 80 % of votes agree" in {str(one) for one in cells(both, "differences", 2)}
    assert str(slice_words("at_least_4_of_5", 10)) == "at least 8 of 10 votes agree"


def test_the_share_kept_is_of_counts_that_were_not_rounded() -> None:
    """Items that are kept in some draws only count by how often; so few are not rounded to a half or to all."""
    torn = items("x", 3, ("a", "a", "b", "b", "b"))
    arm = TrialArm("one", [*items("y", 1, ("a",) * 5), *torn], writer_votes=False)
    found = make_report("t", [arm], ReportOptions(sample=4, draws=50, resamples=50))
    (kept,), (share,) = cells(found, "agreement", 2), cells(found, "agreement", 3)
    assert isinstance(kept, float)
    assert isinstance(share, Estimate)
    assert kept % 1 > 0
    assert share.value == pytest.approx(kept / 4)


def test_an_arm_is_called_the_hardest_only_where_it_is_told_apart() -> None:
    """Of two arms that are alike one gap is named with its interval; where the model is never right, it is furthest."""
    votes = ("a",) * 6

    def arm(name: str, right: int) -> TrialArm:
        given = tuple((f"j{place}", label) for place, label in enumerate(votes))
        said = ["a" if at % 10 < right else "b" for at in range(120)]
        rows = [TrialItem(f"{name}{at}", f"w{at // 6}", "a", given, {"m": said[at]}) for at in range(120)]
        return TrialArm(name, rows)

    options = ReportOptions(draws=2, resamples=200)
    alike, apart = (
        [str(one) for one in make_report("t", [arm("one", 6), arm("two", right)], options).sections[0].findings]
        for right in (6, 0)
    )
    assert any(one.startswith("m is 40.0 points behind people on") and "cannot be told" in one for one in alike)
    assert any(one.startswith("m is furthest behind people on two: by 100.0 points (95 % between") for one in apart)
    assert not any("furthest" in one for one in alike)
