"""Files of the shape of those that Build It Break It 2017 released."""

from __future__ import annotations

from pathlib import Path

GOLD = (
    b"sentence_id\tsentence\tsentiment_label\n"
    b"569_a\tRussell is terrific as coach.\t1\n"
    b'569_b\tRussell is "terrific" as coach.\t-1\n'
    b'657_a\t"""Flawed, clich\x8e, and poor..""\t-1\n'
    b"657_b\tI will love \x85 it.\t+1\n"
    b"569_a\tRussell is terrific as coach.\t1\n"
    b"569_b\tRussell is no coach.\t-1\n"
)
SPACED = b"sentence_id sentence -1\n" + b"".join(line.replace(b"\t", b" ") + b"\n" for line in GOLD.splitlines()[1:])


def released(folder: Path) -> Path:
    """Write a folder of the shape of the released one: a breaker, a builder with tabs and one with spaces."""
    for name, data in (
        ("test_ground_truth_data/Team1_breaker_test.tsv", GOLD),
        ("builder_teams_test_predictions/Builder_Team_1/Team1_breaker_blind_test.pred.tsv", GOLD),
        ("builder_teams_test_predictions/Builder_Team_2/Team1_breaker_test.opinion", SPACED.replace(b" -1\n", b" 0\n")),
        ("builder_teams_test_predictions/Builder_Team_2/Team1.predictions", b"-1\n"),
    ):
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    return folder
