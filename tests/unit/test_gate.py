"""What `--fail-under` holds a report to."""

from __future__ import annotations

from quintain.cli.evaluate.gate import below

REPORT = {
    "metrics": {"macro_f1": {"value": 0.85, "low": 0.81, "high": 0.9}, "accuracy": {"value": None, "reason": "none"}},
    "bounds": {"macro_f1": {"low": 0.7, "high": 0.9}},
    "robustness": {"share": {"value": 0.9, "low": 0.88, "high": 0.95}},
    "fairness": None,
}


def test_the_lower_end_counts() -> None:
    """A share that surely reaches it passes; one whose value alone does, does not."""
    assert below({"robustness": 0.88}, REPORT) == []
    assert below({"robustness": 0.89}, REPORT) == [
        "robustness is surely 0.8800 or more (0.9000), and has to reach 0.89."
    ]


def test_what_failed_counts_as_wrong_and_what_is_missing_fails() -> None:
    """Failed examples lower the bound, and a figure that is not there passes nothing."""
    assert below({"macro_f1": 0.8}, REPORT) == ["macro_f1 is surely 0.7000 or more (0.8500), and has to reach 0.8."]
    assert len(below({"accuracy": 0.1, "fairness": 0.1}, REPORT)) == 2
